/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

static struct probe_state state(void)
{
	struct probe_state s;

	probe_state_read(&s);
	return s;
}

static void pulses(uint32_t id, unsigned n, uint64_t ticks)
{
	for (unsigned i = 0; i < n; i++) {
		probe_pulse(ticks);
		probe_pulse_count(id);
	}
}

PROBE_TEST(the_pulse_is_that_of_calls_that_are_drawn_rarely, MIB)
{
	timed(1, 100);
	timed(2, 1);
	pulses(1, 64, 50);
	pulses(2, 64, 999);
	MUST_INT(state().pulses, 64);
	MUST_INT(state().pulse_ticks, 64 * 50);
	probe_method_reset(0);
	MUST_INT(state().pulses, 0);
	MUST_INT(state().pulse_ticks, 0);
}

PROBE_TEST(two_reads_within_one_step_of_a_coarse_clock_are_a_pulse, MIB)
{
	timed(1, 100);
	pulses(1, 16, 0);
	pulses(1, 16, 10);
	MUST_INT(state().pulses, 32);
	MUST_INT(state().pulse_ticks, 160);
}

PROBE_TEST(an_interrupt_is_no_pulse, MIB)
{
	timed(1, 100);
	pulses(1, 64, 1000000);
	MUST_INT(state().pulses, 0);
	probe_pulse(70);
	for (unsigned i = 0; i < 64; i++)
		probe_pulse_count(1); /* each is counted once */
	pulses(1, 63, 70);
	MUST_INT(state().pulses, 64);
	MUST_INT(state().pulse_ticks, 64 * 70);
	pulses(PROBE_METHODS, 64, 70);
	MUST_INT(state().pulses, 64);
}
