/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.c - frames of one name are one function; sums over all stacks. */
#include "cli/hot/ranking.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

static int by_self(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return slice_cmp(x->name, y->name);
}

/* Gives each frame the number of its name. */
static bool number_names(struct ranking *r, const struct profile *p, struct map *names)
{
	for (size_t i = 0; i < p->n_frames; i++) {
		bool fresh;
		uintptr_t *place = map_put(names, p->frames[i].name, &fresh);

		if (!place)
			return false;
		if (fresh) {
			*place = r->n;
			r->v[r->n++] = (struct ranked){ .name = p->frames[i].name,
							.file = p->frames[i].file,
							.kind = p->frames[i].kind };
		}
		r->of_frame[i] = (uint32_t)*place;
	}
	return true;
}

/* seen: the last stack in which a function was, plus one. */
static void add_stack(struct ranking *r, const struct profile *p, const struct profile_stack *s,
		      size_t *seen, size_t number)
{
	r->total += s->value;
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t of = r->of_frame[s->frames[k]];

		if (seen[of] != number)
			r->v[of].total += s->value;
		seen[of] = number;
	}
	if (s->n) {
		struct ranked *leaf = &r->v[r->of_frame[s->frames[s->n - 1]]];
		uint32_t kind = s->kind ? RANKING_STATES + s->kind
					: p->frames[s->frames[s->n - 1]].kind;

		leaf->self += s->value;
		leaf->count += s->count;
		leaf->by_kind[kind < RANKING_KINDS ? kind : 0] += s->value;
	}
}

/* Sorts v, and turns of_frame to where each went. */
static bool sort(struct ranking *r, const struct profile *p, struct map *names)
{
	qsort(r->v, r->n, sizeof(*r->v), by_self);
	for (size_t i = 0; i < r->n; i++) {
		uintptr_t *place = map_get(names, r->v[i].name);

		if (!place)
			return false;
		*place = i;
	}
	for (size_t i = 0; i < p->n_frames; i++)
		r->of_frame[i] = (uint32_t)*map_get(names, p->frames[i].name);
	return true;
}

int ranking_build(struct ranking *r, const struct profile *p)
{
	struct map names = { 0 };
	size_t *seen = mem_alloc((p->n_frames + 1) * sizeof(*seen));
	int rc = E_NO_MEMORY;

	*r = (struct ranking){ 0 };
	r->v = mem_alloc((p->n_frames + 1) * sizeof(*r->v));
	r->of_frame = mem_alloc((p->n_frames + 1) * sizeof(*r->of_frame));
	if (!seen || !r->v || !r->of_frame || !number_names(r, p, &names))
		goto done;
	memset(seen, 0, (p->n_frames + 1) * sizeof(*seen));
	for (size_t i = 0; i < p->n_stacks; i++)
		add_stack(r, p, &p->stacks[i], seen, i + 1);
	rc = sort(r, p, &names) ? 0 : E_NO_MEMORY;
done:
	map_release(&names);
	mem_free(seen);
	if (rc < 0)
		ranking_release(r);
	return rc;
}

void ranking_release(struct ranking *r)
{
	mem_free(r->v);
	mem_free(r->of_frame);
	*r = (struct ranking){ 0 };
}

/* ---- callers and callees ------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const struct ranked_line *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->of > y->of) - (x->of < y->of);
}

/* Of the outermost call of `of` in the stack: who called it; of the innermost: whom it called. */
static bool neighbour(const struct ranking *r, const struct profile_stack *s, size_t of,
		      bool callee, uint32_t *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = callee ? s->n - 1 - i : i;

		if (r->of_frame[s->frames[k]] != of)
			continue;
		if (callee)
			*out = k + 1 < s->n ? r->of_frame[s->frames[k + 1]] : UINT32_MAX;
		else
			*out = k ? r->of_frame[s->frames[k - 1]] : UINT32_MAX;
		return true;
	}
	return false;
}

static size_t lines(const struct ranking *r, const struct profile *p, size_t of, bool callee,
		    struct ranked_line out[RANKING_LINES])
{
	struct ranked_line *all = mem_alloc((r->n + 1) * sizeof(*all));
	size_t n = 0;
	uint32_t other;

	if (!all)
		return 0;
	for (size_t i = 0; i <= r->n; i++)
		all[i] = (struct ranked_line){ i < r->n ? (uint32_t)i : UINT32_MAX, 0 };
	for (size_t i = 0; i < p->n_stacks; i++)
		if (neighbour(r, &p->stacks[i], of, callee, &other))
			all[other < r->n ? other : r->n].value += p->stacks[i].value;
	qsort(all, r->n + 1, sizeof(*all), by_value);
	for (; n < RANKING_LINES && n <= r->n && all[n].value; n++)
		out[n] = all[n];
	mem_free(all);
	return n;
}

size_t ranking_callers(const struct ranking *r, const struct profile *p, size_t of,
		       struct ranked_line out[RANKING_LINES])
{
	return lines(r, p, of, false, out);
}

size_t ranking_callees(const struct ranking *r, const struct profile *p, size_t of,
		       struct ranked_line out[RANKING_LINES])
{
	return lines(r, p, of, true, out);
}
