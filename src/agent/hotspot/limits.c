/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - what HotSpot's flags say about the size of methods.
 *
 * HugeMethodLimit is a constant in the JVMs that people run, so its flag is seldom there; whether
 * it is obeyed (DontCompileHugeMethods) always is. */
#include "agent/hotspot/limits.h"

#include "agent/hotspot/vmstructs.h"
#include "weave/weave.h"

/* Written once, when the VM starts or the agent comes in; then read by any thread. */
static struct {
	bool found;
	uint32_t huge;
	struct limits_inlining inlining[LIMITS_INLINING]; /* the largest first */
} limits = {
	.huge = WEAVE_HUGE,
	.inlining = { { "FreqInlineSize", "no longer inlined, however hot its caller", 325 },
		      { "MaxInlineSize", "may no longer be inlined where it is not hot", 35 } },
};

static void find(void)
{
	const bool *obeyed = vmstructs_flag("DontCompileHugeMethods");
	int32_t huge;

	if (vmstructs_number("HugeMethodLimit", &huge) && huge > 0)
		limits.huge = (uint32_t)huge;
	if (obeyed && !*obeyed)
		limits.huge = 0;
	for (int i = 0; i < LIMITS_INLINING; i++)
		vmstructs_number(limits.inlining[i].flag, &limits.inlining[i].bytes);
}

uint32_t limits_huge(void)
{
	if (!limits.found)
		find();
	limits.found = true;
	return limits.huge;
}

const struct limits_inlining *limits_inlining(void)
{
	return limits.inlining;
}
