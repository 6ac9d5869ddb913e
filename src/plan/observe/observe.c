/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c - scores methods.
 *
 * A method is worth a hook when much of the time passes in it, when it is a border (the JDK or
 * another package calls it), when it waits for something itself, and when it does more than pass a
 * call on.  Its hook has a price: calls a second by what a call costs.  Borders first: of thirty
 * methods one below another that all have the same time, the ones where it changes hands tell
 * most. */
#include "plan/observe/observe.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/map.h"
#include "plan/dig/dig.h"
#include "rule/spell.h"

enum {
	BUCKETS = 4096,
	LIGHT_NS = 15, /* a call that is counted, on the high side */
	TIMED_NS = 60, /* ... that is timed besides; the agent times at most so many a second: */
	TIMED_MAX = 20000,
	SMALL = 8,	 /* bytes of code of a getter, about ... */
	OFTEN = 1000,	 /* ... and calls a second from which that is a reason */
	LEAST_SCORE = 5, /* for a rule */
	LEFT_MAX = 20,	 /* methods left out that are named */
};

void observe_init(struct observe *o, const struct observe_options *options)
{
	*o = (struct observe){ .options = *options };
	arena_init(&o->mem);
	samples_init(&o->samples);
	o->buckets = arena_zero(&o->mem, BUCKETS * sizeof(struct observe_method *));
	if (!o->buckets)
		o->err = E_NO_MEMORY;
}

void observe_release(struct observe *o)
{
	samples_release(&o->samples);
	arena_release(&o->mem);
}

/* ---- methods ------------------------------------------------------------------------------- */

static struct observe_method *method_of(struct observe *o, struct slice name, bool make)
{
	struct observe_method **at, *m;

	if (o->err)
		return NULL;
	at = &o->buckets[hash_bytes(name.p, name.n) % BUCKETS];
	for (m = *at; m; m = m->next)
		if (slice_eq(m->name, name))
			return m;
	if (!make)
		return NULL;
	m = arena_zero(&o->mem, sizeof(*m));
	if (m)
		m->name = arena_dup(&o->mem, name);
	if (!m || !m->name.p) {
		o->err = E_NO_MEMORY;
		return NULL;
	}
	m->next = *at;
	*at = m;
	o->n++;
	return m;
}

static struct slice package_of(struct slice name)
{
	struct slice class = sample_node_class(name);
	size_t n = class.n;

	while (n && class.p[n - 1] != '.')
		n--;
	return (struct slice){ class.p, n ? n - 1 : 0 };
}

static bool same_package(const struct observe_method *a, const struct observe_method *b)
{
	return slice_eq(package_of(a->name), package_of(b->name));
}

/* Can a rule name it? */
static bool is_plain(struct slice name)
{
	for (size_t i = 0; i < name.n; i++) {
		uint8_t c = name.p[i];

		if (c <= ' ' || c >= 127 || strchr("#\"'\\:,*?", c))
			return false;
	}
	return name.n != 0;
}

static bool is_meant(const struct sample_node *n)
{
	return !(n->flags & (SAMPLE_IS_NATIVE | SAMPLE_IS_FIXED | SAMPLE_IS_SYNTHETIC)) &&
	       !sample_node_is_jdk(n->name) && is_plain(n->name);
}

/* ---- samples ------------------------------------------------------------------------------- */

/* By majority: the caller that has more than half of the votes is what is left. */
static void vote(struct observe_method *m, const struct observe_method *caller, uint64_t n)
{
	if (m->caller == caller) {
		m->caller_votes += n;
	} else if (m->caller_votes >= n) {
		m->caller_votes -= n;
	} else {
		m->caller = caller;
		m->caller_votes = n - m->caller_votes;
	}
}

/* n samples ended in `leaf`: each method of the program above it has them, once. */
static void spread(struct observe *o, const struct sample_node *leaf, uint64_t n)
{
	struct observe_method *below = NULL;
	bool below_is_new = false;

	o->stamp++;
	for (const struct sample_node *at = leaf; at && at->parent; at = at->parent) {
		struct observe_method *m = is_meant(at) ? method_of(o, at->name, true) : NULL;

		if (!m)
			continue;
		if (below && below_is_new)
			vote(below, m, n);
		below_is_new = m->stamp != o->stamp;
		if (below_is_new)
			m->seen += n;
		m->stamp = o->stamp;
		below = m;
	}
	if (below && below_is_new) {
		below->from_outside += n;
		vote(below, NULL, n);
	}
}

/* The innermost method of the program owns them. */
static void own(struct observe *o, const struct sample_node *leaf, enum sample_state state)
{
	const struct sample_node *at = leaf;
	struct observe_method *m;

	while (at && at->parent && !is_meant(at))
		at = at->parent;
	m = at && at->parent ? method_of(o, at->name, true) : NULL;
	if (!m)
		return;
	m->own += leaf->self[state];
	m->by[kind_of(leaf, state, at)] += leaf->self[state];
}

static void forget_look(struct observe *o)
{
	o->busy = o->resting = 0;
	o->resting_in.n = 0;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct observe_method *m = o->buckets[i]; m; m = m->next) {
			m->seen = m->own = m->from_outside = m->caller_votes = 0;
			m->caller = NULL;
			memset(m->by, 0, sizeof(m->by));
		}
}

/* Has every thread that was seen to end here slept or waited here from the first look to the last?
 * Then it waits for the program's end, or for nothing at all, and its time counts for no method. */
static bool is_resting(const struct observe *o, const struct sample_node *n)
{
	const struct sample_vitals *v = &o->samples.vitals;
	uint64_t still =
		n->self[SAMPLE_WAITING] + n->self[SAMPLE_PARKED] + n->self[SAMPLE_SLEEPING];
	uint64_t moving =
		n->self[SAMPLE_RUNNING] + n->self[SAMPLE_NATIVE] + n->self[SAMPLE_BLOCKED];

	return still && !moving && n->stretches && still * 10 >= v->samples * 9 &&
	       still * v->answers * 10 >= v->samples * n->stretches * 9;
}

static void rest(struct observe *o, const struct sample_node *n)
{
	uint64_t looks = o->samples.vitals.samples, still = 0;

	for (int i = 0; i < SAMPLE_STATES; i++)
		still += n->self[i];
	o->resting += looks ? (still + looks / 2) / looks : 0;
	while (n->parent && !is_meant(n))
		n = n->parent;
	if (n->parent && !o->resting_in.n)
		o->resting_in = sample_node_plain(n->name);
}

void observe_look(struct observe *o)
{
	const struct sample_node *root = &o->samples.root;

	if (o->samples.err)
		o->err = o->samples.err;
	if (o->err)
		return;
	forget_look(o);
	for (const struct sample_node *n = root; n; n = samples_next(n, root)) {
		uint64_t busy = 0;

		if (is_resting(o, n) && !kind_is_idle(n, SAMPLE_WAITING)) {
			rest(o, n);
			continue;
		}
		for (int i = 0; i < SAMPLE_STATES; i++) {
			if (!n->self[i] || kind_is_idle(n, (enum sample_state)i))
				continue;
			busy += n->self[i];
			own(o, n, (enum sample_state)i);
		}
		if (busy)
			spread(o, n, busy);
		o->busy += busy;
	}
}

/* ---- order --------------------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
	const struct observe_method *x = *(struct observe_method *const *)a;
	const struct observe_method *y = *(struct observe_method *const *)b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return slice_cmp(x->name, y->name);
}

static bool is_waiting(enum kind k)
{
	return !kind_is_computing(k);
}

static double part(uint64_t of, uint64_t all)
{
	return all ? (double)of / (double)all : 0;
}

static double light_cost(const struct observe_method *m)
{
	return m->rate * LIGHT_NS / 1e9;
}

static double timed_cost(const struct observe_method *m)
{
	return light_cost(m) + (m->rate < TIMED_MAX ? m->rate : TIMED_MAX) * TIMED_NS / 1e9;
}

static bool is_endless(const struct observe_method *m)
{
	return m->seen && m->is_counted && !m->calls && !m->is_hot;
}

static void work_out(const struct observe *o, struct observe_method *m)
{
	double looks = (double)o->samples.vitals.samples, most = 0;
	uint64_t waiting = 0;

	m->share = part(m->seen, o->busy);
	if (!m->is_hot)
		m->rate = o->seconds > 0 ? (double)m->calls / o->seconds : 0;
	m->ns = m->rate > 0 && looks > 0 ? (double)m->seen / looks * 1e9 / m->rate : 0;
	m->kind = KIND_CPU;
	for (int k = 0; k < KINDS; k++) {
		if (!is_waiting((enum kind)k))
			continue;
		waiting += m->by[k];
		if ((double)m->by[k] > most) {
			most = (double)m->by[k];
			m->kind = (enum kind)k;
		}
	}
	m->waits = part(waiting, m->own);
	m->is_endless = is_endless(m);
	m->is_entry = m->seen && !m->is_endless &&
		      (2 * m->from_outside > m->seen ||
		       (m->caller && (!same_package(m, m->caller) || is_endless(m->caller))));
	m->is_corridor = m->caller && !m->is_entry && m->own * 50 < m->seen &&
			 (double)m->caller->seen <= 1.05 * (double)m->seen;
}

/* At most 35 for all of the time, 30 for time of its own, 15 for a border, 10 for waiting, 5 for
 * other packages that it calls into, 5 for its size, all these only with a few percent of the time;
 * less what a hook costs. */
static double score(const struct observe *o, const struct observe_method *m)
{
	double own_share = part(m->own, o->busy);
	double weight = m->share < 0.03 ? m->share / 0.03 : 1;
	double s = 35 * m->share + 30 * own_share;

	if (m->is_entry)
		s += 15 * weight;
	if (m->waits > 0.2)
		s += 10 * m->waits * (own_share < 0.03 ? own_share / 0.03 : 1);
	s += weight * (m->n_packages > 5 ? 5 : m->n_packages);
	s += weight * (m->bytes > 500 ? 5 : m->bytes / 100.0);
	if (m->is_corridor)
		s *= 0.3;
	s -= 100 * light_cost(m);
	return s < 0 ? 0 : s;
}

static void put_in_order(struct observe *o)
{
	size_t n = 0;

	o->list = arena_alloc(&o->mem, (o->n + 1) * sizeof(struct observe_method *));
	if (!o->list)
		o->err = E_NO_MEMORY;
	for (size_t i = 0; !o->err && i < BUCKETS; i++)
		for (struct observe_method *m = o->buckets[i]; m; m = m->next) {
			work_out(o, m);
			o->list[n++] = m;
		}
	for (size_t i = 0; i < n; i++)
		o->list[i]->score = score(o, o->list[i]);
	if (n)
		qsort(o->list, n, sizeof(struct observe_method *), by_score);
}

/* ---- counts and code ----------------------------------------------------------------------- */

bool observe_put_counting(struct observe *o, unsigned classes, struct buf *out)
{
	struct map seen = { 0 };
	unsigned n = 0;

	put_in_order(o);
	for (size_t i = 0; !o->err && i < o->n && n < classes; i++) {
		struct slice class = sample_node_class(o->list[i]->name);
		bool is_new;

		if (!o->list[i]->seen || !map_put(&seen, class, &is_new) || !is_new)
			continue;
		buf_text(out, "hook ");
		spell_class(out, class);
		buf_text(out, "::* light\n");
		n++;
	}
	map_release(&seen);
	return n != 0;
}

void observe_count(struct observe *o, struct slice name, uint64_t calls)
{
	struct observe_method *m = is_plain(name) ? method_of(o, name, true) : NULL;

	if (!m)
		return;
	m->is_counted = true;
	if (o->is_base)
		m->base = calls;
	else if (!m->is_hot)
		m->calls = calls > m->base ? calls - m->base : 0;
}

/* A hook that costs more than all are to cost together is out as soon as that is known. */
bool observe_put_hot(struct observe *o, struct buf *out)
{
	bool any = false;

	put_in_order(o);
	for (size_t i = 0; !o->err && i < o->n; i++) {
		struct observe_method *m = o->list[i];

		if (m->is_hot || light_cost(m) <= o->options.budget)
			continue;
		m->is_hot = any = true;
		buf_text(out, "skip ");
		dig_put_target(out, m->name);
		buf_u8(out, '\n');
	}
	return any;
}

void observe_base(struct observe *o, bool begins)
{
	o->is_base = begins;
}

void observe_counted(struct observe *o, double seconds)
{
	o->seconds = seconds;
}

size_t observe_ask(struct observe *o, struct slice *out, size_t cap)
{
	size_t n = 0;

	put_in_order(o);
	for (; !o->err && n < o->n && n < cap && o->list[n]->seen; n++)
		out[n] = o->list[n]->name;
	return n;
}

void observe_code(struct observe *o, struct slice name, uint32_t bytes)
{
	struct observe_method *m = method_of(o, name, false);

	if (m)
		m->bytes = bytes;
}

void observe_callee(struct observe *o, struct slice caller, struct slice name)
{
	struct observe_method *m = method_of(o, caller, false);
	struct slice package = package_of(name), copy;

	if (!m || sample_node_is_jdk(name) || !package.n || slice_eq(package, package_of(caller)))
		return;
	for (unsigned i = 0; i < m->n_packages; i++)
		if (slice_eq(m->packages[i], package))
			return;
	copy = arena_dup(&o->mem, package);
	if (copy.p && m->n_packages < OBSERVE_PACKAGES)
		m->packages[m->n_packages++] = copy;
}

/* ---- choosing ------------------------------------------------------------------------------ */

bool observe_is_hooked(const struct observe_method *m)
{
	return m->choice == OBSERVE_TIMED || m->choice == OBSERVE_LIGHT;
}

static void choose(struct observe *o, struct observe_method *m, bool wanted)
{
	double left = o->options.budget - o->cost;

	m->cost = 0;
	if (m->bytes && m->bytes <= SMALL && m->rate >= OFTEN) {
		m->choice = OBSERVE_SMALL;
	} else if (m->is_endless) {
		m->choice = OBSERVE_ENDLESS;
	} else if (!wanted) {
		m->choice = light_cost(m) > o->options.budget ? OBSERVE_HOT : OBSERVE_MINOR;
	} else if (timed_cost(m) <= left) {
		m->choice = OBSERVE_TIMED;
		m->cost = timed_cost(m);
	} else if (light_cost(m) <= left) {
		m->choice = OBSERVE_LIGHT;
		m->cost = light_cost(m);
	} else {
		m->choice = OBSERVE_HOT;
	}
	o->cost += m->cost;
}

void observe_decide(struct observe *o)
{
	unsigned n = 0;

	o->cost = 0;
	put_in_order(o);
	for (size_t i = 0; !o->err && i < o->n; i++) {
		struct observe_method *m = o->list[i];

		choose(o, m, m->seen && m->score >= LEAST_SCORE && n < o->options.most);
		n += observe_is_hooked(m);
	}
}

/* ---- for people ---------------------------------------------------------------------------- */

static void put_rate(struct buf *out, double rate)
{
	if (rate >= 1e6)
		buf_printf(out, "%.3g million calls a second", rate / 1e6);
	else if (rate >= 1000)
		buf_printf(out, "%.3g thousand calls a second", rate / 1000);
	else
		buf_printf(out, "%.3g calls a second", rate);
}

static void put_place(const struct observe_method *m, struct buf *out)
{
	if (m->is_entry && !m->caller)
		buf_text(out, "; the JDK calls it: the program's work begins here");
	else if (m->is_entry && same_package(m, m->caller))
		buf_text(out, "; the program's work begins here, below a method that runs on");
	else if (m->is_entry && !package_of(m->caller->name).n)
		buf_text(out, "; called from the unnamed package");
	else if (m->is_entry) {
		buf_text(out, "; called from package ");
		spell_line(out, package_of(m->caller->name));
	}
	if (m->is_corridor)
		buf_text(out, "; it mostly passes calls on");
	if (m->n_packages) {
		buf_printf(out, "; calls into %u other package%s (", m->n_packages,
			   m->n_packages > 1 ? "s" : "");
		spell_line(out, m->packages[0]);
		buf_text(out, m->n_packages > 1 ? ", ...)" : ")");
	}
}

void observe_put_reason(const struct observe *o, const struct observe_method *m, struct buf *out)
{
	double own_share = part(m->own, o->busy);

	dig_put_share(out, m->share);
	buf_text(out, " of the time (itself ");
	dig_put_share(out, own_share);
	buf_u8(out, ')');
	if (m->is_counted) {
		buf_text(out, ", ");
		put_rate(out, m->rate);
		if (m->ns > 0 && m->seen >= 5) {
			buf_text(out, " of about ");
			dig_put_time(out, m->ns);
		}
	}
	if (m->waits > 0.2) {
		buf_printf(out, "; %s in ", kind_text(m->kind));
		dig_put_share(out, m->waits);
		buf_text(out, " of its own time");
	}
	put_place(m, out);
	if (m->bytes)
		buf_printf(out, "; %u bytes of code", m->bytes);
}

static void print_one(const struct observe *o, const struct observe_method *m, struct buf *out)
{
	buf_printf(out, "\n# score %.0f: ", m->score);
	observe_put_reason(o, m, out);
	if (m->choice == OBSERVE_LIGHT)
		buf_text(out, "; only counted, since timing it would cost more than the budget");
	buf_text(out, "\nhook ");
	dig_put_target(out, m->name);
	buf_text(out, m->choice == OBSERVE_TIMED ? "  timed\n" : "  light\n");
}

static bool is_told(const struct observe_method *m)
{
	return m->choice == OBSERVE_HOT ||
	       (m->seen && (m->choice == OBSERVE_SMALL || m->choice == OBSERVE_ENDLESS));
}

static void print_why(const struct observe_method *m, struct buf *out)
{
	if (m->choice == OBSERVE_SMALL) {
		buf_text(out, "; too little code for a hook\n");
	} else if (m->choice == OBSERVE_ENDLESS) {
		buf_text(out, "; it runs on: nobody called it while calls were counted\n");
	} else {
		buf_text(out, "; counting it would cost ");
		dig_put_share(out, light_cost(m));
		buf_text(out, " of a processor\n");
	}
}

static void print_left(const struct observe *o, struct buf *out)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->n && n < LEFT_MAX; i++) {
		const struct observe_method *m = o->list[i];

		if (!is_told(m))
			continue;
		if (!n++)
			buf_text(out, "\n# Left out; take the # away to have them all the same.\n");
		buf_text(out, "# hook ");
		dig_put_target(out, m->name);
		buf_text(out, "  light  # ");
		observe_put_reason(o, m, out);
		print_why(m, out);
	}
}

static void print_resting(const struct observe *o, struct buf *out)
{
	if (!o->resting)
		return;
	buf_printf(out,
		   "# Not counted: %llu thread%s that slept or waited at one place all the time",
		   (unsigned long long)o->resting, o->resting == 1 ? "" : "s");
	if (o->resting_in.n) {
		buf_text(out, o->resting == 1 ? ", in " : ", one in ");
		spell_line(out, o->resting_in);
	}
	buf_text(out, ".\n");
}

void observe_print(const struct observe *o, struct slice head, struct buf *out)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += observe_is_hooked(o->list[i]);
	buf_put(out, head);
	buf_printf(out, "# %u method%s, best first; together the hooks cost about ", n,
		   n == 1 ? "" : "s");
	dig_put_share(out, o->cost);
	buf_text(out, " of one processor.\n");
	print_resting(o, out);
	for (size_t i = 0; i < o->n; i++)
		if (observe_is_hooked(o->list[i]))
			print_one(o, o->list[i], out);
	print_left(o, out);
}
