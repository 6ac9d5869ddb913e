/* SPDX-License-Identifier: Apache-2.0 */
/* in_place.c - the clockwork of windows with closed hooks.
 *
 *	open block    hooks as the rules say: calls are counted, the tree grows
 *	closed block  windows, one after the other, in which all gates are closed but those of
 *		draw	some methods of which none calls another: their calls are measured alone
 *			that begin within a time, all or, of short ones, some.  A number of calls would
 *			not do: a part of the program that begins just then is slower at first, and would
 *			count for too much
 *		drain	... and the last call may end; the program runs at full speed
 *		marks	or, now and then, methods that are called moderately often: how often?
 *
 * Marks tell how fast the program is without hooks, and the same methods' counts in the next open
 * block how fast it is with them.  They are chosen by an earlier block than the one that is
 * compared, or those would be chosen that happened to be called often.
 *
 * A machine is not as fast all the time, so a method is measured all the time as far as possible:
 * all methods that may share a window do.  And where no client asks for the tree or for the speed,
 * there are no open blocks but the first.
 *
 * Gates are written all at once.  What a client waits for (watch, trace), conditions and sequences
 * of callers are left alone. */
#include "agent/serve/in_place.h"

#include <math.h>
#include <sys/resource.h>

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "agent/core/reading.h"
#include "agent/core/syscalls.h"
#include "agent/natives/natives.h"
#include "agent/natives/probes.h"
#include "agent/classes/closable.h"
#include "agent/serve/windows.h"
#include "agent/serve/transactions.h"
#include "base/mem.h"
#include "plan/inplace/turns.h"
#include "probe/solo.h"
#include "wire/wire.h"

enum {
	OPEN_MS = 100,
	CLOSED_MS = 400,
	DRAW_MS = 3,	   /* a window */
	DRAW_ALONE_MS = 9, /* ... of a session in which all methods are measured in all windows */
	DRAIN_MS = 200,	   /* a call that is longer cannot be measured alone */
	LOOK_MS = 1,
	DRAW_CALLS = 5000,   /* of one window; then it does not count */
	CUTS_MAX = 3,	     /* calls that were too long, before a method is given up */
	MARKS_EVERY = 4,     /* windows */
	MARKS_MAX = 8,	     /* methods */
	MARK_RATE_MIN = 300, /* calls a second */
	MARK_RATE_MAX = 100000,
	MARK_RATE = 5000, /* the best there is */
	MARKS_MIN = 20,	  /* calls in a closed block, to mean something */
	TREE_MS = 2000,	  /* a new one is looked at not more often */
	SECONDS_MAX = 3600,
};

enum state { OFF, OPEN, DRAW, DRAIN, MARKS };

/* The session.  The agent's thread. */
static struct {
	enum state state;
	uint32_t client; /* 0: no client waits */
	bool whole;	 /* until the JVM ends */
	bool shut;	 /* no open blocks */
	bool alone;	 /* only the first one */
	JNIEnv *jni;
	uint64_t begin, end, told; /* ticks; end 0: never */
	uint64_t next;		   /* when it is due */
	uint64_t block, block_end; /* begin and end of the block */
	uint64_t window, window_end;
	uint64_t tree;	   /* when it was read; 0: never */
	uint64_t open_sum; /* ticks with open hooks, for in_place_open_share() */
	uint64_t windows;
	long switches; /* of the process, before the window */
	struct turns turns;
	uint32_t ids[SOLO_METHODS], marks[MARKS_MAX];
	uint8_t rests[SOLO_METHODS]; /* calls that pass between two of such a method */
	size_t n, n_marks;
	double marked, marked_ticks; /* calls and time of marks in this closed block */
	bool polite;		     /* this thread is, for as long as windows take turns */
	uint32_t n_gates;	     /* methods that the arrays below are for */
	int8_t *gates, *shut_gates;  /* of a window; with all closed that may be */
	uint64_t *counts, *before;   /* calls by id: now, and when the open block began */
} now;

static uint64_t ticks_of_ms(uint64_t ms)
{
	return ms * agent.scale.hz / 1000;
}

/* Processors that the system took away from threads of this process, so far. */
static long switches(void)
{
	struct rusage r = { 0 };

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nivcsw;
}

/* ---- methods ------------------------------------------------------------------------------ */

static bool make_room(void)
{
	uint32_t n = woven_ids();
	int8_t *gates = mem_realloc(now.gates, n + 1), *closed;
	uint64_t *counts, *before;

	now.gates = gates ? gates : now.gates;
	closed = gates ? mem_realloc(now.shut_gates, n + 1) : NULL;
	now.shut_gates = closed ? closed : now.shut_gates;
	counts = closed ? mem_realloc(now.counts, (n + 1) * sizeof(*counts)) : NULL;
	now.counts = counts ? counts : now.counts;
	before = counts ? mem_realloc(now.before, (n + 1) * sizeof(*before)) : NULL;
	now.before = before ? before : now.before;
	if (!before)
		return false;
	for (uint32_t id = now.n_gates; id < n; id++)
		counts[id] = before[id] = 0;
	now.n_gates = n;
	return true;
}

/* Which gates can be closed, and which methods measured. */
static void look_at_methods(void)
{
	uint32_t last = 0;
	const struct rule_entry *e = NULL;

	now.shut_gates[0] = 0;
	for (uint32_t id = 1; id < now.n_gates; id++) {
		const struct hooked *h = woven_method(id);
		uint32_t rule = h ? h->rule : 0;

		if (rule != last)
			e = rulebook_entry(rule);
		last = rule;
		now.shut_gates[id] = closable_now(h, e) ? 0 : (int8_t)gates_of(id);
		if (h && rule &&
		    (now.shut_gates[id] || h->level != LEVEL_TIMED ||
		     (now.shut &&
		      e->rule->hook.one_in))) /* calibrations want some closed ones, too */
			turns_leave_out(&now.turns, id);
	}
}

/* The tree may still show calls of methods whose hooks were taken out since, and what was pruned,
 * which is no method.  These are not measured, and must not keep who calls them from it. */
static void see_node(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	const struct hooked *h = woven_method(id);

	(void)ctx;
	turns_node(&now.turns, id, depth, h && h->rule ? f->calls : 0);
}

static void look_at_tree(uint64_t t)
{
	if (now.tree && t - now.tree < ticks_of_ms(TREE_MS))
		return;
	now.tree = t;
	turns_begin(&now.turns);
	reading_tree(see_node, NULL);
	turns_end(&now.turns);
}

/* ---- marks -------------------------------------------------------------------------------- */

static void see_count(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	(void)ctx, (void)depth;
	if (id < now.n_gates)
		now.counts[id] = f->calls;
}

static uint64_t came(uint32_t id)
{
	return now.counts[id] > now.before[id] ? now.counts[id] - now.before[id] : 0;
}

/* Compares the open block that has just ended with the closed one before it. */
static void compare_speed(uint64_t ticks)
{
	double open = 0;

	for (size_t i = 0; i < now.n_marks; i++)
		open += (double)came(now.marks[i]);
	if (now.marked >= MARKS_MIN)
		windows_speed(open / (double)ticks, now.marked / now.marked_ticks, ticks);
	now.marked = now.marked_ticks = 0;
}

/* How far from what is best for a mark; negative: it is none. */
static double unfit(uint32_t id, uint64_t ticks)
{
	double rate = (double)came(id) * (double)agent.scale.hz / (double)ticks;

	if (now.shut_gates[id] || gates_of(id) != GATE_OPEN || rate < MARK_RATE_MIN ||
	    rate > MARK_RATE_MAX)
		return -1;
	return rate > MARK_RATE ? rate / MARK_RATE : MARK_RATE / rate;
}

static void choose_marks(uint64_t ticks)
{
	double have[MARKS_MAX];

	now.n_marks = 0;
	for (uint32_t id = 1; id < now.n_gates; id++) {
		double off = unfit(id, ticks);
		size_t at = now.n_marks;

		if (off < 0 || (at == MARKS_MAX && off >= have[at - 1]))
			continue;
		now.n_marks += at < MARKS_MAX;
		at = now.n_marks - 1;
		for (; at > 0 && have[at - 1] > off; at--) {
			have[at] = have[at - 1];
			now.marks[at] = now.marks[at - 1];
		}
		have[at] = off;
		now.marks[at] = id;
	}
}

/* ---- windows ------------------------------------------------------------------------------ */

static void set_manners(const uint32_t *ids, size_t n, enum natives_manner manner)
{
	for (size_t i = 0; i < n; i++)
		natives_manner(ids[i], manner);
}

/* All gates, but for these. */
static void shut_but(const uint32_t *ids, size_t n)
{
	memcpy(now.gates, now.shut_gates, now.n_gates);
	for (size_t i = 0; i < n; i++)
		now.gates[ids[i]] = GATE_ALONE;
	gates_shut(now.jni, now.gates, now.n_gates);
}

/* How the methods of this window are measured. */
static void set_ways(void)
{
	for (size_t i = 0; i < now.n; i++) {
		struct solo_way way = { 0 };

		if (!now.shut) /* calibrations have all calls, in one window */
			way = windows_way(now.ids[i]);
		if (turns_is_nested(&now.turns, now.ids[i]))
			way.rest = 0;
		now.rests[i] = way.rest;
		solo_way(now.ids[i], &way);
	}
}

/* False: there is nothing to be measured. */
static bool begin_window(uint64_t t)
{
	bool marks = !now.shut && !now.alone && now.n_marks && now.windows++ % MARKS_EVERY == 0;
	uint64_t ticks = ticks_of_ms(now.alone ? DRAW_ALONE_MS : DRAW_MS);

	if (marks) {
		set_manners(now.marks, now.n_marks, CALLS_MARK);
		shut_but(now.marks, now.n_marks);
		solo_begin(now.marks, now.n_marks, 0, 0);
	} else {
		now.n = turns_next(&now.turns, now.ids, SOLO_METHODS);
		if (!now.n)
			return false;
		set_ways();
		set_manners(now.ids, now.n, CALLS_SOLO);
		shut_but(now.ids, now.n);
		now.switches = switches();
		t = tick_now();
	}
	if (!marks)
		solo_begin(now.ids, now.n, now.shut ? UINT64_MAX : DRAW_CALLS,
			   now.shut ? UINT64_MAX : t + ticks);
	now.state = marks ? MARKS : DRAW;
	now.window = tick_now();
	now.window_end = t + ticks;
	now.next = now.window_end;
	return true;
}

static void end_marks(void)
{
	uint64_t ticks = tick_now() - now.window;

	(void)solo_end();
	for (size_t i = 0; i < now.n_marks; i++)
		now.marked += (double)solo_sum(i).calls;
	now.marked_ticks += (double)ticks;
	set_manners(now.marks, now.n_marks, CALLS_USUAL);
}

static void end_draw(void)
{
	bool calm = switches() == now.switches;

	/* On a busy machine this thread has just taken the processor from another one of the
	 * process; and who was in a call then is seen, if there were others. */
	for (size_t i = 0; i < now.n; i++) {
		struct solo_sum s = solo_sum(i);

		if (s.calls)
			windows_alone(now.ids[i], &(struct found_window){ &s, now.rests[i], calm });
	}
	set_manners(now.ids, now.n, CALLS_USUAL);
}

static void cut(void)
{
	int at = solo_cut();

	if (at >= 0 && (size_t)at < now.n && windows_cut(now.ids[at]) >= CUTS_MAX)
		turns_leave_out(&now.turns, now.ids[at]);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void end_block(uint64_t t)
{
	bool open = now.state == OPEN;

	if (now.state == DRAIN)
		(void)solo_cut(); /* it is not too long: the time is over */
	if (now.state == MARKS)
		end_marks();
	else if (now.state == DRAW || now.state == DRAIN)
		(void)solo_end(), end_draw();
	windows_block(open, t - now.block);
	now.open_sum += open ? t - now.block : 0;
	now.block = t;
}

static void open_block(void)
{
	uint64_t t;

	reading_methods(see_count, NULL);
	memcpy(now.before, now.counts, now.n_gates * sizeof(*now.counts));
	gates_reopen(now.jni, woven_ids());
	t = tick_now();
	end_block(t);
	now.state = OPEN;
	now.next = now.block_end = t + ticks_of_ms(OPEN_MS);
}

static bool is_traced(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (transactions_is_for(c))
			return true;
	return false;
}

static void close_block(void)
{
	uint64_t t = tick_now(), ticks = t - now.block;

	if (!make_room() || now.turns.err || is_traced()) { /* later, perhaps */
		now.next = t + ticks_of_ms(OPEN_MS);
		return;
	}
	look_at_methods();
	shut_but(NULL, 0);
	t = tick_now();
	end_block(t);
	reading_methods(see_count, NULL);
	compare_speed(ticks);
	choose_marks(ticks);
	look_at_tree(t);
	now.block_end = t + ticks_of_ms(CLOSED_MS);
	if (!begin_window(tick_now())) {
		now.state = DRAW;
		now.n = 0;
		open_block();
	}
}

/* The window is over, one way or the other. */
static void next_window(uint64_t t)
{
	if (now.state == MARKS)
		end_marks();
	else
		end_draw();
	now.n = 0;
	now.state = DRAW;
	if (t >= now.block_end && now.alone) { /* what is close together ends here */
		end_block(t);
		now.block_end = t + ticks_of_ms(CLOSED_MS);
	}
	if ((t >= now.block_end && !now.shut) || !begin_window(t))
		open_block();
}

static void look_at_window(uint64_t t)
{
	now.next = t + ticks_of_ms(LOOK_MS);
	if (now.state != DRAIN && t < now.window_end && !(now.state == DRAW && solo_is_over()))
		return;
	if (now.state == MARKS || solo_end()) {
		next_window(t);
	} else if (now.state == DRAW) {
		now.state = DRAIN;
		now.window_end = t + ticks_of_ms(DRAIN_MS);
	} else if (t >= now.window_end) {
		cut();
		next_window(t);
	}
}

/* ---- a session ---------------------------------------------------------------------------- */

/* While windows take turns, this thread waits for its turn when it wakes, rather than to take the
 * processor from somebody who is being measured. */
static bool be_polite(void)
{
	static bool noted;
	bool polite = syscalls_be_polite(true);

	if (!polite && !noted)
		agent_note(
			"measuring in place may take the processor from calls that are measured: "
			"SCHED_BATCH is not available under a system-call filter");
	noted |= !polite;
	return polite;
}

static void forget(void)
{
	if (now.state == OFF)
		return;
	if (now.polite)
		syscalls_be_polite(false);
	if (!agent.dead && agent.jvmti) {
		gates_reopen(now.jni, woven_ids());
		end_block(tick_now());
	}
	now.state = OFF;
	turns_release(&now.turns);
	agent_let_jvm();
	now.jni = NULL;
}

/* False: the JVM does not let us in. */
static bool start(uint32_t client)
{
	int8_t *gates = now.gates, *shut_gates = now.shut_gates;
	uint64_t *counts = now.counts, *before = now.before;
	uint32_t n = now.n_gates;

	memset(&now, 0, sizeof(now));
	now.gates = gates, now.shut_gates = shut_gates;
	now.counts = counts, now.before = before, now.n_gates = n;
	now.jni = agent_hold_jvm();
	if (!now.jni)
		return false;
	if (!make_room()) {
		agent_let_jvm();
		return false;
	}
	probes_warm_blanks(now.jni);
	turns_init(&now.turns);
	now.polite = be_polite();
	now.client = client;
	now.begin = now.told = now.block = tick_now();
	now.state = OPEN;
	reading_methods(see_count, NULL);
	memcpy(now.before, now.counts, now.n_gates * sizeof(*now.counts));
	now.next = now.block_end = now.begin + ticks_of_ms(OPEN_MS);
	return true;
}

void in_place_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_in_place m;

	(void)jni;
	if (wire_get_in_place(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	if (now.state != OFF) {
		conn_done(
			c, CANNOT, "%s",
			now.whole
				? "this program is measured in place as long as it runs"
				: "somebody else measures this program in place; try again later");
		return;
	}
	if (is_traced()) {
		conn_done(c, CANNOT, "transactions of this program are traced; try again later");
		return;
	}
	if (!woven_hooked()) {
		conn_done(c, NO, "no method is hooked");
		return;
	}
	if (!start(c->number)) {
		conn_done(c, CANNOT,
			  "the JVM does not let the agent's thread in, or memory is out");
		return;
	}
	if (m.for_ns > SECONDS_MAX * 1000000000ull)
		m.for_ns = SECONDS_MAX * 1000000000ull;
	now.shut = m.flags & IN_PLACE_SHUT;
	now.alone = m.flags & IN_PLACE_ALONE;
	if (!(m.flags & IN_PLACE_HELD))
		now.end = now.begin + ticks_of_ms(m.for_ns / 1000000);
	windows_reset();
	if (m.flags & IN_PLACE_HELD)
		conn_done(c, DONE, "%s", "");
}

void in_place_at_start(void)
{
	if (agent.options.in_place && now.state == OFF && rulebook.n && start(0))
		now.whole = true;
}

int in_place_patience(void)
{
	uint64_t t = tick_now();

	if (now.state == OFF)
		return -1;
	/* Rounded up, and no more: windows that have ended wait for this thread. */
	return t >= now.next ? 0 : (int)((agent_ns(now.next - t) + 999999) / 1000000);
}

static struct conn *client(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->number == now.client)
			return c;
	return NULL;
}

static bool goes_on(uint64_t t)
{
	struct conn *c = client();

	if (agent.dead || !agent.jvmti || (!now.whole && (!c || !conn_is_alive(c)))) {
		forget();
		return false;
	}
	if (now.end && t >= now.end) {
		forget();
		conn_done(c, DONE, "%s", "");
		conn_flush(c, 0);
		return false;
	}
	if (now.end && t - now.told > ticks_of_ms(500)) {
		now.told = t;
		conn_progress(c, "measuring in place", agent_ns(t - now.begin) / 1000000,
			      agent_ns(now.end - now.begin) / 1000000);
	}
	return true;
}

void in_place_tick(void)
{
	uint64_t t = tick_now();

	if (now.state == OFF || t < now.next)
		return;
	if (!goes_on(t))
		return;
	if (now.state == OPEN)
		close_block();
	else
		look_at_window(t);
}

bool in_place_is_for(const struct conn *c)
{
	return now.state != OFF && now.client == c->number && now.end;
}

void in_place_client_gone(uint32_t number)
{
	if (now.state != OFF && now.client && now.client == number)
		forget();
}

void in_place_stop(void)
{
	forget();
}

double in_place_open_share(void)
{
	static uint64_t last, last_open;
	uint64_t t = tick_now(), open = now.open_sum;
	double share = 1;

	if (now.state == OPEN)
		open += t - now.block;
	if (now.state != OFF && last && open >= last_open && t > last)
		share = (double)(open - last_open) / (double)(t - last);
	last = now.state != OFF ? t : 0;
	last_open = open;
	return fmax(share, 0.01);
}

/* Calibrations want to know now. */
static void flush(void)
{
	if (now.shut && now.state == DRAW && solo_end())
		next_window(tick_now());
}

void in_place_put(struct buf *out)
{
	uint64_t t = tick_now(), since = now.block;
	bool open = now.state == OPEN, on = now.state != OFF && t > since;

	flush();
	windows_put(out, &(struct found_more){ .open = on && open ? t - since : 0,
					       .closed = on && !open ? t - since : 0,
					       .flags = now.whole ? PROGRAM_WHOLE : 0 });
}

void in_place_reset(void)
{
	flush();
	windows_reset();
	for (uint32_t id = 0; id < now.n_gates; id++)
		now.before[id] = 0;
}
