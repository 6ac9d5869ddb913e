/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_names.c - asks the agent for the classes that begin so, and shortens what it says to the next
 * dot, as shells do with directories.  A shell waits for the answer, so that it has two seconds. */
#include "cli/client/loaded_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"

enum { NAMES_MAX = 50000, SECONDS_MAX = 2 };

struct names {
	struct slice word;
	struct slice class; /* what stands before "::" in it; .n 0: a class is being written */
	bool methods, nested;
	struct buf text; /* candidates, each with a NUL behind it */
	size_t n;
};

/* ---- one name ---- */

static void put(struct names *l, struct slice name, const char *end)
{
	size_t before = l->text.n;

	buf_put(&l->text, name);
	buf_text(&l->text, end);
	if (!slice_starts((struct slice){ l->text.p + before, l->text.n - before }, l->word)) {
		l->text.n = before;
		return;
	}
	buf_u8(&l->text, 0);
	l->n++;
}

/* Lambdas, proxies and what frameworks make at run time: nobody types their names. */
static bool is_made(struct slice name)
{
	for (size_t i = 0; i + 1 < name.n; i++)
		if (name.p[i] == '$' && (name.p[i + 1] == '$' || name.p[i + 1] == '/' ||
					 (name.p[i + 1] >= '0' && name.p[i + 1] <= '9')))
			return true;
	return false;
}

/* Up to the next dot; and without the packages and outer classes, where none are being written. */
static void take_class(struct names *l, struct slice dotted)
{
	const uint8_t *dot = NULL;
	size_t simple = 0;

	if (is_made(dotted))
		return;
	for (size_t i = 0; i < dotted.n; i++)
		if (dotted.p[i] == '.' || dotted.p[i] == '$')
			simple = i + 1;
	if (!memchr(l->word.p, '.', l->word.n) && l->word.n)
		put(l, (struct slice){ dotted.p + simple, dotted.n - simple },
		    l->methods ? "::" : "");
	if (dotted.n >= l->word.n)
		dot = memchr(dotted.p + l->word.n, '.', dotted.n - l->word.n);
	if (dot)
		dotted.n = (size_t)(dot - dotted.p) + 1;
	if (l->nested || !memchr(dotted.p, '$', dotted.n))
		put(l, dotted, dot || !l->methods ? "" : "::");
}

static void take_method(struct names *l, const struct wire_found *m)
{
	struct buf whole = { 0 };

	if (m->method.n && m->method.p[0] == '<')
		return;
	buf_put(&whole, l->class);
	buf_text(&whole, "::");
	buf_put(&whole, m->method);
	if (!whole.err)
		put(l, buf_slice(&whole), "");
	buf_release(&whole);
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct names *l = ctx;
	struct buf dotted = { 0 };
	struct wire_found m;

	if (type != WIRE_found || wire_get_found(payload, &m) < 0)
		return true;
	if (l->class.n) {
		take_method(l, &m);
	} else {
		buf_dotted(&dotted, m.class);
		if (!dotted.err)
			take_class(l, buf_slice(&dotted));
		buf_release(&dotted);
	}
	return l->n < NAMES_MAX;
}

/* ---- all of them ---- */

static void ask(struct names *l, struct client *c)
{
	struct buf pattern = { 0 };
	struct wire_done done;

	buf_put(&pattern, l->word);
	buf_text(&pattern, l->class.n ? "*" : "**");
	if (!pattern.err) {
		wire_put_find(&c->out, &(struct wire_find){ buf_slice(&pattern), NAMES_MAX });
		client_hear(c, take, l, &done);
	}
	buf_release(&pattern);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each once, in order. */
static void put_sorted(struct names *l, struct buf *out)
{
	char **all = mem_alloc((l->n + 1) * sizeof(*all));
	char *p = (char *)l->text.p;

	if (!all || l->text.err) {
		mem_free(all);
		return;
	}
	for (size_t i = 0; i < l->n; i++, p += strlen(p) + 1)
		all[i] = p;
	qsort(all, l->n, sizeof(*all), by_text);
	for (size_t i = 0; i < l->n; i++) {
		if (i && strcmp(all[i], all[i - 1]) == 0)
			continue;
		client_show_line(out, slice_str(all[i]));
		buf_u8(out, '\n');
	}
	mem_free(all);
}

/* Is it a name so far?  A pattern or a rule cannot be completed. */
static bool is_name(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] <= ' ' || strchr("*?([{\"'/@#", word.p[i]))
			return false;
	return word.n < 512;
}

static struct slice class_of(struct slice word)
{
	for (size_t i = 0; i + 1 < word.n; i++)
		if (word.p[i] == ':' && word.p[i + 1] == ':')
			return (struct slice){ word.p, i };
	return (struct slice){ word.p, 0 };
}

void loaded_names(const char *target, struct slice word, bool methods, struct buf *out)
{
	struct names l = { .word = word, .methods = methods, .class = class_of(word) };
	struct client client = { .fd = -1 };
	struct target t;

	if (!is_name(word))
		return;
	l.nested = word.n && memchr(word.p, '$', word.n);
	alarm(SECONDS_MAX); /* ends this process: the shell has nothing to offer then */
	if (target_find(target, &t) == CLI_DONE && !t.is_native && client_is_there(&t)) {
		if (client_open(&client, &t) == CLI_DONE)
			ask(&l, &client);
		client_close(&client);
	}
	alarm(0);
	put_sorted(&l, out);
	buf_release(&l.text);
}
