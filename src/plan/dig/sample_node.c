/* SPDX-License-Identifier: Apache-2.0 */
/* sample_node.c - names of sampled methods taken apart; the order of nodes. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/dig/sample_node.h"

struct slice sample_node_plain(struct slice name)
{
	const uint8_t *bracket = name.n ? memchr(name.p, '(', name.n) : NULL;

	if (bracket)
		name.n = (size_t)(bracket - name.p);
	return name;
}

struct slice sample_node_desc(struct slice name)
{
	size_t n = sample_node_plain(name).n;

	return (struct slice){ name.n ? name.p + n : name.p, name.n - n };
}

struct slice sample_node_class(struct slice name)
{
	struct slice plain = sample_node_plain(name);
	const uint8_t *dot = plain.n ? memrchr(plain.p, '.', plain.n) : NULL;

	if (dot)
		plain.n = (size_t)(dot - plain.p);
	return plain;
}

struct slice sample_node_method(struct slice name)
{
	struct slice plain = sample_node_plain(name);
	size_t class = sample_node_class(name).n;

	if (class == plain.n)
		return plain;
	return (struct slice){ plain.p + class + 1, plain.n - class - 1 };
}

bool sample_node_is_jdk(struct slice name)
{
	static const char *const packages[] = { "java.",	"javax.",	 "jdk.",
						"sun.",		"com.sun.",	 "org.xml.sax.",
						"org.w3c.dom.", "org.ietf.jgss." };

	for (size_t i = 0; i < COUNT(packages); i++)
		if (slice_starts(name, slice_str(packages[i])))
			return true;
	return false;
}

bool sample_node_can_be_named(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] == 0x7f || name.p[i] == '#')
			return false;
	return name.n > 0;
}

const struct sample_node *samples_next(const struct sample_node *n, const struct sample_node *top)
{
	if (n->first)
		return n->first;
	while (n != top && !n->next)
		n = n->parent;
	return n == top ? NULL : n->next;
}
