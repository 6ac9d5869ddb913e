/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c - heap access with a switch that makes the n-th allocation fail. */
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

static long fail_in = -1; /* allocations left until one fails; -1: none will */
static bool fail_hit;

static bool must_fail(void)
{
	if (__builtin_expect(fail_in < 0, 1))
		return false;
	if (fail_in-- > 0)
		return false;
	fail_hit = true;
	return true;
}

void *mem_alloc(size_t n)
{
	return must_fail() ? NULL : malloc(n ? n : 1);
}

void *mem_realloc(void *p, size_t n)
{
	return must_fail() ? NULL : realloc(p, n ? n : 1);
}

void mem_free(void *p)
{
	free(p);
}

void mem_fail_at(long n)
{
	fail_in = n;
	fail_hit = false;
}

int mem_fail_hit(void)
{
	return fail_hit;
}
