/* SPDX-License-Identifier: Apache-2.0 */
/* report_tree.c - what methods cost without the hooks: from the call tree and a calibration.
 *
 * The agent's rows of methods have raw totals; the tree says which hooks lie below which, so that
 * their cost can be taken out.  Calls that have no place in the tree (memory was used up) are taken
 * to be like those that have. */
#include <math.h>

#include "base/mem.h"
#include "base/search.h"
#include "cli/report/report_rows.h"
#include "tree/agree.h"

double report_interpreted(uint64_t cold, uint64_t calls)
{
	return calls > cold ? (double)cold / (double)calls : 1;
}

static struct report_method *method_of(const struct report *r, uint32_t id)
{
	size_t low = SEARCH(r->n, i, r->all[i]->m.id < id);

	return low < r->n && r->all[low]->m.id == id ? r->all[low] : NULL;
}

/* How far the estimate of all calls may be off, as a share; more for a node that has few of
 * them. */
static double margin_of(const struct wire_method *m, double timed)
{
	double total = (double)m->total_ns;
	double off = fmax(total - (double)m->low_ns, (double)m->high_ns - total);

	if (!(total > 0) || !(off > 0) || !(timed > 0))
		return 0;
	return off / total * sqrt(fmax(1, (double)m->timed / timed));
}

static void add_node(struct report *r, const struct wire_node *n)
{
	const struct report_method *m = method_of(r, n->id);

	tree_add(&r->tree,
		 &(struct tree_figures){
			 .id = n->id,
			 .depth = n->depth,
			 .kind = n->flags & NODE_SETTLED ? COST_SETTLED : COST_EVERY,
			 .light = n->flags & NODE_LIGHT,
			 .calls = (double)n->calls,
			 .timed = (double)n->timed,
			 .raw = (double)n->total_ns,
			 .margin = m ? margin_of(&m->m, (double)n->timed) : 0,
			 .interpreted = report_interpreted(n->cold, m ? m->m.calls : n->calls),
			 .jni = n->jni >= 0 && n->jni <= 1 ? n->jni : 0,
			 .type = n->type,
			 .of = report_raw_of(n),
			 .running = (double)n->running,
			 .min = (double)n->min_ns,
			 .max = (double)n->max_ns });
}

enum tree_raw report_raw_of(const struct wire_node *n)
{
	if (n->flags & NODE_DRAWN)
		return TREE_RAW_ALL;
	return n->flags & NODE_EVERY ? TREE_RAW_ENDED : TREE_RAW_GUESS;
}

int report_add_node(struct report *r, struct slice payload)
{
	struct wire_node n;

	if (wire_get_node(payload, &n) >= 0 && n.depth < WIRE_DEPTH_MAX)
		add_node(r, &n);
	if (r->tree.err)
		r->err = r->tree.err;
	return r->tree.err;
}

static struct place_alone alone_of(const struct wire_solo *m)
{
	return (struct place_alone){ .id = m->id,
				     .calls = (double)m->calls,
				     .mean = m->mean_ns,
				     .margin = m->margin_ns,
				     .cut = m->cut,
				     .plain = m->plain_ns };
}

/* The method's place among those that were measured, a new one if it has none; NULL: out of
 * memory. */
static struct place_alone *place_for(struct report *r, uint32_t id)
{
	size_t at = r->n_alone;

	while (at > 0 && r->alone[at - 1].id >= id)
		at--;
	if (at < r->n_alone && r->alone[at].id == id)
		return &r->alone[at];
	if (r->n_alone == r->alone_room) {
		size_t room = r->alone_room ? 2 * r->alone_room : 256;
		void *more = mem_realloc(r->alone, room * sizeof(*r->alone));

		if (!more) {
			r->err = E_NO_MEMORY;
			return NULL;
		}
		r->alone = more;
		r->alone_room = room;
	}
	memmove(r->alone + at + 1, r->alone + at, (r->n_alone - at) * sizeof(*r->alone));
	r->n_alone++;
	return &r->alone[at];
}

/* It need not have been measured before: a root that is called rarely may have had no call in its
 * few windows then. */
void report_set_bare(struct report *r, const struct rounds *of, double scatter)
{
	struct estimated mean = rounds_mean(of, scatter);
	struct place_alone *a = mean.margin >= 0 ? place_for(r, of->id) : NULL;

	if (a)
		*a = (struct place_alone){ .id = of->id,
					   .calls = of->calls,
					   .mean = mean.value,
					   .margin = mean.margin,
					   .plain = mean.value * of->plain,
					   .bare = true,
					   .anew = of->n > 1 };
}

int report_add_alone(struct report *r, struct slice payload)
{
	struct wire_solo m;
	struct place_alone *a;

	if (wire_get_solo(payload, &m) < 0 || (r->n_alone && r->alone[r->n_alone - 1].id >= m.id))
		return 0; /* the agent tells them by id */
	a = place_for(r, m.id);
	if (!a)
		return r->err;
	*a = alone_of(&m);
	return 0;
}

static struct place_program program_of(const struct report *r)
{
	const struct wire_program *p = &r->program;
	bool whole = p->flags & PROGRAM_WHOLE;

	return (struct place_program){ .open = (double)p->open_ns,
				       .closed = (double)p->closed_ns,
				       .speed = p->speed,
				       .speed_margin = p->speed_margin,
				       .alone = (double)p->alone,
				       .more = whole && r->has_status ? (double)r->status.weave_ns
								      : 0 };
}

/* What was measured in place stands instead of what was worked out. */
static void take_places(struct report *r, const struct costs *c)
{
	struct place_program p = program_of(r);

	if (!r->has_program)
		return;
	r->program_total = tree_place_total(&p, c);
	tree_place_into(&r->tree, r->alone, r->n_alone,
			r->program.flags & PROGRAM_WHOLE ? &p : NULL, c);
}

/* A share more of everything: calls that the tree does not have. */
static void grow(struct span *s, double share)
{
	s->low *= 1 + share;
	s->mid *= 1 + share;
	s->high *= 1 + share;
}

/* Contexts that were taken out of the tree have their calls at the method alone. */
static double missing_share(const struct report_method *m, const struct tree_method *t)
{
	double all = (double)m->m.total_ns, calls = (double)m->m.calls;

	if (!(t->raw_all > 0) || !(calls > t->calls * 1.001 + 2))
		return 0;
	return fmax(0, all / t->raw_all - 1);
}

/* Is there anything to be read off the middle? */
static bool is_bounded(const struct span *s)
{
	double off = fmax(s->mid - s->low, s->high - s->mid);

	return s->mid <= 0 || off > s->mid;
}

/* The method's own estimate, which does not depend on where in the tree its calls are, is possible. */
static void widen(struct span *s, double ratio)
{
	s->low = fmin(s->low, s->mid * ratio);
	s->high = fmax(s->high, s->mid * ratio);
}

static void take_method(struct report_method *m, const struct tree_method *t, bool compensated)
{
	double more = missing_share(m, t);

	m->raw_ns = t->raw * (1 + more);
	m->raw_all_ns = t->raw_all * (1 + more);
	m->raw_self_ns = t->raw_self * (1 + more);
	m->flags = t->flags;
	m->total = t->total;
	m->self = t->self;
	m->outermost = t->outermost * (1 + more);
	m->least = t->least * (1 + more);
	m->inner = t->inner;
	m->compensated = compensated && m->m.timed;
	grow(&m->total, more);
	grow(&m->self, more);
	if (!m->compensated && m->raw_ns > 0) { /* then raw is what is shown, once it agrees */
		m->raw_all_ns *= m->total.mid / m->raw_ns;
		m->raw_ns = m->total.mid;
		m->raw_self_ns = m->self.mid;
	}
	if (more <= 0 && t->raw_all > 0 && !(t->flags & TREE_PLACED)) {
		widen(&m->total, (double)m->m.total_ns / t->raw_all);
		widen(&m->self, (double)m->m.total_ns / t->raw_all);
	}
	m->unknown = !(t->raw >= 0.5);
	m->bounded = m->self_bounded = false;
	if (m->unknown)
		return;
	m->bounded = is_bounded(&m->total) || t->bounded > 0.1;
	m->self_bounded = m->bounded || (t->self_bounded > 0.1 && t->self.high > 0) ||
			  (m->self.mid <= 0 && m->self.high > 0);
}

void report_compensate(struct report *r, const struct costs *c)
{
	static const struct costs nothing;
	struct costs costs;
	struct sequences seen = { 0 };
	struct tree_method *all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->n_sequences; i++)
		sequences_add(&seen, &r->sequences[i]);
	cost_at(c ? c : &nothing, r->has_status ? r->status.pulse_ns : 0, &costs);
	costs.seen = &seen;
	if (!r->tree.n || r->err)
		return;
	tree_gather(&r->tree);
	agree_raw(&r->tree);
	tree_compensate(&r->tree, &costs);
	if (c)
		take_places(r, c);
	agree_all(&r->tree);
	r->err = r->tree.err ? r->tree.err : tree_methods(&r->tree, &all, &n);
	for (size_t i = 0; i < n && !r->err; i++) {
		struct report_method *m = method_of(r, all[i].id);

		if (m)
			take_method(m, &all[i], c != NULL);
	}
	r->calibration.known = c != NULL;
	mem_free(all);
}
