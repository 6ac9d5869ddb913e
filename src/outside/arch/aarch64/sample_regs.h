/* SPDX-License-Identifier: Apache-2.0 */
/* sample_regs.h - the registers of a sample that unwinding needs, in the order of their bits (aarch64). */
#ifndef OUTSIDE_SAMPLE_REGS_H
#define OUTSIDE_SAMPLE_REGS_H

#include <asm/perf_regs.h>

#include "sample/walk.h"

#define SAMPLE_REGS_MASK ((uint64_t)0xf << PERF_REG_ARM64_X29) /* x29, the link register, sp, pc */

enum { SAMPLE_REGS_N = 4 };

static inline struct walk_regs sample_regs_of(const uint64_t r[SAMPLE_REGS_N])
{
	return (struct walk_regs){ .fp = r[0], .link = r[1], .sp = r[2], .pc = r[3] };
}

#endif
