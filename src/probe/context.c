/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - the table of sequences, and the walk that compares one with a place in the tree.
 *
 * A block is [ steps | callers << 16, sequences with two flags, the steps it is, the steps that
 * call it directly, and for each sequence first, n | direct << 16 ].  Lists of steps are sorted.
 * Blocks have sizes that are powers of two; free ones of a size are chained.
 *
 * The walk goes from the innermost caller outwards and keeps the set of steps that the next caller
 * may be: `below` those that may lie anywhere further out, `next` those that must be the very next
 * one and must have called directly.  So every way to match is followed at once. */
#include "probe/context.h"

#include "base/err.h"
#include "base/search.h"

#include <string.h>

enum {
	WORDS = 1 << 20, /* of the table */
	SIZES = 18,	 /* 4 words to 4 << 17 */
	STEPS_MAX = UINT16_MAX,
	ACROSS = 1 << 15, /* in a sequence's shape, with n and direct << 16 */
	BY_STACK = 1 << 8,
	OUTERMOST = 1 << 9,
	ATTEMPTS = 64, /* to read while the agent writes */
};

struct probe_words probe_words __attribute__((aligned(LINE))) = { .one = 1 };

void probe_inside_hold(void)
{
	static bool held;

	if (!held)
		SHARED_ADD(probe_words.inside, 1);
	held = true;
}

static struct {
	uint32_t *words; /* 0 is not used */
	uint32_t used;
	uint32_t free[SIZES]; /* first free block of that size, 0: none */
	uint32_t version;     /* odd: being written */
} contexts;

int context_init(void)
{
	contexts.words = pages_map(WORDS * sizeof(uint32_t));
	contexts.used = 4;
	return contexts.words ? 0 : E_NO_MEMORY;
}

/* ---- writing ----------------------------------------------------------------------------- */

static unsigned size_of(size_t words)
{
	unsigned size = 0;

	while ((size_t)4 << size < words)
		size++;
	return size;
}

static uint32_t block_take(size_t words)
{
	unsigned size = size_of(words);
	uint32_t at;

	if (size >= SIZES)
		return 0;
	at = contexts.free[size];
	if (at) {
		contexts.free[size] = contexts.words[at];
		return at;
	}
	if (contexts.used + (4u << size) > WORDS)
		return 0;
	at = contexts.used;
	contexts.used += 4u << size;
	return at;
}

static size_t block_words(uint32_t at)
{
	uint32_t n = contexts.words[at], more = contexts.words[at + 1];

	return 2 + (n & UINT16_MAX) + (n >> 16) + 2 * (more & (BY_STACK - 1));
}

static void block_give(uint32_t at)
{
	unsigned size;

	if (!at)
		return;
	size = size_of(block_words(at));
	STORE(contexts.words[at], contexts.free[size]);
	contexts.free[size] = at;
}

static void put(uint32_t **to, const uint32_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		STORE((*to)[i], from[i]);
	*to += n;
}

static uint32_t flags_of(const struct probe_context *c)
{
	return (uint32_t)c->n_sequences | (c->by_stack ? (uint32_t)BY_STACK : 0) |
	       (c->outermost ? (uint32_t)OUTERMOST : 0);
}

static uint32_t shape_of(const struct probe_sequence *s)
{
	return s->n | (s->across ? (uint32_t)ACROSS : 0) | (uint32_t)s->direct << 16;
}

static void block_write(uint32_t at, const struct probe_context *c)
{
	uint32_t *to = contexts.words + at;

	STORE(to[0], (uint32_t)(c->n_steps | c->n_callers << 16));
	STORE(to[1], flags_of(c));
	to += 2;
	put(&to, c->steps, c->n_steps);
	put(&to, c->callers, c->n_callers);
	for (size_t i = 0; i < c->n_sequences; i++, to += 2) {
		STORE(to[0], c->sequences[i].first);
		STORE(to[1], shape_of(&c->sequences[i]));
	}
}

static bool are_same(const uint32_t *a, const uint32_t *b, size_t n)
{
	return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0; /* b may be NULL then */
}

static bool is_same(uint32_t at, const struct probe_context *c)
{
	const uint32_t *w = contexts.words + at;

	if (w[0] != (c->n_steps | c->n_callers << 16) || w[1] != flags_of(c))
		return false;
	w += 2;
	if (!are_same(w, c->steps, c->n_steps))
		return false;
	w += c->n_steps;
	if (!are_same(w, c->callers, c->n_callers))
		return false;
	w += c->n_callers;
	for (size_t i = 0; i < c->n_sequences; i++, w += 2)
		if (w[0] != c->sequences[i].first || w[1] != shape_of(&c->sequences[i]))
			return false;
	return true;
}

int probe_method_context(uint32_t id, const struct probe_context *c)
{
	bool any = c && (c->n_steps || c->n_callers || c->n_sequences);
	struct probe_method *m;
	uint32_t at = 0, old;

	if (id >= PROBE_METHODS || !probe.ready)
		return E_LIMIT;
	m = &probe.methods[id];
	old = m->context;
	if ((!any && !old) || (any && old && is_same(old, c)))
		return 0;
	if (any && (c->n_steps > STEPS_MAX || c->n_callers > STEPS_MAX ||
		    c->n_sequences > PROBE_SEQUENCES))
		return E_LIMIT;
	STORE(probe_words.lanes, 0);
	STORE(contexts.version, contexts.version + 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (any) {
		at = block_take(2 + c->n_steps + c->n_callers + 2 * c->n_sequences);
		if (at)
			block_write(at, c);
	}
	if (at || !any) {
		STORE(m->context, at);
		block_give(old);
	}
	PUBLISH(contexts.version, contexts.version + 1);
	if (any && !at)
		return E_LIMIT;
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
	return 0;
}

void probe_method_by_stack(uint32_t id)
{
	uint32_t at = id < PROBE_METHODS && probe.ready ? probe.methods[id].context : 0;

	if (!at || !(contexts.words[at + 1] & (BY_STACK - 1)))
		return;
	STORE(contexts.words[at + 1], contexts.words[at + 1] | BY_STACK); /* one word: never half */
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* A method's block, taken apart.  It may be half written: so no number leads out of the table. */
struct block {
	const uint32_t *steps, *callers, *sequences;
	uint32_t n_steps, n_callers, n_sequences;
	bool by_stack, outermost;
};

static bool block_of(uint32_t id, struct block *b)
{
	uint32_t at = LOAD(probe.methods[id & KID_ID].context), n, more;

	if (at == 0 || at > WORDS - 2)
		return false;
	n = LOAD(contexts.words[at]);
	more = LOAD(contexts.words[at + 1]);
	b->n_steps = n & UINT16_MAX;
	b->n_callers = n >> 16;
	b->n_sequences = more & (BY_STACK - 1);
	b->by_stack = (more & BY_STACK) != 0;
	b->outermost = (more & OUTERMOST) != 0;
	b->steps = contexts.words + at + 2;
	b->callers = b->steps + b->n_steps;
	b->sequences = b->callers + b->n_callers;
	return at + 2 + b->n_steps + b->n_callers + 2 * b->n_sequences <= WORDS;
}

/* Index of the first that is not less. */
static uint32_t at_least(const uint32_t *list, uint32_t n, uint32_t step)
{
	return (uint32_t)SEARCH(n, i, LOAD(list[i]) < step);
}

/* Which of the n steps from `first` on the method is, as bits. */
static uint32_t steps_of(uint32_t id, uint32_t first, uint32_t n)
{
	uint32_t bits = 0;
	struct block b;

	if (!block_of(id, &b))
		return 0;
	for (uint32_t i = at_least(b.steps, b.n_steps, first); i < b.n_steps; i++) {
		uint32_t step = LOAD(b.steps[i]);

		if (step - first >= n)
			break;
		bits |= 1u << (step - first);
	}
	return bits;
}

/* Is the caller one whose direct calls of this method matter? */
static bool calls_matter(const struct block *b, uint32_t caller)
{
	for (uint32_t i = 0; i < b->n_callers; i++)
		if (steps_of(caller, LOAD(b->callers[i]), 1))
			return true;
	return false;
}

/* The calls above a place, innermost first: nodes, or frames of the stack. */
struct path {
	const struct probe_frame *frame; /* NULL: nodes */
	uint32_t line;
};

/* The next one, as the lower half of a key.  false: no more. */
static bool path_next(struct path *p, uint32_t *kid)
{
	const struct probe_node *node;

	if (!p->frame) {
		if (!p->line)
			return false;
		node = node_at(p->line);
		*kid = (uint32_t)LOAD(node->key);
		p->line = node->parent;
		return true;
	}
	if (frame_is_nobodys(p->frame))
		return false;
	node = p->frame->node;
	*kid = node == &probe_nowhere ? p->frame->id : (uint32_t)LOAD(node->key);
	p->frame--;
	return true;
}

static bool matches(const uint32_t *sequence, struct path path, bool direct)
{
	uint32_t first = LOAD(sequence[0]), shape = LOAD(sequence[1]);
	uint32_t n = shape & (ACROSS - 1), directs = shape >> 16, last, below, next, kid;

	if (n == 0 || n > PROBE_STEPS)
		return false;
	last = 1u << (n - 1);
	below = last & ~directs;
	next = direct ? last & directs : 0;
	while ((below | next) && path_next(&path, &kid)) {
		uint32_t hits = steps_of(kid, first, n) & (below | next);

		if (kid & KID_HANDED && !(shape & ACROSS))
			continue;
		if (hits & 1)
			return true;
		hits >>= 1;
		below |= hits & ~directs;
		next = kid & KID_DIRECT ? hits & directs : 0;
	}
	return false;
}

static bool is_open(const struct block *b, uint32_t kid, struct path path)
{
	if (b->n_sequences == 0)
		return true;
	if (b->by_stack)
		return (kid & KID_INSIDE) != 0;
	for (uint32_t i = 0; i < b->n_sequences; i++)
		if (matches(b->sequences + 2 * (size_t)i, path, (kid & KID_DIRECT) != 0))
			return true;
	return false;
}

/* Every call of a method that is a step has to be on the stack, whatever else is wanted of it.
 * Whether a call is direct is not known any more when it throws: so these are all timed. */
static uint32_t decide(struct path path, uint32_t kid)
{
	uint32_t one_in = LOAD(probe.methods[kid & KID_ID].one_in), caller;
	struct path above = path;
	struct block b;

	if (!block_of(kid, &b))
		return kid & KID_HANDED ? NODE_CLOSED | 1 : one_in;
	if (kid & KID_HANDED)
		return NODE_CLOSED | 1 | (b.outermost && b.n_steps ? NODE_OPENS : 0);
	if (!(kid & KID_KNOWN) &&
	    (b.by_stack || (path_next(&above, &caller) && calls_matter(&b, caller))))
		return NODE_ASKS;
	if (!is_open(&b, kid, path))
		one_in = NODE_CLOSED | (b.n_steps ? 1 : 0);
	else if (b.n_steps || kid & KID_KNOWN)
		one_in = (one_in & (ONE_IN_DATA | ONE_IN_METER | ONE_IN_SETTLE)) | 1;
	return b.outermost && b.n_steps ? one_in | NODE_OPENS : one_in;
}

/* Has the table stayed the same since?  *version is even. */
static bool held(uint32_t version)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return LOAD(contexts.version) == version;
}

static struct context_decision decide_at_last(struct path path, uint32_t kid)
{
	struct context_decision d = { NODE_CLOSED, false };

	if (!LOAD(probe.methods[kid & KID_ID].context) && !(kid & KID_HANDED))
		return (struct context_decision){ LOAD(probe.methods[kid & KID_ID].one_in), true };
	for (int i = 0; i < ATTEMPTS && !d.sure; i++) {
		uint32_t version = TAKE(contexts.version);

		if (version & 1)
			continue;
		d.one_in = decide(path, kid);
		d.sure = held(version);
	}
	if (!d.sure)
		d.one_in = NODE_CLOSED;
	return d;
}

struct context_decision context_decide(uint32_t parent, uint32_t kid)
{
	return decide_at_last((struct path){ .line = parent }, kid);
}

struct context_decision context_decide_here(uint32_t kid, const struct probe_frame *top)
{
	return decide_at_last((struct path){ .frame = top }, kid);
}

bool context_has_sequences(uint32_t id)
{
	struct block b;

	return LOAD(probe.methods[id].context) && block_of(id, &b) && b.n_sequences;
}

bool context_is_step(uint32_t id)
{
	struct block b;

	return LOAD(probe.methods[id].context) && block_of(id, &b) && b.n_steps;
}

bool context_opens(uint32_t id)
{
	struct block b;

	return LOAD(probe.methods[id].context) && block_of(id, &b) && b.n_steps && b.outermost;
}

bool context_may_hide(uint32_t id)
{
	struct block b;

	return LOAD(probe.methods[id].context) && block_of(id, &b) && b.n_sequences && b.n_steps;
}

/* ---- questions --------------------------------------------------------------------------- */

bool probe_question(uint32_t id, struct probe_question *out)
{
	const struct probe_frame *in = frame_around(probe_local.top);
	struct block b;

	if (id >= PROBE_METHODS || !probe_local.mine || probe_local.muted || !block_of(id, &b))
		return false;
	*out = (struct probe_question){ .by_stack = b.by_stack };
	if (!frame_is_nobodys(in) && calls_matter(&b, frame_id(in)))
		out->caller = frame_id(in);
	return true;
}
