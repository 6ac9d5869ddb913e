/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "rule/native_rule.h"
#include "rule/rules.h"

TEST(native_rules_are_those_whose_class_is_named_like_a_library)
{
	static const struct {
		const char *class;
		bool library;
	} all[] = {
		{ "libz.so.1", true },
		{ "libzip.so", true },
		{ "libz.so**", true },
		{ "libstdc++.so.6", true },
		{ "libz", true },
		{ "libz**", true },
		{ "libc*", true },
		{ "lib-x_y2.so", true },
		{ "libX.so", true },
		{ "com.shop.Cart", false },
		{ "lib.Cart", false },
		{ "libCart", false },
		{ "liberty.Shop", false },
		{ "lib", false },
		{ "libs.socket.Channel", false },
		{ "**", false },
		{ "sqlite3", false },
		{ "com.libz.so.1", false },
	};

	for (size_t i = 0; i < COUNT(all); i++)
		CHECK_INT(native_rule_is_library(slice_str(all[i].class)), all[i].library,
			  all[i].class);
}

static const struct rule *parse(struct arena *mem, const char *text)
{
	struct rule_errors errors = { 0 };
	struct rules *rules = NULL;

	CHECK(rules_parse(mem, slice_str(text), "here", &rules, &errors) == 0);
	return rules && rules->n ? rules->all[0] : NULL;
}

TEST(native_rules_that_only_java_could_obey_are_known)
{
	static const struct {
		const char *rule;
		bool good;
	} all[] = {
		{ "hook libz.so.1::deflate timed", true },
		{ "hook libz::* light", true },
		{ "skip libz.so**::inflate", true },
		{ "hook libz.so.1::deflate full", false },
		{ "hook libz.so.1::deflate timed for 10m", false },
		{ "hook libz.so.1::deflate timed calls 5", false },
		{ "hook libz.so.1::deflate inside a.B::c", false },
		{ "hook libz.so.1::deflate if $1 == 3", false },
		{ "hook libz.so.1::deflate(int)", false },
		{ "hook libz.so.1::deflate only static", false },
		{ "hook libz.so.1::deflate template web", false },
	};

	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(all); i++) {
		const struct rule *r = parse(&mem, all[i].rule);

		if (CHECK(r != NULL) && CHECK(native_rule_is(r)))
			CHECK_INT(native_rule_wrong(r) == NULL, all[i].good, all[i].rule);
	}
	CHECK(native_rule_caller(parse(&mem, "hook a.B::c inside d.E::f > libz::deflate")) != NULL);
	CHECK(native_rule_caller(parse(&mem, "hook a.B::c inside d.E::f")) == NULL);
	arena_release(&mem);
}

TEST(native_rules_without_a_version_are_for_any)
{
	struct buf out = { 0 };
	struct arena mem;

	arena_init(&mem);
	native_rule_print(parse(&mem, "hook libz::deflate timed"), &out);
	native_rule_print(parse(&mem, "hook libz.so.1::deflate timed"), &out);
	buf_u8(&out, 0);
	CHECK_STR((const char *)out.p,
		  "hook libz.so**::deflate timed\nhook libz.so.1::deflate timed\n", "printed");
	buf_release(&out);
	arena_release(&mem);
}
