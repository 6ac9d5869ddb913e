/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cli/report/states.h"

TEST(who_has_no_processor_and_is_neither_blocked_nor_ready_waits)
{
	struct wire_method m = { .metered = 3,
				 .metered_ns = 100,
				 .cpu_ns = 20,
				 .blocked_ns = 30,
				 .delay_ns = 10,
				 .self_metered_ns = 50,
				 .self_cpu_ns = 51 };
	struct states all = states_of_method(&m), own = states_of_method_self(&m);

	CHECK(all.known);
	CHECK_INT(all.waiting, 40, NULL);
	CHECK_INT(all.run + all.blocked + all.waiting + all.descheduled, all.elapsed, NULL);
	CHECK_INT(own.waiting, 0, "clocks differ");
}

TEST(states_that_are_not_known_are_null)
{
	struct wire_node m = { .metered = 1,
			       .metered_ns = 100,
			       .cpu_ns = 20,
			       .unknown = METER_NO_DELAY | METER_NO_BYTES };
	struct states all = states_of_node(&m), own = states_of_node_self(&m);
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	states_json(&j, &all, &own);
	json_close(&j, '}');
	buf_u8(&out, 0);
	CHECK(strstr((const char *)out.p, "\"waiting_ns\":80"));
	CHECK(strstr((const char *)out.p, "\"blocked_ns\":0"));
	CHECK(strstr((const char *)out.p, "\"descheduled_ns\":null"));
	CHECK(strstr((const char *)out.p, "\"allocated_bytes\":null"));
	buf_release(&out);
}

TEST(a_method_that_is_not_metered_has_no_states)
{
	struct wire_method m = { .calls = 5 };
	struct states all = states_of_method(&m);
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	states_json(&j, &all, &all);
	json_close(&j, '}');
	CHECK_INT(out.n, 2, "{}");
	buf_release(&out);
}
