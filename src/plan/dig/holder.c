/* SPDX-License-Identifier: Apache-2.0 */
/* holder.c - looks for who has what others wait for, in samples and byte code. */
#define _GNU_SOURCE /* memmem() */
#include "plan/dig/holder.h"

#include "plan/dig/find.h"

enum {
	LIBRARY_PARTS = 3, /* of the name of a package: com.pool.core */
	ABOVE = 3,	   /* callers of the innermost method of the program that are asked, too */
	LEAST_LOOKS = 12   /* one look in so many has met it there */
};

/* Words in the names of classes by which things of a kind are taken. */
static const struct {
	enum kind kind;
	const char *words[3];
} taken_by[] = {
	{ KIND_SEMAPHORE, { "Semaphore", "Pool", NULL } },
	{ KIND_LOCK, { "Lock", NULL, NULL } },
	{ KIND_QUEUE, { "Queue", "Deque", "Pool" } },
};

static bool is_on_path(const struct dig *d, struct slice name)
{
	const struct dig_answer *a = &d->answer;

	for (unsigned i = 0; i < a->n_path; i++)
		if (slice_eq(a->path[i], name))
			return true;
	return slice_eq(a->guilty, name);
}

static bool is_below(const struct sample_node *n, struct slice name)
{
	for (; n && n->parent; n = n->parent)
		if (slice_eq(n->name, name))
			return true;
	return false;
}

/* com.pool.core of com.pool.core.util.Class.method: a library has packages below its own. */
static struct slice library_of(struct slice name)
{
	struct slice class = sample_node_class(name);
	unsigned parts = 0;

	for (size_t i = 0; i < class.n; i++)
		if (class.p[i] == '.' && ++parts == LIBRARY_PARTS)
			return (struct slice){ class.p, i };
	while (class.n && class.p[class.n - 1] != '.')
		class.n--;
	return class;
}

/* The guilty method, or one of its own library on the way to it: how others come to what it waits
 * for. */
static bool is_entrance(const struct dig *d, struct slice callee)
{
	const struct dig_answer *a = &d->answer;
	struct slice own = library_of(a->guilty);

	if (slice_eq(callee, a->guilty))
		return true;
	for (unsigned i = a->n_path; i-- > 1;) {
		if (!own.n || !slice_eq(library_of(a->path[i]), own))
			break;
		if (slice_eq(callee, a->path[i]))
			return true;
	}
	return false;
}

static bool is_same_kind(const struct dig *d, struct slice callee)
{
	struct slice class = sample_node_class(callee);

	if (!sample_node_is_jdk(callee))
		return false;
	for (size_t i = 0; i < COUNT(taken_by); i++)
		for (size_t k = 0; taken_by[i].kind == d->answer.kind && k < 3; k++)
			if (taken_by[i].words[k] && memmem(class.p, class.n, taken_by[i].words[k],
							   strlen(taken_by[i].words[k])))
				return true;
	return false;
}

/* ---- whom to ask ---------------------------------------------------------------------------- */

static void add(struct dig *d, const struct sample_node *n, uint64_t samples)
{
	unsigned i = 0, least = 0;

	while (i < d->n_holders && !slice_eq(d->holders[i].method, n->name))
		i++;
	if (i == d->n_holders && i < DIG_HOLDERS) {
		d->holders[d->n_holders++] = (struct dig_holder){ .method = n->name };
	} else if (i == d->n_holders) {
		for (unsigned k = 1; k < DIG_HOLDERS; k++)
			if (d->holders[k].samples < d->holders[least].samples)
				least = k;
		if (d->holders[least].samples >= samples)
			return;
		i = least;
		d->holders[i] = (struct dig_holder){ .method = n->name };
	}
	d->holders[i].samples += samples;
	d->holders[i].depth = n->depth;
}

/* The program's methods that a thread is in, innermost first, but none that waits itself. */
static void add_stack(struct dig *d, const struct sample_node *leaf, uint64_t samples)
{
	unsigned n = 0;

	if (is_below(leaf, d->answer.guilty))
		return;
	for (const struct sample_node *at = leaf; at->parent && n <= ABOVE; at = at->parent)
		if (trail_can_hook(at) && !is_on_path(d, at->name)) {
			add(d, at, samples);
			n++;
		}
}

static void find_candidates(struct dig *d)
{
	const struct sample_node *top = &d->all.root;

	d->n_holders = d->holders_asked = 0;
	for (const struct sample_node *n = top->first; n; n = samples_next(n, top)) {
		uint64_t samples = 0;

		for (int i = 0; i < SAMPLE_STATES; i++)
			samples += kind_is_idle(n, (enum sample_state)i) ? 0 : n->self[i];
		if (samples)
			add_stack(d, n, samples);
	}
	for (unsigned i = 0; i < d->n_holders;)
		if (d->holders[i].samples * LEAST_LOOKS < d->all.vitals.samples)
			d->holders[i] = d->holders[--d->n_holders];
		else
			i++;
}

bool holder_begin(struct dig *d)
{
	const struct dig_answer *a = &d->answer;

	d->n_holders = d->holders_asked = 0;
	if (a->lock_holder.n || a->task.n ||
	    (a->kind != KIND_SEMAPHORE && a->kind != KIND_QUEUE && a->kind != KIND_LOCK &&
	     a->kind != KIND_WAIT))
		return false;
	find_candidates(d);
	return d->n_holders > 0;
}

/* ---- what they call ------------------------------------------------------------------------- */

struct slice holder_next(const struct dig *d)
{
	return d->holders_asked < d->n_holders ? d->holders[d->holders_asked].method
					       : (struct slice){ NULL, 0 };
}

void holder_callee(struct dig *d, struct slice name)
{
	struct dig_holder *h = &d->holders[d->holders_asked];

	if (d->holders_asked >= d->n_holders)
		return;
	h->enters |= is_entrance(d, name);
	h->takes |= is_same_kind(d, name);
}

void holder_asked(struct dig *d)
{
	if (d->holders_asked < d->n_holders)
		d->holders_asked++;
}

/* One that calls what the guilty way does is surer than one that takes something of the kind. */
static bool is_likelier(const struct dig_holder *h, const struct dig_holder *than)
{
	if (!than || h->enters != than->enters)
		return !than || h->enters;
	return h->samples > than->samples ||
	       (h->samples == than->samples && h->depth > than->depth);
}

void holder_end(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	const struct dig_holder *best = NULL;
	struct samples below;
	uint64_t by[KINDS];

	for (unsigned i = 0; i < d->n_holders; i++)
		if ((d->holders[i].enters || d->holders[i].takes) &&
		    is_likelier(&d->holders[i], best))
			best = &d->holders[i];
	if (!best)
		return;
	samples_init(&below);
	samples_under(&d->all, best->method, &below);
	kind_divide(&below.root, by);
	a->taken_by = dig_keep(d, best->method);
	a->taken_kind = kind_largest(by);
	a->taken_surely = best->enters;
	a->taken_share = d->all.vitals.samples > best->samples
				 ? (double)best->samples / (double)d->all.vitals.samples
				 : 1; /* more than one thread may be in it */
	samples_release(&below);
	buf_text(&d->said, "  Meanwhile ");
	dig_put_name(&d->said, a->taken_by);
	buf_printf(&d->said, ", which takes %s, too, %s.\n",
		   a->taken_surely ? "the same" : "something of that kind",
		   kind_text(a->taken_kind));
}
