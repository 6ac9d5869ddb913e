/* SPDX-License-Identifier: Apache-2.0 */
/* store_priv.h - what store.c and segment.c share: the layout of a segment.
 *
 *	0		head (struct seg_head)
 *	4096		n_slots slots of the hash table (struct seg_slot)
 *	data_at		records: struct record_head, contents, padding to 8
 *
 * Numbers are in the order of the machine; a file of another kind of machine has another magic. */
#ifndef CACHE_STORE_PRIV_H
#define CACHE_STORE_PRIV_H

#include "cache/store.h"

enum {
	SEG_HEAD = 4096,
	SEG_PROBES = 64, /* slots that a look-up looks at */
	SEG_NAME = 16,	 /* "00000001.seg" */
	RECORD_MAGIC = 0x53724563,
};

#define SEG_MAGIC 0x33676553646e6f53u /* "SondSeg3" */
/* Of earlier Sondes, with keys that are made otherwise: nothing in them can be found. */
#define SEG_MAGIC_1 0x31676553646e6f53u
#define SEG_MAGIC_2 0x32676553646e6f53u

struct seg_head {
	uint64_t magic;
	uint32_t number, n_slots;
	uint64_t size;	/* of the file */
	uint64_t check; /* of the four before */
	/* Where the next record goes; by appenders only, and any value is harmless. */
	uint64_t used;
};

struct seg_slot { /* all zero: free */
	struct hash128 key;
	uint32_t at; /* in units of 8 bytes */
	uint32_t n;  /* bytes of the record with its head */
	uint64_t check;
};

struct record_head {
	uint32_t magic;
	uint32_t n; /* with this head, without padding */
	struct hash128 key;
	uint32_t kind, unused;
	struct hash128 sum; /* of all of the record but this */
};

struct segment {
	int fd;
	uint32_t number, n_slots;
	uint64_t size;	    /* of the file */
	const uint8_t *map; /* head and table */
	size_t map_n;
};

/* Opens and checks a segment.  E_IO: not there, or not ours; E_DAMAGED: its head is wrong;
 * E_UNSUPPORTED: an earlier Sonde has written it. */
int segment_open(int dir, uint32_t number, bool read_only, struct segment *out);
void segment_close(struct segment *g);

/* Makes an empty one, which appears in the directory at once and whole. */
int segment_make(int dir, uint32_t number, uint64_t size);

void segment_name(uint32_t number, char out[SEG_NAME]);
bool segment_number(const char *name, uint32_t *out);

/* As store_find. */
int segment_find(const struct segment *g, struct hash128 key, struct buf *out);

/* E_LIMIT: it is full. */
int segment_add(const struct segment *g, struct hash128 key, enum record_kind kind,
		struct slice contents);

uint64_t segment_used(const struct segment *g); /* where records end; at most the size */

static inline uint64_t segment_data_at(const struct segment *g)
{
	return SEG_HEAD + (uint64_t)g->n_slots * sizeof(struct seg_slot);
}

/* Appends the contents of the record at this place to out.  0, E_DAMAGED, E_NO_MEMORY. */
int segment_read(const struct segment *g, uint64_t at, struct record_head *head, struct buf *out);

/* Does the table lead to the record there? */
bool segment_leads_to(const struct segment *g, struct hash128 key, uint64_t at);
uint32_t segment_slots_used(const struct segment *g);

#endif
