/* SPDX-License-Identifier: Apache-2.0 */
/* jimage.h - reads a JDK's lib/modules file.
 *
 * The file is mapped; everything an entry holds is a view of that mapping and dies with it.  No
 * number in the file is trusted.  Layout: a header of seven words, then the redirect table (for
 * finding by hash; not used here), the table of places of the entries' attributes, those
 * attributes, the strings, and last the resources.  Words are in the byte order of the machine
 * that made the file. */
#ifndef CLI_CLASSTOOLS_JIMAGE_H
#define CLI_CLASSTOOLS_JIMAGE_H

#include "base/err.h"
#include "base/slice.h"

enum { JIMAGE_MAGIC = 0xcafedada };

struct jimage {
	struct slice map;
	bool swapped;	      /* other byte order than ours */
	uint32_t n;	      /* slots in the table of entries; some are empty */
	const uint8_t *table; /* n words: places in `attributes` */
	struct slice attributes, strings;
	size_t resources; /* where they begin */
};

struct jimage_entry {
	struct slice module, parent, base, extension; /* without slashes and dots between */
	uint64_t offset;			      /* from the beginning of the resources */
	uint64_t stored;			      /* compressed size; 0: it is not compressed */
	uint64_t size;
};

int jimage_open(struct jimage *img, const char *path, struct fault *f);
void jimage_close(struct jimage *img);

/* 1: *out holds the entry of slot i; 0: the slot is empty; E_*: it is damaged. */
int jimage_entry(const struct jimage *img, uint32_t i, struct jimage_entry *out);

/* The resource's bytes.  E_UNSUPPORTED when it is compressed (jlink --compress). */
int jimage_bytes(const struct jimage *img, const struct jimage_entry *e, struct slice *out,
		 struct fault *f);

#endif
