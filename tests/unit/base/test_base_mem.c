/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/mem.h"

TEST(mem_fails_at_the_nth_allocation_and_only_there)
{
	for (long n = 0; n < 3; n++) {
		mem_fail_at(n);
		for (long i = 0; i < 5; i++) {
			void *p = mem_alloc(1);

			CHECK_INT(p == NULL, i == n, NULL);
			CHECK_INT(mem_fail_hit(), i >= n, NULL);
			mem_free(p);
		}
	}
	mem_fail_at(-1);
	CHECK(!mem_fail_hit());
}

TEST(mem_realloc_leaves_the_old_memory_when_it_fails)
{
	char *p = mem_alloc(2), *q;

	p[0] = 'a';
	mem_fail_at(0);
	CHECK(!mem_realloc(p, 1000));
	CHECK_INT(p[0], 'a', NULL);
	q = mem_realloc(p, 1000);
	CHECK(q && q[0] == 'a');
	mem_free(q);
	mem_free(NULL);
}

TEST(mem_gives_something_for_no_bytes)
{
	void *p = mem_alloc(0);

	CHECK(p != NULL);
	p = mem_realloc(p, 0);
	CHECK(p != NULL);
	mem_free(p);
}
