/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - records by key, in a directory that many processes share.
 *
 * The directory holds segments, files of a fixed size: a head, a hash table, and records one behind
 * another.  Nothing is ever changed in place but empty room, the table and the head, so readers
 * need no lock: a slot of the table has a check of its own, and a record a checksum over all of it,
 * and what does not agree is not there.  One process at a time appends (flock).  When all segments
 * are larger than the limit, the oldest goes.
 *
 * Only files of our own user that no other user can write are read; links are not followed.  Any
 * thread may ask (store_find); one thread at a time may add. */
#ifndef CACHE_STORE_H
#define CACHE_STORE_H

#include "base/buf.h"
#include "cache/secret.h"

enum {
	STORE_SEGMENTS_MAX = 64,
	STORE_RECORD_MAX = 16 << 20, /* bytes of the largest record */
};
#define STORE_LIMIT ((uint64_t)512 << 20) /* bytes in all, by default */

enum record_kind {
	RECORD_CLASS = 1, /* a recipe: see recipe.h */
	RECORD_LINK = 2,  /* which recipe is for a class under a set of rules: see cache.h */
	RECORD_KINDS
};

struct store_options {
	const char *dir;
	uint64_t limit;		/* 0: STORE_LIMIT */
	uint32_t segment_bytes; /* 0: by the limit */
	bool read_only;		/* nothing is made or added */
};

struct store_counts {
	uint64_t found, missed, added, damaged, dropped; /* look-ups and records */
	uint64_t bytes_found, bytes_added;
};

struct store;

/* Makes the directory where it is missing.  Negative: there is no cache, f says why: E_NOT_FOUND,
 * it cannot be opened or made; E_IO, it must not be used. */
int store_open(const struct store_options *o, struct store **out, struct fault *f);
void store_close(struct store *s);

const struct secret *store_secret(const struct store *s); /* what keys are made with */

/* A record's contents, appended to out; its kind, or E_NOT_FOUND, E_DAMAGED (also not there),
 * E_NO_MEMORY. */
int store_find(struct store *s, struct hash128 key, struct buf *out);

/* Between store_lock and store_unlock records may be added.  E_LIMIT: another process adds just
 * now; never waits. */
int store_lock(struct store *s);
void store_unlock(struct store *s);
int store_add(struct store *s, struct hash128 key, enum record_kind kind, struct slice contents);

void store_counts(const struct store *s, struct store_counts *out);

/* ---- for the command line ---- */

struct store_record {
	struct hash128 key;
	uint8_t kind;
	bool live; /* the table leads to it: it is found */
	uint32_t segment;
	uint64_t at;	       /* in its file */
	struct slice contents; /* until the next record */
};

struct store_segment {
	uint32_t number;
	char name[16];
	uint64_t size, used; /* bytes: of the file, of its records */
	uint32_t slots, slots_used;
	bool sound; /* head and owner are as they should be */
};

/* Calls f for every sound record, oldest segment first; *damaged gets the places that are not
 * sound.  f returns negative to stop. */
typedef int store_each(void *ctx, const struct store_record *r);
int store_walk(struct store *s, store_each *f, void *ctx, uint64_t *damaged);

size_t store_segments(const struct store *s, struct store_segment *out, size_t cap);

/* Removes the oldest segments until the records take at most so many bytes; how many went. */
int store_prune(struct store *s, uint64_t to);

#endif
