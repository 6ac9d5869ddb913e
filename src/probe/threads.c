/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - how a thread comes to a tree of its own, how it is muted, and how it leaves.
 *
 * probe_local.mine is all that the fast paths look at.  It is NULL for a thread that was never
 * seen, for one that is muted, and for one that shares because all trees were taken; the slow
 * paths tell these apart. */
#include "probe/pages.h"

#include "base/err.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { SHARE_FOR = 1024 }; /* calls until a thread without a tree asks for one again */

struct probe_global probe;
struct probe_node probe_nobody = { .key = UINT64_MAX, .recent = &probe_nobody };
struct probe_node probe_nowhere = { .key = UINT64_MAX, .recent = &probe_nobody };
__thread struct probe_local probe_local __attribute__((tls_model("initial-exec")));

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
	if (rc < 0)
		goto fail;
	threads_prepare(&probe.threads[PROBE_THREADS]);
	PUBLISH(probe.ready, true);
	return 0;
fail:
	pages_unmap(probe.methods, methods);
	pages_unmap(probe.threads, threads);
	return rc;
}

void threads_prepare(struct probe_thread *t)
{
	t->root.key = UINT64_MAX;
	t->root.recent = &probe_nobody;
	t->frames[0] = (struct probe_frame){ .node = &t->root, .id = ID_NONE };
	t->base = t->frames;
	t->hash_mask = HASH_MIN - 1;
	/* Never 0, and another one for each. */
	t->random = (SHARED_ADD(probe.seed, 1) + 1) * 0x9e3779b97f4a7c15u;
	STORE(t->top, t->frames);
}

struct probe_thread *threads_next(uint32_t *i)
{
	while (*i < PROBE_THREADS && TAKE(probe.state[*i]) <= THREAD_TAKEN)
		++*i;
	return *i <= PROBE_THREADS ? &probe.threads[(*i)++] : NULL;
}

/* The first free block, so that few are ever touched.  One that still belongs to a thread with
 * the number of this one belongs to a thread that has died. */
static struct probe_thread *claim(uint32_t tid)
{
	struct probe_thread *t = NULL;

	for (uint32_t i = 0; i < PROBE_THREADS; i++) {
		uint32_t is = LOAD(probe.state[i]);

		if (is == THREAD_USED && LOAD(probe.tid[i]) == tid) {
			PUBLISH(probe.state[i], THREAD_ENDED);
		} else if (is == THREAD_FREE && !t &&
			   __atomic_compare_exchange_n(&probe.state[i], &is, THREAD_TAKEN, false,
						       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			t = &probe.threads[i];
		}
	}
	return t;
}

struct probe_thread *threads_take(void)
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
	if (t) {
		threads_prepare(t);
		t->tid = tid;
		STORE(probe.tid[t - probe.threads], tid);
		PUBLISH(probe.state[t - probe.threads], THREAD_USED);
		SHARED_ADD(probe.threads_n, 1);
		l->mine = t;
		return t;
	}
	SHARED_ADD(probe.threads_shared, 1);
	l->wait = SHARE_FOR;
	if (!l->random)
		l->random = (SHARED_ADD(probe.seed, 1) + 1) * 0x9e3779b97f4a7c15u;
	return NULL;
}

void probe_mute(bool begins)
{
	struct probe_local *l = &probe_local;

	if (begins) {
		if (l->muted++ > 0)
			return;
		l->aside = l->mine;
		l->mine = NULL;
	} else if (l->muted > 0 && --l->muted == 0) {
		l->mine = l->aside;
		l->aside = NULL;
	}
}

void probe_thread_end(void)
{
	struct probe_local *l = &probe_local;
	struct probe_thread *t = l->muted ? l->aside : l->mine;

	l->mine = NULL;
	l->aside = NULL;
	if (t)
		PUBLISH(probe.state[t - probe.threads], THREAD_ENDED);
}
