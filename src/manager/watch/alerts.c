/* SPDX-License-Identifier: Apache-2.0 */
/* alerts.c - alerts as texts and as JSON. */
#include "manager/watch/alerts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/screen/figures.h"
#include "manager/json_in.h"

static const char *const kinds[USUAL_KINDS] = { "slow", "errors", "stalls" };

const char *alert_kind_word(enum usual_kind kind)
{
	return kinds[kind];
}

struct alert *alert_new(const char *app, enum usual_kind kind)
{
	static unsigned number;
	struct alert *a = mem_alloc(sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct alert){ .kind = kind, .began_ms = clock_day_ms() };
	snprintf(a->app, sizeof(a->app), "%s", app);
	snprintf(a->id, sizeof(a->id), "%llx-%u", (unsigned long long)a->began_ms, ++number);
	return a;
}

void alert_free(struct alert *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		free(a->figures[i].method);
	buf_release(&a->answer);
	mem_free(a);
}

struct alert_figure *alert_find(struct alert *a, const char *method)
{
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->figures[i].method, method) == 0)
			return &a->figures[i];
	return NULL;
}

bool alert_add(struct alert *a, const struct alert_figure *f)
{
	struct alert_figure *at = alert_find(a, f->method), own = *f;
	size_t to;

	if (at) {
		own.method = at->method;
		*at = own;
		return true;
	}
	own.method = a->n < ALERT_METHODS ? strdup(f->method) : NULL;
	if (!own.method)
		return false;
	for (to = a->n++; to > 0 && a->figures[to - 1].lost < own.lost; to--)
		a->figures[to] = a->figures[to - 1];
	a->figures[to] = own;
	return true;
}

bool alert_is_good(const struct alert *a)
{
	bool good = true;

	for (size_t i = 0; i < a->n; i++)
		good &= a->figures[i].is_good;
	return good;
}

/* Lines of the screen become one line. */
static void set_finding(struct alert *a, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < sizeof(a->finding); text++) {
		bool space = *text == '\n' || *text == ' ' || *text == '\t';

		if (!space || (n && a->finding[n - 1] != ' '))
			a->finding[n++] = space ? ' ' : *text;
	}
	while (n && a->finding[n - 1] == ' ')
		n--;
	a->finding[n] = '\0';
}

/* Only what is an object with its text goes into documents of ours. */
void alert_take_answer(struct alert *a, struct slice answer, const char *why)
{
	cJSON *all = cJSON_ParseWithLength((const char *)answer.p, answer.n);
	const cJSON *text = cJSON_GetObjectItem(all, "text");

	a->digging = false;
	while (answer.n && answer.p[answer.n - 1] == '\n')
		answer.n--;
	if (cJSON_IsObject(all) && cJSON_IsString(text)) {
		set_finding(a, text->valuestring);
		buf_put(&a->answer, answer);
	}
	cJSON_Delete(all);
	snprintf(a->why, sizeof(a->why), "%s", a->finding[0] ? "" : why);
}

/* ---- for people ---- */

static void put_value(enum usual_kind kind, double v, char text[FIGURE_MAX])
{
	if (kind == USUAL_TIME)
		figure_time(text, v);
	else if (kind == USUAL_ERRORS)
		figure_share(text, v);
	else
		snprintf(text, FIGURE_MAX, "%.1f", v * 60);
}

void alert_text(const struct alert *a, struct buf *out)
{
	static const char *const verbs[USUAL_KINDS] = { "takes", "fails in", "stalls" };
	static const char *const units[USUAL_KINDS] = { "a call", "of its calls",
							"times a minute" };
	const struct alert_figure *f = &a->figures[0];
	size_t name = a->n ? strcspn(f->method, "(") : 0;
	char is[FIGURE_MAX], was[FIGURE_MAX];

	if (!a->n)
		return;
	put_value(a->kind, f->value, is);
	put_value(a->kind, f->usual, was);
	buf_printf(out, "%.*s %s %s %s, usually %s", (int)name, f->method, verbs[a->kind], is,
		   units[a->kind], was);
	if (a->n > 1)
		buf_printf(out, "; so do %zu more", a->n - 1);
}

/* ---- JSON ---- */

static void put_figures(const struct alert *a, struct json *j)
{
	json_put_open(j, "methods", '[');
	for (size_t i = 0; i < a->n; i++) {
		const struct alert_figure *f = &a->figures[i];

		json_open(j, '{');
		json_put_nonempty(j, "method", f->method);
		json_put_double(j, "value", f->value);
		json_put_double(j, "usual", f->usual);
		json_put_double(j, "limit", f->limit);
		json_put_double(j, "lost", f->lost);
		json_put_bool(j, "good", f->is_good);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_dig(const struct alert *a, struct json *j)
{
	json_put_nonempty(j, "instance", a->instance);
	json_put_nonempty(j, "dig", a->dig);
	json_put_bool(j, "digging", a->digging);
	json_put_nonempty(j, "finding", a->finding);
	json_put_nonempty(j, "why_no_finding", a->why);
	if (a->answer.n && !a->answer.err) {
		json_key(j, "evidence");
		buf_put(j->out, buf_slice(&a->answer));
		j->more = true;
	}
}

void alert_json(const struct alert *a, struct json *j)
{
	struct buf text = { 0 };

	alert_text(a, &text);
	json_open(j, '{');
	json_put_nonempty(j, "id", a->id);
	json_put_nonempty(j, "application", a->app);
	json_put_nonempty(j, "kind", kinds[a->kind]);
	json_put_nonempty(j, "state", a->ended_ms ? "over" : "open");
	json_put_u64(j, "began_ms", a->began_ms);
	if (a->ended_ms) {
		json_put_u64(j, "ended_ms", a->ended_ms);
	}
	json_put_str(j, "text", buf_slice(&text));
	put_figures(a, j);
	put_dig(a, j);
	json_close(j, '}');
	buf_release(&text);
}

static const char *text_of(const cJSON *all, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(all, key);

	return cJSON_IsString(v) ? v->valuestring : "";
}

static double number_of(const cJSON *all, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(all, key);

	return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static void read_figures(struct alert *a, const cJSON *list)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, list)
	{
		struct alert_figure f = {
			.method = (char *)(uintptr_t)text_of(one, "method"),
			.value = number_of(one, "value"),
			.usual = number_of(one, "usual"),
			.limit = number_of(one, "limit"),
			.lost = number_of(one, "lost"),
			.is_good = cJSON_IsTrue(cJSON_GetObjectItem(one, "good")),
		};

		alert_add(a, &f);
	}
}

static void read_evidence(struct alert *a, const cJSON *evidence)
{
	char *text = evidence ? cJSON_PrintUnformatted(evidence) : NULL;

	if (text)
		buf_text(&a->answer, text);
	cJSON_free(text);
}

struct alert *alert_read(struct slice doc)
{
	cJSON *all = cJSON_ParseWithLength((const char *)doc.p, doc.n);
	const char *kind = text_of(all, "kind");
	struct alert *a = NULL;
	unsigned k = 0;

	while (k < USUAL_KINDS && strcmp(kinds[k], kind) != 0)
		k++;
	if (k < USUAL_KINDS)
		a = alert_new(text_of(all, "application"), k);
	if (a) {
		snprintf(a->id, sizeof(a->id), "%s", text_of(all, "id"));
		snprintf(a->instance, sizeof(a->instance), "%s", text_of(all, "instance"));
		snprintf(a->dig, sizeof(a->dig), "%s", text_of(all, "dig"));
		snprintf(a->finding, sizeof(a->finding), "%s", text_of(all, "finding"));
		a->began_ms = json_in_u64(cJSON_GetObjectItem(all, "began_ms"));
		a->ended_ms = json_in_u64(cJSON_GetObjectItem(all, "ended_ms"));
		read_figures(a, cJSON_GetObjectItem(all, "methods"));
		read_evidence(a, cJSON_GetObjectItem(all, "evidence"));
	}
	cJSON_Delete(all);
	return a;
}
