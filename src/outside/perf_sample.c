/* SPDX-License-Identifier: Apache-2.0 */
/* perf_sample.c - the fields stand in the order of their bits in sample_type (perf_event_open(2)). */
#include "outside/perf_sample.h"

#include <linux/perf_event.h>

#include "sample_regs.h"

enum { REGS_32 = 1, REGS_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_*; 0: none */

uint64_t perf_sample_type(void)
{
	return PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
	       PERF_SAMPLE_STACK_USER;
}

uint64_t perf_sample_regs(void)
{
	return SAMPLE_REGS_MASK;
}

static bool take(struct slice *s, size_t n, const uint8_t **out)
{
	if (n > s->n)
		return false;
	*out = s->p;
	*s = (struct slice){ s->p + n, s->n - n };
	return true;
}

static bool take_u64(struct slice *s, uint64_t *out)
{
	const uint8_t *p;

	if (!take(s, 8, &p))
		return false;
	memcpy(out, p, 8);
	return true;
}

static bool take_chain(struct slice *s, struct perf_sample *out)
{
	uint64_t n;

	if (!take_u64(s, &n) || n > s->n / 8)
		return false;
	out->n_chain = (size_t)n;
	return take(s, (size_t)n * 8, &out->chain);
}

static bool take_regs(struct slice *s, struct perf_sample *out)
{
	uint64_t abi, regs[SAMPLE_REGS_N];
	const uint8_t *p;

	if (!take_u64(s, &abi))
		return false;
	out->has_regs = abi == REGS_64;
	if (!abi)
		return true;
	if (!take(s, sizeof(regs), &p))
		return false;
	memcpy(regs, p, sizeof(regs));
	out->regs = sample_regs_of(regs);
	return true;
}

/* The size that was asked for, so many bytes, and how many of them are good. */
static bool take_stack(struct slice *s, struct perf_sample *out)
{
	uint64_t size, good;
	const uint8_t *p;

	if (!take_u64(s, &size))
		return false;
	if (!size)
		return true;
	if (size > s->n || !take(s, (size_t)size, &p) || !take_u64(s, &good) || good > size)
		return false;
	out->stack = (struct slice){ p, (size_t)good };
	return true;
}

bool perf_sample_read(struct slice payload, struct perf_sample *out)
{
	uint64_t ids;

	*out = (struct perf_sample){ 0 };
	if (!take_u64(&payload, &out->ip) || !take_u64(&payload, &ids))
		return false;
	out->pid = (uint32_t)ids;
	out->tid = (uint32_t)(ids >> 32);
	return take_chain(&payload, out) && take_regs(&payload, out) && take_stack(&payload, out);
}

size_t perf_sample_kernel(const struct perf_sample *s, uint64_t *spots, size_t cap)
{
	bool kernel = false;
	size_t n = 0;

	for (size_t i = 0; i < s->n_chain && n < cap; i++) {
		uint64_t at;

		memcpy(&at, s->chain + 8 * i, 8);
		if (at >= PERF_CONTEXT_MAX) /* says of what the next ones are */
			kernel = at == PERF_CONTEXT_KERNEL;
		else if (kernel)
			spots[n++] = at;
	}
	return n;
}
