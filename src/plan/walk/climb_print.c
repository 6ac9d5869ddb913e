/* SPDX-License-Identifier: Apache-2.0 */
/* climb_print.c - the tree of callers, and the answer in two lines. */
#include "plan/walk/climb_print.h"

#include "plan/dig/dig_state.h"
#include "plan/walk/caller_name.h"

enum { CALLERS_SHOWN = 6 };

static void put_number(struct buf *out, double n)
{
	if (n < 9.95)
		buf_printf(out, "%.2g", n);
	else if (n < 1e6)
		buf_printf(out, "%.0f", n);
	else
		buf_printf(out, "%.1f million", n / 1e6);
}

/* ", 512 calls a second of 3.2 us" */
static void put_calls(struct buf *out, const struct caller *c)
{
	if (c->calls < 1 || c->seconds <= 0)
		return;
	buf_text(out, ", ");
	put_number(out, c->calls / c->seconds);
	buf_text(out, " calls a second");
	if (c->ns > 0) {
		buf_text(out, " of ");
		dig_put_time(out, c->ns / c->calls);
	}
}

static const char *why_not_measured(const struct climb_spot *s, const struct climb_node *n)
{
	if (n->method->calls >= 1)
		return NULL;
	if (n->method->hooked)
		return "runs on: not called anew";
	if (n->runs_on)
		return s->cut ? "not measured: time was over" : "runs on";
	if (n->method->flags & CALLER_NO_HOOK)
		return "no hook possible";
	return n->followed ? "samples only" : NULL;
}

static void put_link(struct buf *out, const struct climb_node *n)
{
	double calls = n->link ? n->link->calls : 0, fan = climb_answer_fan(n);
	bool is_one;

	if (calls < 1 && fan <= 0)
		return;
	buf_text(out, fan <= 0 ? "; made " : n->recursive ? "; each leads to " : "; each makes ");
	is_one = fan > 0.95 && fan < 1.05;
	put_number(out, is_one ? 1 : fan > 0 ? fan : calls);
	buf_text(out, is_one ? " call of " : " calls of ");
	caller_put_short(fan > 0 ? climb_answer_callee(n)->method : n->below->method, out);
	if (calls >= 1 && n->link->ns > 0 && !n->recursive) {
		buf_text(out, " of ");
		dig_put_time(out, n->link->ns / calls);
	}
}

static void put_node(const struct climb_spot *s, const struct climb_node *n, struct buf *out)
{
	const char *why = why_not_measured(s, n);

	for (unsigned i = 0; i < n->depth; i++)
		buf_text(out, "  ");
	buf_text(out, n->depth ? "<- " : "");
	caller_put_whole(n->method, out);
	buf_u8(out, ' ');
	if (n->depth && !n->samples)
		buf_text(out, "seen by hooks alone");
	else
		dig_put_share(out,
			      n->depth ? (double)n->samples / (double)s->top->samples : s->share);
	put_calls(out, n->method);
	if (n->depth)
		put_link(out, n);
	if (n->recursive)
		buf_text(out, "; by way of a recursion");
	if (why)
		buf_printf(out, " (%s)", why);
	buf_text(out, n == s->verdict.node ? "  <== responsible\n" : "\n");
}

static void put_below(const struct climb_spot *s, const struct climb_node *n, struct buf *out)
{
	unsigned shown = 0, left = 0;

	put_node(s, n, out);
	for (const struct climb_node *k = n->first; k; k = k->next) {
		if (shown++ < CALLERS_SHOWN)
			put_below(s, k, out);
		else
			left++;
	}
	if (!left)
		return;
	for (unsigned i = 0; i <= n->depth; i++)
		buf_text(out, "  ");
	buf_printf(out, "<- %u more\n", left);
}

void climb_put_tree(const struct climb *c, const struct climb_spot *s, struct buf *out)
{
	put_below(s, s->top, out);
	if (s->cut)
		buf_printf(out, "  time was over after %.0f s\n", c->options.for_ns / 1e9);
}

/* ---- two lines ------------------------------------------------------------------------------ */

static void put_hot(const struct climb *c, const struct climb_spot *s, struct buf *out)
{
	unsigned more = 0;

	buf_text(out, "Hot:         ");
	caller_put_whole(s->top->method, out);
	buf_text(out, ", ");
	dig_put_share(out, s->share);
	buf_text(out, c->options.from.n ? " of the processor time, with what it calls"
					: " of the processor time");
	put_calls(out, s->top->method);
	for (unsigned i = 0; i < c->n_spots; i++) {
		const struct climb_spot *o = &c->spots[i];

		if (o == s || !o->verdict.node || !s->verdict.node ||
		    o->verdict.node->method != s->verdict.node->method)
			continue;
		buf_text(out, more++ ? ", " : "; with ");
		caller_put_short(o->top->method, out);
		buf_u8(out, ' ');
		dig_put_share(out, o->share);
	}
	buf_text(out, ".\n");
}

static void put_divided(const struct climb_spot *s, struct buf *out)
{
	unsigned n = 0;

	if (!s->top->first) {
		buf_text(out, "Responsible: nobody of the program calls it.\n");
		return;
	}
	buf_text(out, "Responsible: nobody alone; it is called by ");
	for (const struct climb_node *k = s->top->first; k && n < 4; k = k->next, n++) {
		buf_text(out, n ? ", " : "");
		caller_put_whole(k->method, out);
		buf_u8(out, ' ');
		dig_put_share(out, (double)k->samples / (double)s->top->samples);
	}
	buf_text(out, ".\n");
}

static void put_origin(const struct climb_spot *s, const struct climb_node *n, struct buf *out)
{
	const struct climb_node *caller = n->first;

	if (caller && caller->samples) {
		buf_text(out, "; called by ");
		caller_put_whole(caller->method, out);
	}
	if (s->root && s->root != n->method && (!caller || s->root != caller->method)) {
		buf_text(out, caller ? ", below " : "; below ");
		caller_put_whole(s->root, out);
	}
	buf_text(out, ".\n");
}

static void put_responsible(const struct climb_spot *s, struct buf *out)
{
	const struct climb_verdict *v = &s->verdict;

	if (!v->node) {
		put_divided(s, out);
		return;
	}
	buf_text(out, "Responsible: ");
	caller_put_whole(v->node->method, out);
	if (v->by_itself) {
		buf_text(out, s->top->method->calls >= 1 ? " itself"
							 : " itself, which was not called anew");
		put_origin(s, v->node, out);
		return;
	}
	buf_text(out, ", ");
	dig_put_share(out, v->share);
	buf_text(out, " of that");
	put_calls(out, v->node->method);
	put_link(out, v->node);
	put_origin(s, v->node, out);
}

void climb_put_answer(const struct climb *c, struct buf *out)
{
	if (!c->n_spots) {
		buf_text(out, "Nothing is hot.\n");
		return;
	}
	put_hot(c, &c->spots[0], out);
	put_responsible(&c->spots[0], out);
}
