/* SPDX-License-Identifier: Apache-2.0 */
/* victim.c - calls one function that nobody hooks and one that tools hook, which do the same. */
#include "../../lib/slices.h"

uint64_t bare(uint64_t x);
uint64_t hooked(uint64_t x);

static uint64_t run_bare(unsigned n, uint64_t x)
{
	for (; n > 0; n--)
		x = bare(x);
	return x;
}

static uint64_t run_hooked(unsigned n, uint64_t x)
{
	for (; n > 0; n--)
		x = hooked(x);
	return x;
}

static void tell(void)
{
	printf("@ 0 0\n");
}

int main(void)
{
	struct side a = { .run = run_bare }, b = { .run = run_hooked };

	return answer(&a, &b, tell);
}
