/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of conditions that classes do not allow. */
#include <stdio.h>

#include "test.h"
#include "weave/weave.h"

#define S(text)                                           \
	{                                                 \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}
#define PUBLIC_ABSTRACT (ACC_PUBLIC | ACC_ABSTRACT)

static const struct cond_member object_methods[] = {
	{ S("toString"), S("()Ljava/lang/String;"), ACC_PUBLIC, NULL },
	{ S("notify"), S("()V"), ACC_PUBLIC | ACC_FINAL, NULL },
};

static const struct cond_member user_fields[] = {
	{ S("tier"), S("Ljava/lang/String;"), ACC_PRIVATE, NULL },
	{ S("LIMIT"), S("I"), ACC_STATIC, NULL },
	{ S("age"), S("I"), 0, NULL },
	{ S("friend"), S("La/User;"), 0, NULL },
	{ S("any"), S("Ljava/lang/Object;"), 0, NULL },
	{ S("gone"), S("La/NotLoaded;"), 0, NULL },
};

static const struct cond_member user_methods[] = {
	{ S("getTier"), S("()Ljava/lang/String;"), ACC_PUBLIC, NULL },
	{ S("count"), S("()I"), ACC_PUBLIC, (void *)"harmful" },
	{ S("find"), S("(I)La/User;"), ACC_PUBLIC, NULL },
	{ S("find"), S("(J)La/User;"), ACC_PUBLIC, NULL },
	{ S("find"), S("(Ljava/lang/String;)I"), ACC_PUBLIC, NULL },
	{ S("find"), S("(Ljava/lang/Object;)Z"), ACC_PUBLIC, NULL },
	{ S("both"), S("(JI)I"), ACC_PUBLIC, NULL },
	{ S("both"), S("(IJ)I"), ACC_PUBLIC, NULL },
	{ S("three"), S("(JJI)I"), ACC_PUBLIC, NULL },
	{ S("three"), S("(IJJ)I"), ACC_PUBLIC, NULL },
	{ S("three"), S("(JIJ)I"), ACC_PUBLIC, NULL },
	{ S("isGood"), S("()Z"), ACC_PUBLIC, NULL },
};

static const struct cond_member person_methods[] = {
	{ S("getTier"), S("()Ljava/lang/Object;"), PUBLIC_ABSTRACT, NULL },
	{ S("getName"), S("()Ljava/lang/String;"), PUBLIC_ABSTRACT, NULL },
};

static const struct slice user_interfaces[] = { S("a/Person") };

static const struct cond_class classes[] = {
	{ .name = S("java/lang/Object"),
	  .methods = object_methods,
	  .n_methods = COUNT(object_methods),
	  .access = ACC_PUBLIC },
	{ .name = S("java/lang/String"), .super = S("java/lang/Object"), .access = ACC_FINAL },
	{ .name = S("a/User"),
	  .super = S("java/lang/Object"),
	  .interfaces = user_interfaces,
	  .n_interfaces = 1,
	  .fields = user_fields,
	  .n_fields = COUNT(user_fields),
	  .methods = user_methods,
	  .n_methods = COUNT(user_methods),
	  .access = ACC_FINAL },
	{ .name = S("a/Person"),
	  .super = S("java/lang/Object"),
	  .methods = person_methods,
	  .n_methods = COUNT(person_methods),
	  .access = ACC_INTERFACE | ACC_ABSTRACT },
};

static const struct cond_class *find(void *ctx, struct slice name)
{
	(void)ctx;
	for (size_t i = 0; i < COUNT(classes); i++)
		if (slice_eq(classes[i].name, name))
			return &classes[i];
	return NULL;
}

static bool harm(void *ctx, const struct cond_class *c, const struct cond_member *m, char *why,
		 size_t cap)
{
	(void)ctx, (void)c;
	snprintf(why, cap, "writes something");
	return m->id != NULL;
}

static const struct cond_classes book = { NULL, find, harm };

/* Column and message, or "" when it is possible. */
static void check(const char *cond, const char *want)
{
	static struct rule_errors errors;
	struct cond_method m = { S("a/Shop"), S("sell"),
				 S("(ILa/User;La/Person;[J)Ljava/lang/String;"), ACC_PUBLIC };
	struct cond_trouble t = { 0 };
	struct rules *rules;
	struct arena mem;
	char text[300], got[400] = "";

	errors = (struct rule_errors){ 0 };
	arena_init(&mem);
	snprintf(text, sizeof(text), "capture u = $1 at a.B::c\nhook a.B::c if %s\n", cond);
	if (CHECK_INT(rules_parse(&mem, slice_str(text), "test", &rules, &errors), 0, cond) &&
	    cond_check(rules->all[1]->hook.condition, &m, &book, &t) < 0)
		snprintf(got, sizeof(got), "%u: %s%s%s", t.at.column - 15, t.text,
			 t.hint[0] ? "; " : "", t.hint);
	CHECK_STR(got, want, cond);
	arena_release(&mem);
}

TEST(possible_conditions_are_let_pass)
{
	static const char *const good[] = {
		"$1 > 3 and $1 == 4 and $1 in (1, 2L, 1.5)",
		"$2.tier == \"gold\" and $2.age < 3",
		"$2.friend.friend.tier startsWith \"g\"",
		"$2.getTier() == \"gold\" and $3.getName() contains \"x\"",
		"$2.find(1).tier == \"a\" and $2.find(1L).tier == \"a\"",
		"$2.find(\"x\") > 3 and $2.find(true)",
		"$2.count!() > 3",
		"$2.isGood() and not $2.isGood() == false",
		"$2.any.whatever[3].deep() == 3",	    /* not known before it runs */
		"$2.gone.whatever < 3 and $2.gone == null", /* not loaded */
		"$3.toString() != null and $3 instanceof a.User",
		"$4.length > 3 and $4[0] == 5",
		"$u == 3 and $u.x.y() == \"z\"",
		"$return == \"x\" and $1 > 3",
		"$2 == null and $2 != $3",
	};

	for (size_t i = 0; i < COUNT(good); i++)
		check(good[i], "");
}

TEST(impossible_conditions_are_told_with_place_and_nearest_name)
{
	static const char *const bad[][2] = {
		{ "$5 > 3", "1: there is no $5: a.Shop::sell has 4 parameters" },
		{ "$2.teir == \"x\"", "3: a.User has no field 'teir'; did you mean 'tier'?" },
		{ "$2.LIMIT == 3", "3: a.User.LIMIT is static; fields of objects are read" },
		{ "$2.getTier == 3",
		  "3: a.User has no field 'getTier'; a method is written 'getTier()'" },
		{ "$2.friend.frend.age == 3",
		  "10: a.User has no field 'frend'; did you mean 'friend'?" },
		{ "$2.getTeir() == \"x\"",
		  "3: a.User has no method 'getTeir'; did you mean 'getTier'?" },
		{ "$3.getNmae() == \"x\"",
		  "3: a.Person has no method 'getNmae'; did you mean 'getName'?" },
		{ "$2.both(1, 2) == 3",
		  "3: ambiguous: a.User has both(int, long) and both(long, int); write the literals so "
		  "that one fits better" },
		{ "$2.both() == 3",
		  "3: a.User has no method 'both' for these arguments; there is both(int, long)" },
		{ "$2.three(1, 2, 3) == 3",
		  "3: ambiguous: a.User has three(int, long, long) and three(long, int, long); write "
		  "the literals so that one fits better" },
		{ "$2.getTier(1) == \"x\"",
		  "3: a.User has no method 'getTier' for these arguments; there is getTier()" },
		{ "$2.notify() == 3", "3: java.lang.Object.notify returns nothing" },
		{ "$2.count() == 3",
		  "3: a.User.count writes something; write '.count!(...)' if it may be called all the "
		  "same" },
		{ "$2.age.x == 3", "7: a value of type int has no parts" },
		{ "$2.age == \"x\"", "1: $2.age is of type int, which is not a text" },
		{ "$2.age == null", "11: $2.age is of type int, which is never null" },
		{ "$2.tier > 3", "1: $2.tier is of type java.lang.String, which is not a number" },
		{ "$2.isGood() == 3", "1: $2.isGood() is of type boolean, which is not a number" },
		{ "$2.tier", "1: $2.tier is of type java.lang.String, which is not a boolean" },
		{ "$2.tier[0] == 3",
		  "8: java.lang.String is neither an array nor a list nor a map" },
		{ "$4.size == 3", "3: long[] has no field 'size'; of an array there is .length" },
		{ "$4.size() == 3", "3: long[] has no methods; of an array there is .length" },
		{ "$4[\"x\"] == 3", "4: the index of an array is a whole number" },
		{ "$4[0] startsWith \"x\"", "1: $4[0] is of type long, which is not a text" },
		{ "$1 instanceof a.User", "1: $1 is of type int, which is not an object" },
		{ "$1 > 3 or $return == \"x\"",
		  "1: $1 is known at the entry, $return at the exit; join it by 'and' with the tests of "
		  "$return" },
		{ "$return == $1",
		  "12: $1 is known at the entry, $return at the exit; join it by 'and' "
		  "with the tests of $return" },
		{ "$1 in (1, \"x\")", "1: $1 is of type int, which is not a text" },
	};

	for (size_t i = 0; i < COUNT(bad); i++)
		check(bad[i][0], bad[i][1]);
}
