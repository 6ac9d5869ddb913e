/* SPDX-License-Identifier: Apache-2.0 */
/* source_priv.h - between the files of source: what a place with classes in it must offer.
 *
 * A source is a stack of layers: a directory, in it a jar, in it a jar.  The top one is asked for
 * its next entry; it hands out a class, or pushes a layer for an archive it met. */
#ifndef CLI_CLASSTOOLS_SOURCE_PRIV_H
#define CLI_CLASSTOOLS_SOURCE_PRIV_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/classtools/source.h"

enum { LAYER_AGAIN = 2 }; /* a layer was pushed, or the entry is of no interest */
enum { LAYER_DEPTH_MAX = 4, ARCHIVE_MAX = 256 << 20 };

struct layer {
	struct layer *below;
	const char *shown; /* stands before the names of its entries: "a.jar!/" */
	const char *group;
	size_t at, n; /* entries done; entries in all */
	/* As source_next, or LAYER_AGAIN.  Moves `at` before it can fail. */
	int (*next)(struct source *s, struct layer *l, struct source_class *out, struct fault *f);
	void (*close)(struct layer *l); /* may be NULL: everything is in the arena */
};

struct source {
	char *const *specs;
	size_t n_specs, at;
	struct arena mem; /* of the current spec: layers, their strings */
	struct layer *top;
	unsigned depth;
	const char *want;      /* pattern given with the command, or NULL */
	const char *want_here; /* pattern in the current spec, or NULL */
	bool found;	       /* the current spec gave something, if only an error */
	struct buf bytes, text;
};

void layer_push(struct source *s, struct layer *l);

enum entry_kind { ENTRY_OTHER, ENTRY_CLASS, ENTRY_ARCHIVE };
enum entry_kind entry_kind_of(const char *name);

bool source_wants(const struct source *s, const char *name);

/* Fills all but the bytes.  group and name are copied. */
int source_name(struct source *s, const struct layer *l, const char *group, const char *name,
		struct source_class *out);

/* Joins strings, up to a NULL, in the arena. */
const char *source_join(struct source *s, const char *first, ...) __attribute__((sentinel));

/* An archive in a file, from byte `skip` on; or in memory (mem_alloc), which it takes over. */
int source_push_zip(struct source *s, const char *path, size_t skip, const char *shown,
		    const char *group, struct fault *f);
int source_push_zip_bytes(struct source *s, struct buf *bytes, const char *shown, const char *group,
			  struct fault *f);

/* A module image.  module: only this one, or NULL. */
int source_push_image(struct source *s, const char *path, const char *shown, const char *module,
		      struct fault *f);

/* A JDK: what stands behind the @. */
int source_push_jdk(struct source *s, const char *spec, struct fault *f);

#endif
