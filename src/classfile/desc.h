/* SPDX-License-Identifier: Apache-2.0 */
/* desc.h - field and method descriptors (JVMS 4.3). */
#ifndef CLASSFILE_DESC_H
#define CLASSFILE_DESC_H

#include "base/err.h"
#include "base/slice.h"

/* Walks the types of "(IJLa/B;)V":
 *
 *	struct desc_iter it = desc_args(desc);
 *	while (desc_next(&it)) use(it.type);
 *	it.err tells whether it ended well, it.type is then the return type. */
struct desc_iter {
	struct slice rest;
	struct slice type; /* one field descriptor, or "V" as the return type */
	int err;	   /* 0 or E_DESCRIPTOR */
};

struct desc_iter desc_args(struct slice desc);
bool desc_next(struct desc_iter *it); /* false: no more arguments; see it->err, it->type */

/* Length of the one field descriptor at the start of s; 0: malformed. */
size_t desc_field_len(struct slice s);

/* Locals or stack slots that a value of this type takes: 0 for V, 2 for J and D, else 1. */
static inline unsigned desc_slots(struct slice type)
{
	uint8_t c = type.n ? type.p[0] : 'V';

	return c == 'V' ? 0 : c == 'J' || c == 'D' ? 2 : 1;
}

/* Slots of all arguments, without `this`; E_DESCRIPTOR. */
int desc_arg_slots(struct slice desc);

/* The return type, .n == 0 when malformed. */
struct slice desc_return(struct slice desc);

/* "int" for 'I', "void" for 'V'; NULL for letters that are no primitive type. */
const char *desc_primitive(uint8_t letter);

/* java.lang.Integer for 'I', and the descriptor of its valueOf; NULL for letters without one. */
struct desc_box {
	char type;
	const char *class, *value_of;
};
const struct desc_box *desc_box(uint8_t letter);

bool desc_is_field(struct slice s); /* exactly one field descriptor, at most 255 dimensions */

#endif
