/* SPDX-License-Identifier: Apache-2.0 */
/* hook_rows.c - rules, and methods left alone, as tables and as JSON.
 *
 * The text of a rule comes last in its line, since it may be of any length. */
#include "cli/report/hook_rows.h"

#include <stdio.h>

#include "base/plural.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"

void hook_rows_init(struct hook_rows *h, bool json)
{
	*h = (struct hook_rows){ .json = json };
	h->rules_json = json_to(&h->rules);
	h->left_json = json_to(&h->left);
	h->missed_json = json_to(&h->missed);
	h->grown_json = json_to(&h->grown);
}

void hook_rows_release(struct hook_rows *h)
{
	buf_release(&h->rules);
	buf_release(&h->left);
	buf_release(&h->missed);
	buf_release(&h->grown);
	buf_release(&h->notes);
}

/* ---- rules ---- */

/* When it leaves by itself: after a time, after so many calls, or with who holds it. */
static const char *leaving(char text[80], const struct wire_rule *m)
{
	char time[32], calls[2 * FIGURE_MAX];

	figure_age(time, m->leaves_ns);
	figure_of(calls, m->leaves_calls, "call");
	if (m->flags & RULE_WAITS)
		snprintf(text, 80, "no method yet");
	else if (m->leaves_ns && m->leaves_calls)
		snprintf(text, 80, "%s, %.40s", time, calls);
	else if (m->leaves_ns)
		snprintf(text, 80, "%s", time);
	else if (m->leaves_calls)
		snprintf(text, 80, "%s", calls);
	else
		snprintf(text, 80, "%s", m->flags & RULE_HELD ? "held" : "-");
	return text;
}

static void rule_line(struct hook_rows *h, const struct wire_rule *m)
{
	char classes[32], methods[32], calls[32], age[32], leaves[80], number[16];

	snprintf(number, sizeof(number), "%c%u", h->native ? 'n' : '#', m->number);
	buf_printf(&h->rules, "%5s %9s %9s %15s  %-11s  %-18s  ", number,
		   cli_number(classes, m->classes), cli_number(methods, m->methods),
		   cli_number(calls, m->calls), figure_age(age, m->age_ns), leaving(leaves, m));
	client_show_line(&h->rules, m->text);
	if (slice_is(m->origin, "memory"))
		buf_text(&h->rules,
			 "\n      remembered from an earlier 'sonde dig'; see 'sonde memory'");
	if (m->flags & RULE_BY_STACK)
		buf_text(&h->rules,
			 "\n      a caller in it cannot be woven: each call looks at the "
			 "stack, which takes microseconds");
	buf_u8(&h->rules, '\n');
}

static void rule_object(struct json *j, const struct wire_rule *m)
{
	json_open(j, '{');
	json_put_u64(j, "number", m->number);
	json_put_str(j, "rule", m->text);
	json_put_str(j, "origin", m->origin);
	json_put_u64(j, "classes", m->classes);
	json_put_u64(j, "methods", m->methods);
	json_put_u64(j, "calls", m->calls);
	json_put_u64(j, "age_ns", m->age_ns);
	if (m->leaves_ns)
		json_put_u64(j, "leaves_ns", m->leaves_ns);
	if (m->leaves_calls)
		json_put_u64(j, "leaves_calls", m->leaves_calls);
	json_put_bool(j, "held", m->flags & RULE_HELD);
	json_put_bool(j, "waits", m->flags & RULE_WAITS);
	json_put_bool(j, "by_stack", m->flags & RULE_BY_STACK);
	json_close(j, '}');
}

/* ---- what was left alone ---- */

void left_put_line(struct buf *out, const struct wire_left *m)
{
	buf_text(out, "left alone: ");
	client_show_line(out, m->reason);
	if (m->example.n) {
		buf_text(out, m->count == 1 ? " (" : " (e.g. ");
		client_show_line(out, m->example);
		buf_text(out, m->why.n ? ": " : "");
		client_show_line(out, m->why);
		buf_text(out, ")");
	}
	buf_u8(out, '\n');
}

void left_put_json(struct json *j, const struct wire_left *m)
{
	json_open(j, '{');
	json_put_str(j, "reason", m->reason);
	json_put_u64(j, "count", m->count);
	json_put_str(j, "example", m->example);
	if (m->why.n) {
		json_put_str(j, "why", m->why);
	}
	json_close(j, '}');
}

/* ---- tests that could not be made ---- */

/* "        3  tests of #2 not met: null on the way (e.g. com.shop.Cart.add)" */
static void missed_line(struct hook_rows *h, const struct wire_missed *m)
{
	char count[32];

	buf_printf(&h->missed, "%10s  test%s of #%u not met: ", cli_number(count, m->count),
		   plural(m->count), m->rule);
	client_show_line(&h->missed, m->reason);
	buf_text(&h->missed, " (e.g. at ");
	client_show_line(&h->missed, m->example);
	buf_text(&h->missed, ")\n");
}

static void missed_object(struct json *j, const struct wire_missed *m)
{
	json_open(j, '{');
	json_put_u64(j, "rule", m->rule);
	json_put_str(j, "reason", m->reason);
	json_put_u64(j, "count", m->count);
	json_put_str(j, "example", m->example);
	json_close(j, '}');
}

static void take_missed(struct hook_rows *h, const struct wire_missed *m)
{
	if (m->rule <= h->above)
		return;
	if (h->json)
		missed_object(&h->missed_json, m);
	else
		missed_line(h, m);
}

/* ---- methods that compilers treat otherwise for their hooks ---- */

/* "      312  longer than 325 bytes by their hooks: no longer inlined ... (FreqInlineSize, e.g. a.B.c)" */
static void grown_line(struct hook_rows *h, const struct wire_grown *m)
{
	char count[32];

	buf_printf(&h->grown,
		   "%10s  longer than %u bytes by the hook: ", cli_number(count, m->count),
		   m->bytes);
	client_show_line(&h->grown, m->effect);
	buf_text(&h->grown, " (");
	client_show_line(&h->grown, m->flag);
	buf_text(&h->grown, m->count == 1 ? ", " : ", e.g. ");
	client_show_line(&h->grown, m->example);
	buf_text(&h->grown, ")\n");
}

static void take_grown(struct hook_rows *h, const struct wire_grown *m)
{
	struct json *j = &h->grown_json;

	if (!h->json) {
		grown_line(h, m);
		return;
	}
	json_open(j, '{');
	json_put_str(j, "flag", m->flag);
	json_put_u64(j, "bytes", m->bytes);
	json_put_str(j, "effect", m->effect);
	json_put_u64(j, "count", m->count);
	json_put_str(j, "example", m->example);
	json_close(j, '}');
}

/* ---- all ---- */

static void take_rule(struct hook_rows *h, const struct wire_rule *m)
{
	h->highest = m->number > h->highest ? m->number : h->highest;
	if (m->number <= h->above)
		return;
	h->n++;
	h->classes += m->classes;
	h->methods += m->methods;
	if (h->json)
		rule_object(&h->rules_json, m);
	else
		rule_line(h, m);
}

static void take_left(struct hook_rows *h, const struct wire_left *m)
{
	char count[32];

	if (h->json) {
		left_put_json(&h->left_json, m);
		return;
	}
	buf_printf(&h->left, "%10s  ", cli_number(count, m->count));
	left_put_line(&h->left, m);
}

static void take_status(struct hook_rows *h, const struct wire_status *m)
{
	h->has_totals = true;
	h->all_rules = m->rules;
	h->all_classes = m->classes;
	h->all_methods = m->methods;
	h->resting = m->resting;
	h->redefined = m->redefined;
	h->budget = m->budget;
	h->closed = m->closed;
	h->taken_out = m->taken_out;
	h->cost = m->cost;
	h->cost_closed = m->cost_closed;
	buf_clear(&h->notes);
	buf_put(&h->notes, m->notes);
}

bool hook_rows_take(void *ctx, unsigned type, struct slice payload)
{
	struct hook_rows *h = ctx;
	struct wire_status status;
	struct wire_rule rule;
	struct wire_missed missed;
	struct wire_left left;
	struct wire_grown grown;

	if (type == WIRE_rule && wire_get_rule(payload, &rule) == 0)
		take_rule(h, &rule);
	else if (type == WIRE_left && wire_get_left(payload, &left) == 0)
		take_left(h, &left);
	else if (type == WIRE_missed && wire_get_missed(payload, &missed) == 0)
		take_missed(h, &missed);
	else if (type == WIRE_grown && wire_get_grown(payload, &grown) == 0)
		take_grown(h, &grown);
	else if (type == WIRE_status && wire_get_status(payload, &status) == 0)
		take_status(h, &status);
	return true;
}

void hook_rows_table(struct hook_rows *h, struct buf *out)
{
	if (h->n)
		buf_printf(out, "%5s %9s %9s %15s  %-11s  %-18s  %s\n", h->native ? "n" : "#",
			   h->native ? "libraries" : "classes", h->native ? "functions" : "methods",
			   "calls", "age", "leaves in", "rule");
	buf_put(out, buf_slice(&h->rules));
	buf_put(out, buf_slice(&h->missed));
	buf_put(out, buf_slice(&h->left));
	buf_put(out, buf_slice(&h->grown));
}

/* "412 of 9,871 methods are closed to keep to 5 % (...); hooks cost 4.1 %, closed ones 0.3 %" */
static void budget_line(const struct hook_rows *h, struct buf *out)
{
	char closed[32], all[2 * FIGURE_MAX], gone[32];

	if (h->budget == 0)
		return;
	buf_printf(out, "%s of %s %s closed to keep to %g %%", cli_number(closed, h->closed),
		   figure_of(all, h->all_methods + h->taken_out, "method"),
		   h->closed == 1 ? "is" : "are", h->budget * 100);
	if (h->taken_out)
		buf_printf(out, ", %s of them by taking the hook out of the code",
			   cli_number(gone, h->taken_out));
	buf_printf(
		out,
		"; by Sonde's reckoning open hooks cost %.1f %%, closed ones %.1f %% of the processor time\n"
		"that the program uses itself ('sonde report' marks them; 'sonde explain' says why)\n",
		h->cost * 100, h->cost_closed * 100);
}

void hook_rows_totals(const struct hook_rows *h, struct buf *out)
{
	char methods[2 * FIGURE_MAX], classes[2 * FIGURE_MAX], rules[2 * FIGURE_MAX];

	if (h->native) {
		buf_printf(out, "Native hooks now in the program: %s, %s\n",
			   figure_of(methods, h->all_methods, "function"),
			   figure_of(rules, h->all_rules, "rule"));
		return;
	}
	buf_printf(out, "Hooks now in the program: %s in %s, %s\n",
		   figure_of(methods, h->all_methods, "method"),
		   figure_of(classes, h->all_classes, "class"),
		   figure_of(rules, h->all_rules, "rule"));
	if (h->resting)
		buf_printf(out,
			   "%s more class%s closed hooks still, until the original code comes back "
			   "after a while ('unhook --now': at once)\n",
			   cli_number(classes, h->resting), h->resting == 1 ? " has" : "es have");
	budget_line(h, out);
}

void hook_rows_notes(const struct hook_rows *h, struct buf *out)
{
	struct slice rest = buf_slice(&h->notes);

	while (rest.n) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		if (n) {
			buf_text(out, "note: ");
			client_show_line(out, (struct slice){ rest.p, n });
			buf_u8(out, '\n');
		}
		rest = (struct slice){ rest.p + n + (end != NULL), rest.n - n - (end != NULL) };
	}
}

static void array(struct json *j, const char *key, const struct buf *objects)
{
	json_put_open(j, key, '[');
	buf_put(j->out, buf_slice(objects));
	if (objects->err && !j->out->err)
		j->out->err = objects->err;
	json_close(j, ']');
}

void hook_rows_json(const struct hook_rows *h, struct json *j)
{
	array(j, "rules", &h->rules);
	array(j, "left", &h->left);
	array(j, "missed", &h->missed);
	array(j, "grown", &h->grown);
}

void hook_rows_totals_json(const struct hook_rows *h, struct json *j)
{
	if (!h->has_totals)
		return;
	json_put_open(j, "program", '{');
	json_put_u64(j, "rules", h->all_rules);
	json_put_u64(j, "classes", h->all_classes);
	json_put_u64(j, "methods", h->all_methods);
	json_put_u64(j, "resting", h->resting);
	json_put_u64(j, "redefined", h->redefined);
	if (h->budget != 0) {
		json_put_u64(j, "closed", h->closed);
		json_put_u64(j, "taken_out", h->taken_out);
		json_put_double(j, "budget", h->budget);
		json_put_double(j, "cost", h->cost);
		json_put_double(j, "cost_closed", h->cost_closed);
	}
	json_put_str(j, "notes", buf_slice(&h->notes));
	json_close(j, '}');
}
