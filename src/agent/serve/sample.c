/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - stack traces of all threads, added up in one tree.
 *
 * The tree has the outermost frames at its root; a node is a method in its sequence of callers.
 * What is counted is where a stack ended, and what its thread did: the receiver sums up.  Each look
 * stops the threads for a moment (GetAllStackTraces); what that takes is measured, and when it is
 * more than one part in COST_MAX of the time, looks become rarer.  Thread states are the JVM's: a
 * thread in a system call is "native", one that runs Java code or waits for a processor is
 * "running". */
#include "agent/serve/sample.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "base/random.h"
#include "agent/classes/sites.h"
#include "agent/core/agent.h"
#include "agent/hotspot/vitals.h"
#include "agent/natives/locks.h"
#include "agent/natives/virtuals.h"
#include "agent/sampling/survivors.h"
#include "agent/serve/state_bits.h"
#include "wire/wire.h"

enum {
	RATE = 25,
	RATE_MAX = 100,
	SECONDS_MAX = 600,
	FRAMES_MAX = 400,     /* of one stack */
	NODES_MAX = 30000,    /* of the tree */
	THREADS_MAX = 4096,   /* power of two */
	PARKED_LOOKED_AT = 4, /* locks that are asked about in one look */
	LOOKS_WITHOUT = 10,   /* until a program without virtual threads is asked for them again */
	COST_MAX = 200,	      /* one part in so many of the time may go into looking */
};

struct node {
	const struct site *site;
	struct node *parent, *first, *next;
	uint32_t self[THREAD_STATES];
	uint32_t stretches, threads, depth;
};

struct seen { /* a thread */
	uint32_t hash;
	struct node *last; /* where it was at the last look */
	uint64_t look;
};

/* The session.  The agent's thread. */
static struct {
	uint32_t client; /* its connection; 0: no client wants samples */
	JNIEnv *jni;	 /* held until the session ends */
	struct arena mem;
	struct sites sites;
	struct node *root;
	uint32_t nodes;
	struct seen *threads;
	uint32_t rate;
	uint64_t begin, end, next, told; /* ticks */
	uint64_t looks, lost;
	uint64_t ask_virtual; /* the look in which virtual threads are asked for */
	uint64_t cost;	      /* ns */
	uint32_t live;	      /* threads with a stack, at the last look */
	struct vitals before;
} now;

static struct { /* of the JVM's collector; written in a VM operation */
	uint64_t begin, ticks, count;
} gc;

static int gc_users; /* sessions that want the events; the agent's thread */

void JNICALL sample_on_gc_start(jvmtiEnv *jvmti)
{
	(void)jvmti;
	gc.begin = tick_now();
}

void JNICALL sample_on_gc_end(jvmtiEnv *jvmti)
{
	(void)jvmti;
	if (gc.begin)
		__atomic_fetch_add(&gc.ticks, tick_now() - gc.begin, __ATOMIC_RELAXED);
	gc.begin = 0;
	__atomic_fetch_add(&gc.count, 1, __ATOMIC_RELAXED);
	survivors_on_gc();
}

static void set_gc_event(jvmtiEventMode mode, jvmtiEvent event)
{
	(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, event, NULL);
}

void sample_gc_events(bool on)
{
	jvmtiCapabilities want;

	gc_users += on ? 1 : -1;
	if (on) {
		memset(&want, 0, sizeof(want));
		want.can_generate_garbage_collection_events = 1;
		(*agent.jvmti)->AddCapabilities(agent.jvmti, &want);
	}
	set_gc_event(gc_users ? JVMTI_ENABLE : JVMTI_DISABLE, JVMTI_EVENT_GARBAGE_COLLECTION_START);
	set_gc_event(gc_users ? JVMTI_ENABLE : JVMTI_DISABLE,
		     JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
}

/* ---- the tree ------------------------------------------------------------------------------ */

static struct node *child_of(struct node *parent, const struct site *site)
{
	struct node *n;

	for (n = parent->first; n; n = n->next)
		if (n->site == site)
			return n;
	n = now.nodes < NODES_MAX ? arena_zero(&now.mem, sizeof(*n)) : NULL;
	if (!n)
		return NULL;
	now.nodes++;
	n->site = site;
	n->parent = parent;
	n->depth = parent->depth + 1;
	n->next = parent->first;
	parent->first = n;
	return n;
}

/* The entry of a thread, by its identity hash; NULL: too many threads. */
static struct seen *seen_of(jthread thread)
{
	jint hash = 0;

	(*agent.jvmti)->GetObjectHashCode(agent.jvmti, thread, &hash);
	hash |= 1;
	for (uint32_t i = 0; i < 64; i++) {
		struct seen *s = &now.threads[((uint32_t)hash + i) % THREADS_MAX];

		if (!s->hash)
			s->hash = (uint32_t)hash;
		if (s->hash == (uint32_t)hash)
			return s;
	}
	return NULL;
}

/* Counts the nodes of the path that the thread was not in at the last look. */
static void note_path(struct node *leaf, struct seen *s)
{
	struct node *old = s && s->look + 1 == now.looks ? s->last : NULL;
	bool fresh = s && !s->look;

	for (struct node *n = leaf; n->parent; n = n->parent) {
		while (old && old->depth > n->depth)
			old = old->parent;
		if (old == n)
			break;
		n->stretches++;
		n->threads += fresh;
	}
	if (s) {
		s->last = leaf;
		s->look = now.looks;
	}
}

/* Of a thread that stands for `each`. */
static void add_stack(const jvmtiStackInfo *info, uint32_t each, int *parked)
{
	struct node *n = now.root;
	unsigned state = state_bits_read(info->state);
	bool acquires = false;

	for (jint i = info->frame_count; i-- > 0;) {
		const struct site *site =
			sites_get(&now.sites, now.jni, info->frame_buffer[i].method);
		struct node *child = site ? child_of(n, site) : NULL;

		if (site && !child) { /* the rest is counted here */
			now.lost++;
			break;
		}
		n = child ? child : n;
		acquires |= site && site->flags & SITE_ACQUIRE;
	}
	n->self[state] += each;
	note_path(n, seen_of(info->thread));
	if (state == THREAD_PARKED && acquires && (*parked)++ < PARKED_LOOKED_AT)
		locks_parked(now.jni, info->thread, &now.sites);
}

/* Of our own: the program may depend on the sequence of random(). */
static uint64_t any(void)
{
	static uint64_t x;

	x ^= x ? 0 : tick_now() | 1;
	return random_next(&x);
}

/* Of virtual threads the JVM tells only when asked for each.  A program that has none is asked for
 * them in one look of some. */
static void look_at_virtual(int *parked)
{
	jvmtiStackInfo *all = NULL;
	struct virtuals v;

	if (now.looks < now.ask_virtual)
		return;
	virtuals_find(now.jni, &v, any());
	now.ask_virtual = now.looks + (v.n ? 1 : LOOKS_WITHOUT);
	if (!v.n ||
	    (*agent.jvmti)
			    ->GetThreadListStackTraces(agent.jvmti, v.n, v.threads, FRAMES_MAX,
						       &all) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < v.n; i++) {
		if (!all[i].frame_count)
			continue;
		now.live += v.each;
		add_stack(&all[i], v.each, parked);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
}

/* Processor time of this thread.  Not the clock on the wall: on a busy machine most of a look is
 * waiting for a processor, which costs nobody. */
static uint64_t own_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The stacks are walked by the JVM's own thread while we wait for it; that costs the program about
 * twice as much as what we do with them. */
static void look(void)
{
	jvmtiStackInfo *all = NULL;
	uint64_t begin = own_ns();
	int parked = 0;
	jint n = 0;

	if ((*now.jni)->PushLocalFrame(now.jni, 64) < 0) {
		(*now.jni)->ExceptionClear(now.jni);
		return;
	}
	now.looks++;
	now.live = 0;
	if ((*agent.jvmti)->GetAllStackTraces(agent.jvmti, FRAMES_MAX, &all, &n) ==
	    JVMTI_ERROR_NONE)
		for (jint i = 0; i < n; i++) {
			if (!all[i].frame_count)
				continue;
			now.live++;
			add_stack(&all[i], 1, &parked);
		}
	look_at_virtual(&parked);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
	(*now.jni)->PopLocalFrame(now.jni, NULL);
	now.cost += 3 * (own_ns() - begin);
}

/* ---- a session ----------------------------------------------------------------------------- */

static void forget(void)
{
	if (!now.client)
		return;
	now.client = 0;
	if (agent.jvmti && !agent.dead) {
		locks_end();
		sample_gc_events(false);
	}
	sites_release(&now.sites);
	arena_release(&now.mem);
	free(now.threads);
	now.threads = NULL;
	if (now.jni)
		agent_let_jvm();
	now.jni = NULL;
}

static struct conn *client(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->number == now.client)
			return c;
	return NULL;
}

static uint64_t ticks_of_ns(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * agent.scale.hz / 1000000000u);
}

void sample_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_sample m;

	(void)jni;
	if (wire_get_sample(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	if (now.client) {
		conn_done(c, CANNOT,
			  "somebody else takes samples of this program; try again later");
		return;
	}
	memset(&now, 0, sizeof(now));
	now.jni = agent_hold_jvm();
	arena_init(&now.mem);
	sites_init(&now.sites);
	now.root = arena_zero(&now.mem, sizeof(*now.root));
	now.threads = calloc(THREADS_MAX, sizeof(*now.threads));
	now.client = c->number;
	if (!now.jni || !now.root || !now.threads) {
		forget();
		conn_done(c, CANNOT,
			  "the JVM does not let the agent's thread in, or memory is out");
		return;
	}
	memset(&gc, 0, sizeof(gc));
	sample_gc_events(true);
	locks_begin(now.jni);
	vitals_read(&now.before);
	now.rate = m.rate && m.rate < RATE_MAX ? m.rate : m.rate ? RATE_MAX : RATE;
	now.begin = now.next = now.told = tick_now();
	if (m.for_ns > SECONDS_MAX * 1000000000ull)
		m.for_ns = SECONDS_MAX * 1000000000ull;
	now.end = now.begin + ticks_of_ns(m.for_ns);
}

static void put_node(struct buf *out, const struct node *n)
{
	const struct site *s = n->site;

	wire_put_frame(out,
		       &(struct wire_frame){ .depth = n->depth - 1,
					     .name = slice_str(s->name),
					     .flags = (s->flags & SITE_NATIVE ? FRAME_NATIVE : 0u) |
						      (s->flags & SITE_FIXED ? FRAME_FIXED : 0u) |
						      (s->flags & SITE_SYNTHETIC ? FRAME_SEEN : 0u),
					     .running = n->self[THREAD_RUNS],
					     .native = n->self[THREAD_NATIVE],
					     .blocked = n->self[THREAD_BLOCKED],
					     .waiting = n->self[THREAD_WAITS],
					     .parked = n->self[THREAD_PARKED],
					     .sleeping = n->self[THREAD_SLEEPS],
					     .stretches = n->stretches,
					     .threads = n->threads });
}

static void put_tree(struct buf *out)
{
	const struct node *n = now.root;

	while (n) {
		if (n->parent)
			put_node(out, n);
		if (n->first) {
			n = n->first;
			continue;
		}
		while (n && !n->next)
			n = n->parent;
		n = n ? n->next : NULL;
	}
}

static uint64_t grown(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0; /* threads that have ended are missing */
}

static void put_vitals(struct buf *out)
{
	struct vitals after, *before = &now.before;

	vitals_read(&after);
	wire_put_vitals(out,
			&(struct wire_vitals){ .wall_ns = agent_age_ns(now.begin),
					       .samples = now.looks,
					       .cost_ns = now.cost,
					       .gc_ns = agent_ns(gc.ticks),
					       .gcs = gc.count,
					       .cpu_ns = grown(after.cpu, before->cpu),
					       .delay_ns = grown(after.delay, before->delay),
					       .gc_cpu_ns = grown(after.gc_cpu, before->gc_cpu),
					       .jit_cpu_ns = grown(after.jit_cpu, before->jit_cpu),
					       .own_cpu_ns = grown(after.own_cpu, before->own_cpu),
					       .threads = now.live,
					       .cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
					       .frames_lost = now.lost });
}

static void finish(struct conn *c)
{
	put_tree(&c->out);
	locks_put(&c->out, now.jni, &now.sites);
	put_vitals(&c->out);
	conn_done(c, DONE, "%llu look%s at %u thread%s", (unsigned long long)now.looks,
		  plural(now.looks), now.live, plural(now.live));
	forget();
	conn_flush(c, 0);
}

int sample_patience(void)
{
	uint64_t t = tick_now();

	if (!now.client)
		return -1;
	return t >= now.next ? 0 : (int)(agent_ns(now.next - t) / 1000000) + 1;
}

void sample_tick(void)
{
	struct conn *c = now.client ? client() : NULL;
	uint64_t t = tick_now(), period;

	if (!now.client || t < now.next)
		return;
	if (!c || agent.dead || !conn_is_alive(c)) {
		forget();
		return;
	}
	if (t >= now.end) {
		finish(c);
		return;
	}
	look();
	/* At random around the period, so as not to run in step with the program. */
	period = agent.scale.hz / now.rate;
	period = period / 2 + any() % (period + 1);
	t = tick_now();
	if (now.cost * COST_MAX > agent_ns(t - now.begin) + 250000000u)
		period += ticks_of_ns(now.cost / now.looks * COST_MAX);
	now.next = t + period < now.end ? t + period : now.end;
	if (agent_ns(t - now.told) > 500000000u) {
		now.told = t;
		conn_progress(c, "looking at stacks", agent_ns(t - now.begin) / 1000000,
			      agent_ns(now.end - now.begin) / 1000000);
	}
}

bool sample_is_for(const struct conn *c)
{
	return now.client && now.client == c->number;
}

void sample_client_gone(uint32_t number)
{
	if (now.client && now.client == number)
		forget();
}

void sample_stop(void)
{
	forget();
}
