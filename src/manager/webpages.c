/* SPDX-License-Identifier: Apache-2.0 */
/* webpages.c - the table of embedded files. */
#include "manager/webpages.h"

#define X(name, path, type)                                        \
	extern const uint8_t pages_##name[], pages_##name##_end[]; \
	extern const uint8_t pages_##name##_gz[], pages_##name##_gz_end[];
#include "manager/webpages.def"
#undef X

static const struct {
	const char *path, *type;
	const uint8_t *from, *to, *gz_from, *gz_to;
} pages[] = {
#define X(name, path, type) \
	{ path, type, pages_##name, pages_##name##_end, pages_##name##_gz, pages_##name##_gz_end },
#include "manager/webpages.def"
#undef X
};

bool webpages_find(const char *path, struct webpage *out)
{
	if (strcmp(path, "/") == 0)
		path = pages[0].path;
	for (size_t i = 0; i < COUNT(pages); i++) {
		if (strcmp(pages[i].path, path) != 0)
			continue;
		*out = (struct webpage){ .path = pages[i].path, .type = pages[i].type };
		out->bytes = (struct slice){ pages[i].from, (size_t)(pages[i].to - pages[i].from) };
		out->gzip = (struct slice){ pages[i].gz_from,
					    (size_t)(pages[i].gz_to - pages[i].gz_from) };
		return true;
	}
	return false;
}
