/* SPDX-License-Identifier: Apache-2.0 */
/* perf_sample.h - one sample of the kernel's, as it is asked for here: where the thread was in the kernel,
 * its registers and the upper part of its stack. */
#ifndef OUTSIDE_PERF_SAMPLE_H
#define OUTSIDE_PERF_SAMPLE_H

#include "sample/walk.h"

struct perf_sample {
	uint64_t ip;
	uint32_t pid, tid;
	const uint8_t *chain; /* in the kernel: n_chain numbers of 64 bits, the innermost first */
	size_t n_chain;
	bool has_regs; /* false: a thread of the kernel, or it is about to end */
	struct walk_regs regs;
	struct slice stack; /* from regs.sp on */
};

/* What to ask for: perf_event_attr's sample_type and sample_regs_user. */
uint64_t perf_sample_type(void);
uint64_t perf_sample_regs(void);

/* Reads a PERF_RECORD_SAMPLE; false: it is none of these. */
bool perf_sample_read(struct slice payload, struct perf_sample *out);

/* Spots of the kernel's frames into `spots`, the innermost first; how many. */
size_t perf_sample_kernel(const struct perf_sample *s, uint64_t *spots, size_t cap);

#endif
