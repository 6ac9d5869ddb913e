/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_explain.c - the sentences, word by word. */
#include "test.h"

#include <string.h>

#include "rule/rules_explain.h"

static const char rules_text[] =
	"hook com.shop.**::* light\n"
	"hook com.shop.Inventory::adjust(int, ..) timed 1/100 for 10m good 5m calls 5000\n"
	"  inside com.shop.Cart::checkout if $1 > 3\n"
	"skip com.shop.gen.**\n"
	"skip com.shop.**::get*\n"
	"hook com.shop.** implements java.lang.Runnable::run\n"
	"hook annotated org.x.Timed::* only static\n"
	"template audit from \"x\"\n"
	"capture user = $1 at com.shop.Cart::checkout\n"
	"live com.shop.**\n";

static const struct {
	const char *class, *super, *method, *desc;
	uint16_t access;
	const char *text;
} cases[] = {
	{ "com/shop/Inventory", "java/lang/Object", "adjust", "(ILjava/lang/String;)V", 1,
	  "com.shop.Inventory::adjust(int, java.lang.String) is hooked by rule 2, timed 1/100.\n"
	  "rule 1, in:1: hook com.shop.**::* light\n"
	  "    applies, but rule 2 comes later and decides.\n"
	  "rule 2, in:2: hook com.shop.Inventory::adjust(int, ..) inside com.shop.Cart::checkout "
	  "if $1 > 3 timed 1/100 for 10m good 5m calls 5000\n"
	  "    applies and decides: it is the last that applies.\n"
	  "    It reports only inside its sequence of callers.\n"
	  "    It reports only if $1 > 3.\n"
	  "    It leaves after 10 min.\n"
	  "    It leaves when no call was slow for 5 min.\n"
	  "    It leaves after 5000 calls.\n"
	  "rule 3, in:4: skip com.shop.gen.**\n"
	  "    does not apply: the class is not named com.shop.gen.**.\n"
	  "rule 4, in:5: skip com.shop.**::get*\n"
	  "    does not apply: the method is not named get*.\n"
	  "rule 5, in:6: hook com.shop.** implements java.lang.Runnable::run timed\n"
	  "    does not apply: the method is not named run.\n"
	  "rule 6, in:7: hook annotated org.x.Timed::* only static timed\n"
	  "    does not apply: the method is not static.\n"
	  "rule 8, in:9: capture user = $1 at com.shop.Cart::checkout\n"
	  "    does not apply: the class is not named com.shop.Cart.\n"
	  "rule 9, in:10: live com.shop.**\n"
	  "    decides where the class is woven.\n"
	  "The class is woven live, by rule 9.\n" },
	{ "com/shop/Cart", "lib/Base", "run", "()V", 0x0408,
	  "com.shop.Cart::run() is hooked by rule 1, light.\n"
	  "It is abstract and has no byte code: nothing can be woven into it.\n"
	  "rule 1, in:1: hook com.shop.**::* light\n"
	  "    applies and decides: it is the last that applies.\n"
	  "rule 2, in:2: hook com.shop.Inventory::adjust(int, ..) inside com.shop.Cart::checkout "
	  "if $1 > 3 timed 1/100 for 10m good 5m calls 5000\n"
	  "    does not apply: the class is not named com.shop.Inventory.\n"
	  "rule 3, in:4: skip com.shop.gen.**\n"
	  "    does not apply: the class is not named com.shop.gen.**.\n"
	  "rule 4, in:5: skip com.shop.**::get*\n"
	  "    does not apply: the method is not named get*.\n"
	  "rule 5, in:6: hook com.shop.** implements java.lang.Runnable::run timed\n"
	  "    does not apply: the class does not implement java.lang.Runnable "
	  "(but what lib.Base extends is not known).\n"
	  "rule 6, in:7: hook annotated org.x.Timed::* only static timed\n"
	  "    does not apply: neither the class nor the method is annotated org.x.Timed.\n"
	  "rule 8, in:9: capture user = $1 at com.shop.Cart::checkout\n"
	  "    does not apply: the method is not named checkout.\n"
	  "rule 9, in:10: live com.shop.**\n"
	  "    decides where the class is woven.\n"
	  "The class is woven live, by rule 9.\n" },
	{ "com/shop/Cart", "java/lang/Object", "checkout", "(I)V", 1,
	  "com.shop.Cart::checkout(int) is hooked by rule 1, light.\n"
	  "rule 1, in:1: hook com.shop.**::* light\n"
	  "    applies and decides: it is the last that applies.\n"
	  "rule 2, in:2: hook com.shop.Inventory::adjust(int, ..) inside com.shop.Cart::checkout "
	  "if $1 > 3 timed 1/100 for 10m good 5m calls 5000\n"
	  "    does not apply: the class is not named com.shop.Inventory.\n"
	  "    The method is caller 1 of 1 in its sequence, so it gets an anchor.\n"
	  "rule 3, in:4: skip com.shop.gen.**\n"
	  "    does not apply: the class is not named com.shop.gen.**.\n"
	  "rule 4, in:5: skip com.shop.**::get*\n"
	  "    does not apply: the method is not named get*.\n"
	  "rule 5, in:6: hook com.shop.** implements java.lang.Runnable::run timed\n"
	  "    does not apply: the method is not named run.\n"
	  "rule 6, in:7: hook annotated org.x.Timed::* only static timed\n"
	  "    does not apply: the method is not static.\n"
	  "rule 8, in:9: capture user = $1 at com.shop.Cart::checkout\n"
	  "    captures $user here.\n"
	  "rule 9, in:10: live com.shop.**\n"
	  "    decides where the class is woven.\n"
	  "The class is woven live, by rule 9.\n" },
};

/* rules, class com/shop/Cart, a method, and what must stand in the explanation. */
static const struct {
	const char *rules, *method, *desc, *part;
} parts[] = {
	{ "", "x", "()V", "com.shop.Cart::x() is not hooked: no rule applies.\n" },
	{ "", "x", "()V", "The class is woven at load: no rule says otherwise.\n" },
	{ "hook **::*\nskip com.**", "x", "()V",
	  "com.shop.Cart::x() is not hooked: rule 2 leaves it alone.\n" },
	{ "hook **::*\nskip com.**", "x", "()V",
	  "    applies, but rule 2 comes later and decides.\n" },
	{ "hook **::*", "<init>", "()V",
	  "    does not apply: the method is not named * (wildcards do not reach <init>).\n" },
	{ "hook **::x(int, ..)", "x", "()V",
	  "    does not apply: the parameters are not (int, ..).\n" },
	{ "hook **::x()", "x", "(I)V", "    does not apply: the parameters are not ().\n" },
	{ "hook **::x returns String[]", "x", "()V",
	  "    does not apply: the method does not return String[].\n" },
	{ "hook **::x only not public", "x", "()V", "    does not apply: the method is public.\n" },
	{ "hook extends a.B::x", "x", "()V",
	  "    does not apply: the class has no ancestor a.B.\n" },
	{ "hook **::x if $1 inside a.B::c inside a.B::d", "x", "(Z)V",
	  "    It reports only inside one of its sequences of callers.\n" },
	{ "capture u = $1 at **::x\nskip **", "x", "(I)V",
	  "    captures $u here, but rule 2 comes later and leaves the method alone.\n" },
	{ "hook a.B::c inside **::x > a.B::d\nskip **::x", "x", "(I)V",
	  "    The method is caller 1 of 2 in its sequence, but rule 2 comes later and leaves the "
	  "method alone.\n" },
	{ "live com.**\nahead com.**", "x", "()V",
	  "rule 1, in:1: live com.**\n    applies, but rule 2 comes later and decides.\n" },
	{ "live com.**\nahead com.**", "x", "()V",
	  "The class is woven ahead of time, by rule 2.\n" },
	{ "live a.**", "x", "()V", "    does not apply: the class is not named a.**.\n" },
	{ "live annotated a.B", "x", "()V",
	  "    does not apply: the class itself is not annotated so.\n" },
	{ "", "x", "broken", "com.shop.Cart::xbroken is not hooked: no rule applies.\n" },
};

static const uint32_t *numbers; /* what rules are called; NULL: by position */

static void explain(const char *text, const struct rule_class *cls, const struct rule_method *m,
		    struct buf *out)
{
	static struct rule_errors errors;
	struct rules *rules = NULL;
	struct arena mem;

	errors.n = 0;
	arena_init(&mem);
	rules_parse(&mem, slice_str(text), "in", &rules, &errors);
	CHECK_STR(errors.n ? errors.list[0].text : "", "", text);
	if (rules)
		rules_explain(rules, numbers, cls, m, out);
	buf_u8(out, 0);
	arena_release(&mem);
}

TEST(explanations_name_every_rule_and_its_reason)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rule_class cls = { .name = slice_str(cases[i].class),
					  .super = slice_str(cases[i].super) };
		struct rule_method m = { .name = slice_str(cases[i].method),
					 .desc = slice_str(cases[i].desc),
					 .access = cases[i].access };
		struct buf out = { 0 };

		explain(rules_text, &cls, &m, &out);
		CHECK_STR((const char *)out.p, cases[i].text, cases[i].method);
		buf_release(&out);
	}
}

TEST(explanations_have_a_sentence_for_every_reason)
{
	struct rule_class cls = { .name = slice_str("com/shop/Cart"),
				  .super = slice_str("java/lang/Object") };

	for (size_t i = 0; i < COUNT(parts); i++) {
		struct rule_method m = { .name = slice_str(parts[i].method),
					 .desc = slice_str(parts[i].desc),
					 .access = 1 };
		struct buf out = { 0 };

		explain(parts[i].rules, &cls, &m, &out);
		if (!strstr((const char *)out.p, parts[i].part))
			CHECK_STR((const char *)out.p, parts[i].part, parts[i].rules);
		buf_release(&out);
	}
}

TEST(explanations_say_who_decides_before_rules_that_were_added_later)
{
	struct rule_class cls = { .name = slice_str("a/B"),
				  .super = slice_str("java/lang/Object") };
	struct rule_method m = { .name = slice_str("x"), .desc = slice_str("()V"), .access = 1 };
	static const uint32_t of_a_program[] = { 4, 9, 7 };
	struct buf out = { 0 };

	numbers = of_a_program;
	explain("hook a.B::*\nhook a.B::x light\nhook a.B::x timed", &cls, &m, &out);
	numbers = NULL;
	CHECK_STR((const char *)out.p,
		  "a.B::x() is hooked by rule #7, timed.\n"
		  "rule #4, in:1: hook a.B::* timed\n"
		  "    applies, but rule #7 comes later and decides.\n"
		  "rule #9, in:2: hook a.B::x light\n"
		  "    applies, but rule #7 decides as long as the client is there that holds it.\n"
		  "rule #7, in:3: hook a.B::x timed\n"
		  "    applies and decides: a client holds it.\n"
		  "The class is woven at load: no rule says otherwise.\n",
		  NULL);
	buf_release(&out);
}

TEST(explanations_use_the_numbers_that_rules_have_in_a_program)
{
	struct rule_class cls = { .name = slice_str("a/B"),
				  .super = slice_str("java/lang/Object") };
	struct rule_method m = { .name = slice_str("x"), .desc = slice_str("()V"), .access = 1 };
	static const uint32_t of_a_program[] = { 4, 9, 12 };
	struct buf out = { 0 };

	numbers = of_a_program;
	explain("hook a.B::*\nhook a.B::x light\nlive a.**", &cls, &m, &out);
	numbers = NULL;
	CHECK_STR((const char *)out.p,
		  "a.B::x() is hooked by rule #9, light.\n"
		  "rule #4, in:1: hook a.B::* timed\n"
		  "    applies, but rule #9 comes later and decides.\n"
		  "rule #9, in:2: hook a.B::x light\n"
		  "    applies and decides: it is the last that applies.\n"
		  "rule #12, in:3: live a.**\n"
		  "    decides where the class is woven.\n"
		  "The class is woven live, by rule #12.\n",
		  NULL);
	buf_release(&out);
}
