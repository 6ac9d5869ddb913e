/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dig/dig.h"
#include "plan/dig/machine.h"
#include "test.h"

#include <stdio.h>

TEST(steal_is_a_share_of_what_was_wanted)
{
	struct machine_time a, b;

	CHECK(machine_read(slice_str("cpu  100 10 20 5000 7 3 2 40 0 0\ncpu0 1 2 3 4 5 6 7 8\n"),
			   &a));
	CHECK_INT(a.wanted, 175, NULL);
	CHECK_INT(a.stolen, 40, NULL);
	CHECK(machine_read(slice_str("cpu 160 10 20 9000 7 3 2 60"), &b));
	CHECK(machine_stolen(&a, &b) == 0.25);
	CHECK(machine_stolen(&b, &a) == 0);
	CHECK(machine_stolen(&a, &a) == 0);
}

TEST(what_the_host_kept_is_time_without_a_processor)
{
	struct machine_had had = machine_had(600, 400, 0);

	CHECK(had.ran_ns == 600 && had.starved == 0.4);
	had = machine_had(600, 400, 0.5); /* the kernel takes it for running */
	CHECK(had.ran_ns == 300 && had.starved == 0.7);
	had = machine_had(1000, 0, 0.84);
	CHECK(had.starved > 0.83 && had.starved < 0.85);
	CHECK(machine_had(0, 0, 0.5).starved < 0);
}

TEST(what_is_no_account_of_processors_is_refused)
{
	static const char *const texts[] = { "",
					     "cpu",
					     "cpu ",
					     "cpu 1 2 3 4 5 6 7",
					     "cpu 1 2 x 4 5 6 7 8",
					     "intr 1 2 3 4 5 6 7 8" };
	struct machine_time t;

	for (size_t i = 0; i < COUNT(texts); i++) {
		CHECK(!machine_read(slice_str(texts[i]), &t));
		CHECK_INT(t.wanted, 0, texts[i]);
	}
}

TEST(dig_tells_what_the_host_kept)
{
	static const struct dig_options none;
	struct buf out = { 0 };
	struct dig d;

	dig_init(&d, &none);
	d.answer.stolen_share = 0.05;
	dig_print(&d, &out);
	buf_u8(&out, 0);
	CHECK(!strstr((char *)out.p, "host"));
	buf_clear(&out);
	d.answer.stolen_share = 0.39;
	dig_print(&d, &out);
	buf_u8(&out, 0);
	CHECK(strstr((char *)out.p, "its host kept 39 %"));
	buf_release(&out);
	dig_release(&d);
}
