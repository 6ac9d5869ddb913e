/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - the one way to the heap, so that every allocation can be made to fail.
 *
 * All of Sonde's own heap memory goes through here (directly, or through an arena or a
 * buf).  Failure is a NULL, never an exit. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t n);	      /* uninitialised; NULL: out of memory */
void *mem_realloc(void *p, size_t n); /* like realloc; p stays valid on NULL */
void mem_free(void *p);		      /* accepts NULL */

/* For tests, single-threaded: the n-th allocation from now fails, once; -1 switches it off.
 * mem_fail_hit() tells whether that has happened since. */
void mem_fail_at(long n);
int mem_fail_hit(void);

#endif
