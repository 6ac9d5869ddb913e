/* SPDX-License-Identifier: Apache-2.0 */
/* walk_native.c - names taken apart into a file and a function, and found in the file's symbols. */
#define _GNU_SOURCE /* memmem() */
#include "cli/walk/walk_native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/walk/walk_frame.h"

struct native_name {
	struct slice file, function; /* function: empty when there is only an address */
	uint64_t address;
	bool has_address;
};

static bool split(struct slice name, const char *at, struct slice *before, struct slice *behind)
{
	size_t n = strlen(at);
	const uint8_t *p = name.n ? memmem(name.p, name.n, at, n) : NULL;

	if (!p)
		return false;
	*before = (struct slice){ name.p, (size_t)(p - name.p) };
	*behind = (struct slice){ p + n, name.n - before->n - n };
	return true;
}

/* The whole path of a file that samples have met. */
static struct slice path_of(const struct sampled *s, struct slice file)
{
	for (size_t i = 0; i < s->profile.n_frames; i++)
		if (slice_eq(walk_frame_file(s->profile.frames[i].file), file))
			return s->profile.frames[i].file;
	return (struct slice){ 0 };
}

static bool take_apart(struct sampled *s, struct slice name, struct native_name *out)
{
	struct slice digits, path;
	char text[24];

	*out = (struct native_name){ 0 };
	if (split(name, "+0x", &out->file, &digits)) {
		snprintf(text, sizeof(text), "%.*s", SLICE_FMT(digits));
		out->address = strtoull(text, NULL, 16);
		out->has_address = true;
		return true;
	}
	if (!split(name, "::", &out->file, &out->function))
		return false;
	path = path_of(s, out->file);
	out->has_address = path.n && symbols_find(&s->symbols, path, out->function, &out->address);
	return true;
}

static bool is_plain(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || strchr("(){}<>,;\"'*#", name.p[i]))
			return false;
	return true;
}

bool walk_native_put_target(struct sampled *s, struct slice name, struct buf *out)
{
	struct native_name n;

	if (!take_apart(s, name, &n) || !is_plain(n.has_address ? n.file : name))
		return false;
	if (n.has_address)
		buf_printf(out, "%.*s::0x%llx", SLICE_FMT(n.file), (unsigned long long)n.address);
	else
		buf_put(out, name);
	return true;
}

bool walk_native_is_row(struct sampled *s, struct slice row, struct slice name)
{
	struct native_name n;
	struct slice rest;
	char text[24];

	if (!take_apart(s, name, &n) || row.n < n.file.n + 2 ||
	    memcmp(row.p, n.file.p, n.file.n) != 0 || row.p[n.file.n] != '.')
		return false;
	rest = (struct slice){ row.p + n.file.n + 1, row.n - n.file.n - 1 };
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)n.address);
	return slice_eq(rest, n.function) || (n.has_address && slice_is(rest, text));
}

void walk_native_put_caller(struct sampled *s, struct slice caller, struct buf *out)
{
	struct native_name n;
	struct slice path;
	size_t before = out->n;

	path = take_apart(s, caller, &n) && !n.function.n ? path_of(s, n.file)
							  : (struct slice){ 0 };
	if (!path.n) {
		buf_put(out, caller);
		return;
	}
	buf_printf(out, "%.*s::", SLICE_FMT(n.file));
	symbols_put(&s->symbols, path, n.address, out);
	if (memmem(out->p + before, out->n - before, "+0x", 3)) { /* it has no name */
		out->n = before;
		buf_put(out, caller);
	}
}
