/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - binary search. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* Of the numbers below n the first for which `before`, an expression in i, is false; n: it is true for
 * all.  In a list sorted by key, SEARCH(n, i, list[i].key < key) is where the key is or belongs. */
#define SEARCH(n, i, before)                                       \
	({                                                         \
		size_t search_low = 0, search_high = (n);          \
		while (search_low < search_high) {                 \
			size_t i = (search_low + search_high) / 2; \
			if (before)                                \
				search_low = i + 1;                \
			else                                       \
				search_high = i;                   \
		}                                                  \
		search_low;                                        \
	})

#endif
