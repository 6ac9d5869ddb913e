/* SPDX-License-Identifier: Apache-2.0 */
/* climb_tree.c - stacks as rows of functions, each with the place that was reached in it. */
#include "plan/walk/climb_tree.h"

#include "base/err.h"
#include "base/mem.h"

void climb_stacks_init(struct climb_stacks *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->mem);
}

void climb_stacks_release(struct climb_stacks *s)
{
	arena_release(&s->mem);
	mem_free(s->v);
}

/* ---- stacks --------------------------------------------------------------------------------- */

static struct climb_stack *room(struct climb_stacks *s)
{
	struct climb_stack *more;
	size_t cap = s->cap ? 2 * s->cap : 1024;

	if (s->n < s->cap)
		return &s->v[s->n];
	more = s->n < CLIMB_STACKS_MAX ? mem_realloc(s->v, cap * sizeof(*more)) : NULL;
	if (!more)
		return NULL;
	s->v = more;
	s->cap = cap;
	return &s->v[s->n];
}

static bool is_native_frame(const struct caller *c)
{
	return c->flags & CALLER_FRAME && c->flags & CALLER_NATIVE;
}

/* What lies outside of the program's own work is cut off: what runs threads, and what takes requests
 * in.  The innermost frame stays. */
static uint32_t begin_of(struct caller *const *frames, uint32_t n)
{
	uint32_t begin = 0;

	if (n > 2 && is_native_frame(frames[1])) /* the program's _start, which may have no name */
		begin = 1;
	while (begin + 1 < n && frames[begin]->flags & CALLER_FRAME)
		begin++;
	for (uint32_t i = begin; i < n; i++)
		if (frames[i]->flags & CALLER_REQUEST)
			return i;
	return begin;
}

static void count(struct climb_stacks *s, struct caller_list *l, const struct climb_stack *k)
{
	s->marks++;
	for (uint32_t i = 0; i < k->n; i++) {
		struct caller *c = k->frames[i];
		struct caller_link *link;

		if (c->mark != s->marks)
			c->total += k->value;
		c->mark = s->marks;
		if (!i || k->frames[i - 1] == c)
			continue;
		link = caller_list_link(l, k->frames[i - 1], c);
		if (link)
			link->samples += k->value;
	}
	k->frames[k->n - 1]->self += k->value;
}

void climb_stacks_add(struct climb_stacks *s, struct caller_list *l,
		      const struct climb_frame *frames, size_t n, uint64_t value)
{
	struct caller *found[CLIMB_DEPTH_MAX];
	struct climb_stack *k = room(s);
	uint32_t many = 0, begin;

	s->total += value;
	for (size_t i = n > CLIMB_DEPTH_MAX ? n - CLIMB_DEPTH_MAX : 0; i < n; i++) {
		if (frames[i].flags & CALLER_INNER)
			continue;
		found[many] = caller_list_add(l, frames[i].name, frames[i].flags);
		if (!found[many++])
			s->err = E_NO_MEMORY;
	}
	if (!many || s->err || !k) {
		s->nowhere += value;
		return;
	}
	begin = begin_of(found, many);
	*k = (struct climb_stack){ .n = many - begin, .value = value };
	k->frames = arena_copy(&s->mem, found + begin, k->n * sizeof(*k->frames));
	if (!k->frames) {
		s->err = E_NO_MEMORY;
		return;
	}
	s->n++;
	count(s, l, k);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

struct climb_node *climb_tree_next(struct climb_node *n, const struct climb_node *top)
{
	if (n->first)
		return n->first;
	while (n != top && !n->next)
		n = n->below;
	return n == top ? NULL : n->next;
}

struct climb_node *climb_tree_add(struct climb_stacks *s, struct climb_node *below,
				  struct caller *caller)
{
	struct climb_node *n, **at = below ? &below->first : NULL;

	for (; at && *at; at = &(*at)->next)
		if ((*at)->method == caller)
			return *at;
	n = arena_zero(&s->mem, sizeof(*n));
	if (!n) {
		s->err = E_NO_MEMORY;
		return NULL;
	}
	n->method = caller;
	n->below = below;
	n->depth = below ? below->depth + 1 : 0;
	n->runs_on = below && below->runs_on;
	if (at)
		*at = n;
	return n;
}

/* Where the hot spot begins in a stack; its outermost call, when it calls itself. */
static bool begins_at(const struct climb_stack *k, const struct caller *hot, bool inside,
		      uint32_t *at)
{
	uint32_t i = k->n - 1;

	if (inside) {
		for (i = 0; i < k->n && k->frames[i] != hot;)
			i++;
		*at = i;
		return i < k->n;
	}
	*at = i;
	return k->frames[i] == hot;
}

struct climb_node *climb_tree_begin(struct climb_stacks *s, struct caller *hot, bool inside)
{
	struct climb_node *n = climb_tree_add(s, NULL, hot);

	for (size_t i = 0; n && i < s->n; i++) {
		struct climb_stack *k = &s->v[i];

		k->node = begins_at(k, hot, inside, &k->at) ? n : NULL;
		n->samples += k->node ? k->value : 0;
	}
	return n;
}

static bool is_on_way(const struct climb_node *n, const struct caller *c)
{
	for (; n; n = n->below)
		if (n->method == c)
			return true;
	return false;
}

/* Sorts the callers of a node by samples, most first. */
static void sort_callers(struct climb_node *n)
{
	struct climb_node *sorted = NULL, *next;

	for (struct climb_node *c = n->first; c; c = next) {
		struct climb_node **at = &sorted;

		next = c->next;
		while (*at && (*at)->samples >= c->samples)
			at = &(*at)->next;
		c->next = *at;
		*at = c;
	}
	n->first = sorted;
}

void climb_tree_expand(struct climb_stacks *s, struct caller_list *l, struct climb_node *n)
{
	if (n->expanded)
		return;
	n->expanded = true;
	for (size_t i = 0; i < s->n; i++) {
		struct climb_stack *k = &s->v[i];
		uint32_t at = k->at;
		struct climb_node *caller;

		if (k->node != n)
			continue;
		while (at && is_on_way(n, k->frames[at - 1]))
			at--;
		if (!at) {
			n->outermost += k->value;
			continue;
		}
		caller = climb_tree_add(s, n, k->frames[at - 1]);
		if (!caller)
			return;
		caller->recursive |= k->at != at;
		caller->samples += k->value;
		caller->link = caller_list_link(l, caller->method, n->method);
		k->at = at - 1;
		k->node = caller;
	}
	sort_callers(n);
}

static bool is_through(const struct climb_node *reached, const struct climb_node *n)
{
	while (reached && reached != n)
		reached = reached->below;
	return reached != NULL;
}

/* By majority vote, weighted: right if one has more than half, and else one that is frequent. */
struct caller *climb_tree_outermost(const struct climb_stacks *s, const struct climb_node *n)
{
	struct caller *best = NULL;
	uint64_t votes = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct climb_stack *k = &s->v[i];

		if (!is_through(k->node, n))
			continue;
		if (best == k->frames[0]) {
			votes += k->value;
		} else if (k->value > votes) {
			best = k->frames[0];
			votes = k->value - votes;
		} else {
			votes -= k->value;
		}
	}
	return best;
}
