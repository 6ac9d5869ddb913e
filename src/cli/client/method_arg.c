/* SPDX-License-Identifier: Apache-2.0 */
/* method_arg.c - asks the agent, which knows what is loaded. */
#include "cli/client/method_arg.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/screen/cli.h"
#include "rule/native_rule.h"

enum { POLL_MS = 300 };

bool method_arg_is_name(const char *text)
{
	size_t n = strcspn(text, "(");

	return text[0] != '/' && text[0] != '#' && strcspn(text, "*? \t\n@") >= n &&
	       (strstr(text, "::") || memchr(text, '.', n) || memchr(text, '#', n));
}

/* pkg/Class.m, as the JVM and flame graphs write it, and pkg.Class#m, as javadoc does. */
static void put_plain(struct buf *out, const char *text)
{
	size_t n = strcspn(text, "(");

	for (size_t i = 0; i < n; i++)
		if (text[i] == '#')
			buf_text(out, "::");
		else
			buf_u8(out, text[i] == '/' ? '.' : (uint8_t)text[i]);
	buf_text(out, text + n);
}

static bool take_text(void *ctx, unsigned type, struct slice payload)
{
	struct buf *out = ctx;
	struct wire_text m;

	if (type == WIRE_text && wire_get_text(payload, &m) == 0)
		buf_put(out, m.text);
	return true;
}

/* The agent's answer without printing it; the reason is then in c->done. */
static int ask(struct client *c, const char *text, struct buf *out)
{
	unsigned type = 0;
	struct wire_done done;
	struct slice payload;
	char gone[80];

	buf_clear(&c->done);
	wire_put_resolve(&c->out, &(struct wire_resolve){ slice_str(text) });
	if (client_send(c) != CLI_DONE)
		return CLI_CANNOT;
	while (type != WIRE_done) {
		int rc = client_next(c, -1, &type, &payload);

		if (rc < 0)
			return cli_cannot("%s", client_gone(c, gone));
		if (rc == 0) /* Ctrl-C */
			return CLI_CANNOT;
		take_text(out, type, payload);
	}
	if (wire_get_done(payload, &done) < 0)
		return CLI_CANNOT;
	buf_put(&c->done, done.text);
	return done.status <= CLI_CANNOT ? (int)done.status : CLI_CANNOT; /* it may lie */
}

/* Says why, as the agent did. */
static int refuse(struct client *c, int status)
{
	struct buf why = { 0 };

	client_show(&why, buf_slice(&c->done));
	if (why.n)
		cli_cannot("%.*s", SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
	return status;
}

/* a.b.C.m as a.b.C::m. */
static void put_rule(struct buf *out, const char *text)
{
	size_t n = strcspn(text, "("), dot = n;

	while (dot > 0 && text[dot - 1] != '.')
		dot--;
	if (strstr(text, "::") || dot < 2)
		buf_text(out, text);
	else
		buf_printf(out, "%.*s::%s", (int)dot - 1, text, text + dot);
}

static bool has_package(const char *text)
{
	const char *colons = strstr(text, "::");
	size_t n = colons ? (size_t)(colons - text) : strcspn(text, "("), dots = 0;

	for (size_t i = 0; i < n; i++)
		dots += text[i] == '.';
	return dots > (colons ? 0 : 1);
}

static int resolve(struct client *c, const char *text, enum method_wait wait, struct buf *out)
{
	bool told = false;
	int status;

	for (;;) {
		status = ask(c, text, out);
		if (status == CLI_DONE)
			return CLI_DONE;
		if (status != CLI_USAGE && status != CLI_NO)
			return refuse(c, status);
		/* a class that is loaded later does not make it clearer which one is meant */
		if (status == CLI_USAGE || wait == METHOD_NOW)
			return refuse(c, CLI_USAGE);
		if (wait == METHOD_RULE && has_package(text)) {
			put_rule(out, text);
			return CLI_DONE;
		}
		if (!told)
			fprintf(stderr, "sonde: waiting until such a class is loaded: %s\n", text);
		told = true;
		poll(NULL, 0, POLL_MS);
		if (client_interrupted())
			return CLI_CANNOT;
	}
}

int method_arg_resolve(struct client *c, const char *text, enum method_wait wait, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	if (!method_arg_is_name(text)) {
		buf_text(out, text);
		return CLI_DONE;
	}
	put_plain(&plain, text);
	buf_u8(&plain, 0);
	status = plain.err ? cli_no_memory() : resolve(c, (const char *)plain.p, wait, out);
	buf_release(&plain);
	return status;
}

/* ---- names in rules ---------------------------------------------------------------------- */

/* The next word, which starts at *at; what stands in quotes is one word. */
static struct slice next_word(const char **at)
{
	const char *begin = *at, *p = begin;
	bool quoted = false;

	for (; *p && (quoted || !strchr(" \t\n", *p)); p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
	}
	*at = p;
	return (struct slice){ (const uint8_t *)begin, (size_t)(p - begin) };
}

/* Is this word of a rule followed by a method?  In a condition, '>' compares. */
static bool leads_to_method(struct slice word, bool *condition)
{
	static const char *const all[] = { "", "hook", "skip", "inside", ">", ">>", "at" };

	if (slice_is(word, "if"))
		*condition = true;
	else if (slice_is(word, "inside") || slice_is(word, "hook") || slice_is(word, "skip"))
		*condition = false;
	for (size_t i = 0; i < COUNT(all) && !*condition; i++)
		if (slice_is(word, all[i]))
			return true;
	return false;
}

/* One that the agent must complete: it has no package, or no "::" before the method. */
static bool is_short(const char *name)
{
	const char *colons = strstr(name, "::");

	return method_arg_is_name(name) &&
	       (!colons || strcspn(name, "./") >= (size_t)(colons - name));
}

/* False: there is nothing behind them. */
static bool copy_blanks(const char **at, struct buf *out)
{
	size_t n = strspn(*at, " \t\n");

	if (out)
		buf_put(out, (struct slice){ (const uint8_t *)*at, n });
	*at += n;
	return **at != 0;
}

bool method_arg_in_rule(const char *rule)
{
	struct slice before = { 0 };
	bool condition = false;

	while (copy_blanks(&rule, NULL)) {
		struct slice word = next_word(&rule);
		char name[512];

		snprintf(name, sizeof(name), "%.*s", SLICE_FMT(word));
		if (leads_to_method(before, &condition) && word.n < sizeof(name) && is_short(name))
			return true;
		before = word;
	}
	return false;
}

/* A caller of a class that is not loaded yet is awaited; but a typo looks the same, so that it is said. */
static int put_caller(struct client *c, const char *name, struct buf *out)
{
	struct buf why = { 0 };
	int status = ask(c, name, out);

	if (status != CLI_USAGE && status != CLI_NO)
		return status == CLI_DONE ? status : refuse(c, status);
	client_show(&why, buf_slice(&c->done));
	fprintf(stderr, "sonde: %.*s; the rule stays for one that is loaded later\n",
		SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
	buf_text(out, name);
	return CLI_DONE;
}

/* Functions of native libraries are not among what classes have. */
static bool is_native(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons && native_rule_is_library(
				 (struct slice){ (const uint8_t *)name, (size_t)(colons - name) });
}

static int put_word(struct client *c, struct slice word, bool first, enum method_wait wait,
		    struct buf *out)
{
	char name[512];

	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(word));
	if (is_native(name)) {
		buf_put(out, word);
		return CLI_DONE;
	}
	if (word.n < sizeof(name) && is_short(name))
		return method_arg_resolve(c, name, wait, out);
	if (word.n < sizeof(name) && !first && method_arg_is_name(name) && strstr(name, "::"))
		return put_caller(c, name, out);
	buf_put(out, word);
	return CLI_DONE;
}

int method_arg_resolve_rule(struct client *c, const char *rule, enum method_wait wait,
			    struct buf *out)
{
	struct slice before = { 0 };
	bool condition = false;
	int status = CLI_DONE;

	while (status == CLI_DONE && copy_blanks(&rule, out)) {
		struct slice word = next_word(&rule);
		bool caller = slice_is(before, "inside") || slice_starts(before, slice_str(">"));

		if (leads_to_method(before, &condition))
			status = put_word(c, word, !caller, wait, out);
		else
			buf_put(out, word);
		before = word;
	}
	return status == CLI_DONE && out->err ? cli_no_memory() : status;
}
