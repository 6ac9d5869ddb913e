/* SPDX-License-Identifier: Apache-2.0 */
/* critical.c - finds the flag where debuggers find it, and writes it there. */
#include "agent/hotspot/critical.h"

#include "agent/core/agent.h"
#include "agent/hotspot/vmstructs.h"

/* The thread that sets the probe up or takes it out: the agent's. */
static struct {
	bool touched, was;
} critical;

static bool *flag(void)
{
	return agent.jdk == 17 ? vmstructs_flag("CriticalJNINatives") : NULL;
}

bool critical_on(void)
{
	bool *f = flag();

	if (!f)
		return false;
	if (!critical.touched)
		critical.was = *f;
	critical.touched = true;
	*f = true;
	return true;
}

void critical_back(void)
{
	bool *f = critical.touched ? flag() : NULL;

	if (f)
		*f = critical.was;
}

enum critical_is critical_look(void)
{
	const bool *f = critical.touched ? flag() : NULL;

	if (!f)
		return CRITICAL_NEVER;
	return *f == critical.was ? CRITICAL_AS_IT_WAS : CRITICAL_OTHER;
}
