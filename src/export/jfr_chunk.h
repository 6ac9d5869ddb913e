/* SPDX-License-Identifier: Apache-2.0 */
/* jfr_chunk.h - one chunk of a recording of the JDK's Flight Recorder: its types, its constants, its events.
 *
 * A chunk describes itself: its metadata say which fields each type has, and values are read by that alone.
 * Fields are found by name, so what a JDK adds does no harm; a field that is not there reads as nothing.
 * All is a view of the chunk's bytes or lies in its arena.  Whatever the bytes are: work is bounded by
 * their number. */
#ifndef EXPORT_JFR_CHUNK_H
#define EXPORT_JFR_CHUNK_H

#include "base/arena.h"
#include "base/map.h"
#include "base/reader.h"

struct jfr_field {
	struct slice name;
	uint64_t type;
	bool pooled,
		array; /* the value is a key of the type's constants; several, with their number before */
};

struct jfr_class {
	uint64_t id;
	struct slice name;
	struct jfr_field *fields;
	uint32_t n;
};

struct jfr_chunk {
	struct slice bytes;
	uint64_t start_ns, duration_ns; /* since 1970 */
	uint64_t ticks_hz;
	struct arena mem;
	struct map classes;   /* id -> struct jfr_class * */
	struct map constants; /* type and key -> where the value stands in bytes */
	uint64_t work;	      /* what may still be done */
	const char *why;      /* what is wrong with it, for people */
};

/* How long the chunk at the beginning of `file` is; 0: there is none, and why. */
size_t jfr_chunk_length(struct slice file, const char **why);

/* Reads metadata and constants.  0, E_SYNTAX with `why`, E_UNSUPPORTED likewise, or E_NO_MEMORY. */
int jfr_chunk_open(struct jfr_chunk *c, struct slice bytes);
void jfr_chunk_release(struct jfr_chunk *c);

/* The next event from *at on (0: the first): its class, and where its fields stand.  False: there is none,
 * or c->why says what is wrong. */
bool jfr_chunk_next(struct jfr_chunk *c, size_t *at, const struct jfr_class **class,
		    struct slice *fields);

/* A value: where it stands, and its type. */
struct jfr_value {
	const struct jfr_class *class; /* NULL: no value */
	struct reader at;
	uint64_t type;
	bool array;
};

struct jfr_value jfr_value_of(const struct jfr_class *class, struct slice fields);
/* A field of it; if that is a key, the constant that it names. */
struct jfr_value jfr_value_field(struct jfr_chunk *c, const struct jfr_value *v, const char *name);
uint64_t jfr_value_number(struct jfr_chunk *c, const struct jfr_value *v, const char *name);
/* The key itself; 0: none. */
uint64_t jfr_value_key(struct jfr_chunk *c, const struct jfr_value *v, const char *name);
struct slice jfr_value_text(struct jfr_chunk *c, const struct jfr_value *v, const char *name);
/* Of an array: how many there are; then each. */
uint64_t jfr_value_begin(struct jfr_chunk *c, struct jfr_value *array);
struct jfr_value jfr_value_next(struct jfr_chunk *c, struct jfr_value *array);

#endif
