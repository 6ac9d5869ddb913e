/* SPDX-License-Identifier: Apache-2.0 */
/* stretch.c - "SondeHis", the length of the body, the body, FNV-1a of the body.
 *
 * The body is numbers in LEB128 and texts with their lengths before them: facts, files of native code, frames
 * sorted by name, the tree of stacks (each node: how far before it its parent stands, and its frame; a
 * parent stands before its children, 0 is the root), and stacks (node, kind, value, count). */
#include "export/stretch.h"

#include <stdlib.h>

#include "base/fnv.h"
#include "base/mem.h"
#include "elf/leb.h"

static const uint8_t magic[8] = "SondeHis";
enum { VERSION = 1, HEAD = sizeof(magic) + 4, TAIL = 8 };

/* ---- numbers and texts --------------------------------------------------------------------- */

static void put_number(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(out, (unsigned)(v & 0x7f) | 0x80);
	buf_u8(out, (unsigned)v);
}

static void put_slice(struct buf *out, struct slice s)
{
	put_number(out, s.n);
	buf_put(out, s);
}

static struct slice read_slice(struct reader *r)
{
	uint64_t n = rd_uleb(r);

	if (n > rd_left(r))
		rd_fail(r, E_DAMAGED);
	return rd_bytes(r, r->err ? 0 : (size_t)n);
}

/* How many there are of something that takes at least `least` bytes each. */
static size_t read_count(struct reader *r, size_t least)
{
	uint64_t n = rd_uleb(r);

	if (n > rd_left(r) / least)
		rd_fail(r, E_DAMAGED);
	return r->err ? 0 : (size_t)n;
}

static uint32_t read_below(struct reader *r, uint64_t limit)
{
	uint64_t v = rd_uleb(r);

	if (v >= limit)
		rd_fail(r, E_DAMAGED);
	return r->err ? 0 : (uint32_t)v;
}

/* ---- facts: the same order in both --------------------------------------------------------- */

static void put_facts(struct buf *out, const struct stretch_facts *s)
{
	const uint64_t numbers[] = { VERSION,	  s->began_ns,	s->wall_ns, s->cpu_ns,
				     s->own_ns,	  s->period_ns, s->lost,    s->samples,
				     s->left_out, s->mode,	s->threads, s->pid };

	for (size_t i = 0; i < COUNT(numbers); i++)
		put_number(out, numbers[i]);
	for (unsigned i = 0; i < STRETCH_SUMS; i++) {
		put_number(out, s->ends[i]);
		put_number(out, s->states[i]);
	}
	put_slice(out, s->name);
	put_slice(out, s->engine);
}

static void read_facts(struct reader *r, struct stretch_facts *s)
{
	uint64_t *const numbers[] = { &s->began_ns,  &s->wall_ns, &s->cpu_ns,  &s->own_ns,
				      &s->period_ns, &s->lost,	  &s->samples, &s->left_out };

	if (rd_uleb(r) != VERSION)
		rd_fail(r, E_DAMAGED);
	for (size_t i = 0; i < COUNT(numbers); i++)
		*numbers[i] = rd_uleb(r);
	s->mode = read_below(r, STRETCH_KINDS);
	s->threads = read_below(r, UINT32_MAX);
	s->pid = read_below(r, INT32_MAX);
	for (unsigned i = 0; i < STRETCH_SUMS; i++) {
		s->ends[i] = rd_uleb(r);
		s->states[i] = rd_uleb(r);
	}
	s->name = read_slice(r);
	s->engine = read_slice(r);
}

/* ---- writing ------------------------------------------------------------------------------- */

enum { UNUSED = UINT32_MAX };

struct sorted {
	const struct profile_frame *frame;
	uint32_t was;
};

struct writer {
	const struct profile *p;
	struct buf *out, nodes, stacks;
	struct sorted *frames; /* those that are used, by name */
	uint32_t *number;      /* of a frame of p in there */
	size_t n_frames;
	struct map files, children; /* a file -> its number; parent and frame -> node */
	struct arena mem;
	uint32_t n_nodes, n_stacks;
};

static int by_name(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int order = slice_cmp(x->frame->name, y->frame->name);

	return order ? order : (x->was > y->was) - (x->was < y->was);
}

static bool sort_frames(struct writer *w)
{
	const struct profile *p = w->p;

	w->frames = mem_alloc((p->n_frames + 1) * sizeof(*w->frames));
	w->number = mem_alloc((p->n_frames + 1) * sizeof(*w->number));
	if (!w->frames || !w->number)
		return false;
	for (size_t i = 0; i < p->n_frames; i++)
		w->number[i] = UNUSED;
	for (size_t i = 0; i < p->n_stacks; i++)
		for (uint32_t k = 0; p->stacks[i].value && k < p->stacks[i].n; k++)
			w->number[p->stacks[i].frames[k]] = 0;
	for (size_t i = 0; i < p->n_frames; i++)
		if (w->number[i] != UNUSED)
			w->frames[w->n_frames++] = (struct sorted){ &p->frames[i], (uint32_t)i };
	qsort(w->frames, w->n_frames, sizeof(*w->frames), by_name);
	for (size_t i = 0; i < w->n_frames; i++)
		w->number[w->frames[i].was] = (uint32_t)i;
	return true;
}

/* Files in the order of the frames that are in them; 0 is none. */
static bool put_files(struct writer *w)
{
	struct buf files = { 0 };
	bool good = true;

	for (size_t i = 0; i < w->n_frames && good; i++) {
		struct slice file = w->frames[i].frame->file;
		uintptr_t *place = file.n ? map_get(&w->files, file) : NULL;

		if (!file.n || place)
			continue;
		place = map_put(&w->files, file, NULL);
		good = place != NULL;
		if (place)
			*place = w->files.n;
		put_slice(&files, file);
	}
	put_number(w->out, w->files.n);
	buf_put(w->out, buf_slice(&files));
	good = good && !files.err;
	buf_release(&files);
	return good;
}

static void put_frames(struct writer *w)
{
	struct slice last = { 0 };

	put_number(w->out, w->n_frames);
	for (size_t i = 0; i < w->n_frames; i++) {
		const struct profile_frame *f = w->frames[i].frame;
		size_t same = 0;

		while (same < last.n && same < f->name.n && last.p[same] == f->name.p[same])
			same++;
		put_number(w->out, same);
		put_slice(w->out, (struct slice){ f->name.p + same, f->name.n - same });
		put_number(w->out, f->kind);
		put_number(w->out, f->file.n ? *map_get(&w->files, f->file) : 0);
		last = f->name;
	}
}

/* The node below another; UNUSED: out of memory. */
static uint32_t node_below(struct writer *w, uint32_t parent, uint32_t frame)
{
	const uint32_t key[2] = { parent, frame };
	struct slice kept = { (const uint8_t *)key, sizeof(key) };
	uintptr_t *place = map_get(&w->children, kept);

	if (place)
		return (uint32_t)*place;
	kept = arena_dup(&w->mem, kept);
	place = kept.p ? map_put(&w->children, kept, NULL) : NULL;
	if (!place)
		return UNUSED;
	*place = ++w->n_nodes;
	put_number(&w->nodes, w->n_nodes - parent);
	put_number(&w->nodes, frame);
	return w->n_nodes;
}

static bool add_stack(struct writer *w, const struct profile_stack *s)
{
	uint32_t node = 0;

	if (!s->value)
		return true;
	for (uint32_t k = 0; k < s->n && node != UNUSED; k++)
		node = node_below(w, node, w->number[s->frames[k]]);
	put_number(&w->stacks, node);
	put_number(&w->stacks, s->kind);
	put_number(&w->stacks, s->value);
	put_number(&w->stacks, s->count);
	w->n_stacks++;
	return node != UNUSED;
}

static bool put_body(struct writer *w)
{
	bool good = sort_frames(w) && put_files(w);

	if (good)
		put_frames(w);
	for (size_t i = 0; good && i < w->p->n_stacks; i++)
		good = add_stack(w, &w->p->stacks[i]);
	put_number(w->out, w->n_nodes);
	buf_put(w->out, buf_slice(&w->nodes));
	put_number(w->out, w->n_stacks);
	buf_put(w->out, buf_slice(&w->stacks));
	return good && !w->nodes.err && !w->stacks.err;
}

static void fail(struct buf *out, int err)
{
	out->err = out->err ? out->err : err;
}

void stretch_put(struct buf *out, const struct stretch_facts *s, const struct profile *p)
{
	struct buf body = { 0 };
	struct writer w = { .p = p, .out = &body };
	uint64_t sum;

	arena_init(&w.mem);
	put_facts(&body, s);
	if (!put_body(&w))
		fail(out, E_NO_MEMORY);
	fail(out, body.n > STRETCH_MAX ? E_LIMIT : body.err);
	buf_bytes(out, magic, sizeof(magic));
	buf_u32(out, (uint32_t)body.n);
	buf_put(out, buf_slice(&body));
	sum = fnv_add(FNV_START, body.p, body.n);
	buf_u32(out, (uint32_t)(sum >> 32));
	buf_u32(out, (uint32_t)sum);
	map_release(&w.files);
	map_release(&w.children);
	arena_release(&w.mem);
	buf_release(&w.nodes);
	buf_release(&w.stacks);
	buf_release(&body);
	mem_free(w.frames);
	mem_free(w.number);
}

/* ---- reading ------------------------------------------------------------------------------- */

struct node {
	uint32_t parent, frame, depth;
};

struct body {
	struct slice *files;
	uint32_t *frames; /* numbers in the profile */
	struct node *nodes;
	size_t n_files, n_frames, n_nodes;
	size_t left; /* what names and stacks may still come to: shared parts make little of much */
};

static void spend(struct reader *r, struct body *b, size_t n)
{
	if (n > b->left)
		rd_fail(r, E_DAMAGED);
	else
		b->left -= n;
}

/* Room for n + 1, or NULL and a sticky error. */
static void *room(struct reader *r, size_t n, size_t size)
{
	void *p = r->err ? NULL : mem_alloc((n + 1) * size);

	if (!p)
		rd_fail(r, E_NO_MEMORY);
	return p;
}

static void read_files(struct reader *r, struct body *b)
{
	b->n_files = read_count(r, 1);
	b->files = room(r, b->n_files, sizeof(*b->files));
	for (size_t i = 0; i < b->n_files && !r->err; i++)
		b->files[i] = read_slice(r);
}

static void read_frame(struct reader *r, struct body *b, struct buf *name, struct profile_frame *f)
{
	size_t same = read_below(r, (uint64_t)name->n + 1);
	uint32_t file;

	name->n = same;
	buf_put(name, read_slice(r));
	f->name = buf_slice(name);
	f->kind = read_below(r, STRETCH_KINDS);
	file = read_below(r, (uint64_t)b->n_files + 1);
	f->file = file && !r->err ? b->files[file - 1] : (struct slice){ 0 };
	spend(r, b, f->name.n + f->file.n);
}

static void read_frames(struct reader *r, struct body *b, struct profile *p)
{
	struct profile_frame f = { 0 };
	struct buf name = { 0 };

	b->n_frames = read_count(r, 4);
	b->frames = room(r, b->n_frames, sizeof(*b->frames));
	for (size_t i = 0; i < b->n_frames && !r->err; i++) {
		read_frame(r, b, &name, &f);
		if (!r->err)
			b->frames[i] = profile_frame(p, &f);
		if (p->err || name.err)
			rd_fail(r, E_NO_MEMORY);
	}
	buf_release(&name);
}

static void read_nodes(struct reader *r, struct body *b)
{
	b->n_nodes = read_count(r, 2);
	b->nodes = room(r, b->n_nodes, sizeof(*b->nodes));
	if (r->err)
		return;
	b->nodes[0] = (struct node){ 0 };
	for (size_t i = 1; i <= b->n_nodes && !r->err; i++) {
		uint64_t back = rd_uleb(r);
		struct node *n = &b->nodes[i];

		if (!back || back > i)
			rd_fail(r, E_DAMAGED);
		n->frame = read_below(r, b->n_frames);
		if (r->err)
			return;
		n->parent = (uint32_t)(i - back);
		n->depth = b->nodes[n->parent].depth + 1;
		if (n->depth > PROFILE_DEPTH_MAX)
			rd_fail(r, E_DAMAGED);
	}
}

static void read_stack(struct reader *r, struct body *b, struct profile *p)
{
	uint32_t frames[PROFILE_DEPTH_MAX], node = read_below(r, (uint64_t)b->n_nodes + 1);
	struct profile_stack s = { .frames = frames };

	s.kind = read_below(r, STRETCH_KINDS);
	s.value = rd_uleb(r);
	s.count = rd_uleb(r);
	spend(r, b, b->nodes[node].depth);
	if (r->err)
		return;
	s.n = b->nodes[node].depth;
	for (uint32_t k = s.n; k-- > 0; node = b->nodes[node].parent)
		frames[k] = b->frames[b->nodes[node].frame];
	profile_add(p, &s);
	if (p->err)
		rd_fail(r, p->err);
}

static int read_body(struct reader *r, struct profile *p)
{
	struct body b = { .left = STRETCH_MAX };
	size_t n;

	read_files(r, &b);
	read_frames(r, &b, p);
	read_nodes(r, &b);
	n = read_count(r, 4);
	for (size_t i = 0; i < n && !r->err; i++)
		read_stack(r, &b, p);
	if (!r->err && rd_left(r))
		rd_fail(r, E_DAMAGED);
	mem_free(b.files);
	mem_free(b.frames);
	mem_free(b.nodes);
	return !r->err ? 0 : r->err == E_NO_MEMORY ? E_NO_MEMORY : E_DAMAGED;
}

/* The body, if the length and the sum are right. */
static bool find_body(struct slice bytes, struct slice *body)
{
	uint64_t sum;

	if (bytes.n < HEAD + TAIL || memcmp(bytes.p, magic, sizeof(magic)) != 0 ||
	    get_u32(bytes.p + sizeof(magic)) != bytes.n - HEAD - TAIL)
		return false;
	*body = (struct slice){ bytes.p + HEAD, bytes.n - HEAD - TAIL };
	sum = fnv_add(FNV_START, body->p, body->n);
	return sum == get_u64(body->p + body->n);
}

int stretch_read(struct slice bytes, struct stretch_facts *s, struct profile *p)
{
	struct slice body;
	struct reader r;

	*s = (struct stretch_facts){ 0 };
	if (!find_body(bytes, &body))
		return E_DAMAGED;
	r = rd_init(body);
	read_facts(&r, s);
	if (r.err)
		return E_DAMAGED;
	return p ? read_body(&r, p) : 0;
}
