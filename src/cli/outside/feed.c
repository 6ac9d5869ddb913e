/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c - the agent gets a request that has no end of its own. */
#include "cli/outside/feed.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/hot/stored.h"
#include "cli/screen/cli.h"
#include "cli/screen/countdown.h"

enum {
	FIRST_MS = 1000, /* a refusal comes within that */
	LOOK_MS = 50,
};

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

	if (f->is_outside)
		return outside_take(&f->outside, timeout_ms, why);
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

static int begin_agent(struct feed *f, const struct sampled_wish *wish, const struct target *t)
{
	int status = visit_begin(&f->visit, &f->client, t);
	char why[200];

	if (status != CLI_DONE)
		return status;
	sampled_ask(&f->client.out, wish, 0);
	status = client_send(&f->client);
	f->client.awaits = false; /* rows may be long in coming, and as many as there are */
	if (status == CLI_DONE && feed_take(f, FIRST_MS, why) != CLI_DONE)
		status = cli_cannot("%s", why);
	return status;
}

static int begin(struct feed *f, const struct sampled_wish *wish, const struct target *t)
{
	sampled_is_of(f->s, wish, t);
	f->is_outside = t->is_native;
	if (!f->is_outside)
		return begin_agent(f, wish, t);
	if (f->s->mode != STACKS_CPU)
		return cli_cannot("%d has no JVM: only its processor time can be sampled",
				  (int)t->pid);
	client_catch_interrupts();
	return outside_begin(&f->outside, f->s, t, (uint32_t)wish->rate);
}

int feed_begin(struct feed *f, struct sampled *s, const struct sampled_wish *wish)
{
	struct target target;
	int status = target_find_any(wish->target, &target);

	*f = (struct feed){ .s = s, .client.fd = -1 };
	return status == CLI_DONE ? begin(f, wish, &target) : status;
}

void feed_end(struct feed *f)
{
	if (f->is_outside)
		outside_end(&f->outside);
	else
		visit_end(&f->visit, &f->client);
}

static int take_all(struct feed *f, uint64_t for_ns)
{
	uint64_t end = clock_steady_ns() + for_ns, now;
	struct countdown countdown;
	int status = CLI_DONE;
	char why[200];

	countdown_start(&countdown, "samples", for_ns);
	while (status == CLI_DONE && !client_interrupted() && (now = clock_steady_ns()) < end) {
		uint64_t left_ms = (end - now) / 1000000 + 1;

		status = feed_take(f, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS, why);
		countdown_step(&countdown, f->s->profile.total);
	}
	countdown_clear(&countdown);
	if (status != CLI_DONE && f->s->profile.total)
		fprintf(stderr, "sonde: %s: these are its last samples\n", why);
	else if (status != CLI_DONE)
		return cli_cannot("%s", why);
	return f->s->profile.err ? cli_cannot("%s", err_text(f->s->profile.err)) : CLI_DONE;
}

int feed_run(struct sampled *s, const struct sampled_wish *wish)
{
	struct target target;
	struct feed f = { .s = s, .client.fd = -1 };
	int status = target_find_any(wish->target, &target);

	if (status != CLI_DONE)
		return status;
	if (!target.is_native) /* the agent keeps the time itself */
		return sampled_run(s, wish);
	status = begin(&f, wish, &target);
	if (status == CLI_DONE)
		status = take_all(&f, wish->for_ns);
	feed_end(&f);
	return status;
}

static int feed_or_stored(struct sampled *s, const struct sampled_wish *wish)
{
	if (stored_is(wish->target))
		return stored_read(s, wish);
	if (wish->at)
		return cli_usage(wish->verb, "--at is for a history, which 'sonde record' makes");
	return feed_run(s, wish);
}

int feed_compared(struct sampled *s, struct sampled *other, const struct sampled_wish *wish,
		  const char *what)
{
	int status = what ? stored_before(other, wish, what) : CLI_DONE;

	return status == CLI_DONE ? feed_or_stored(s, wish) : status;
}
