/* SPDX-License-Identifier: Apache-2.0 */
/* sample_regs.h - the registers of a sample that unwinding needs, in the order of their bits (x86-64). */
#ifndef OUTSIDE_SAMPLE_REGS_H
#define OUTSIDE_SAMPLE_REGS_H

#include <asm/perf_regs.h>

#include "sample/walk.h"

enum {
	SAMPLE_REGS_MASK = 1 << PERF_REG_X86_BP | 1 << PERF_REG_X86_SP | 1 << PERF_REG_X86_IP,
	SAMPLE_REGS_N = 3
};

static inline struct walk_regs sample_regs_of(const uint64_t r[SAMPLE_REGS_N])
{
	return (struct walk_regs){ .fp = r[0], .sp = r[1], .pc = r[2] };
}

#endif
