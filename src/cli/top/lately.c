/* SPDX-License-Identifier: Apache-2.0 */
/* lately.c - a ring of copies; each has an arena of its own, so the oldest goes in one call. */
#include "cli/top/lately.h"

void lately_init(struct lately *l, unsigned cap)
{
	*l = (struct lately){ .cap = cap < 1 ? 1 : cap < LATELY_PARTS ? cap : LATELY_PARTS };
}

static void clear_part(struct lately *l, struct lately_part *p)
{
	l->time.seen_ns -= p->time.seen_ns;
	l->time.wall_ns -= p->time.wall_ns;
	l->time.cpu_ns -= p->time.cpu_ns;
	arena_release(&p->mem);
	*p = (struct lately_part){ 0 };
}

void lately_release(struct lately *l)
{
	for (unsigned i = 0; i < l->cap; i++)
		clear_part(l, &l->parts[i]);
	l->n = l->next = 0;
}

bool lately_add(struct lately *l, const struct profile *p, const struct lately_time *time)
{
	struct lately_part *part = &l->parts[l->next];

	clear_part(l, part);
	arena_init(&part->mem);
	part->stacks = arena_alloc(&part->mem, (p->n_stacks + 1) * sizeof(*part->stacks));
	for (; part->stacks && part->n < p->n_stacks; part->n++) {
		struct profile_stack *s = &part->stacks[part->n];

		*s = p->stacks[part->n];
		s->frames = arena_copy(&part->mem, s->frames, s->n * sizeof(*s->frames));
		if (!s->frames && s->n)
			break;
	}
	part->time = *time;
	l->time.seen_ns += time->seen_ns;
	l->time.wall_ns += time->wall_ns;
	l->time.cpu_ns += time->cpu_ns;
	l->next = (l->next + 1) % l->cap;
	l->n += l->n < l->cap;
	return part->n == p->n_stacks;
}

void lately_sum(const struct lately *l, uint32_t thread, struct profile *p)
{
	profile_forget_stacks(p);
	for (unsigned i = 0; i < l->cap; i++)
		for (size_t k = 0; k < l->parts[i].n; k++)
			if (!thread || l->parts[i].stacks[k].thread == thread)
				profile_add(p, &l->parts[i].stacks[k]);
}
