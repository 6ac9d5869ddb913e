/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - two maps, from bytes to numbers. */
#include "export/profile.h"

#include "base/buf.h"
#include "base/mem.h"

void profile_init(struct profile *p)
{
	*p = (struct profile){ 0 };
	arena_init(&p->mem);
	arena_init(&p->stack_mem);
}

void profile_release(struct profile *p)
{
	map_release(&p->frame_ids);
	map_release(&p->stack_ids);
	arena_release(&p->mem);
	arena_release(&p->stack_mem);
	mem_free(p->frames);
	mem_free(p->stacks);
	*p = (struct profile){ 0 };
}

void profile_forget_stacks(struct profile *p)
{
	map_release(&p->stack_ids);
	map_init(&p->stack_ids);
	arena_reset(&p->stack_mem);
	p->n_stacks = p->kept = 0;
	p->total = p->count = p->lost = 0;
}

void profile_zero(struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].value = p->stacks[i].count = 0;
	p->total = p->count = p->lost = 0;
}

/* Room for one more of size bytes each. */
static bool grow(void **all, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *bigger;

	if (n < *cap)
		return true;
	bigger = mem_realloc(*all, more * size);
	if (!bigger)
		return false;
	*all = bigger;
	*cap = more;
	return true;
}

static uint32_t fail(struct profile *p, int err)
{
	p->err = p->err ? p->err : err;
	return 0;
}

/* What tells frames apart: kind, file NUL name. */
static void put_key(struct buf *key, const struct profile_frame *f)
{
	buf_u32(key, f->kind);
	buf_put(key, f->file);
	buf_u8(key, 0);
	buf_put(key, f->name);
}

uint32_t profile_frame(struct profile *p, const struct profile_frame *f)
{
	struct buf key = { 0 };
	struct slice kept = { 0 };
	uintptr_t *place;
	uint32_t id = 0;

	put_key(&key, f);
	place = key.err ? NULL : map_get(&p->frame_ids, buf_slice(&key));
	if (place) {
		id = (uint32_t)*place;
	} else if (key.err || p->n_frames >= UINT32_MAX ||
		   !grow((void **)&p->frames, p->n_frames, &p->frames_cap, sizeof(*p->frames)) ||
		   !(kept = arena_dup(&p->mem, buf_slice(&key))).p ||
		   !(place = map_put(&p->frame_ids, kept, NULL))) {
		fail(p, E_NO_MEMORY);
	} else {
		id = (uint32_t)p->n_frames++;
		*place = id;
		p->frames[id] = (struct profile_frame){
			.file = { kept.p + 4, f->file.n },
			.name = { kept.p + 5 + f->file.n, f->name.n },
			.kind = f->kind,
		};
	}
	buf_release(&key);
	return id;
}

static size_t add_new(struct profile *p, const struct profile_stack *s, struct slice key)
{
	struct profile_stack *new;
	struct slice kept;
	uintptr_t *place;

	if (p->n_stacks >= PROFILE_STACKS_MAX || s->n > PROFILE_KEPT_MAX - p->kept) {
		p->lost += s->value;
		return PROFILE_NONE;
	}
	if (!grow((void **)&p->stacks, p->n_stacks, &p->stacks_cap, sizeof(*p->stacks)) ||
	    !(kept = arena_dup(&p->stack_mem, key)).p ||
	    !(place = map_put(&p->stack_ids, kept, NULL))) {
		fail(p, E_NO_MEMORY);
		return PROFILE_NONE;
	}
	*place = p->n_stacks;
	new = &p->stacks[p->n_stacks++];
	*new = *s;
	new->frames = (const uint32_t *)(const void *)(kept.p + 8);
	p->kept += s->n;
	p->total += s->value;
	p->count += s->count;
	return p->n_stacks - 1;
}

void profile_add_again(struct profile *p, size_t place, uint64_t value, uint64_t count)
{
	p->stacks[place].value += value;
	p->stacks[place].count += count;
	p->total += value;
	p->count += count;
}

size_t profile_add(struct profile *p, const struct profile_stack *s)
{
	const uint32_t head[2] = { s->thread, s->kind };
	size_t at = PROFILE_NONE;
	struct buf key = { 0 };
	uintptr_t *place;

	buf_bytes(&key, head, sizeof(head));
	buf_bytes(&key, s->frames, s->n * sizeof(*s->frames));
	if (key.err) {
		fail(p, E_NO_MEMORY);
	} else if ((place = map_get(&p->stack_ids, buf_slice(&key)))) {
		at = *place;
		profile_add_again(p, at, s->value, s->count);
	} else {
		at = add_new(p, s, buf_slice(&key));
	}
	buf_release(&key);
	return at;
}
