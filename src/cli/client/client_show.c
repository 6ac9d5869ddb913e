/* SPDX-License-Identifier: Apache-2.0 */
/* client_show.c - texts of an agent, which are those of the program that it is in, made harmless. */
#include "cli/client/client.h"

#include <stdio.h>

#include "classfile/show/show.h"

/* `as_is`: characters that stay what they are. */
static void show(struct buf *out, struct slice text, const char *as_is)
{
	size_t start = 0;

	for (size_t i = 0; text.n && i <= text.n; i++) {
		if (i < text.n && (!text.p[i] || !strchr(as_is, text.p[i])))
			continue;
		show_name(out, (struct slice){ text.p + start, i - start });
		if (i < text.n)
			buf_u8(out, text.p[i]);
		start = i + 1;
	}
}

void client_show(struct buf *out, struct slice text)
{
	show(out, text, "\n\t\\");
}

void client_show_line(struct buf *out, struct slice text)
{
	show(out, text, "\\");
}

void client_tell(struct buf *said, bool is_shown)
{
	struct buf shown = { 0 };

	if (said->n && is_shown) {
		client_show(&shown, buf_slice(said));
		fprintf(stderr, "%.*s", SLICE_FMT(buf_slice(&shown)));
	}
	buf_release(&shown);
	buf_clear(said);
}
