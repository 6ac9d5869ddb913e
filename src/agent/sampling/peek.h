/* SPDX-License-Identifier: Apache-2.0 */
/* peek.h - reads this process's memory by way of the kernel: what is gone is an answer, no fault.
 *
 * One descriptor of /proc/self/mem for as long as samples are taken.  Safe in signal handlers. */
#ifndef AGENT_SAMPLING_PEEK_H
#define AGENT_SAMPLING_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool peek_begin(void);
void peek_end(void);
bool peek_has_begun(void);
bool peek(uint64_t address, void *to, size_t n);

static inline uint64_t peek_word(uint64_t address) /* 0: not to be had */
{
	uint64_t v;

	return address && peek(address, &v, sizeof(v)) ? v : 0;
}

static inline uint32_t peek_number(uint64_t address)
{
	uint32_t v;

	return address && peek(address, &v, sizeof(v)) ? v : 0;
}

#endif
