/* SPDX-License-Identifier: Apache-2.0 */
/* roots.c - the table of roots.def. */
#define _GNU_SOURCE /* memmem() */
#include "plan/walk/roots.h"

#include "plan/dig/sample_node.h"
#include "plan/walk/caller_list.h"

enum root_match { PREFIX, DESC };

static const struct {
	unsigned flag;
	enum root_match match;
	const char *text;
} roots[] = {
#define X(flag, match, text) { flag, match, text },
#include "plan/walk/roots.def"
#undef X
};

/* Classes that the JVM makes have an address in their name, or a number. */
static bool is_made_up(struct slice name)
{
	struct slice class = sample_node_class(name);

	return class.n &&
	       (memchr(class.p, '/', class.n) || memmem(class.p, class.n, "$$Lambda", 8) ||
		memmem(class.p, class.n, "+0x", 3));
}

unsigned roots_flags(struct slice name)
{
	unsigned flags = sample_node_is_jdk(name) ? CALLER_LIBRARY : 0;

	if (is_made_up(name))
		flags |= CALLER_INNER;
	for (size_t i = 0; i < COUNT(roots); i++) {
		struct slice in = roots[i].match == DESC ? sample_node_desc(name) : name;

		if (slice_starts(in, slice_str(roots[i].text)))
			flags |= roots[i].flag;
	}
	return sample_node_can_be_named(name) ? flags : flags | CALLER_NO_HOOK;
}
