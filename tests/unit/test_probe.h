/* SPDX-License-Identifier: Apache-2.0 */
/* test_probe.h - tests of the probe, each in a process of its own.
 *
 * The probe's memory is set aside once in a process and its figures are the process's, so a test
 * that wants to begin with nothing runs in a child:
 *
 *	PROBE_TEST(probe_counts, 1 << 20)
 *	{
 *		probe_count(1);
 *		MUST_INT(calls_of(1), 1);
 *	}
 *
 * MUST and MUST_INT are CHECK and CHECK_INT that the parent hears of. */
#ifndef TESTS_UNIT_TEST_PROBE_H
#define TESTS_UNIT_TEST_PROBE_H

#include "test.h"

#include "probe/probe.h"

extern bool probe_test_good;

#define MUST(cond) (probe_test_good &= CHECK(cond))
#define MUST_INT(got, want) (probe_test_good &= CHECK_INT(got, want, NULL))

#define MUST_STR(got, want) (probe_test_good &= CHECK_STR(got, want, NULL))

enum { MIB = 1 << 20 };

#define PROBE_TEST(name, bytes)                           \
	static void child_##name(void);                   \
	TEST(name)                                        \
	{                                                 \
		CHECK(probe_test(child_##name, (bytes))); \
	}                                                 \
	static void child_##name(void)

/* Runs a function in a child in which probe_init(bytes) was called. */
bool probe_test(void (*run)(void), size_t bytes);

/* Waits for n threads that run a function each with its number. */
void probe_test_threads(unsigned n, void (*run)(unsigned number));

void timed(uint32_t id, uint32_t one_in); /* how id is observed from now on */
void call(uint32_t id);			  /* one call of it, with its exit */
struct probe_figures figures(uint32_t id);
uint64_t histogram_total(uint32_t id);
uint64_t active(uint32_t id); /* calls that run now */

/* The tree in one line: "1*2(2*1 3*1)" is 1, called twice, which called 2 and 3. */
const char *tree(void);

#endif
