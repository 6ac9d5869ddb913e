/* SPDX-License-Identifier: Apache-2.0 */
/* attr.h - attributes (JVMS 4.7): which kind, and what lies where in them.
 *
 * Attributes stay bytes.  attributes.def describes the layout of every standard one;
 * attr_walk() follows that description and reports each pool index and code offset, which is
 * all that checking, relocating and most of printing need.  Unknown ones are never looked
 * into. */
#ifndef CLASSFILE_ATTR_H
#define CLASSFILE_ATTR_H

#include "classfile/pool.h"

enum attr_kind {
	ATTR_UNKNOWN,
#define X(KIND, name, where, layout) ATTR_##KIND,
#include "classfile/attributes.def"
#undef X
	ATTR_COUNT
};

struct attr {
	uint16_t name;	   /* pool index of a Utf8 */
	uint8_t kind;	   /* enum attr_kind */
	struct slice data; /* without the six bytes of name and length */
};

/* attribute_info structures one behind the other, as class, field, method, Code and record
 * component hold them; `bytes` begins behind attributes_count. */
struct attrs {
	struct slice bytes;
	uint16_t n;
};

struct attr_info {
	const char *name, *where, *layout;
};

extern const struct attr_info attr_table[ATTR_COUNT];

uint8_t attr_kind_of(const struct pool *p, uint32_t name); /* enum attr_kind; cached in p */

/* Reads attributes_count and steps over the attributes.  Names are checked to be Utf8. */
int attrs_read(struct attrs *a, const struct pool *p, struct reader *r, struct fault *f);

/* Next attribute, starting with *at = NULL; false after the last. */
bool attrs_next(const struct attrs *a, const struct pool *p, const uint8_t **at, struct attr *out);
bool attrs_find(const struct attrs *a, const struct pool *p, uint8_t kind, struct attr *out);

struct attr_visitor {
	void *ctx;
	/* Each may be NULL.  `at` is the position in attr.data.  Negative ends the walk. */
	int (*index)(void *ctx, size_t at, uint16_t index, char kind);
	int (*offset)(void *ctx, size_t at, uint16_t offset); /* a code offset at `at` */
	int (*range)(void *ctx, size_t at, uint16_t from, uint16_t length); /* 2 + 2 bytes */
};

/* Follows the layout of `a`; checks that it fills its length exactly and that every pool index
 * is of the right kind.  Kinds of layout "#" and unknown ones are not entered. */
int attr_walk(const struct attr *a, const struct pool *p, const struct attr_visitor *v,
	      struct fault *f);

#endif
