/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.c - reads where HotSpot keeps it what a method is run by: its Method points at its compiled
 * code (an nmethod), or at none, and that knows the level it was compiled at.  Where these lie is
 * given by the tables for debuggers.  Code may be thrown away while it is looked at, so nothing is
 * read directly: the kernel copies it, and a page that is gone is an answer, not a crash.  It is
 * read from /proc/self/mem, since process_vm_readv() is a call that filters may kill for. */
#include "agent/hotspot/tiers.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/hotspot/vmstructs.h"
#include "classfile/class.h"
#include "probe/types.h"

enum {
	LEVEL_C2 = 4,  /* HotSpot's; 1 to 3 are C1's */
	LAST_JDK = 25, /* a jmethodID points at the Method's address */
};

/* Found out by the first thread that asks. */
static struct {
	bool asked, known;
	uint64_t code, level; /* offsets */
} tiers;

/* A descriptor, and that of nothing where the program may not be looked into. */
int tiers_open(void)
{
	return open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
}

void tiers_close(int memory)
{
	if (memory >= 0)
		close(memory);
}

static bool copy(int memory, uint64_t from, void *to, size_t n)
{
	return from && from <= INT64_MAX && pread(memory, to, n, (off_t)from) == (ssize_t)n;
}

static bool is_known(void)
{
	if (!tiers.asked)
		tiers.known = agent.jdk <= LAST_JDK &&
			      vmstructs_offset("Method", "_code", &tiers.code) &&
			      vmstructs_offset("nmethod", "_comp_level", &tiers.level);
	tiers.asked = true;
	return tiers.known;
}

/* Where its compiled code is; 0: it has none.  False: not to be had. */
static bool code_of(int memory, jmethodID id, uint64_t *code)
{
	uint64_t method;

	return is_known() && copy(memory, (uint64_t)(uintptr_t)id, &method, sizeof(method)) &&
	       copy(memory, method ? method + tiers.code : 0, code, sizeof(*code));
}

bool tiers_has_code(jmethodID method)
{
	int memory = tiers_open();
	uint64_t code;
	bool has = code_of(memory, method, &code) && code;

	tiers_close(memory);
	return has;
}

static unsigned level_of(int memory, jmethodID id)
{
	uint64_t code;
	uint8_t level; /* of a small number in a field of one or four bytes: the lowest */

	if (!code_of(memory, id, &code))
		return TYPE_UNKNOWN;
	if (!code)
		return TYPE_INTERPRETED;
	if (!copy(memory, code + tiers.level, &level, sizeof(level)) || level > LEVEL_C2)
		return TYPE_UNKNOWN;
	return level == LEVEL_C2 ? TYPE_C2 : level ? TYPE_C1 : TYPE_INTERPRETED;
}

unsigned tiers_look(int memory, jmethodID method, jint access)
{
	unsigned type = access & ACC_NATIVE ? TYPE_NATIVE : level_of(memory, method);

	return type | (access & ACC_STATIC ? TYPE_STATIC : 0);
}

unsigned tiers_of(jmethodID method, jint access)
{
	int memory = tiers_open();
	unsigned type = tiers_look(memory, method, access);

	tiers_close(memory);
	return type;
}

const char *tiers_text(unsigned type)
{
	static const char *const texts[] = { [TYPE_UNKNOWN] = "not known",
					     [TYPE_INTERPRETED] = "interpreted",
					     [TYPE_C1] = "compiled by C1",
					     [TYPE_C2] = "compiled by C2",
					     [TYPE_NATIVE] = "native" };
	unsigned kind = type & ~(unsigned)TYPE_STATIC;

	return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : texts[0];
}
