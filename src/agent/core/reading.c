/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - one reader of the probe's figures at a time.
 *
 * Sweeping gives back the memory of threads that have ended.  A report that is written while the
 * JVM ends reads that memory in another thread, and without the lock met pages that were just given
 * back: a program that has ended well would have crashed behind its last line. */
#include "agent/core/reading.h"

#include <pthread.h>

/* One reader at a time: src/probe has one cursor. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void reading_method(uint32_t id, struct probe_figures *out, uint32_t *histogram)
{
	pthread_mutex_lock(&turn);
	probe_method_read(id, out, histogram);
	pthread_mutex_unlock(&turn);
}

void reading_reset(uint32_t id)
{
	pthread_mutex_lock(&turn);
	probe_method_reset(id);
	pthread_mutex_unlock(&turn);
}

uint64_t reading_move(uint32_t id, uint32_t to)
{
	struct probe_figures f;

	pthread_mutex_lock(&turn);
	probe_method_read(id, &f, NULL);
	probe_method_move(id, to);
	pthread_mutex_unlock(&turn);
	return f.calls;
}

int reading_methods(probe_visit *visit, void *ctx)
{
	int rc;

	pthread_mutex_lock(&turn);
	rc = probe_methods(visit, ctx);
	pthread_mutex_unlock(&turn);
	return rc;
}

int reading_tree(probe_visit *visit, void *ctx)
{
	int rc;

	pthread_mutex_lock(&turn);
	rc = probe_tree(visit, ctx);
	pthread_mutex_unlock(&turn);
	return rc;
}

void reading_sweep(uint64_t now, uint64_t stall_ticks)
{
	pthread_mutex_lock(&turn);
	probe_sweep();
	probe_stalls(now, stall_ticks);
	pthread_mutex_unlock(&turn);
}
