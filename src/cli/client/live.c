/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - shows an answer of the agent again and again. */
#include "cli/client/live.h"

#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/screen/cli.h"
#include "cli/screen/progress.h"
#include "cli/screen/term.h"

enum { LOOK_EVERY_MS = 200 };

static const uint64_t ms = 1000000;

int live_ask(struct client *c, client_row *row, void *ctx, char why[200])
{
	int status = client_send(c), rc = 0;
	struct slice payload;
	unsigned type;
	char gone[80];

	while (status == CLI_DONE && !client_interrupted()) {
		struct wire_done done;

		rc = client_next(c, LOOK_EVERY_MS, &type, &payload);
		if (rc < 0)
			break;
		if (rc == 0 || type == WIRE_progress || type == WIRE_warning)
			continue;
		if (type != WIRE_done) {
			if (!row(ctx, type, payload))
				break;
			continue;
		}
		if (wire_get_done(payload, &done) < 0 || done.status > CLI_CANNOT) {
			snprintf(why, 200, "the agent in %d sent what no agent sends", (int)c->pid);
			return CLI_CANNOT;
		}
		snprintf(why, 200, "%.*s", SLICE_FMT(done.text));
		return (int)done.status;
	}
	if (rc < 0 || status != CLI_DONE) {
		snprintf(why, 200, "%s", client_gone(c, gone));
		return CLI_CANNOT;
	}
	return CLI_DONE;
}

/* False: enough. */
static bool wait_for_next(const struct live *l, void *ctx, uint64_t next, bool *changed)
{
	uint64_t now = clock_steady_ns();
	int left = now < next ? (int)((next - now) / ms) + 1 : 0, key;

	*changed = false;
	if (!term_is_live()) {
		poll(NULL, 0, left);
		return !client_interrupted();
	}
	key = term_live_key(left);
	*changed = clock_steady_ns() < next; /* a key, or the size */
	if (client_interrupted() || key == 3)
		return false;
	if ((key == 'q' || key == 'Q') && !(l->typing && l->typing(ctx)))
		return false;
	if (key && l->key)
		l->key(ctx, key);
	return true;
}

static void draw(const struct live *l, void *ctx, struct buf *out)
{
	buf_clear(out);
	if (term_is_live()) {
		/* a full line would lose its last character to the erasing behind it */
		l->show(ctx, out, term_columns() - 1, term_rows());
		if (!out->err)
			term_live_draw(buf_slice(out));
		return;
	}
	l->show(ctx, out, term_columns(), 0);
	cli_print(out);
	fflush(stdout);
}

int live_run(const struct live *l, void *ctx)
{
	bool live = !l->plain && term_live_start(), changed = false, on;
	uint64_t pages = 0;
	struct buf out = { 0 };
	char why[200] = "";
	int status;

	do {
		uint64_t next = clock_steady_ns() + l->interval_ms * ms;

		status = l->ask(ctx, why);
		if (status != CLI_DONE || client_interrupted())
			break;
		do {
			draw(l, ctx, &out);
			on = (live || !l->pages || ++pages < l->pages) &&
			     wait_for_next(l, ctx, next, &changed);
		} while (on && changed);
	} while (on && !ferror(stdout));
	term_live_end();
	if (live)
		cli_print(&out); /* the last view */
	buf_release(&out);
	if (status != CLI_DONE && why[0])
		fprintf(stderr, "sonde: %s\n", why);
	return status;
}
