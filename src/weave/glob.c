/* SPDX-License-Identifier: Apache-2.0 */
/* glob.c - matching with one place to go back to: the last star. */
#include "weave/glob.h"

/* Two slices, read as if they were one. */
struct pair {
	struct slice a, b;
};

static uint8_t pair_at(const struct pair *t, size_t i)
{
	return i < t->a.n ? t->a.p[i] : t->b.p[i - t->a.n];
}

static bool matches(struct slice pattern, const struct pair *text)
{
	size_t n = text->a.n + text->b.n;
	size_t p = 0, i = 0, star = SIZE_MAX, from = 0;

	while (i < n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			from = i;
		} else if (p < pattern.n && pattern.p[p] == pair_at(text, i)) {
			p++;
			i++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			i = ++from; /* the star takes one more */
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

/* Takes the first pattern off the list; .n 0: there is none. */
static struct slice next_pattern(const char **list)
{
	const char *start = *list + strspn(*list, " ");
	size_t n = strcspn(start, " ");

	*list = start + n;
	return (struct slice){ (const uint8_t *)start, n };
}

bool glob_method(const char *list, struct slice name, struct slice desc)
{
	struct slice pattern;

	if (!*list)
		return true;
	while ((pattern = next_pattern(&list)).n) {
		struct pair text = { name, { NULL, 0 } };

		if (memchr(pattern.p, '(', pattern.n))
			text.b = desc;
		if (matches(pattern, &text))
			return true;
	}
	return false;
}

bool glob_text(const char *list, struct slice text)
{
	return glob_method(list, text, (struct slice){ NULL, 0 });
}
