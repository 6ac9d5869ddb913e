/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - a test is a function with a sentence for its name.
 *
 *	TEST(desc_counts_argument_slots)
 *	{
 *		CHECK_INT(desc_arg_slots("(IJ)V"), 3, "a long takes two");
 *	}
 *
 * Every file in this folder is linked into one program (main.c), which runs its tests one after
 * the other.  A check that fails says where and with what values, and the test goes on; each
 * check is also an expression, true when it held: if (!CHECK(p)) return;
 * `label` tells cases of a table apart and may be NULL. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEST(name)                                                                \
	static void test_##name(void);                                            \
	static struct test entry_##name = { #name, __FILE__, test_##name, NULL }; \
	__attribute__((constructor)) static void add_##name(void)                 \
	{                                                                         \
		test_add(&entry_##name);                                          \
	}                                                                         \
	static void test_##name(void)

#define CHECK(cond) test_check((cond) ? true : false, TEST_AT(#cond, NULL))
#define CHECK_INT(got, want, label) \
	test_int((intmax_t)(got), (intmax_t)(want), TEST_AT(#got, label))
#define CHECK_STR(got, want, label) test_str((got), (want), TEST_AT(#got, label))
#define CHECK_MEM(got, gotn, want, wantn, label) \
	test_mem((got), (gotn), (want), (wantn), TEST_AT(#got, label))

/* Ends the test as neither passed nor failed (unless a check has failed already). */
#define SKIP(why)               \
	do {                    \
		test_skip(why); \
		return;         \
	} while (0)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What the macros are made of. */

struct test {
	const char *name;
	const char *file;
	void (*run)(void);
	struct test *next;
};

struct test_at {
	const char *what, *label, *file;
	int line;
};
#define TEST_AT(what, label) (&(const struct test_at){ (what), (label), __FILE__, __LINE__ })

void test_add(struct test *t);
void test_skip(const char *why);
/* TEST_SHORT is set, by tools that make everything fifty times as slow: a part of the rounds will do. */
bool test_is_short(void);
bool test_check(bool held, const struct test_at *at);
bool test_int(intmax_t got, intmax_t want, const struct test_at *at);
bool test_str(const char *got, const char *want, const struct test_at *at);
bool test_mem(const void *got, size_t gotn, const void *want, size_t wantn,
	      const struct test_at *at);

#endif
