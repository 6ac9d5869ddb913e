/* SPDX-License-Identifier: Apache-2.0 */
/* client_wait.c - reads the answers to a request up to its `done`, and shows meanwhile that it
 * lives.
 *
 * On a terminal, what takes longer than two seconds has one line on stderr that is written over:
 * what the agent says that it does, how far it is, and since when.  Elsewhere nothing is shown. */
#include "cli/client/client.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "classfile/show/show.h"
#include "cli/screen/cli.h"
#include "cli/screen/countdown.h"
#include "cli/screen/output.h"
#include "cli/screen/progress.h"

enum { LOOK_EVERY_MS = 200, PATIENCE_MS = 2000 };

static const uint64_t ms = 1000000;

/* ---- texts ---- */

/* With a line end, if it has none. */
static void print_text(FILE *to, const char *before, struct slice text)
{
	struct buf out = { 0 };

	client_show(&out, text);
	if (out.n && !out.err) {
		bool ended = out.p[out.n - 1] == '\n';

		fprintf(to, "%s%.*s%s", before, SLICE_FMT(buf_slice(&out)), ended ? "" : "\n");
	}
	buf_release(&out);
}

/* ---- progress ---- */

/* One line on a terminal that is written over, at most five times a second. */
struct ticker {
	uint64_t start, next; /* UINT64_MAX: never */
	bool shown;
	char what[64];
	uint64_t at, total;
};

static void ticker_start(struct ticker *t)
{
	*t = (struct ticker){ .start = clock_steady_ns(), .what = "waiting for the agent" };
	t->next = isatty(STDERR_FILENO) ? t->start + PATIENCE_MS * ms : UINT64_MAX;
}

static void ticker_clear(struct ticker *t)
{
	if (t->shown)
		output_status(slice_str(""));
	t->shown = false;
}

static void ticker_show(struct ticker *t)
{
	uint64_t now = t->next == UINT64_MAX ? 0 : clock_steady_ns();
	char at[32], total[32], line[200];
	int n;

	if (now < t->next)
		return;
	t->next = now + LOOK_EVERY_MS * ms;
	t->shown = true;
	if (t->total)
		n = snprintf(line, sizeof(line), "%s: %s of %s", t->what, cli_number(at, t->at),
			     cli_number(total, t->total));
	else
		n = snprintf(line, sizeof(line), t->at ? "%s: %s" : "%s", t->what,
			     cli_number(at, t->at));
	snprintf(line + n, sizeof(line) - (size_t)n, ", %.0f s", (double)(now - t->start) / 1e9);
	output_status(slice_str(line));
}

static void ticker_set(struct ticker *t, struct slice payload)
{
	struct wire_progress m;
	struct buf what = { 0 };

	if (wire_get_progress(payload, &m) < 0)
		return;
	show_name(&what, m.what);
	if (!what.err)
		snprintf(t->what, sizeof(t->what), "%.*s", SLICE_FMT(buf_slice(&what)));
	buf_release(&what);
	t->at = m.at;
	t->total = m.total;
}

/* ---- answers ---- */

static int finish(struct client *c, struct slice payload)
{
	struct wire_done m;

	if (wire_get_done(payload, &m) < 0 || m.status > CLI_CANNOT)
		return cli_cannot("the agent in %d ended its answer with nonsense", (int)c->pid);
	buf_clear(&c->done);
	buf_put(&c->done, m.text);
	if (m.status != CLI_DONE)
		print_text(stderr, "sonde: ", m.text);
	else if (!c->quiet)
		print_text(stdout, "", m.text);
	return (int)m.status;
}

void client_warn(struct slice payload)
{
	struct wire_warning m;

	if (wire_get_warning(payload, &m) == 0)
		print_text(stderr, "sonde: ", m.text);
}

int client_wait(struct client *c, client_row *row, void *ctx)
{
	struct slice payload;
	struct ticker ticker;
	char gone[80];
	unsigned type;
	int rc;

	ticker_start(&ticker);
	for (;;) {
		rc = client_next(c, LOOK_EVERY_MS, &type, &payload);
		if (rc < 0 || client_interrupted())
			break;
		if (rc == 1 && type == WIRE_progress)
			ticker_set(&ticker, payload);
		if (rc == 0 || type == WIRE_progress) {
			ticker_show(&ticker);
			continue;
		}
		ticker_clear(&ticker);
		if (type == WIRE_done)
			return finish(c, payload);
		if (type == WIRE_warning)
			client_warn(payload);
		else if (row && !row(ctx, type, payload))
			return CLI_DONE;
	}
	ticker_clear(&ticker);
	if (client_interrupted())
		return CLI_CANNOT;
	if (c->fault == CLIENT_CLOSED)
		return cli_cannot("%s before it was done", client_gone(c, gone));
	return cli_cannot("%s", client_gone(c, gone));
}

int client_ask(struct client *c, client_row *row, void *ctx)
{
	int status = client_send(c);

	return status == CLI_DONE ? client_wait(c, row, ctx) : status;
}

int client_hear(struct client *c, client_row *row, void *ctx, struct wire_done *done)
{
	int status = client_send(c), rc;
	struct slice payload;
	unsigned type;
	char gone[80];

	while (status == CLI_DONE) {
		rc = client_next(c, LOOK_EVERY_MS, &type, &payload);
		if (client_interrupted())
			return CLI_CANNOT;
		if (rc < 0)
			return cli_cannot("%s", client_gone(c, gone));
		if (rc == 1 && type == WIRE_done && wire_get_done(payload, done) == 0)
			return CLI_DONE;
		if (rc == 1 && row)
			(void)row(ctx, type, payload);
	}
	return status;
}

int client_pause(struct client *c, uint64_t ns)
{
	uint64_t end = clock_steady_ns() + ns, now;
	struct countdown countdown;
	struct slice payload;
	unsigned type;
	int status = CLI_DONE;
	char gone[80];

	countdown_start(&countdown, "calls", ns);
	while (status == CLI_DONE && (now = clock_steady_ns()) < end) {
		int left = (int)((end - now) / ms) + 1;

		countdown_step(&countdown, 0);
		if (client_next(c, left < LOOK_EVERY_MS ? left : LOOK_EVERY_MS, &type, &payload) <
		    0) {
			countdown_clear(&countdown);
			status = cli_cannot("%s", client_gone(c, gone));
		} else if (client_interrupted()) {
			status = CLI_CANNOT;
		}
	}
	countdown_clear(&countdown);
	return status;
}

enum client_end client_listen(struct client *c, const struct client_flow *flow,
			      struct wire_done *done)
{
	uint64_t start = clock_steady_ns();
	enum client_end end = CLIENT_ENOUGH;
	struct countdown countdown;
	struct slice payload;
	unsigned type;

	c->awaits = false; /* rows may be long in coming, and as many as there are */
	countdown_start(&countdown, flow->waiting, flow->for_ns ? flow->for_ns : flow->about_ns);
	while (end == CLIENT_ENOUGH) {
		int rc = client_next(c, LOOK_EVERY_MS, &type, &payload);

		if (rc > 0 && (!flow->is_silent || type == WIRE_warning))
			countdown_clear(&countdown);
		if (rc < 0)
			end = CLIENT_GONE;
		else if (client_interrupted() ||
			 (flow->for_ns && clock_steady_ns() - start >= flow->for_ns))
			break;
		else if (rc == 0 && (flow->is_silent || !*flow->seen))
			countdown_step(&countdown, *flow->seen);
		else if (rc > 0 && type == WIRE_done)
			end = wire_get_done(payload, done) < 0 ? CLIENT_GONE : CLIENT_DONE;
		else if (rc > 0 && type == WIRE_warning)
			client_warn(payload);
		else if (rc > 0 && !flow->row(flow->ctx, type, payload))
			end = CLIENT_UNREAD;
	}
	countdown_clear(&countdown);
	return end;
}
