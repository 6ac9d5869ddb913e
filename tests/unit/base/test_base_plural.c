/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"

#include <stdio.h>

#include "test.h"

TEST(one_thing_is_singular_and_nothing_is_plural)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = { { 0, "0 methods in 0 classes" },
		      { 1, "1 method in 1 class" },
		      { 2, "2 methods in 2 classes" },
		      { UINT32_MAX + 2ull, "4294967297 methods in 4294967297 classes" } };
	char text[80];

	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned long long n = cases[i].n;

		snprintf(text, sizeof(text), "%llu method%s in %llu class%s", n, plural(n), n,
			 plural_es(n));
		CHECK_STR(text, cases[i].text, NULL);
	}
}
