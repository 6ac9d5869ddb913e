/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs under random sequences: what the probe decides at each call is compared with a
 * walk over an explicit stack.
 *
 * A program is a handful of virtual threads, each with a stack of its own, that take turns on two
 * carriers.  They call at random (so there is recursion, direct and not), return, throw over
 * several frames with some exits never told, and move; and they hand work over, which one of them
 * takes up later: below the calls that the other was in then, for sequences that are `across`.
 * Some methods are not hooked: they only lie in between.  Now and then the rules change while all
 * of that is running. */
#include "test_probe.h"

#include "probe/inner.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum {
	METHODS = 14,
	PLAIN = 3, /* the last ones are never hooked */
	RULES = 5,
	VIRTUALS = 4,
	DEEP = 40,
	TURNS = 4000,
	EVENTS = 600, /* a turn: 2.4 million in all */
	CHANGE = 40,  /* turns between changes of the rules */
	TASKS = 4,    /* that one virtual thread is in, at most */
};

struct sequence {
	unsigned n;
	uint32_t who[PROBE_STEPS]; /* sets of methods, outermost first */
	bool direct[PROBE_STEPS];
};

struct rule { /* the one of method 1 + its number; n 0: it has none */
	unsigned n;
	bool across;
	struct sequence s[3];
};

struct activation {
	uint32_t id;
	uint64_t token;
	bool framed;	   /* it began under the probe's eyes */
	bool direct;	   /* the probe knows that the one below called it itself */
	bool opens;	   /* it is counted in probe_words.inside */
	bool handed;	   /* it is of the thread that has handed over what is done here */
	struct task *task; /* not a call, but all those */
};

struct task {
	uint32_t kids[PROBE_HANDED];
	struct activation calls[PROBE_HANDED]; /* innermost first */
	size_t n;
	unsigned opens;
};

static struct rule rules[RULES];
static struct activation stacks[VIRTUALS][DEEP];
static unsigned depths[VIRTUALS];
static void *put_away[VIRTUALS];
static struct task waits, running[VIRTUALS][TASKS];
static unsigned n_running[VIRTUALS];
static uint64_t begun, opened_across;
static uint64_t state = 88172645463325252u;
static uint64_t opened[METHODS + 1], events, wrong, inside, most_inside;
static sem_t baton[2];

static uint32_t draw(uint32_t below)
{
	return random_below(&state, below);
}

static bool is_in(uint32_t set, uint32_t id)
{
	return set >> id & 1;
}

/* ---- rules ------------------------------------------------------------------------------- */

static uint32_t draw_set(void)
{
	uint32_t set = 0;

	for (unsigned n = 1 + draw(2); n > 0; n--)
		set |= 1u << (1 + draw(METHODS - PLAIN));
	return set;
}

static void draw_rules(void)
{
	for (unsigned r = 0; r < RULES; r++) {
		rules[r].n = draw(4);
		rules[r].across = draw(2);
		for (unsigned c = 0; c < rules[r].n; c++) {
			struct sequence *s = &rules[r].s[c];

			s->n = 1 + draw(draw(8) == 0 ? 8 : 3);
			for (unsigned i = 0; i < s->n; i++) {
				s->who[i] = draw_set();
				s->direct[i] = draw(3) == 0;
			}
		}
	}
}

static uint32_t step_of(unsigned rule, unsigned sequence, unsigned step)
{
	return (rule + 1) << 8 | sequence << 4 | step;
}

static bool is_outermost(uint32_t id)
{
	for (unsigned r = 0; r < RULES; r++)
		for (unsigned c = 0; c < rules[r].n; c++)
			if (is_in(rules[r].s[c].who[0], id))
				return true;
	return false;
}

/* What the agent would tell the probe of a method. */
static void tell(uint32_t id)
{
	struct probe_sequence sequences[3];
	uint32_t steps[RULES * 3 * 8], callers[RULES * 3 * 8 + 1];
	struct probe_context c = { .sequences = sequences,
				   .steps = steps,
				   .callers = callers,
				   .outermost = is_outermost(id) };

	for (unsigned r = 0; r < RULES; r++) {
		for (unsigned k = 0; k < rules[r].n; k++) {
			const struct sequence *s = &rules[r].s[k];
			uint16_t direct = 0;

			for (unsigned i = 0; i < s->n; i++) {
				bool called = i + 1 < s->n ? is_in(s->who[i + 1], id) : r + 1 == id;

				direct |= (uint16_t)(s->direct[i] << i);
				if (is_in(s->who[i], id))
					steps[c.n_steps++] = step_of(r, k, i);
				if (s->direct[i] && called)
					callers[c.n_callers++] = step_of(r, k, i);
			}
			if (r + 1 == id)
				sequences[c.n_sequences++] =
					(struct probe_sequence){ step_of(r, k, 0), (uint16_t)s->n,
								 direct, rules[r].across };
		}
	}
	MUST_INT(probe_method_context(id, &c), 0);
}

static void change_rules(void)
{
	draw_rules();
	for (uint32_t id = 1; id <= METHODS - PLAIN; id++) {
		timed(id, id == 1 || draw(4) ? 1 : draw(3)); /* also counted, also one in two */
		tell(id);
	}
}

/* ---- the oracle -------------------------------------------------------------------------- */

static bool walks_across; /* calls of others count, too */

/* A stack with all that was handed over, one call after the other; gives the new depth. */
static unsigned flatten(const struct activation *stack, unsigned depth, struct activation *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < depth; i++) {
		const struct task *t = stack[i].task;

		for (size_t k = t ? t->n : 0; k-- > 0;)
			out[n++] = t->calls[k];
		if (!t)
			out[n++] = stack[i];
	}
	return n;
}

/* Do steps 0 to i lie on the stack below place `at`, the last of them so as its kind wants it?
 * `direct`: what lies at `at` was called directly by what is below it. */
static bool walk(const struct sequence *s, int i, const struct activation *stack, int at,
		 bool direct)
{
	if (i < 0)
		return true;
	for (int k = at - 1; k >= 0; k--) {
		if (stack[k].handed && !walks_across)
			continue;
		if (stack[k].framed && is_in(s->who[i], stack[k].id) &&
		    walk(s, i - 1, stack, k, stack[k].direct))
			if (!s->direct[i] || (k == at - 1 && direct))
				return true;
		if (s->direct[i])
			break;
	}
	return false;
}

/* Is it for some rule's sake to be known whether this caller called this method? */
static bool matters(uint32_t caller, uint32_t id)
{
	for (unsigned r = 0; r < RULES; r++)
		for (unsigned c = 0; c < rules[r].n; c++) {
			const struct sequence *s = &rules[r].s[c];

			for (unsigned i = 0; i < s->n; i++)
				if (s->direct[i] && is_in(s->who[i], caller) &&
				    (i + 1 < s->n ? is_in(s->who[i + 1], id) : r + 1 == id))
					return true;
		}
	return false;
}

static bool expects_open(uint32_t id, const struct activation *stack, unsigned depth, bool direct)
{
	struct activation flat[DEEP + TASKS * PROBE_HANDED];
	int n = (int)flatten(stack, depth, flat);
	const struct rule *rule;

	if (id > RULES || rules[id - 1].n == 0)
		return true;
	rule = &rules[id - 1];
	for (unsigned c = 0; c < rule->n; c++) {
		const struct sequence *s = &rule->s[c];

		walks_across = rule->across;
		if (!walk(s, (int)s->n - 1, flat, n, direct))
			continue;
		walks_across = false;
		opened_across += !walk(s, (int)s->n - 1, flat, n, direct);
		return true;
	}
	return false;
}

static bool is_step(uint32_t id)
{
	for (unsigned r = 0; r < RULES; r++)
		for (unsigned c = 0; c < rules[r].n; c++)
			for (unsigned i = 0; i < rules[r].s[c].n; i++)
				if (is_in(rules[r].s[c].who[i], id))
					return true;
	return false;
}

/* ---- the program ------------------------------------------------------------------------- */

static void differs(const char *what)
{
	if (wrong++ == 0)
		CHECK_STR(what, "", "the first difference");
}

static void do_call(unsigned v)
{
	struct activation *stack = stacks[v], *a = &stack[depths[v]];
	const struct activation *below = depths[v] ? a - 1 : NULL;
	struct probe_question q = { 0 };
	bool open, on_stack, asks;
	uint64_t token;

	*a = (struct activation){ .id = 1 + draw(METHODS) };
	if (a->id > METHODS - PLAIN) {
		depths[v]++;
		return;
	}
	if (below && below->task)
		below = below->task->calls;
	asks = below && below->framed && matters(below->id, a->id);
	a->direct = asks && !below->handed;
	token = probe_enter(a->id);
	if (token == PROBE_ASK) {
		if (!probe_question(a->id, &q) || !q.caller)
			differs("asked for nothing");
		token = probe_answer(a->id, a->direct && below->id == q.caller, false);
	} else if (asks) {
		differs("not asked");
	}
	open = expects_open(a->id, stack, depths[v], a->direct);
	opened[a->id] += open;
	on_stack = token != 0;
	if (on_stack && frame_is_hidden(probe_local.top) == open)
		differs(open ? "should report" : "should not report");
	if (!open && on_stack != is_step(a->id))
		differs("closed and on the stack, or the other way round");
	if (open && is_step(a->id) && !on_stack)
		differs("a step is not on the stack");
	a->framed = on_stack;
	a->opens = on_stack && is_outermost(a->id);
	inside += a->opens;
	most_inside = inside > most_inside ? inside : most_inside;
	a->token = token;
	depths[v]++;
}

/* Somebody else will do something for this one. */
static void do_hand_over(unsigned v)
{
	struct activation flat[DEEP + TASKS * PROBE_HANDED];
	unsigned n = flatten(stacks[v], depths[v], flat);

	waits.n = 0;
	while (n-- > 0 && waits.n < PROBE_HANDED) {
		struct activation one = flat[n];

		if (!one.framed || !is_step(one.id))
			continue;
		one.handed = true;
		if (waits.n == 0 || one.direct || waits.calls[waits.n - 1].direct ||
		    waits.calls[waits.n - 1].id != one.id)
			waits.calls[waits.n++] = one;
	}
	if (probe_handed_take(waits.kids) != waits.n)
		differs("other calls are handed over");
}

static void do_begin(unsigned v)
{
	struct task *t = &running[v][n_running[v]];
	struct activation *a = &stacks[v][depths[v]];

	if (!waits.n || n_running[v] == TASKS)
		return;
	*t = waits;
	t->opens = 0;
	waits.n = 0;
	for (size_t i = 0; i < t->n; i++)
		t->opens += is_outermost(t->calls[i].id);
	*a = (struct activation){ .task = t, .token = probe_handed_begin(t->kids, t->n) };
	if (!a->token)
		differs("what was handed over is not taken up");
	inside += t->opens;
	depths[v]++;
	n_running[v]++;
	begun++;
}

static void do_end(unsigned v, const struct activation *a)
{
	inside -= a->task->opens;
	probe_handed_end(a->task->kids, a->task->n, a->token);
	n_running[v]--;
}

static void leave(const struct activation *a, bool thrown)
{
	if (a->id > METHODS - PLAIN)
		return;
	if (thrown)
		probe_thrown(a->id, a->token);
	else if (a->token)
		probe_exit(a->id, a->token);
}

static void do_return(unsigned v)
{
	const struct activation *a = &stacks[v][--depths[v]];

	if (a->task) {
		do_end(v, a);
		return;
	}
	inside -= a->opens;
	leave(a, false);
}

/* Leaves several frames at once.  Exits may be lost, but not that of the lowest which has one. */
static void do_throw(unsigned v)
{
	unsigned n = 1 + draw(depths[v]), low = depths[v] - n, told = low;

	while (told < depths[v] && !stacks[v][told].token)
		told++;
	while (depths[v] > low) {
		const struct activation *a = &stacks[v][--depths[v]];

		if (a->task) {
			do_end(v, a);
			continue;
		}
		inside -= a->opens;
		if (depths[v] <= told || draw(4))
			leave(a, true);
	}
}

static void do_events(unsigned v)
{
	for (unsigned i = 0; i < EVENTS; i++, events++) {
		uint32_t what = draw(20);

		if (draw(20) == 0)
			do_hand_over(v);
		if (depths[v] < DEEP && draw(depths[v] < 3 ? 4 : 50) == 0)
			do_begin(v);
		else if (depths[v] == 0 || (what < 10 && depths[v] < DEEP))
			do_call(v);
		else if (what < 19)
			do_return(v);
		else
			do_throw(v);
		if (probe_words.inside != inside)
			differs("calls of outermost steps");
	}
}

static void do_turn(unsigned v)
{
	probe_mount(put_away[v]);
	do_events(v);
	put_away[v] = probe_unmount();
}

static unsigned turns(void)
{
	return test_is_short() ? TURNS / 20 : TURNS;
}

/* So many sets of rules in a short run as in a long one: two would open little. */
static bool is_time_for_a_change(unsigned turn)
{
	return turn % (test_is_short() ? CHANGE / 20 : CHANGE) == 0;
}

/* Two carriers take turns at mounting any of the virtual threads. */
static void carry(unsigned number)
{
	for (unsigned turn = number; turn < turns(); turn += 2) {
		sem_wait(&baton[number]);
		if (is_time_for_a_change(turn))
			change_rules();
		do_turn(draw(VIRTUALS));
		sem_post(&baton[1 - number]);
	}
}

static void agrees(uint64_t n)
{
	MUST_INT(wrong, 0);
	MUST_INT(events, n);
	MUST(most_inside > 10);
	MUST(begun > n / 200);
	MUST(opened_across > n / 2000);
	for (uint32_t id = 1; id <= METHODS - PLAIN; id++) {
		MUST_INT(figures(id).calls, opened[id]);
		MUST(opened[id] > (test_is_short() ? 50 : 1000));
	}
}

PROBE_TEST(random_programs_agree_with_a_walk_over_the_stack, 64 * MIB)
{
	probe_handed_want(true);
	sem_init(&baton[0], 0, 1);
	sem_init(&baton[1], 0, 0);
	probe_test_threads(2, carry);
	agrees((uint64_t)turns() * EVENTS);
}

static void agree_in_one_thread(void)
{
	probe_handed_want(true);
	for (unsigned turn = 0; turn < turns() / 4; turn++) {
		if (is_time_for_a_change(turn))
			change_rules();
		do_events(0);
	}
	agrees((uint64_t)turns() / 4 * EVENTS);
}

/* Contexts go and come back, and are decided about anew. */
PROBE_TEST(random_programs_agree_when_memory_is_short, 128 << 10)
{
	struct probe_state s;

	agree_in_one_thread();
	probe_state_read(&s);
	MUST(s.pruned > events / 100);
}

/* Then there are no nodes to decide by, and the stack itself is looked at. */
PROBE_TEST(random_programs_agree_when_there_is_no_memory, 0)
{
	struct probe_state s;

	agree_in_one_thread();
	probe_state_read(&s);
	MUST(s.nodes_refused > events / 10);
}
