/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.c - how long a read of the clock takes where and when the program runs.
 *
 * A virtual machine's counter may take 15 ns a read at one hour and 22 at another, and more while
 * somebody else has the other half of the core.  The entry of a settled call reads it twice, so
 * each of them tells, for nothing.  Only those of calls that are drawn rarely are taken: they are
 * what a calibration compares itself with. */
#include "probe/inner.h"

enum {
	RARE_FROM = 8,	  /* one in so many */
	TICKS_MAX = 4096, /* more is an interrupt, not a read */
	AT_ONCE = 16,	  /* pulses a thread keeps to itself */
};

PROBE_NEAR void probe_pulse(uint64_t ticks)
{
	probe_local.pulse = ticks + 1;
}

PROBE_NEAR void probe_pulse_count(uint32_t id)
{
	struct probe_local *l = &probe_local;
	uint64_t ticks = l->pulse;

	l->pulse = 0;
	if (ticks-- == 0 || ticks > TICKS_MAX || id >= PROBE_METHODS || !TAKE(probe.ready) ||
	    (LOAD(probe.methods[id].one_in) & ONE_IN_N) < RARE_FROM)
		return;
	l->pulse_ticks += (uint32_t)ticks;
	if (++l->pulses < AT_ONCE)
		return;
	SHARED_ADD(probe.pulse_ticks, l->pulse_ticks);
	SHARED_ADD(probe.pulses, AT_ONCE);
	l->pulses = l->pulse_ticks = 0;
}

void pulse_reset(void)
{
	STORE(probe.pulses, 0);
	STORE(probe.pulse_ticks, 0);
}
