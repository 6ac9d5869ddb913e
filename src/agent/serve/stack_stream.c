/* SPDX-License-Identifier: Apache-2.0 */
/* stack_stream.c - a session of samples: begins the engine, drains it, ends it. */
#include "agent/serve/stack_stream.h"

#include <stdio.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/core/task.h"
#include "agent/hotspot/vmstructs.h"
#include "agent/natives/locks.h"
#include "agent/sampling/engine.h"
#include "agent/sampling/events.h"
#include "agent/sampling/mapped.h"
#include "agent/sampling/place_names.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/slots.h"
#include "agent/sampling/survivors.h"
#include "agent/serve/sample.h"
#include "base/clock.h"
#include "base/plural.h"
#include "sample/spot.h"
#include "sample/walk.h"
#include "wire/wire.h"

enum {
	RATE = 1000,
	WALL_RATE = 100,
	ALLOC_INTERVAL = 512 << 10, /* bytes */
	ALLOC_LEAST = 64,
	MS = 1000000, /* ns */
	DRAIN_MS = 100,
	SLOW = 10, /* times less often with STACKS_SLOW */
	STATE_MS = 500,
	FILES_MS = 1000,
	SCAN_COST = 100,    /* one part in so many of the time may go into looking for threads */
	OUT_MAX = 16 << 20, /* a client that is so far behind gets no more until it has read */
};

static struct {
	uint32_t client; /* its connection; 0: nobody wants samples */
	struct vm_layout layout;
	struct place_names names;
	bool *debug_info; /* the JVM's flag DebugNonSafepoints */
	bool debug_before;
	uint64_t begin, end, next, told, scan; /* ticks; end 0: never */
	uint64_t files;			       /* when mapped files are to be looked for */
	unsigned mode;			       /* STACKS_* */
	unsigned slow;			       /* 1, or SLOW */
	bool live;
	JNIEnv *jni; /* while events of the JVM are wanted */
	uint64_t samples, lost, cpu_before, own_before;
	struct buf numbers, rows;
} now;

static uint64_t ticks_of_ms(uint64_t ms)
{
	return (uint64_t)((unsigned __int128)ms * agent.scale.hz / 1000u);
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* Compilers that record where inlined methods are at every instruction, not only where threads can be
 * stopped, tell the truth about code that is compiled from now on. */
static void want_debug_info(void)
{
	now.debug_info = vmstructs_flag("DebugNonSafepoints");
	now.debug_before = now.debug_info && *now.debug_info;
	if (now.debug_info)
		*now.debug_info = true;
}

static void end_events(void)
{
	JNIEnv *jni = agent.dead || !agent.jvmti ? NULL : now.jni;

	if (now.mode == STACKS_LOCK && jni)
		(void)locks_time(false);
	if (now.live && jni)
		sample_gc_events(false);
	events_end(jni);
	if (now.jni)
		agent_let_jvm();
	now.jni = NULL;
}

static void forget(void)
{
	if (!now.client)
		return;
	now.client = 0;
	end_events();
	engine_end();
	if (now.debug_info)
		*now.debug_info = now.debug_before;
	place_names_release(&now.names);
	buf_release(&now.numbers);
	buf_release(&now.rows);
}

static const char *begin_events(const struct wire_ask_stacks *m, uint32_t rate)
{
	uint64_t bytes = m->interval ? m->interval : ALLOC_INTERVAL;
	const struct events_wish wish = {
		.layout = &now.layout,
		.mode = now.mode,
		.live = m->flags & STACKS_LIVE,
		.interval = now.mode == STACKS_LOCK ? 1000000000u / rate
			    : bytes < ALLOC_LEAST   ? ALLOC_LEAST
			    : bytes < INT32_MAX	    ? bytes
						    : INT32_MAX,
	};
	const char *why;

	now.jni = agent_hold_jvm();
	why = events_begin(now.jni, &wish);
	if (!why && now.mode == STACKS_LOCK && !locks_time(true))
		why = "it does not tell of waits for monitors";
	now.live = !why && wish.live && now.mode == STACKS_ALLOC;
	if (now.live)
		sample_gc_events(true);
	if (why)
		end_events();
	return why;
}

static const char *begin_engine(const struct wire_ask_stacks *m)
{
	bool wall = m->mode == STACKS_WALL || m->mode == STACKS_LOCK;
	uint32_t usual = m->mode == STACKS_WALL ? WALL_RATE : RATE,
		 rate = m->rate ? m->rate : usual;
	uint32_t most = wall ? ENGINE_WALL_MAX : ENGINE_RATE_MAX;
	const char *why;

	rate = rate < most ? rate : most;
	why = engine_begin(&now.layout, rate, now.mode);
	if (why || (now.mode != STACKS_ALLOC && now.mode != STACKS_LOCK))
		return why;
	why = begin_events(m, rate);
	if (why)
		engine_end();
	return why;
}

static const char *begin(const struct conn *c, const struct wire_ask_stacks *m)
{
	const char *why = peek_begin() ? vm_layout_find(&now.layout, agent.jdk)
				       : "its memory cannot be read";

	if (!why && m->mode > STACKS_LOCK)
		why = "its agent is older than this sonde";
	if (why)
		return why;
	now.mode = m->mode;
	place_names_init(&now.names, &now.layout);
	now.cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	now.own_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	why = begin_engine(m);
	if (why)
		return why;
	want_debug_info();
	now.client = c->number;
	now.begin = now.told = now.scan = tick_now();
	now.slow = m->flags & STACKS_SLOW ? SLOW : 1;
	now.next = now.begin + ticks_of_ms(DRAIN_MS);
	now.end = m->for_ns ? now.begin + ticks_of_ms(m->for_ns / 1000000u) : 0;
	return NULL;
}

void stack_stream_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_ask_stacks m;
	const char *why;

	(void)jni;
	if (wire_get_ask_stacks(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	if (now.client) {
		conn_done(c, CANNOT, "somebody else samples this program; try again later");
		return;
	}
	memset(&now, 0, sizeof(now));
	why = begin(c, &m);
	if (!why)
		return;
	peek_end();
	conn_done(c, CANNOT, "this JVM cannot be sampled: %s", why);
}

static struct conn *client(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->number == now.client)
			return c;
	return NULL;
}

/* ---- what is sent -------------------------------------------------------------------------- */

static void tell_thread(struct thread_slot *s)
{
	char name[64];

	if (s->told || !task_text(s->tid, "comm", name, sizeof(name)))
		return;
	s->told = true;
	name[strcspn(name, "\n")] = '\0';
	wire_put_stack_thread(&now.rows, &(struct wire_stack_thread){ .thread = (uint32_t)s->tid,
								      .name = slice_str(name) });
}

static void put_stack(const struct stacks *table, const struct stack *s)
{
	buf_clear(&now.numbers);
	for (uint32_t i = 0; i < s->n; i++)
		place_names_put(&now.names, table->spots[s->at + i], &now.numbers, &now.rows);
	wire_put_stack_row(&now.rows, &(struct wire_stack_row){ .thread = s->thread,
								.state = s->state,
								.end = s->end,
								.count = s->count,
								.places = buf_slice(&now.numbers),
								.amount = s->amount,
								.hash = s->hash,
								.many = s->many });
}

static void put_again(const struct stack *s)
{
	wire_put_stack_again(&now.rows, &(struct wire_stack_again){ .hash = s->hash,
								    .count = s->count,
								    .amount = s->amount,
								    .many = s->many });
}

/* False: a handler is still in the table. */
static bool drain(struct conn *c)
{
	struct stacks *table = engine_take();
	const struct stack *s;
	uint32_t i = 0;

	if (!table)
		return false;
	place_names_next_round(&now.names, mapped_now());
	slots_each(tell_thread);
	while ((s = stacks_next(table, &i))) {
		now.samples += s->count;
		if (s->end == WALK_NO_CODE)
			now.files = 0;
		if (s->again)
			put_again(s);
		else
			put_stack(table, s);
	}
	now.lost += table->lost;
	buf_put(&c->out, buf_slice(&now.rows));
	buf_clear(&now.rows);
	return true;
}

/* What people should know about these samples. */
static const char *note(char text[200])
{
	uint32_t n = survivors_collections();

	text[0] = '\0';
	if (now.live && !n)
		snprintf(
			text, 200,
			"no collection ran meanwhile, so nothing is known to stay: take longer, or "
			"run jcmd %d GC.run meanwhile",
			(int)getpid());
	else if (now.live)
		snprintf(text, 200, "%u collection%s ran; one sampled object in %u was followed", n,
			 plural(n), survivors_one_in());
	else if (!now.layout.code.has_scopes)
		snprintf(text, 200, "inlined methods cannot be told apart here");
	return text;
}

static void put_state(struct conn *c)
{
	char text[200];

	wire_put_stacks_state(&c->out,
			      &(struct wire_stacks_state){
				      .samples = now.samples,
				      .lost = now.lost + engine_lost() + events_lost(),
				      .wall_ns = agent_age_ns(now.begin),
				      .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - now.cpu_before,
				      .own_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - now.own_before,
				      .period_ns = engine_period_ns(),
				      .threads = slots_count(),
				      .engine = slice_str(engine_name()),
				      .note = slice_str(note(text)) });
}

/* ---- time ---------------------------------------------------------------------------------- */

int stack_stream_patience(void)
{
	uint64_t t = tick_now(), left, tick;

	if (!now.client)
		return -1;
	left = t >= now.next ? 0 : agent_ns(now.next - t) + MS;
	tick = engine_next_ns();
	if (tick < left) /* not later than it must be, by poll()'s milliseconds */
		left = tick && tick < MS ? MS : tick;
	return (int)(left / MS);
}

/* Threads that live shorter than it takes until the next look are not seen; code that is mapped is known
 * at the first look after a stack led through it. */
static void look_for_threads(uint64_t t)
{
	uint64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (t < now.scan)
		return;
	engine_scan(t >= now.files);
	if (t >= now.files)
		now.files = t + ticks_of_ms(FILES_MS * now.slow);
	cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost;
	now.scan = t + ticks_of_ms(cost * SCAN_COST * now.slow / 1000000u);
}

static void finish(struct conn *c)
{
	engine_finish();
	for (int i = 0; i < 10 && !drain(c); i++)
		;
	if (now.live)
		survivors_put(now.jni, &c->out);
	put_state(c);
	conn_done(c, DONE, "%llu sample%s", (unsigned long long)now.samples, plural(now.samples));
	forget();
	conn_flush(c, 0);
}

void stack_stream_tick(void)
{
	struct conn *c = now.client ? client() : NULL;
	uint64_t t = tick_now();

	if (now.client)
		engine_tick();
	if (!now.client || t < now.next)
		return;
	if (!c || agent.dead || !conn_is_alive(c)) {
		forget();
		return;
	}
	look_for_threads(t);
	events_round(DRAIN_MS * now.slow * (uint64_t)MS);
	if (now.live)
		survivors_sweep(now.jni);
	if (now.end && t >= now.end) {
		finish(c);
		return;
	}
	if (c->out.n < OUT_MAX)
		(void)drain(c);
	if (t >= now.told) {
		now.told = t + ticks_of_ms(STATE_MS);
		put_state(c);
	}
	conn_flush(c, 0);
	now.next = t + ticks_of_ms(DRAIN_MS * now.slow);
}

bool stack_stream_is_for(const struct conn *c)
{
	return now.client && now.client == c->number;
}

void stack_stream_client_gone(uint32_t number)
{
	if (now.client && now.client == number)
		forget();
}

void stack_stream_stop(void)
{
	forget();
}
