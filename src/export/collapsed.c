/* SPDX-License-Identifier: Apache-2.0 */
/* collapsed.c - one stack a line, its value behind the last space. */
#include "export/collapsed.h"

static void put_name(struct buf *out, struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		uint8_t c = name.p[i];

		buf_u8(out, c == ';' ? ':' : c < 0x20 || c == 0x7f ? ' ' : c);
	}
}

void collapsed_put(struct buf *out, const struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (!s->value)
			continue;
		for (uint32_t k = 0; k < s->n; k++) {
			if (k)
				buf_u8(out, ';');
			put_name(out, p->frames[s->frames[k]].name);
		}
		buf_printf(out, " %llu\n", (unsigned long long)s->value);
	}
}

static bool take_line(struct slice *text, struct slice *line)
{
	const uint8_t *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
	size_t n = end ? (size_t)(end - text->p) : text->n, skip = n + (end != NULL);

	if (!text->n)
		return false;
	*line = (struct slice){ text->p, n };
	*text = (struct slice){ text->p + skip, text->n - skip };
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

/* Cuts " 12" off the end. */
static bool take_value(struct slice *line, uint64_t *value)
{
	uint64_t v = 0, unit = 1;
	size_t n = line->n;

	for (; n && line->p[n - 1] >= '0' && line->p[n - 1] <= '9'; n--) {
		uint64_t digit = (uint64_t)(line->p[n - 1] - '0');

		if (unit > UINT64_MAX / 100)
			return false;
		v += digit * unit;
		unit *= 10;
	}
	if (n == line->n || !n || line->p[n - 1] != ' ')
		return false;
	line->n = n - 1;
	*value = v;
	return line->n > 0;
}

static int add_line(struct profile *p, struct slice line)
{
	uint32_t frames[PROFILE_DEPTH_MAX];
	struct profile_stack s = { .frames = frames };

	if (!take_value(&line, &s.value))
		return E_SYNTAX;
	while (line.n && s.n < PROFILE_DEPTH_MAX) {
		const uint8_t *end = memchr(line.p, ';', line.n);
		size_t n = end ? (size_t)(end - line.p) : line.n, skip = n + (end != NULL);

		frames[s.n++] = profile_frame(p, &(struct profile_frame){ .name = { line.p, n } });
		line = (struct slice){ line.p + skip, line.n - skip };
	}
	profile_add(p, &s);
	return p->err;
}

int collapsed_read(struct profile *p, struct slice text, size_t *number)
{
	struct slice line;
	int rc = 0;

	*number = 0;
	while (rc >= 0 && take_line(&text, &line)) {
		++*number;
		if (line.n && line.p[0] != '#')
			rc = add_line(p, line);
	}
	return rc;
}
