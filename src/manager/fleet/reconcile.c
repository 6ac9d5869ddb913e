/* SPDX-License-Identifier: Apache-2.0 */
/* reconcile.c - makes each process have the rules of its application's plan.
 *
 * The agent is asked which rules of ours (by their origin) it has.  As far as these are the plan's,
 * in its order, they stay; what comes after the first difference is taken out and put in anew,
 * since of several rules for one method the last decides.  A rule that had been in and is gone left
 * by its own limits, or somebody took it out in the process: it stays out until it is put into the
 * plan anew. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "manager/fleet/carried.h"

enum { PATIENCE_S = 300, REPORTED_MAX = 4 * FLEET_RULES, TEXT_MAX_BYTES = 64 << 10 };
static const char origin[] = "plan";

const char *reconcile_word(enum rule_state state)
{
	static const char *const words[] = { "pending", "in_force", "waiting", "refused", "gone" };

	return words[state];
}

/* ---- statuses ---- */

static void set_why(struct rule_status *r, struct slice why)
{
	free(r->why);
	r->why = why.n ? strndup((const char *)why.p, why.n) : NULL;
}

void reconcile_forget(struct instance *i)
{
	for (size_t k = 0; k < i->n_rules; k++)
		free(i->rules[k].why);
	free(i->rules);
	i->rules = NULL;
	i->n_rules = 0;
}

static const struct plan *plan_of(const struct instance *i)
{
	return &i->app->plan;
}

/* What was refused is tried again: rules that it needs may have come. */
void reconcile_move(struct instance *i, const struct plan *to)
{
	struct rule_status *all = calloc(to->n + 1, sizeof(*all));
	const struct plan *from = plan_of(i);

	for (size_t k = 0; all && k < to->n; k++) {
		for (size_t old = 0; old < from->n && old < i->n_rules; old++) {
			if (strcmp(from->rules[old].text, to->rules[k].text) != 0 ||
			    i->rules[old].state == RULE_REFUSED)
				continue;
			all[k] = i->rules[old];
			i->rules[old].why = NULL;
		}
	}
	reconcile_forget(i);
	i->rules = all;
	i->n_rules = all ? to->n : 0;
}

static bool fit_rules(struct instance *i)
{
	if (i->n_rules == plan_of(i)->n && (i->rules || !i->n_rules))
		return true;
	reconcile_move(i, plan_of(i));
	return i->n_rules == plan_of(i)->n;
}

static void tell(struct fleet *f, const struct instance *i)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_text(&j, "application", i->app->name);
	json_put_text(&j, "instance", i->id);
	json_close(&j, '}');
	hub_put(&f->hub, slice_str(i->app->name), "status", buf_slice(&out));
	buf_release(&out);
}

/* ---- what the agent has ---- */

struct had {
	uint32_t number, flags;
	uint64_t methods, classes, calls;
	char *text;
};

struct reconcile {
	struct fleet *f;
	uint64_t version;
	struct had *v;
	size_t n, cap;
	bool too_many;
	size_t rule; /* of one that is being hooked */
};

static void reconcile_free(struct reconcile *c)
{
	for (size_t k = 0; k < c->n; k++)
		free(c->v[k].text);
	free(c->v);
	mem_free(c);
}

static void take_rule(struct ask *a, unsigned type, struct slice payload)
{
	struct reconcile *c = a->ctx;
	struct wire_rule m;
	struct had *v = c->v;

	if (type != WIRE_rule || wire_get_rule(payload, &m) < 0 || !slice_is(m.origin, origin))
		return;
	if (c->n == REPORTED_MAX || m.text.n > TEXT_MAX_BYTES) {
		c->too_many = true;
		return;
	}
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 16;
		v = realloc(v, c->cap * sizeof(*v));
		if (!v) {
			c->cap = c->n;
			return;
		}
		c->v = v;
	}
	v[c->n] = (struct had){ .number = m.number,
				.flags = m.flags,
				.methods = m.methods,
				.classes = m.classes,
				.calls = m.calls,
				.text = strndup((const char *)m.text.p, m.text.n) };
	c->n += v[c->n].text != NULL;
}

/* ---- in and out ---- */

static void hooked(struct ask *a, int status, struct slice text)
{
	struct reconcile *c = a->ctx;
	struct instance *i = a->of;
	struct rule_status *r = c->rule < i->n_rules ? &i->rules[c->rule] : NULL;

	if (r && c->version == plan_of(i)->version && status != ASK_GONE) {
		r->state = status == 0 ? RULE_IN_FORCE : status == 1 ? RULE_WAITING : RULE_REFUSED;
		set_why(r, status > 1 ? text : (struct slice){ NULL, 0 });
		tell(c->f, i);
	}
	reconcile_free(c);
}

static void unhooked(struct ask *a, int status, struct slice text)
{
	if (status > 1)
		log_put(LOG_WARN, "%s: a rule could not be taken out: %.*s", a->of->id,
			SLICE_FMT(text));
}

static void hook(struct reconcile *c, struct instance *i, size_t rule)
{
	struct ask *a = session_ask(i, PATIENCE_S);
	struct reconcile *mine = a ? mem_alloc(sizeof(*mine)) : NULL;

	if (!mine) {
		mem_free(a);
		return;
	}
	*mine = (struct reconcile){ .f = c->f, .version = c->version, .rule = rule };
	a->ctx = mine;
	a->done = hooked;
	i->rules[rule].number = 0;
	wire_put_hook(&a->frame,
		      &(struct wire_hook){ .rules = slice_str(plan_of(i)->rules[rule].text),
					   .origin = slice_str(origin) });
	session_send(c->f, a);
}

static void unhook(struct reconcile *c, struct instance *i, uint32_t number)
{
	struct ask *a = session_ask(i, PATIENCE_S);
	char text[16];

	if (!a)
		return;
	snprintf(text, sizeof(text), "#%u", number);
	a->done = unhooked;
	wire_put_unhook(&a->frame, &(struct wire_unhook){ slice_str(text), 0 });
	session_send(c->f, a);
}

/* ---- comparing ---- */

static bool see(struct rule_status *r, const struct had *h)
{
	enum rule_state state = h->methods ? RULE_IN_FORCE : RULE_WAITING;
	bool changed = r->state != state || r->methods != h->methods;

	r->state = state;
	r->number = h->number;
	r->methods = h->methods;
	r->classes = h->classes;
	r->calls = h->calls;
	return changed;
}

/* Is it to be there? */
static bool wanted(struct instance *i, size_t k, uint64_t now)
{
	const struct plan_rule *rule = &plan_of(i)->rules[k];
	struct rule_status *r = &i->rules[k];

	if (rule->expires_ms && rule->expires_ms <= now && r->state != RULE_GONE) {
		r->state = RULE_GONE;
		set_why(r, slice_str("its time is over"));
	}
	return r->state != RULE_GONE && r->state != RULE_REFUSED;
}

static const struct had *find(const struct reconcile *c, const char *text)
{
	for (size_t k = 0; k < c->n; k++)
		if (strcmp(c->v[k].text, text) == 0)
			return &c->v[k];
	return NULL;
}

/* Those that were in, and are not. */
static bool see_gone(struct reconcile *c, struct instance *i)
{
	bool changed = false;

	for (size_t k = 0; k < i->n_rules; k++) {
		struct rule_status *r = &i->rules[k];

		if (!r->number || r->state == RULE_GONE || find(c, plan_of(i)->rules[k].text))
			continue;
		r->state = RULE_GONE;
		r->number = 0;
		set_why(r, slice_str("it left by its own limit, or was unhooked in the process"));
		changed = true;
	}
	return changed;
}

static void compare(struct reconcile *c, struct instance *i)
{
	const struct plan *p = plan_of(i);
	uint64_t now = clock_day_ms();
	bool changed = see_gone(c, i);
	size_t at = 0, k = 0;

	for (; k < p->n; k++) {
		if (!wanted(i, k, now))
			continue;
		if (at == c->n || strcmp(c->v[at].text, p->rules[k].text) != 0)
			break;
		changed |= see(&i->rules[k], &c->v[at++]);
	}
	for (size_t old = c->n; old-- > at;)
		unhook(c, i, c->v[old].number);
	for (; k < p->n; k++)
		if (wanted(i, k, now))
			hook(c, i, k);
	carried_keep(c->f, i);
	if (changed || i->plan_version != c->version)
		tell(c->f, i);
	i->plan_version = c->version;
}

static void compared(struct ask *a, int status, struct slice text)
{
	struct reconcile *c = a->ctx;
	struct instance *i = a->of;

	(void)text;
	i->carrying = false;
	if (c->too_many)
		log_put(LOG_WARN, "%s: its agent reports more rules of the plan than there can be",
			i->id);
	else if (status == 0 && c->version == plan_of(i)->version && fit_rules(i)) {
		carried_recall(c->f, i);
		compare(c, i);
	}
	reconcile_free(c);
}

void reconcile_step(struct fleet *f, struct instance *i)
{
	struct reconcile *c;
	struct ask *a;

	if (i->carrying || i->state != INSTANCE_CONNECTED || !plan_of(i)->version ||
	    i->app->is_damaged || !f->is_loaded)
		return;
	c = mem_alloc(sizeof(*c));
	a = c ? session_ask(i, PATIENCE_S) : NULL;
	if (!a) {
		mem_free(c);
		return;
	}
	*c = (struct reconcile){ .f = f, .version = plan_of(i)->version };
	a->ctx = c;
	a->row = take_rule;
	a->done = compared;
	i->carrying = true;
	wire_put_hooks(&a->frame, &(struct wire_hooks){ 0 });
	session_send(f, a);
}
