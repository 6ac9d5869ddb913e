/* SPDX-License-Identifier: Apache-2.0 */
/* pad.c - edits that change every offset of a method and nothing of what it does.
 *
 * Nops go where the instruction before them can fall through, or behind a label: anywhere else
 * they would be dead code, which the JVM's verifier wants a frame for. */
#include "cli/classtools/pad.h"

#include "classfile/insn.h"

enum { FAR = 32770 }; /* a short branch reaches 32,768 bytes back and 32,767 forth */

/* The first of the labels that stand directly before n, when the code before falls through. */
static struct insn *before_labels(struct insn *n, const struct code *code)
{
	struct insn *first = n;

	while (first->prev && first->prev != code->start && first->prev->op == OP_LABEL)
		first = first->prev;
	if (!first->prev || op_ends_block(first->prev->op))
		return n;
	return first;
}

int pad_every(struct code *code, unsigned every)
{
	unsigned at = 0;
	int made = 0;

	for (struct insn *n = code->start->next; n != code->end; n = n->next) {
		struct insn *place;

		if (n->op == OP_LABEL || ++at % every)
			continue;
		place = made & 1 ? before_labels(n, code) : n;
		if (!insn_before(code, place, insn_new(code, OP_NOP)))
			return E_NO_MEMORY;
		made++;
	}
	return made;
}

static uint32_t number(struct code *code)
{
	uint32_t ordinal = 0;

	for (struct insn *n = code->start; n; n = n->next) {
		n->pc = ordinal;
		ordinal += n->op != OP_LABEL;
	}
	return ordinal;
}

/* change[p] to change[q] sum up to how many branches cross the place before instruction p, which
 * lies behind its labels. */
static void count_crossings(const struct code *code, int32_t *change)
{
	for (const struct insn *n = code->start; n; n = n->next) {
		uint32_t to;

		if (n->op == OP_LABEL || !op_is_branch(n->op))
			continue;
		to = n->target->pc;
		change[to > n->pc ? n->pc + 1 : to]++;
		change[to > n->pc ? to : n->pc + 1]--;
	}
}

/* The goto of "ifne L; goto T; L:" is half of one instruction to code_same(). */
static bool is_else(const struct insn *n)
{
	return n->op == OP_GOTO && n->prev->op != OP_LABEL && op_is_branch(n->prev->op);
}

int pad_far(struct code *code)
{
	uint32_t n = number(code);
	int32_t *change = arena_zero(code->mem, (n + 2) * sizeof(*change)), sum = 0, best = 0;
	struct insn *place = NULL;

	if (!change)
		return E_NO_MEMORY;
	count_crossings(code, change);
	for (struct insn *i = code->start; i != code->end; i = i->next) {
		if (i->op == OP_LABEL)
			continue;
		sum += change[i->pc];
		if (sum > best && !is_else(i)) {
			best = sum;
			place = i;
		}
	}
	for (int i = 0; place && i < FAR; i++)
		if (!insn_before(code, place, insn_new(code, OP_NOP)))
			return E_NO_MEMORY;
	return best;
}
