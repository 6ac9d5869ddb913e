/* SPDX-License-Identifier: Apache-2.0 */
/* show_priv.h - between the files of show.  Nobody else includes this. */
#ifndef CLASSFILE_SHOW_SHOW_PRIV_H
#define CLASSFILE_SHOW_SHOW_PRIV_H

#include "classfile/show/show.h"

struct show {
	struct class *cls;
	const struct show_options *opt;
	struct buf *out;
	unsigned depth;			  /* of indentation */
	const struct show_labels *labels; /* in a Code attribute; else NULL */
};

/* show_text.c */
void show_quoted(struct buf *out, struct slice text);	/* "as a string" */
void show_plain(struct buf *out, struct slice text);	/* modified UTF-8 -> UTF-8 */
void show_json_name(struct json *j, struct slice text); /* the same, as a value */
void show_type(struct buf *out, struct slice desc);	/* "[I" -> int[] */
void show_types(struct buf *out, struct slice name, struct slice desc); /* int name(long) */
/* where: C class, F field, M method, I inner class, P parameter, O module, R requires, E exports */
void show_flags(struct buf *out, unsigned access, char where);
void show_version(struct buf *out, const struct class *cls);
void show_indent(const struct show *s);

/* show_pool.c */
void show_const(struct buf *out, const struct pool *p, uint32_t i); /* as an operand */
void show_pool(const struct show *s);
const char *show_tag(uint8_t tag);

/* show_anno.c: all read as much as the annotation takes */
void show_annotation(const struct show *s, struct reader *r);
void show_type_annotation(const struct show *s, struct reader *r);
void show_element(const struct show *s, struct reader *r);

/* show_attr.c */
void show_attr(struct show *s, const struct attr *a);
void show_attrs(struct show *s, const struct attrs *attrs); /* all but Code */

/* show_code.c */
void show_code(struct show *s, struct member *m);
/* The code of a method as a list, with its labels.  NULL, or why it cannot be shown: a text that may be
 * f's. */
const char *show_elevated(const struct show *s, struct member *m, struct code **code,
			  struct show_labels *labels, struct fault *f);
bool show_wants(const struct show *s, const struct member *m);

#endif
