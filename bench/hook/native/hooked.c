/* SPDX-License-Identifier: Apache-2.0 */
/* hooked.c - the same function twice; built as each tool wants it.  Only one of the two is hooked. */
#include "../../lib/slices.h"

uint64_t bare(uint64_t x);
uint64_t hooked(uint64_t x);

__attribute__((noinline, no_instrument_function)) uint64_t bare(uint64_t x)
{
	return step(x);
}

__attribute__((noinline)) uint64_t hooked(uint64_t x)
{
	return step(x);
}
