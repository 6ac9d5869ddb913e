/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "manager/bus/bus_key.h"

static const struct {
	const char *name, *key;
} pairs[] = {
	{ "com.shop.Main", "plan.com=2Eshop=2EMain" },
	{ "a-b_c9", "plan.a-b_c9" },
	{ "*", "plan.=2A" },
	{ "> =", "plan.=3E=20=3D" },
	{ "\xc3\xa9", "plan.=C3=A9" },
};

TEST(names_become_keys_and_come_back)
{
	for (size_t i = 0; i < COUNT(pairs); i++) {
		char key[BUS_KEY], name[64];

		CHECK(bus_key_make(key, "plan", slice_str(pairs[i].name)));
		CHECK_STR(key, pairs[i].key, pairs[i].name);
		CHECK(bus_key_read(key, "plan", name, sizeof(name)));
		CHECK_STR(name, pairs[i].name, pairs[i].key);
	}
}

TEST(keys_that_nobody_writes_are_refused)
{
	static const char *const wrong[] = { "",	 "plan",     "plan.",	     "hold.a",
					     "plan.a.b", "plan.=",   "plan.=4",	     "plan.=00",
					     "plan.=2e", "plan.=41", "plan.a b",     "plan.a*",
					     "planes.a", "plan.=G0", "plan.12345678" };

	for (size_t i = 0; i < COUNT(wrong); i++) {
		char name[8];

		if (bus_key_read(wrong[i], "plan", name, sizeof(name)))
			CHECK_STR(wrong[i], "", "it was taken");
	}
}

TEST(names_that_are_empty_or_too_long_have_no_key)
{
	static char longest[BUS_KEY];
	char key[BUS_KEY];

	memset(longest, '.', sizeof(longest) - 1);
	CHECK(!bus_key_make(key, "plan", slice_str("")));
	CHECK(!bus_key_make(key, "plan", slice_str(longest)));
	CHECK(!bus_key_make(key, "plan", (struct slice){ (const uint8_t *)longest, 200 }));
	CHECK(bus_key_make(key, "plan", (struct slice){ (const uint8_t *)longest, 160 }));
}
