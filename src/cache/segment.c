/* SPDX-License-Identifier: Apache-2.0 */
/* segment.c - one file of the cache.
 *
 * Head and table are mapped; records are read into the caller's memory, since the caller changes
 * them anyway.  Before the mapping is touched the file's size is asked for: reading behind the end
 * of a file that somebody has cut short would be a SIGBUS in the observed program.
 *
 * An appender writes the record, then moves `used`, then fills the slot.  Killed in between, it
 * leaves room that is used again or lost, and nothing that can be found.  Whatever stands in the
 * file, a reader checks it: places against the size, slots by their check, records by their sum. */
#define _GNU_SOURCE
#include "cache/ours.h"
#include "cache/store_priv.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct slice bytes_of(const void *p, size_t n)
{
	return (struct slice){ p, n };
}

static uint64_t check_of(const void *p, size_t n, uint32_t number, uint64_t magic)
{
	return hash128((struct hash128){ number, magic }, bytes_of(p, n)).a | 1;
}

/* Of whichever version it is. */
static uint64_t head_check(const struct seg_head *h)
{
	return check_of(h, offsetof(struct seg_head, check), 0, h->magic);
}

static uint64_t slot_check(const struct seg_slot *s, uint32_t number)
{
	return check_of(s, offsetof(struct seg_slot, check), number, SEG_MAGIC);
}

static struct hash128 record_sum(const struct record_head *h, struct slice contents)
{
	struct hash128 seed = { RECORD_MAGIC, 0 };

	seed = hash128(seed, bytes_of(h, offsetof(struct record_head, sum)));
	return hash128(seed, contents);
}

/* ---- files -------------------------------------------------------------------------------- */

void segment_name(uint32_t number, char out[SEG_NAME])
{
	snprintf(out, SEG_NAME, "%08x.seg", number);
}

bool segment_number(const char *name, uint32_t *out)
{
	uint32_t n = 0;

	for (int i = 0; i < 8; i++) {
		char c = name[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		n = n << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (strcmp(name + 8, ".seg") != 0)
		return false;
	*out = n;
	return true;
}

static bool read_at(int fd, void *p, size_t n, uint64_t at)
{
	return pread(fd, p, n, (off_t)at) == (ssize_t)n;
}

static bool write_at(int fd, const void *p, size_t n, uint64_t at)
{
	return pwrite(fd, p, n, (off_t)at) == (ssize_t)n;
}

/* Slots for a file of this size: one for each KiB of records, a power of two. */
static uint32_t slots_for(uint64_t size)
{
	uint32_t n = 64;

	while (n < size >> 10)
		n *= 2;
	return n;
}

int segment_make(int dir, uint32_t number, uint64_t size)
{
	struct seg_head head = {
		.magic = SEG_MAGIC, .number = number, .n_slots = slots_for(size), .size = size
	};
	char name[SEG_NAME];
	int fd, rc = E_IO;

	head.used = SEG_HEAD + (uint64_t)head.n_slots * sizeof(struct seg_slot);
	head.check = head_check(&head);
	segment_name(number, name);
	unlinkat(dir, "new", 0); /* of one that was killed; the lock is ours */
	fd = openat(dir, "new", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return E_IO;
	if (ftruncate(fd, (off_t)size) == 0 && write_at(fd, &head, sizeof(head), 0) &&
	    renameat(dir, "new", dir, name) == 0)
		rc = 0;
	close(fd);
	if (rc < 0)
		unlinkat(dir, "new", 0);
	return rc;
}

static bool head_is_good(const struct seg_head *h, uint32_t number, uint64_t size)
{
	return h->magic == SEG_MAGIC && h->check == head_check(h) && h->number == number &&
	       h->size == size && h->n_slots && !(h->n_slots & (h->n_slots - 1)) &&
	       SEG_HEAD + (uint64_t)h->n_slots * sizeof(struct seg_slot) < size;
}

static bool is_of_before(const struct seg_head *h)
{
	return (h->magic == SEG_MAGIC_1 || h->magic == SEG_MAGIC_2) && h->check == head_check(h);
}

int segment_open(int dir, uint32_t number, bool read_only, struct segment *out)
{
	int flags = (read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	struct segment g = { .number = number };
	struct seg_head head = { 0 };
	char name[SEG_NAME];
	void *map;

	segment_name(number, name);
	g.fd = openat(dir, name, flags);
	if (g.fd < 0)
		return E_IO;
	if (!ours_is(g.fd, OURS_FILE)) {
		close(g.fd);
		return E_IO;
	}
	g.size = (uint64_t)lseek(g.fd, 0, SEEK_END);
	if (!read_at(g.fd, &head, sizeof(head), 0) || !head_is_good(&head, number, g.size)) {
		close(g.fd);
		return is_of_before(&head) ? E_UNSUPPORTED : E_DAMAGED;
	}
	g.n_slots = head.n_slots;
	g.map_n = (size_t)segment_data_at(&g);
	map = mmap(NULL, g.map_n, PROT_READ, MAP_SHARED, g.fd, 0);
	if (map == MAP_FAILED) {
		close(g.fd);
		return E_NO_MEMORY;
	}
	g.map = map;
	*out = g;
	return 0;
}

void segment_close(struct segment *g)
{
	munmap((void *)(uintptr_t)g->map, g->map_n);
	close(g->fd);
}

static bool is_whole(const struct segment *g)
{
	return (uint64_t)lseek(g->fd, 0, SEEK_END) == g->size;
}

/* ---- the table ---------------------------------------------------------------------------- */

enum slot_state { SLOT_FREE, SLOT_OTHER, SLOT_MINE };

static uint64_t slot_place(uint32_t i)
{
	return SEG_HEAD + (uint64_t)i * sizeof(struct seg_slot);
}

static uint32_t first_slot(const struct segment *g, struct hash128 key)
{
	return (uint32_t)key.a & (g->n_slots - 1);
}

/* A copy first: another process may be writing it. */
static enum slot_state look_at_slot(const struct segment *g, uint32_t i, struct hash128 key,
				    struct seg_slot *out)
{
	static const struct seg_slot none;

	memcpy(out, g->map + slot_place(i), sizeof(*out));
	if (memcmp(out, &none, sizeof(none)) == 0)
		return SLOT_FREE;
	if (!hash128_eq(out->key, key) || out->check != slot_check(out, g->number))
		return SLOT_OTHER;
	return SLOT_MINE;
}

/* The slot of the key; *at is it, or the free one in which it would stand, or n_slots. */
static bool find_slot(const struct segment *g, struct hash128 key, struct seg_slot *out,
		      uint32_t *at)
{
	uint32_t mask = g->n_slots - 1, i = first_slot(g, key);

	*at = g->n_slots;
	for (int k = 0; k < SEG_PROBES && (uint32_t)k < g->n_slots; k++, i = (i + 1) & mask) {
		enum slot_state state = look_at_slot(g, i, key, out);

		if (state == SLOT_OTHER)
			continue;
		*at = i;
		return state == SLOT_MINE;
	}
	return false;
}

bool segment_leads_to(const struct segment *g, struct hash128 key, uint64_t at)
{
	struct seg_slot slot;
	uint32_t i;

	return is_whole(g) && find_slot(g, key, &slot, &i) && (uint64_t)slot.at * 8 == at;
}

uint32_t segment_slots_used(const struct segment *g)
{
	struct hash128 zero = { 0, 0 };
	struct seg_slot slot;
	uint32_t n = 0;

	for (uint32_t i = 0; is_whole(g) && i < g->n_slots; i++)
		n += look_at_slot(g, i, zero, &slot) != SLOT_FREE;
	return n;
}

/* ---- records ------------------------------------------------------------------------------ */

/* May a record of n bytes lie there? */
static bool has_place(const struct segment *g, uint64_t at, uint64_t n)
{
	return at % 8 == 0 && at >= segment_data_at(g) && n >= sizeof(struct record_head) &&
	       n <= STORE_RECORD_MAX && at + n <= g->size;
}

/* A record whose length is known, by one call of the system. */
static int read_record(const struct segment *g, const struct seg_slot *place,
		       struct record_head *head, struct buf *out)
{
	uint64_t at = (uint64_t)place->at * 8;
	struct iovec parts[] = { { head, sizeof(*head) }, { NULL, 0 } };
	struct slice contents;

	if (!has_place(g, at, place->n))
		return E_DAMAGED;
	contents.n = place->n - sizeof(*head);
	parts[1].iov_base = buf_room(out, contents.n + 1);
	parts[1].iov_len = contents.n;
	contents.p = parts[1].iov_base;
	if (!contents.p)
		return E_NO_MEMORY;
	if (preadv(g->fd, parts, 2, (off_t)at) != (ssize_t)place->n || head->n != place->n ||
	    head->magic != RECORD_MAGIC || !head->kind || head->kind >= RECORD_KINDS ||
	    !hash128_eq(record_sum(head, contents), head->sum))
		return E_DAMAGED;
	out->n += contents.n;
	return 0;
}

int segment_read(const struct segment *g, uint64_t at, struct record_head *head, struct buf *out)
{
	struct seg_slot place = { .at = (uint32_t)(at / 8) };

	if (!has_place(g, at, sizeof(*head)) || !read_at(g->fd, head, sizeof(*head), at))
		return E_DAMAGED;
	place.n = head->n;
	return read_record(g, &place, head, out);
}

int segment_find(const struct segment *g, struct hash128 key, struct buf *out)
{
	struct record_head head;
	struct seg_slot slot;
	uint32_t i;
	int rc;

	if (!is_whole(g))
		return E_DAMAGED;
	if (!find_slot(g, key, &slot, &i))
		return E_NOT_FOUND;
	rc = read_record(g, &slot, &head, out);
	if (rc < 0)
		return rc;
	if (!hash128_eq(head.key, key)) { /* sound, but the slot is older than it */
		out->n -= head.n - sizeof(head);
		return E_DAMAGED;
	}
	return (int)head.kind;
}

uint64_t segment_used(const struct segment *g)
{
	uint64_t used = 0, start = segment_data_at(g);

	if (!read_at(g->fd, &used, sizeof(used), offsetof(struct seg_head, used)))
		return g->size;
	return used % 8 || used < start || used > g->size ? g->size : used;
}

static bool write_record(const struct segment *g, struct record_head *head, struct slice contents,
			 uint64_t at)
{
	struct iovec parts[] = {
		{ head, sizeof(*head) },
		{ (void *)(uintptr_t)contents.p, contents.n },
	};

	head->sum = record_sum(head, contents);
	return pwritev(g->fd, parts, 2, (off_t)at) == (ssize_t)head->n;
}

int segment_add(const struct segment *g, struct hash128 key, enum record_kind kind,
		struct slice contents)
{
	struct record_head head = { .magic = RECORD_MAGIC, .key = key, .kind = kind };
	uint64_t at = segment_used(g), used;
	struct seg_slot slot;
	uint32_t i;

	head.n = (uint32_t)(sizeof(head) + contents.n);
	used = (at + head.n + 7) & ~(uint64_t)7;
	if (contents.n > STORE_RECORD_MAX - sizeof(head) || used > g->size)
		return E_LIMIT;
	if (!is_whole(g))
		return E_DAMAGED;
	find_slot(g, key, &slot, &i);
	if (i == g->n_slots)
		return E_LIMIT;
	slot = (struct seg_slot){ .key = key, .at = (uint32_t)(at / 8), .n = head.n };
	slot.check = slot_check(&slot, g->number);
	if (!write_record(g, &head, contents, at) ||
	    !write_at(g->fd, &used, sizeof(used), offsetof(struct seg_head, used)) ||
	    !write_at(g->fd, &slot, sizeof(slot), slot_place(i)))
		return E_IO;
	return 0;
}
