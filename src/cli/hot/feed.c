/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - a request to the agent that has no end of its own. */
#include "cli/hot/feed.h"

#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/screen/cli.h"

enum { FIRST_MS = 1000 }; /* a refusal comes within that */

static int over(struct slice payload, char why[200])
{
	struct wire_done done;

	if (wire_get_done(payload, &done) < 0)
		snprintf(why, 200, "the agent ended its answer with nonsense");
	else
		snprintf(why, 200, "%.*s", SLICE_FMT(done.text));
	return CLI_CANNOT;
}

int feed_take(struct feed *f, int timeout_ms, char why[200])
{
	struct slice payload;
	unsigned type;
	char gone[80];
	int rc;

	while ((rc = client_next(&f->client, timeout_ms, &type, &payload)) > 0) {
		if (type == WIRE_done)
			return over(payload, why);
		(void)sampled_take(f->s, type, payload);
		timeout_ms = 0;
	}
	if (rc < 0)
		snprintf(why, 200, "%s", client_gone(&f->client, gone));
	return rc < 0 ? CLI_CANNOT : CLI_DONE;
}

int feed_begin(struct feed *f, struct sampled *s, const struct sampled_wish *wish)
{
	struct target target;
	char why[200];
	int status = target_find(wish->target, &target);

	*f = (struct feed){ .s = s, .client.fd = -1 };
	if (status != CLI_DONE)
		return status;
	sampled_is_of(s, wish, &target);
	status = visit_begin(&f->visit, &f->client, &target);
	if (status != CLI_DONE)
		return status;
	sampled_ask(&f->client.out, wish, 0);
	status = client_send(&f->client);
	f->client.awaits = false; /* rows may be long in coming, and as many as there are */
	if (status == CLI_DONE && feed_take(f, FIRST_MS, why) != CLI_DONE)
		status = cli_cannot("%s", why);
	return status;
}

void feed_end(struct feed *f)
{
	visit_end(&f->visit, &f->client);
}
