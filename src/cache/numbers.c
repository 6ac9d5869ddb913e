/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.c - what numbers stand for, and where they lie.
 *
 * A number is put into a constant of its own, which keeps its index whatever is merged into the
 * class after it.  A merging that fails may leave constants that are never used, or none at all; so a
 * place counts only when the number is really there in the end. */
#include "cache/numbers.h"

struct number_place {
	int32_t number;
	uint16_t index; /* of the constant */
};

/* ---- sites of a rule ---- */

struct site_search {
	const struct cond_site *wanted; /* NULL: the one with this number ... */
	uint16_t number, at;
	struct cond_site found; /* ... is to be put here */
};

enum { FOUND = E_NOT_FOUND }; /* what ends a walk */

static bool same_site(const struct cond_site *a, const struct cond_site *b)
{
	return a->kind == b->kind && a->name.p == b->name.p && a->name.n == b->name.n &&
	       a->args == b->args && a->trusted == b->trusted;
}

static int visit(void *ctx, const struct cond_site *site, struct rule_pos at)
{
	struct site_search *s = ctx;

	(void)at;
	if (s->wanted ? same_site(s->wanted, site) : s->at == s->number) {
		s->found = *site;
		return FOUND;
	}
	s->at++;
	return 0;
}

static bool find_site(const struct rule *rule, struct site_search *s)
{
	if (rule->kind == RULE_CAPTURE)
		return cond_value_sites(rule->capture.value, visit, s) == FOUND;
	return rule->kind == RULE_HOOK && rule->hook.condition &&
	       cond_sites(rule->hook.condition, visit, s) == FOUND;
}

/* ---- weaving ---- */

/* The next of a list that grows; NULL: out of memory, which is kept. */
static void *next_of(struct numbers *n, void *list, size_t *count, size_t *room, size_t size)
{
	void **at = list, *larger;

	if (*count == *room) {
		larger = arena_alloc(n->mem, (2 * *room + 16) * size);
		if (!larger) {
			n->rc = E_NO_MEMORY;
			return NULL;
		}
		if (*count)
			memcpy(larger, *at, *count * size);
		*at = larger;
		*room = 2 * *room + 16;
	}
	return (char *)*at + size * (*count)++;
}

static int32_t number_of(struct numbers *n, const struct recipe_number *what)
{
	struct recipe_number *own;

	for (size_t i = 0; i < n->n_known; i++)
		if (n->known[i].rule == what->rule && n->known[i].site == what->site &&
		    slice_eq(n->known[i].slot, what->slot))
			return (int32_t)i;
	own = next_of(n, &n->known, &n->n_known, &n->known_room, sizeof(*own));
	if (!own)
		return E_NO_MEMORY;
	*own = *what;
	return (int32_t)(n->n_known - 1);
}

static int32_t give_site(void *ctx, const struct cond_site *site)
{
	struct numbers *n = ctx;

	for (size_t i = 0; i < n->n_rules; i++) {
		struct site_search s = { .wanted = site };

		if (find_site(n->rules[i], &s))
			return number_of(
				n, &(struct recipe_number){ .rule = (uint16_t)i, .site = s.at });
	}
	return E_UNSUPPORTED; /* a condition is in a rule that touches the class */
}

static int32_t give_slot(void *ctx, struct slice name)
{
	return number_of(ctx, &(struct recipe_number){ .slot = name });
}

static void note_place(void *ctx, int32_t number, uint16_t index)
{
	struct numbers *n = ctx;
	struct number_place *p = next_of(n, &n->places, &n->n_places, &n->places_room, sizeof(*p));

	if (p)
		*p = (struct number_place){ number, index };
}

void numbers_begin(struct numbers *n, const struct rule *const *rules, size_t n_rules,
		   struct arena *mem)
{
	*n = (struct numbers){ .give = { n, give_site, give_slot, note_place },
			       .rules = rules,
			       .n_rules = n_rules,
			       .mem = mem };
}

/* Where the constant's bytes lie; 0: there is no such Integer.  New constants stand behind the old
 * ones. */
static uint32_t find_constant(const struct class *cls, struct slice woven,
			      const struct number_place *p)
{
	uint32_t count = woven.n > 10 ? get_u16(woven.p + 8) : 0;
	size_t at = 10 + cls->pool.bytes.n;
	uint32_t i = cls->pool.read;
	const uint8_t *entry;

	if (p->index >= count)
		return 0;
	while (i < p->index) {
		entry = woven.p + at;
		i += *entry == CONST_LONG || *entry == CONST_DOUBLE ? 2 : 1;
		at += pool_entry_size(entry);
	}
	entry = woven.p + at;
	if (i != p->index || *entry != CONST_INTEGER || get_u32(entry + 1) != (uint32_t)p->number)
		return 0;
	return (uint32_t)at + 1;
}

int numbers_end(struct numbers *n, const struct class *cls, struct recipe_from *from)
{
	struct recipe_number *list = arena_alloc(n->mem, (n->n_places + 1) * sizeof(*list));
	size_t count = 0;

	if (!list || n->rc < 0)
		return E_NO_MEMORY;
	for (size_t i = 0; i < n->n_places; i++) {
		const struct number_place *p = &n->places[i];

		list[count] = n->known[p->number];
		list[count].at = find_constant(cls, from->woven, p);
		count += list[count].at != 0;
	}
	if (count > UINT16_MAX)
		return E_NO_MEMORY; /* more than a pool has room for */
	from->numbers = list;
	from->n_numbers = count;
	return 0;
}

/* ---- using ---- */

int numbers_put(const struct recipe *r, const struct rule *const *rules, size_t n_rules,
		const struct cond_numbers *give, uint8_t *woven)
{
	struct recipe_number n;

	for (size_t at = 0; recipe_next_number(r, &at, &n);) {
		struct site_search s = { .number = n.site };
		int32_t number;

		if (!n.slot.n && (n.rule >= n_rules || !find_site(rules[n.rule], &s)))
			return E_DAMAGED;
		number = n.slot.n ? give->slot(give->ctx, n.slot) : give->site(give->ctx, &s.found);
		if (number < 0)
			return number;
		put_u32(woven + n.at, (uint32_t)number);
	}
	return 0;
}
