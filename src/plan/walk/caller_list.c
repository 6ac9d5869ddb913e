/* SPDX-License-Identifier: Apache-2.0 */
/* caller_list.c - functions by name, links by a search through the callee's callers. */
#include "plan/walk/caller_list.h"

void caller_list_init(struct caller_list *l)
{
	memset(l, 0, sizeof(*l));
	arena_init(&l->mem);
}

void caller_list_release(struct caller_list *l)
{
	map_release(&l->by_name);
	arena_release(&l->mem);
}

struct caller *caller_list_find(const struct caller_list *l, struct slice name)
{
	const uintptr_t *place = name.p ? map_get(&l->by_name, name) : NULL;

	return place ? (struct caller *)*place : NULL;
}

struct caller *caller_list_add(struct caller_list *l, struct slice name, unsigned flags)
{
	struct caller *c = caller_list_find(l, name);
	uintptr_t *place;

	if (c)
		return c;
	c = arena_zero(&l->mem, sizeof(*c));
	if (!c || !(c->name = arena_dup(&l->mem, name)).p)
		return NULL;
	place = map_put(&l->by_name, c->name, NULL);
	if (!place)
		return NULL;
	*place = (uintptr_t)c;
	c->flags = flags;
	c->prev = l->last;
	if (l->last)
		l->last->next = c;
	else
		l->first = c;
	l->last = c;
	l->n++;
	return c;
}

static struct caller_link *find(const struct caller *caller, const struct caller *callee)
{
	struct caller_link *k = callee->callers;

	while (k && k->caller != caller)
		k = k->next_caller;
	return k;
}

struct caller_link *caller_list_link(struct caller_list *l, struct caller *caller,
				     struct caller *callee)
{
	struct caller_link *k = find(caller, callee);

	if (k)
		return k;
	k = arena_zero(&l->mem, sizeof(*k));
	if (!k)
		return NULL;
	k->caller = caller;
	k->callee = callee;
	k->next_caller = callee->callers;
	callee->callers = k;
	k->next_callee = caller->callees;
	caller->callees = k;
	return k;
}
