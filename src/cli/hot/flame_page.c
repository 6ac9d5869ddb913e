/* SPDX-License-Identifier: Apache-2.0 */
/* flame_page.c - flame_page.html with the data in the place of @DATA@: frames as [name, kind], stacks as
 * [value, the outermost frame, ..., the innermost]; the same again of what it is compared with.
 *
 * '<' is written as an escape in there, so that no name can end the script that it stands in; the page
 * shows names as text alone. */
#include "cli/hot/flame_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/hot/hot_show.h"
#include "cli/screen/cli.h"

extern const uint8_t flame_page_html[], flame_page_html_end[];

static const char place[] = "@DATA@";

static void put_frames(struct json *j, const struct profile *p)
{
	struct buf name = { 0 };

	json_put_open(j, "frames", '[');
	for (size_t i = 0; i < p->n_frames; i++) {
		buf_clear(&name);
		hot_put_name(&name, p->frames[i].kind, p->frames[i].name, 0);
		json_open(j, '[');
		json_str(j, buf_slice(&name));
		json_u64(j, p->frames[i].kind);
		json_close(j, ']');
	}
	json_close(j, ']');
	buf_release(&name);
}

static void put_stacks(struct json *j, const struct profile *p)
{
	json_put_open(j, "stacks", '[');
	for (size_t i = 0; i < p->n_stacks; i++) {
		if (!p->stacks[i].value)
			continue;
		json_open(j, '[');
		json_u64(j, p->stacks[i].value);
		for (uint32_t k = 0; k < p->stacks[i].n; k++)
			json_u64(j, p->stacks[i].frames[k]);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void put_profile(struct json *j, const struct profile *p)
{
	json_put_u64(j, "total", p->total);
	put_frames(j, p);
	put_stacks(j, p);
}

static void put_one_title(struct buf *out, const struct sampled *s)
{
	buf_printf(out, "%s%s%s", s->name, s->when[0] ? ", " : "", s->when);
}

static void put_title(struct json *j, const struct sampled *s, const struct sampled *before)
{
	struct buf title = { 0 };

	put_one_title(&title, s);
	if (before) {
		buf_text(&title, " compared with ");
		put_one_title(&title, before);
	}
	json_put_str(j, "title", buf_slice(&title));
	buf_release(&title);
}

static void put_data(struct buf *out, const struct sampled *s, const struct sampled *before)
{
	struct json j = json_to(out);
	struct buf about = { 0 };

	if (hot_has_about(s))
		hot_put_about(s, &about);
	json_open(&j, '{');
	put_title(&j, s, before);
	json_put_str(&j, "about", buf_slice(&about));
	json_put_text(&j, "unit", s->mode == STACKS_CPU ? "samples" : sampled_mode(s->mode)->unit);
	json_put_open(&j, "kinds", '[');
	for (unsigned k = 0; k < SAMPLED_KINDS; k++)
		json_text(&j, k ? sampled_kind_text(k) : "");
	json_close(&j, ']');
	put_profile(&j, &s->profile);
	if (before) {
		json_put_open(&j, "before", '{');
		put_profile(&j, &before->profile);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	buf_release(&about);
}

/* Where the data go; NULL: nowhere. */
static const uint8_t *find_place(void)
{
	size_t n = sizeof(place) - 1;

	for (const uint8_t *p = flame_page_html; p + n <= flame_page_html_end; p++)
		if (memcmp(p, place, n) == 0)
			return p;
	return NULL;
}

void flame_page_put(struct buf *out, const struct sampled *s, const struct sampled *before)
{
	const uint8_t *at = find_place();
	struct buf data = { 0 };

	if (!at)
		return;
	put_data(&data, s, before);
	buf_bytes(out, flame_page_html, (size_t)(at - flame_page_html));
	for (size_t i = 0; i < data.n; i++)
		if (data.p[i] == '<')
			buf_text(out, "\\u003c");
		else
			buf_u8(out, data.p[i]);
	at += sizeof(place) - 1;
	buf_bytes(out, at, (size_t)(flame_page_html_end - at));
	out->err = out->err ? out->err : data.err;
	buf_release(&data);
}
