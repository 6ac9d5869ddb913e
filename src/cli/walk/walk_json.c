/* SPDX-License-Identifier: Apache-2.0 */
/* walk_json.c - hot spots with their trees, then the list of callers, linked by name. */
#include "cli/walk/walk_json.h"

#include "cli/screen/cli.h"
#include "plan/walk/climb_print.h"

static void put_number(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

static void put_name(struct json *j, const char *key, const struct caller *c)
{
	if (!c)
		return;
	json_key(j, key);
	json_str(j, c->name);
}

static void put_calls(struct json *j, double calls, double ns)
{
	put_number(j, "calls", calls);
	if (calls >= 1 && ns > 0)
		put_number(j, "ns_per_call", ns / calls);
}

static void put_node(struct json *j, const struct climb_spot *s, const struct climb_node *n)
{
	json_open(j, '{');
	put_name(j, "method", n->method);
	put_number(j, "share", s->top->samples ? (double)n->samples / (double)s->top->samples : 0);
	cli_json_count(j, "samples", n->samples);
	if (n->link) {
		put_calls(j, n->link->calls, n->link->ns);
		put_number(j, "calls_per_call", climb_answer_fan(n));
	}
	json_key(j, "followed");
	json_bool(j, n->followed);
	json_key(j, "callers");
	json_open(j, '[');
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
	json_key(j, "responsible");
	json_open(j, '{');
	put_name(j, "method", v->node->method);
	put_number(j, "share", v->share);
	put_number(j, "calls_per_call", v->fan);
	put_calls(j, v->node->method->calls, v->node->method->ns);
	put_name(j, "called_by", v->node->first ? v->node->first->method : NULL);
	put_name(j, "root", s->root);
	json_close(j, '}');
}

static void put_spot(struct json *j, const struct climb_spot *s)
{
	json_open(j, '{');
	put_name(j, "method", s->top->method);
	put_number(j, "share", s->share);
	put_responsible(j, s);
	json_key(j, "cut");
	json_bool(j, s->cut);
	json_key(j, "tree");
	put_node(j, s, s->top);
	json_close(j, '}');
}

static void put_link(struct json *j, const struct caller_link *k, const struct caller *other)
{
	json_open(j, '{');
	put_name(j, "method", other);
	cli_json_count(j, "samples", k->samples);
	put_calls(j, k->calls, k->ns);
	json_close(j, '}');
}

static void put_caller(struct json *j, const struct caller *c)
{
	json_open(j, '{');
	put_name(j, "method", c);
	cli_json_count(j, "hooked", c->hooked);
	put_number(j, "seconds", c->seconds);
	put_calls(j, c->calls, c->ns);
	json_key(j, "callers");
	json_open(j, '[');
	for (const struct caller_link *k = c->callers; k; k = k->next_caller)
		put_link(j, k, k->caller);
	json_close(j, ']');
	json_key(j, "callees");
	json_open(j, '[');
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
	cli_json_count(&j, "pid", (uint64_t)l->client.pid);
	json_key(&j, "text");
	json_str(&j, buf_slice(&text));
	cli_json_count(&j, "samples", c->stacks.total);
	cli_json_count(&j, "rounds", c->rounds);
	cli_json_count(&j, "most_hooks", l->most_own);
	cli_json_count(&j, "hooks_left", l->left);
	json_key(&j, "hot_spots");
	json_open(&j, '[');
	for (unsigned i = 0; i < c->n_spots; i++)
		put_spot(&j, &c->spots[i]);
	json_close(&j, ']');
	json_key(&j, "callers");
	json_open(&j, '[');
	for (const struct caller *k = c->list.first; k; k = k->next)
		if (k->hooked)
			put_caller(&j, k);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
	buf_release(&text);
}
