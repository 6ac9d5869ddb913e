/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_class_edit.c - a class, and behind it a script of edits whose length is the last byte.
 *
 * Every method that elevates is edited as the script says, lowered and written.  What was written
 * must be read and elevated again, with the same instructions at the places that lowering said, and
 * with branches that go to the same places. */
#include <stdlib.h>

#include "base/mem.h"
#include "classfile/insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct script {
	const uint8_t *p, *end;
};

__attribute__((noinline)) static void must(bool held)
{
	if (!held)
		abort();
}

static uint8_t next_byte(struct script *s)
{
	return s->p < s->end ? *s->p++ : 0;
}

static bool is_real(const struct insn *n)
{
	return n->op != OP_LABEL;
}

static uint32_t count_real(const struct code *code)
{
	uint32_t n = 0;

	for (const struct insn *i = code->start; i; i = i->next)
		n += is_real(i);
	return n;
}

/* An instruction that the script chooses, but not the last: labels must have one behind them. */
static struct insn *choose(const struct code *code, struct script *s)
{
	uint32_t n = count_real(code), at = next_byte(s) | (uint32_t)next_byte(s) << 8;
	struct insn *i = insn_next_real(code->start);

	if (n < 2)
		return NULL;
	for (at %= n - 1; at; at--)
		i = insn_next_real(i);
	return i;
}

static struct insn *put(struct code *code, struct insn *before, struct insn *n)
{
	n = insn_before(code, before, n);
	must(n != NULL);
	return n;
}

/* iconst, ifeq over a nop: a branch and a label of our own. */
static void put_branch(struct code *code, struct insn *before)
{
	struct insn *label = insn_label(code);

	put(code, before, insn_int(code, (int32_t)before->old * 1000));
	put(code, before, insn_branch(code, OP_IFEQ, label));
	put(code, before, insn_new(code, OP_NOP));
	put(code, before, label);
}

static void move(struct code *code, struct insn *a, struct script *s)
{
	struct insn *b = choose(code, s), *place = choose(code, s), *first, *last;

	first = insn_label_before(code, a);
	last = insn_label_before(code, b);
	for (struct insn *i = first; i != last; i = i->next)
		if (i == code->end || i == place)
			return; /* not a stretch, or the place lies in it */
	if (first != last)
		insn_move(first, last, place);
}

static int copy(struct code *code, struct insn *place, struct script *s)
{
	struct insn_copy c = { .from = code, .local_shift = next_byte(s), .local_from = 1 };
	struct insn *last = choose(code, s);
	int rc;

	c.first = choose(code, s);
	for (const struct insn *i = c.first; i != last; i = i->next)
		if (i == code->end || i == place)
			return 0;
	if (place == last)
		return 0; /* the copy would be part of the stretch */
	c.last = last;
	c.pool = calloc(65536, sizeof(*c.pool)); /* it is the same pool, and grows meanwhile */
	rc = insn_copy_stretch(code, place, &c);
	free(c.pool);
	return rc;
}

/* Negative: the method is to be left alone. */
static int edit(struct code *code, struct script *s)
{
	uint8_t what = next_byte(s);
	struct insn *n = choose(code, s);
	bool made = n && n->op == OP_NEW; /* frames may speak of what it makes */

	if (!n)
		return 0;
	switch (what % 8) {
	case 0:
		put(code, n, insn_new(code, OP_NOP));
		break;
	case 1:
		put(code, n, insn_int(code, (int32_t)what << 16));
		put(code, n, insn_new(code, OP_POP));
		break;
	case 2:
		for (int i = next_byte(s) * 64; i; i--)
			put(code, n, insn_new(code, OP_NOP));
		break;
	case 3:
		if (!made)
			insn_remove(code, n);
		break;
	case 4:
		if (!made)
			insn_replace(code, n, insn_local(code, OP_ALOAD, next_byte(s) * 2));
		break;
	case 5:
		put_branch(code, n);
		break;
	case 6:
		move(code, n, s);
		break;
	default:
		return copy(code, n, s);
	}
	return 0;
}

/* Is this what was lowered?  `old` is what elevating the written class gave. */
static void compare(const struct code *lowered, const struct code *old)
{
	const struct insn *a = lowered->start, *b = old->start;

	for (;;) {
		a = insn_next_real(a);
		b = insn_next_real(b);
		must(!a == !b);
		if (!a)
			return;
		must(a->op == b->op || (a->op == OP_LDC && b->op == OP_LDC_W));
		must(a->pc == b->old);
		must(a->index == b->index || op_is_branch(a->op) || op_is_switch(a->op));
		if (op_is_branch(a->op))
			must(a->target->pc == insn_next_real(b->target)->old);
	}
}

static void read_again(const struct class *cls, struct code *const *codes)
{
	struct buf out = { 0 };
	struct class *again;
	struct arena mem;
	struct code *code;

	arena_init(&mem);
	must(class_write(cls, &out) == 0);
	must(class_read(&mem, buf_slice(&out), &again, NULL) == 0);
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		if (!codes[i])
			continue;
		must(code_elevate(again, &again->methods[i], &code, NULL) == 0);
		compare(codes[i], code);
	}
	class_release(again);
	buf_release(&out);
	arena_release(&mem);
}

static void edit_class(struct class *cls, struct script *s)
{
	struct code **codes = calloc(cls->n_methods + 1, sizeof(struct code *));

	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct member *m = &cls->methods[i];
		struct code *code;
		int rc = 0;

		if (!m->code.p || code_elevate(cls, m, &code, NULL) < 0)
			continue;
		for (int edits = next_byte(s) % 16; edits && rc >= 0; edits--)
			rc = edit(code, s);
		if (rc < 0)
			continue;
		rc = code_lower(code, NULL);
		must(rc >= 0 || !m->lowered.p);
		must(rc >= 0 || rc == E_TOO_LARGE || rc == E_VERIFY || rc == E_POOL_FULL);
		if (rc >= 0)
			codes[i] = code;
	}
	read_again(cls, codes);
	free(codes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size ? data[size - 1] : 0;
	struct class *cls;
	struct arena mem;

	if (n + 1 > size)
		return 0;
	arena_init(&mem);
	if (class_read(&mem, (struct slice){ data, size - 1 - n }, &cls, NULL) == 0) {
		struct script s = { data + size - 1 - n, data + size - 1 };

		edit_class(cls, &s);
		class_release(cls);
	}
	arena_release(&mem);
	return 0;
}
