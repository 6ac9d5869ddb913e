/* SPDX-License-Identifier: Apache-2.0 */
/* thread_trees.c - how a thread comes to a tree of its own, how it is muted, and how it leaves.
 *
 * A thread that was never seen, one that is muted, and one that shares because all trees are taken
 * look alike to the fast paths: nothing matches.  The slow paths tell them apart. */
#include "probe/context.h"
#include "probe/lane.h"
#include "probe/pages.h"
#include "probe/tracing.h"

#include "base/err.h"
#include "base/tick.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { SHARE_FOR = 1024 }; /* calls until a thread without a tree asks for one again */

struct probe_global probe;
struct probe_window probe_no_window;
struct probe_node probe_nobody = { .key = UINT64_MAX, .recent = &probe_nobody };
struct probe_node probe_nowhere = { .key = UINT64_MAX,
				    .recent = &probe_nobody,
				    .window = &probe_no_window };
struct probe_frame probe_no_frame = { .node = &probe_nowhere, .id = ID_NONE };
__thread struct probe_local probe_local
	__attribute__((tls_model("initial-exec"))) = { .top = &probe_no_frame,
						       .recent = &probe_nobody };

int probe_init(size_t bytes)
{
	size_t methods = PROBE_METHODS * sizeof(struct probe_method);
	size_t threads = (PROBE_THREADS + 1) * sizeof(struct probe_thread);
	int rc = E_NO_MEMORY;

	if (probe.ready)
		return 0;
	probe.methods = pages_map(methods);
	probe.threads = pages_map(threads);
	if (!probe.methods || !probe.threads)
		goto fail;
	rc = pages_init(bytes);
	if (rc < 0)
		goto fail;
	rc = ring_init();
	if (rc >= 0)
		rc = context_init();
	if (rc >= 0)
		rc = meter_init();
	if (rc >= 0)
		rc = lane_init();
	if (rc < 0)
		goto fail;
	if (!thread_prepare(&probe.threads[PROBE_THREADS]))
		rc = E_NO_MEMORY;
	if (rc < 0)
		goto fail;
	STORE(probe_words.lanes, 1);
	PUBLISH(probe.ready, true);
	return 0;
fail:
	pages_unmap(probe.methods, methods);
	pages_unmap(probe.threads, threads);
	return rc;
}

bool thread_prepare(struct probe_thread *t)
{
	t->hash = pages_map(probe_pages.chains * sizeof(*t->hash));
	if (!t->hash)
		return false;
	t->root.key = UINT64_MAX;
	t->root.recent = &probe_nobody;
	t->frames[0] = (struct probe_frame){ .node = &t->root, .id = ID_NONE };
	t->base = t->frames;
	t->hash_n = HASH_MIN;
	t->hash_mask = 2 * HASH_MIN - 1;
	t->lane = NULL;
	t->off = (struct meter_off){ 0 };
	t->last = (struct types_last){ 0 };
	t->counters = (struct counters){ 0 };
	/* Never 0, and another one for each. */
	t->random = (SHARED_ADD(probe.seed, 1) + 1) * 0x9e3779b97f4a7c15u;
	return true;
}

struct probe_thread *thread_next(uint32_t *i)
{
	uint32_t used = TAKE(probe.owners_n); /* figures of thousands of methods are read by this */

	while (*i < used && (uint32_t)TAKE(probe.owner[*i]) < OWNER_LIVES)
		++*i;
	if (*i >= used && *i < PROBE_THREADS)
		*i = PROBE_THREADS;
	return *i <= PROBE_THREADS ? &probe.threads[(*i)++] : NULL;
}

bool thread_change(uint32_t i, uint64_t from, uint64_t to)
{
	return __atomic_compare_exchange_n(&probe.owner[i], &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static void note_used(uint32_t n)
{
	uint32_t before = LOAD(probe.owners_n);

	while (before < n && !__atomic_compare_exchange_n(&probe.owners_n, &before, n, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

/* The first free block, so that few are ever touched.  One that a thread with the same number as
 * this one has, was had by a thread that has died. */
static struct probe_thread *claim(uint64_t tid)
{
	struct probe_thread *t = NULL;

	for (uint32_t i = 0; i < PROBE_THREADS; i++) {
		uint64_t owner = LOAD(probe.owner[i]);

		if (owner == (tid << 32 | OWNER_LIVES))
			thread_change(i, owner, tid << 32 | OWNER_ENDED);
		else if (owner == OWNER_NONE && !t && thread_change(i, owner, OWNER_COMES))
			t = &probe.threads[i];
	}
	return t;
}

struct probe_thread *thread_take(void)
{
	struct probe_local *l = &probe_local;
	struct probe_thread *t;
	uint32_t tid;

	if (!TAKE(probe.ready))
		return NULL;
	if (l->wait > 0) {
		l->wait--;
		return NULL;
	}
	tid = (uint32_t)syscall(SYS_gettid);
	t = claim(tid);
	if (t && !thread_prepare(t)) {
		PUBLISH(probe.owner[t - probe.threads], OWNER_NONE);
		t = NULL;
	}
	if (t) {
		t->tid = tid;
		note_used((uint32_t)(t - probe.threads) + 1);
		PUBLISH(probe.owner[t - probe.threads], (uint64_t)tid << 32 | OWNER_LIVES);
		SHARED_ADD(probe.threads_n, 1);
		l->mine = t;
		l->limit = &t->frames[PROBE_DEPTH];
		thread_set_top(t->frames);
		return t;
	}
	SHARED_ADD(probe.threads_shared, 1);
	l->wait = SHARE_FOR;
	if (!l->random)
		l->random = (SHARED_ADD(probe.seed, 1) + 1) * 0x9e3779b97f4a7c15u;
	return NULL;
}

struct probe_frame *thread_top(void)
{
	struct probe_local *l = &probe_local;

	if (!l->mine)
		return NULL;
	return l->muted ? l->mine->aside : l->top;
}

void thread_set_top(struct probe_frame *top)
{
	struct probe_local *l = &probe_local;

	if (l->muted) {
		l->mine->aside = top;
	} else {
		l->top = top;
		l->recent = frame_context(top)->recent;
	}
}

/* Nothing matches, so every call takes the slow path, which looks further. */
static void hide(struct probe_local *l)
{
	l->top = &probe_no_frame;
	l->recent = &probe_nobody;
}

void probe_mute(bool begins)
{
	struct probe_local *l = &probe_local;

	if (begins) {
		if (l->muted++ > 0 || !l->mine)
			return;
		l->mine->aside = l->top;
		lane_mute(l->mine, true);
		hide(l);
	} else if (l->muted > 0 && --l->muted == 0 && l->mine) {
		lane_mute(l->mine, false);
		thread_set_top(l->mine->aside);
	}
}

void probe_thread_end(void)
{
	struct probe_local *l = &probe_local;
	struct probe_thread *t = l->mine;

	if (t && t->trace)
		trace_gone(&t->trace, tick_now());
	l->mine = NULL;
	hide(l);
	if (!t)
		return;
	lane_release(t);
	(void)counters_close(&t->counters);
	PUBLISH(probe.owner[t - probe.threads], (uint64_t)t->tid << 32 | OWNER_ENDED);
}
