/* SPDX-License-Identifier: Apache-2.0 */
/* climb.c - rounds of hooking a level and its callers, measuring, and going up. */
#include "plan/walk/climb.h"

#include "base/err.h"
#include "plan/dig/dig_state.h"
#include "plan/walk/caller_name.h"

/* A level is measured in windows, for at least the first; callers that are good for some of the time
 * should have been called a few times meanwhile. */
#define FIRST_NS 300e6
#define WINDOW_NS 500e6
enum { FEW_CALLS = 20, TRIES = 8 };
#define FOLLOWED 0.10 /* of the hot spot's samples: the walk goes on from such a caller */
#define SEEN 0.02     /* ... such a caller is hooked */

void climb_init(struct climb *c, const struct climb_options *options)
{
	memset(c, 0, sizeof(*c));
	c->options = *options;
	if (!c->options.bound || c->options.bound > CLIMB_HOOKS_MAX)
		c->options.bound = CLIMB_HOOKS_MAX;
	if (!c->options.top || c->options.top > CLIMB_SPOTS_MAX)
		c->options.top = CLIMB_SPOTS_MAX;
	caller_list_init(&c->list);
	climb_stacks_init(&c->stacks);
	measure_init(&c->measure);
}

void climb_release(struct climb *c)
{
	caller_list_release(&c->list);
	climb_stacks_release(&c->stacks);
	measure_release(&c->measure);
	buf_release(&c->said);
}

/* ---- hot spots ------------------------------------------------------------------------------ */

static void add_spot(struct climb *c, struct caller *hot, uint64_t samples)
{
	struct climb_spot *s = &c->spots[c->n_spots++];

	*s = (struct climb_spot){ 0 };
	s->share = (double)samples / (double)(c->stacks.total ? c->stacks.total : 1);
	s->top = climb_tree_begin(&c->stacks, hot, c->options.from.n > 0);
}

/* The hottest one that is no spot yet. */
static struct caller *hottest(const struct climb *c)
{
	struct caller *best = NULL;

	for (struct caller *i = c->list.first; i; i = i->next) {
		bool is_spot = !i->self || (best && i->self <= best->self);

		for (unsigned k = 0; k < c->n_spots; k++)
			is_spot |= c->spots[k].top && c->spots[k].top->method == i;
		if (!is_spot)
			best = i;
	}
	return best;
}

static bool is_meant(const struct climb *c, struct slice name)
{
	struct buf target = { 0 };
	bool is;

	dig_put_target(&target, name);
	is = slice_eq(buf_slice(&target), c->options.from);
	buf_release(&target);
	return is;
}

/* The method to begin with, of its overloads the one with most samples. */
static struct caller *meant(const struct climb *c)
{
	struct caller *best = NULL;

	for (struct caller *i = c->list.first; i; i = i->next)
		if ((!best || i->total > best->total) &&
		    (slice_eq(i->name, c->options.from) || is_meant(c, i->name) ||
		     is_meant(c, sample_node_plain(i->name))))
			best = i;
	return best;
}

static void choose_spots(struct climb *c)
{
	struct caller *hot;

	if (c->options.from.n) {
		hot = meant(c);
		if (hot)
			add_spot(c, hot, hot->total);
		return;
	}
	while (c->n_spots < c->options.top && (hot = hottest(c))) {
		bool is_above = (double)hot->self >= c->options.above * (double)c->stacks.total;

		if (!is_above && c->n_spots && c->spots[0].share >= c->options.above)
			return;
		add_spot(c, hot, hot->self);
	}
}

static void say_spots(struct climb *c)
{
	buf_printf(&c->said, "%llu samples; ", (unsigned long long)c->stacks.total);
	buf_text(&c->said, c->n_spots ? "hot: " : "nothing is hot.");
	for (unsigned i = 0; i < c->n_spots; i++) {
		buf_text(&c->said, i ? ", " : "");
		caller_put_short(c->spots[i].top->method, &c->said);
		buf_u8(&c->said, ' ');
		dig_put_share(&c->said, c->spots[i].share);
	}
	buf_u8(&c->said, '\n');
}

static void begin_spot(struct climb *c, unsigned i)
{
	c->spot = i;
	c->n_level = 0;
	c->at = i < c->n_spots ? CLIMB_LEVEL : CLIMB_ENDS;
	if (i >= c->n_spots)
		return;
	/* The stacks stand where the walk from another hot spot has left them. */
	c->spots[i].top =
		climb_tree_begin(&c->stacks, c->spots[i].top->method, c->options.from.n > 0);
	if (!c->spots[i].top) {
		c->at = CLIMB_ENDS;
		return;
	}
	c->level[c->n_level++] = c->spots[i].top;
	c->spots[i].top->followed = true;
}

void climb_sampled(struct climb *c)
{
	choose_spots(c);
	say_spots(c);
	begin_spot(c, 0);
}

/* ---- whom to hook --------------------------------------------------------------------------- */

static void want_hook(struct climb *c, struct caller *method)
{
	if (method->flags & CALLER_NO_HOOK || c->n_hooks >= c->options.bound)
		return;
	for (unsigned i = 0; i < c->n_hooks; i++)
		if (c->hooks[i] == method)
			return;
	c->hooks[c->n_hooks++] = method;
}

static bool is_seen(const struct climb *c, const struct climb_node *n)
{
	const struct climb_node *top = c->spots[c->spot].top;

	return (double)n->samples >= SEEN * (double)top->samples;
}

/* The level, then its callers in turns, those with most samples first. */
static void choose_hooks(struct climb *c)
{
	struct climb_node *next[CLIMB_LEVEL_MAX];
	bool more = true;

	c->n_hooks = 0;
	for (unsigned i = 0; i < c->n_level; i++) {
		climb_tree_expand(&c->stacks, &c->list, c->level[i]);
		next[i] = c->level[i]->runs_on ? NULL : c->level[i]->first;
		if (!c->level[i]->runs_on)
			want_hook(c, c->level[i]->method);
	}
	while (more) {
		more = false;
		for (unsigned i = 0; i < c->n_level; i++) {
			if (!next[i])
				continue;
			if (is_seen(c, next[i]))
				want_hook(c, next[i]->method);
			next[i] = next[i]->next;
			more = true;
		}
	}
}

static void begin_round(struct climb *c)
{
	for (struct caller *i = c->list.first; i; i = i->next) {
		i->in = false;
		i->round_calls = i->round_ns = 0;
		for (struct caller_link *k = i->callees; k; k = k->next_callee) {
			k->round_calls = k->round_ns = 0;
			k->told = false;
		}
	}
	measure_release(&c->measure);
	measure_init(&c->measure);
}

void climb_is_in(struct climb *c, struct slice name)
{
	for (unsigned i = 0; i < c->n_hooks; i++)
		if (slice_eq(c->hooks[i]->name, name) && !c->hooks[i]->in) {
			c->hooks[i]->in = true;
			c->hooks[i]->hooked++;
		}
}

/* What stands in the way of a native hook may be gone at once: signals that a thread blocks. */
static bool may_try_again(struct caller *m)
{
	if (!(m->flags & CALLER_NATIVE) || ++m->refused >= TRIES)
		m->flags |= CALLER_NO_HOOK;
	return !(m->flags & CALLER_NO_HOOK);
}

void climb_hooked(struct climb *c)
{
	bool again = false;
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_hooks; i++) {
		n += c->hooks[i]->in;
		if (!c->hooks[i]->in)
			again |= may_try_again(c->hooks[i]);
	}
	if (again)
		return; /* the level is hooked once more */
	c->n_hooks = c->n_hooks && !n ? 0 : c->n_hooks;
	c->most_hooks = n > c->most_hooks ? n : c->most_hooks;
	c->rounds++;
	c->at = n ? CLIMB_HOOKED : CLIMB_MEASURED;
}

/* ---- what was measured ---------------------------------------------------------------------- */

/* Compiled code has no name that a native agent could tell; samples know which method that is. */
static struct caller *java_caller(const struct caller *c)
{
	for (struct caller_link *k = c->callers; k; k = k->next_caller)
		if (!(k->caller->flags & CALLER_NATIVE))
			return k->caller;
	return NULL;
}

/* Several places in a caller may make the calls: each reading has a row for each of them. */
static void add_told(struct caller_link *k, size_t reading, double calls, double ns)
{
	if (!k->told || k->reading != reading)
		k->sum_calls = k->sum_ns = 0;
	if (!k->told)
		k->base_calls = k->base_ns = 0;
	k->told = true;
	k->reading = reading;
	k->sum_calls += calls;
	k->sum_ns += ns;
	if (!reading)
		k->base_calls = k->sum_calls, k->base_ns = k->sum_ns;
}

void climb_told(struct climb *c, struct slice caller, struct slice callee, uint64_t calls,
		uint64_t ns)
{
	struct caller *to = caller_list_find(&c->list, callee), *from;
	struct caller_link *k;
	double more_calls, more_ns;

	if (!to || !to->in)
		return;
	from = caller.n ? caller_list_add(&c->list, caller, CALLER_NATIVE) : java_caller(to);
	if (!from && !caller.n) /* samples have seen none */
		return;
	k = from ? caller_list_link(&c->list, from, to) : NULL;
	if (!k) {
		c->err = E_NO_MEMORY;
		return;
	}
	add_told(k, c->measure.readings, (double)calls, (double)ns);
	more_calls = k->sum_calls > k->base_calls ? k->sum_calls - k->base_calls : 0;
	more_ns = k->sum_ns > k->base_ns ? k->sum_ns - k->base_ns : 0;
	to->round_calls += more_calls - k->round_calls;
	to->round_ns += more_ns - k->round_ns;
	k->round_calls = more_calls;
	k->round_ns = more_ns;
}

static bool is_in(const struct caller *c)
{
	return c && c->in;
}

static bool is_below(const struct measured *n, struct slice name)
{
	for (n = n->parent; n; n = n->parent)
		if (slice_eq(n->name, name))
			return true;
	return false;
}

/* The hooked function around it that is another one. */
static struct caller *caller_of(const struct climb *c, const struct measured *n)
{
	for (const struct measured *up = n->parent; up; up = up->parent) {
		struct caller *found =
			slice_eq(up->name, n->name) ? NULL : caller_list_find(&c->list, up->name);

		if (is_in(found))
			return found;
	}
	return NULL;
}

static void take_node(struct climb *c, const struct measured *n)
{
	struct caller *to = caller_list_find(&c->list, n->name);
	double calls = measure_calls(&c->measure, n);
	double ns = is_below(n, n->name) ? 0 : measure_ns(&c->measure, n);
	struct caller *from = is_in(to) ? caller_of(c, n) : NULL;
	struct caller_link *k = from ? caller_list_link(&c->list, from, to) : NULL;

	if (!is_in(to))
		return;
	to->round_calls += calls;
	to->round_ns += ns;
	if (!k)
		return;
	k->round_calls += calls;
	k->round_ns += ns;
}

/* The windows have all of the round in them, so its figures are made anew. */
static void take_windows(struct climb *c)
{
	struct measured *root = &c->measure.root;

	if (!root->first)
		return;
	for (struct caller *i = c->list.first; i; i = i->next) {
		if (i->flags & CALLER_NATIVE) /* climb_told does that */
			continue;
		i->round_calls = i->round_ns = 0;
		for (struct caller_link *k = i->callers; k; k = k->next_caller)
			k->round_calls = k->round_ns = 0;
	}
	for (struct measured *n = root->first; n; n = measure_next(n, root))
		take_node(c, n);
}

static bool is_enough(const struct climb *c)
{
	const struct climb_spot *s = &c->spots[c->spot];

	if (c->now - c->round_began >= c->options.most_ns)
		return true;
	for (unsigned i = 0; i < c->n_level; i++) {
		const struct climb_node *n = c->level[i];

		if (n->method->in && n->method->round_calls < c->options.calls)
			return false;
		for (const struct climb_node *k = n->first; k; k = k->next)
			if (k->method->in && k->method->round_calls < FEW_CALLS &&
			    (double)k->samples >= FOLLOWED * (double)s->top->samples)
				return false;
	}
	return measure_windows(&c->measure) > 0;
}

static void end_round(struct climb *c)
{
	double seconds = (c->now - c->round_began) / 1e9;

	for (struct caller *i = c->list.first; i; i = i->next) {
		if (!i->in)
			continue;
		i->calls += i->round_calls;
		i->ns += i->round_ns;
		i->seconds += seconds;
		for (struct caller_link *k = i->callers; k; k = k->next_caller) {
			if (k->round_calls == 0 && !k->caller->in)
				continue;
			k->calls += k->round_calls;
			k->ns += k->round_ns;
			k->paired_calls += k->caller->in ? k->round_calls : 0;
			k->caller_calls += k->caller->in ? k->caller->round_calls : 0;
		}
	}
}

void climb_measured(struct climb *c, double now_ns)
{
	c->now = now_ns;
	c->err = c->err ? c->err : c->measure.err;
	if (measure_windows(&c->measure))
		take_windows(c);
	if (!measure_windows(&c->measure) || !is_enough(c))
		return;
	end_round(c);
	c->at = CLIMB_MEASURED;
}

/* ---- going up ------------------------------------------------------------------------------- */

static void say_caller(struct climb *c, const struct climb_node *n)
{
	double fan = climb_answer_fan(n);

	caller_put_short(n->method, &c->said);
	buf_u8(&c->said, ' ');
	dig_put_share(&c->said, (double)n->samples / (double)c->spots[c->spot].top->samples);
	if (n->method->in && n->method->round_calls > 0)
		buf_printf(&c->said, " (%.0f calls", n->method->round_calls);
	if (n->method->in && n->method->round_calls > 0 && fan > 0)
		buf_printf(&c->said, fan < 9.95 ? ", %.1f each" : ", %.0f each", fan);
	if (n->method->in && n->method->round_calls > 0)
		buf_u8(&c->said, ')');
}

static void say_level(struct climb *c, const struct climb_node *n)
{
	unsigned told = 0, in = 0;

	for (unsigned i = 0; i < c->n_hooks; i++)
		in += c->hooks[i]->in;
	buf_printf(&c->said, "[%u hook%s] ", in, in == 1 ? "" : "s");
	caller_put_short(n->method, &c->said);
	if (n->method->in && n->method->round_calls > 0) {
		buf_printf(&c->said, ", %.0f calls of ", n->method->round_calls);
		dig_put_time(&c->said, n->method->round_ns / n->method->round_calls);
		buf_u8(&c->said, ',');
	}
	buf_text(&c->said, n->first ? " is called by " : " is called by nobody");
	for (const struct climb_node *k = n->first; k && told < 4; k = k->next, told++) {
		buf_text(&c->said, told ? ", " : "");
		say_caller(c, k);
	}
	buf_u8(&c->said, '\n');
}

/* Callers that hooks have seen and samples have not. */
static void add_callers_seen(struct climb *c, struct climb_node *n)
{
	for (struct caller_link *k = n->method->callers; k; k = k->next_caller) {
		struct climb_node *up = n;

		if (!n->method->in || k->round_calls < SEEN * n->method->round_calls ||
		    k->round_calls < 1)
			continue;
		while (up && up->method != k->caller)
			up = up->below;
		up = up ? NULL : climb_tree_add(&c->stacks, n, k->caller);
		if (up)
			up->link = k;
	}
}

static void take_best(struct climb *c, struct climb_node *best[CLIMB_LEVEL_MAX], unsigned *n,
		      struct climb_node *k)
{
	unsigned at = *n;

	if ((double)k->samples < FOLLOWED * (double)c->spots[c->spot].top->samples)
		return;
	while (at && best[at - 1]->samples < k->samples)
		at--;
	if (*n < CLIMB_LEVEL_MAX)
		++*n;
	for (unsigned i = *n; i-- > at + 1;)
		best[i] = best[i - 1];
	if (at < CLIMB_LEVEL_MAX)
		best[at] = k;
}

static void go_up(struct climb *c)
{
	struct climb_node *best[CLIMB_LEVEL_MAX] = { NULL };
	struct climb_spot *s = &c->spots[c->spot];
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_level; i++) {
		add_callers_seen(c, c->level[i]);
		if (!c->level[i]->runs_on)
			say_level(c, c->level[i]);
		for (struct climb_node *k = c->level[i]->first; k; k = k->next)
			take_best(c, best, &n, k);
	}
	c->n_level = 0;
	for (unsigned i = 0; i < n; i++) {
		best[i]->followed = true;
		best[i]->runs_on |= best[i]->method->in && best[i]->method->round_calls < 1;
		c->level[c->n_level++] = best[i];
	}
	climb_answer_find(s, &s->verdict);
	s->root = climb_tree_outermost(&c->stacks, s->verdict.node ? s->verdict.node : s->top);
	if (c->n_level && (c->options.to_root || !s->verdict.clear))
		c->at = CLIMB_LEVEL;
	else
		begin_spot(c, c->spot + 1);
}

/* When time is over, samples alone lead on, which takes none. */
static void see_time(struct climb *c)
{
	struct climb_spot *s = &c->spots[c->spot];

	s->cut |= c->now - c->began >= c->options.for_ns;
	for (unsigned i = 0; s->cut && i < c->n_level; i++)
		c->level[i]->runs_on = true;
}

/* ---- the machine ---------------------------------------------------------------------------- */

static void want_hooks(struct climb *c, struct climb_action *out)
{
	begin_round(c);
	c->round_began = c->now;
	out->step = CLIMB_HOOK;
	out->hooks = c->hooks;
	out->n = c->n_hooks;
}

static void want_window(struct climb *c, struct climb_action *out)
{
	if (!c->measure.readings)
		c->round_began = c->now;
	out->step = CLIMB_MEASURE;
	out->for_ns = !c->measure.readings	 ? 0
		      : c->measure.readings == 1 ? (uint64_t)FIRST_NS
						 : (uint64_t)WINDOW_NS;
}

void climb_next(struct climb *c, double now_ns, struct climb_action *out)
{
	*out = (struct climb_action){ .step = CLIMB_DONE };
	c->now = now_ns;
	c->err = c->err ? c->err : c->stacks.err ? c->stacks.err : c->said.err;
	if (c->at == CLIMB_BEGINS) {
		c->began = now_ns;
		out->step = CLIMB_SAMPLE;
		out->for_ns = (uint64_t)c->options.sample_ns;
	}
	while (!c->err && (c->at == CLIMB_LEVEL || c->at == CLIMB_MEASURED)) {
		if (c->at == CLIMB_MEASURED) {
			go_up(c);
			continue;
		}
		see_time(c);
		choose_hooks(c);
		if (c->n_hooks) {
			want_hooks(c, out);
			return;
		}
		begin_round(c);
		c->at = CLIMB_MEASURED; /* nobody here can be hooked: samples alone lead on */
	}
	if (!c->err && c->at == CLIMB_HOOKED)
		want_window(c, out);
}
