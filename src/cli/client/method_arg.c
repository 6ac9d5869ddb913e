/* SPDX-License-Identifier: Apache-2.0 */
/* method_arg.c - asks the agent, which knows what is loaded. */
#include "cli/client/method_arg.h"

#include <poll.h>
#include <stdio.h>

#include "cli/screen/cli.h"

enum { POLL_MS = 300 };

bool method_arg_is_name(const char *text)
{
	size_t n = strcspn(text, "(");

	return strcspn(text, "*? \t\n@/") >= n && (strstr(text, "::") || strchr(text, '.'));
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

int method_arg_resolve(struct client *c, const char *text, enum method_wait wait, struct buf *out)
{
	bool told = false;
	int status;

	if (!method_arg_is_name(text)) {
		buf_text(out, text);
		return CLI_DONE;
	}
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

/* The name behind "hook ", if the word is there. */
static struct slice name_in(const char *rule)
{
	if (strncmp(rule, "hook ", 5) == 0)
		rule += 5;
	return (struct slice){ (const uint8_t *)rule, strcspn(rule, " ") };
}

bool method_arg_in_rule(const char *rule)
{
	struct slice word = name_in(rule);
	char name[512];
	const char *colons;

	if (word.n >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(word));
	colons = strstr(name, "::");
	return method_arg_is_name(name) && (!colons || !memchr(name, '.', (size_t)(colons - name)));
}

int method_arg_resolve_rule(struct client *c, const char *rule, enum method_wait wait,
			    struct buf *out)
{
	struct slice word = name_in(rule);
	struct buf name = { 0 };
	int status;

	if (!method_arg_in_rule(rule)) {
		buf_text(out, rule);
		return CLI_DONE;
	}
	buf_put(&name, word);
	buf_u8(&name, 0);
	status = name.err ? cli_no_memory()
			  : method_arg_resolve(c, (const char *)name.p, wait, out);
	buf_text(out, (const char *)word.p + word.n);
	buf_release(&name);
	return status;
}
