/* SPDX-License-Identifier: Apache-2.0 */
/* meter.c - processor time and allocated bytes of single calls.
 *
 * Reading a thread's processor time is a system call, some hundred ns to a microsecond.  So only calls that
 * are timed are metered, and only of methods for which it was asked.  The meter is read before the
 * clock at the begin of a call and after it at its end: the call's own time has nothing of that, its
 * processor time has what one reading costs, which is found out once and taken off.
 *
 * A virtual thread that moves on has another carrier's meter at its end: such calls are not metered. */
#include "probe/pages.h"

#include "base/err.h"

#include <time.h>

static struct {
	struct probe_metered *methods;
	uint64_t (*bytes)(void);
	uint64_t cost_ns; /* of one reading */
} meter;

static uint64_t cpu_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int meter_init(void)
{
	meter.methods = pages_map(PROBE_METHODS * sizeof(*meter.methods));
	if (!meter.methods)
		return E_NO_MEMORY;
	meter.cost_ns = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		uint64_t begin = cpu_ns(), ns = cpu_ns() - begin;

		meter.cost_ns = ns < meter.cost_ns ? ns : meter.cost_ns;
	}
	return 0;
}

void probe_meter_bytes(uint64_t (*bytes)(void))
{
	__atomic_store_n(&meter.bytes, bytes, __ATOMIC_RELEASE);
}

void meter_begin(struct probe_meter *now)
{
	uint64_t (*bytes)(void) = __atomic_load_n(&meter.bytes, __ATOMIC_ACQUIRE);

	now->bytes = bytes ? bytes() : 0;
	now->cpu_ns = cpu_ns();
}

void meter_end(const struct probe_thread *t, const struct probe_frame *f, uint64_t ticks)
{
	const struct probe_meter *begin = &t->meter[f - t->frames];
	struct probe_metered *m = &meter.methods[frame_id(f)];
	struct probe_meter now;
	uint64_t ns;

	meter_begin(&now);
	ns = now.cpu_ns - begin->cpu_ns;
	ns = ns > meter.cost_ns ? ns - meter.cost_ns : 0;
	SHARED_ADD(m->ticks, ticks * f->weight);
	SHARED_ADD(m->cpu_ns, ns * f->weight);
	SHARED_ADD(m->bytes, (now.bytes - begin->bytes) * f->weight);
	SHARED_ADD(m->weight, f->weight);
	SHARED_ADD(m->calls, 1);
}

void meter_reset(uint32_t id)
{
	struct probe_metered *m = &meter.methods[id];

	STORE(m->calls, 0);
	STORE(m->weight, 0);
	STORE(m->ticks, 0);
	STORE(m->cpu_ns, 0);
	STORE(m->bytes, 0);
}

void probe_metered_read(uint32_t id, struct probe_metered *out)
{
	const struct probe_metered *m;

	*out = (struct probe_metered){ 0 };
	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &meter.methods[id];
	out->calls = LOAD(m->calls);
	out->weight = LOAD(m->weight);
	out->ticks = LOAD(m->ticks);
	out->cpu_ns = LOAD(m->cpu_ns);
	out->bytes = LOAD(m->bytes);
}
