/* SPDX-License-Identifier: Apache-2.0 */
/* jimage.c - reads a JDK's lib/modules file.
 *
 * An entry is a run of attributes: a byte with the kind above and the length less one in its low
 * three bits, then a big-endian value; kind 0 ends the run.  Strings end with a zero byte. */
#include "cli/classtools/jimage.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_WORDS = 7, VERSION_MAJOR = 1 };

enum {
	KIND_END,
	KIND_MODULE,
	KIND_PARENT,
	KIND_BASE,
	KIND_EXTENSION,
	KIND_OFFSET,
	KIND_COMPRESSED,
	KIND_UNCOMPRESSED,
	KIND_COUNT
};

static uint32_t word(const struct jimage *img, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return img->swapped ? __builtin_bswap32(v) : v;
}

static int map_file(struct slice *map, const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < HEADER_WORDS * 4) {
		close(fd);
		return fault_set(f, E_TRUNCATED, -1, "%s: too short for a module image", path);
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	*map = (struct slice){ p, (size_t)st.st_size };
	return 0;
}

/* Sums of 32-bit numbers: no overflow in 64 bits. */
static int read_header(struct jimage *img, const char *path, struct fault *f)
{
	const uint8_t *p = img->map.p;
	uint64_t tables, attributes, strings, end;

	img->swapped = word(img, p) != JIMAGE_MAGIC;
	if (word(img, p) != JIMAGE_MAGIC)
		return fault_set(f, E_UNSUPPORTED, -1, "%s: not a module image", path);
	if (word(img, p + 4) >> 16 != VERSION_MAJOR)
		return fault_set(f, E_UNSUPPORTED, -1, "%s: module image of version %u.%u", path,
				 word(img, p + 4) >> 16, word(img, p + 4) & 0xffff);
	img->n = word(img, p + 16);
	tables = HEADER_WORDS * 4 + 2 * 4 * (uint64_t)img->n;
	attributes = word(img, p + 20);
	strings = word(img, p + 24);
	end = tables + attributes + strings;
	if (end > img->map.n || !strings || p[end - 1] != 0)
		return fault_set(f, E_TRUNCATED, -1, "%s: damaged module image", path);
	img->table = p + HEADER_WORDS * 4 + 4 * (size_t)img->n;
	img->attributes = (struct slice){ p + tables, attributes };
	img->strings = (struct slice){ p + tables + attributes, strings };
	img->resources = end;
	return 0;
}

int jimage_open(struct jimage *img, const char *path, struct fault *f)
{
	struct jimage made = { 0 };
	int rc = map_file(&made.map, path, f);

	if (rc < 0)
		return rc;
	rc = read_header(&made, path, f);
	if (rc < 0)
		jimage_close(&made);
	else
		*img = made;
	return rc;
}

void jimage_close(struct jimage *img)
{
	if (img->map.p)
		munmap((void *)(uintptr_t)img->map.p, img->map.n);
	*img = (struct jimage){ 0 };
}

static int read_attributes(const struct jimage *img, uint32_t at, uint64_t value[KIND_COUNT])
{
	const uint8_t *p = img->attributes.p + at, *end = img->attributes.p + img->attributes.n;

	memset(value, 0, KIND_COUNT * sizeof(*value));
	while (p < end && *p >> 3 != KIND_END) {
		unsigned kind = *p >> 3, n = (*p & 7) + 1;
		uint64_t v = 0;

		if (kind >= KIND_COUNT || (size_t)(end - p) < n + 1)
			return E_TRUNCATED;
		for (unsigned i = 1; i <= n; i++)
			v = v << 8 | p[i];
		value[kind] = v;
		p += n + 1;
	}
	return p < end ? 0 : E_TRUNCATED;
}

/* The last byte of the strings is known to be zero. */
static int string_at(const struct jimage *img, uint64_t at, struct slice *out)
{
	if (at >= img->strings.n)
		return E_TRUNCATED;
	*out = slice_str((const char *)img->strings.p + at);
	return 0;
}

int jimage_entry(const struct jimage *img, uint32_t i, struct jimage_entry *out)
{
	uint64_t value[KIND_COUNT];
	struct jimage_entry e;
	uint32_t at = word(img, img->table + 4 * (size_t)i);

	if (at == 0)
		return 0;
	if (at >= img->attributes.n || read_attributes(img, at, value) < 0 ||
	    string_at(img, value[KIND_MODULE], &e.module) < 0 ||
	    string_at(img, value[KIND_PARENT], &e.parent) < 0 ||
	    string_at(img, value[KIND_BASE], &e.base) < 0 ||
	    string_at(img, value[KIND_EXTENSION], &e.extension) < 0)
		return E_TRUNCATED;
	e.offset = value[KIND_OFFSET];
	e.stored = value[KIND_COMPRESSED];
	e.size = value[KIND_UNCOMPRESSED];
	*out = e;
	return 1;
}

int jimage_bytes(const struct jimage *img, const struct jimage_entry *e, struct slice *out,
		 struct fault *f)
{
	size_t room = img->map.n - img->resources;

	if (e->stored)
		return fault_set(f, E_UNSUPPORTED, -1,
				 "compressed in the module image (jlink --compress), which is not "
				 "supported");
	if (e->offset > room || e->size > room - e->offset)
		return fault_set(f, E_TRUNCATED, -1, "reaches past the end of the module image");
	*out = (struct slice){ img->map.p + img->resources + e->offset, e->size };
	return 0;
}
