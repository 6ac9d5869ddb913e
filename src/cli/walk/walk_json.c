/* SPDX-License-Identifier: Apache-2.0 */
/* walk_json.c - hot spots with their trees, then the list of callers, linked by name. */
#include "cli/walk/walk_json.h"

#include "cli/screen/cli.h"
#include "plan/walk/climb_print.h"

static void put_name(struct json *j, const char *key, const struct caller *c)
{
	if (!c)
		return;
	json_put_str(j, key, c->name);
}

static void put_calls(struct json *j, double calls, double ns)
{
	json_put_double(j, "calls", calls);
	if (calls >= 1 && ns > 0)
		json_put_double(j, "ns_per_call", ns / calls);
}

static void put_node(struct json *j, const struct climb_spot *s, const struct climb_node *n)
{
	json_open(j, '{');
	put_name(j, "method", n->method);
	json_put_double(j, "share",
			s->top->samples ? (double)n->samples / (double)s->top->samples : 0);
	json_put_u64(j, "samples", n->samples);
	if (n->link) {
		put_calls(j, n->link->calls, n->link->ns);
		json_put_double(j, "calls_per_call", climb_answer_fan(n));
	}
	json_put_bool(j, "followed", n->followed);
	json_put_open(j, "callers", '[');
	for (const struct climb_node *k = n->first; k; k = k->next)
		put_node(j, s, k);
	json_close(j, ']');
	json_close(j, '}');
}

static void put_responsible(struct json *j, const struct climb_spot *s)
{
	const struct climb_verdict *v = &s->verdict;

	if (!v->node)
		return;
	json_put_open(j, "responsible", '{');
	put_name(j, "method", v->node->method);
	json_put_double(j, "share", v->share);
	json_put_double(j, "calls_per_call", v->fan);
	put_calls(j, v->node->method->calls, v->node->method->ns);
	put_name(j, "called_by", v->node->first ? v->node->first->method : NULL);
	put_name(j, "root", s->root);
	json_close(j, '}');
}

static void put_spot(struct json *j, const struct climb_spot *s)
{
	json_open(j, '{');
	put_name(j, "method", s->top->method);
	json_put_double(j, "share", s->share);
	put_responsible(j, s);
	json_put_bool(j, "cut", s->cut);
	json_key(j, "tree");
	put_node(j, s, s->top);
	json_close(j, '}');
}

static void put_link(struct json *j, const struct caller_link *k, const struct caller *other)
{
	json_open(j, '{');
	put_name(j, "method", other);
	json_put_u64(j, "samples", k->samples);
	put_calls(j, k->calls, k->ns);
	json_close(j, '}');
}

static void put_caller(struct json *j, const struct caller *c)
{
	json_open(j, '{');
	put_name(j, "method", c);
	json_put_u64(j, "hooked", c->hooked);
	json_put_double(j, "seconds", c->seconds);
	put_calls(j, c->calls, c->ns);
	json_put_open(j, "callers", '[');
	for (const struct caller_link *k = c->callers; k; k = k->next_caller)
		put_link(j, k, k->caller);
	json_close(j, ']');
	json_put_open(j, "callees", '[');
	for (const struct caller_link *k = c->callees; k; k = k->next_callee)
		put_link(j, k, k->callee);
	json_close(j, ']');
	json_close(j, '}');
}

void walk_json_put(const struct walk_link *l, struct buf *out)
{
	const struct climb *c = &l->climb;
	struct json j = json_to(out);
	struct buf text = { 0 };

	climb_put_answer(c, &text);
	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)l->client.pid);
	json_put_str(&j, "text", buf_slice(&text));
	json_put_u64(&j, "samples", c->stacks.total);
	json_put_u64(&j, "rounds", c->rounds);
	json_put_u64(&j, "most_hooks", l->most_own);
	json_put_u64(&j, "hooks_left", l->left);
	json_put_open(&j, "hot_spots", '[');
	for (unsigned i = 0; i < c->n_spots; i++)
		put_spot(&j, &c->spots[i]);
	json_close(&j, ']');
	json_put_open(&j, "callers", '[');
	for (const struct caller *k = c->list.first; k; k = k->next)
		if (k->hooked)
			put_caller(&j, k);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
	buf_release(&text);
}
