/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.c - see anchor.h. */
#include "agent/sampling/anchor.h"

#include "agent/sampling/peek.h"

bool anchor_find(const struct vm_layout *l, uint64_t thread, struct walk_regs *out)
{
	uint64_t anchor = thread + l->thread.anchor, sp, pc, fp;

	if (!thread || !(sp = peek_word(anchor + l->thread.last_sp)))
		return false;
	pc = peek_word(anchor + l->thread.last_pc);
	fp = peek_word(anchor + l->thread.last_fp);
	if (!pc)
		pc = peek_word(sp - 8);
	if (!heaps_contain(&l->heaps, pc))
		return false;
	*out = (struct walk_regs){ .pc = pc, .sp = sp, .fp = fp };
	return true;
}
