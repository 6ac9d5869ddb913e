/* SPDX-License-Identifier: Apache-2.0 */
/* backtrace.c - the sampler's walk, which reads the stack through the kernel. */
#include "inject/backtrace.h"

#include "sample/spot.h"

static const struct tracee *reading; /* whose stack; the walk hands nothing on */

static bool read_word(uint64_t address, void *to, size_t n)
{
	return tracee_read(reading, address, to, n);
}

void backtrace_take(const struct tracee *t, const struct tracee_thread *th,
		    const struct libraries *l, struct backtrace *out)
{
	struct walk_world world = { .modules = &l->modules };
	struct walk_regs r = sigframe_walk_regs(&th->regs);
	struct stack_walk w = { .at = r,
				.lo = r.sp - INJECT_BELOW,
				.hi = UINT64_C(1) << 47,
				.read = read_word,
				.spots = out->at,
				.cap = BACKTRACE_MAX,
				.interrupted = true };

	reading = t;
	walk_run(&w, &world);
	out->n = w.n;
	out->end = w.end;
	for (unsigned i = 0; i < w.n; i++)
		out->at[i] = spot_address(out->at[i]) - (spot_kind(out->at[i]) == SPOT_RETURN);
}
