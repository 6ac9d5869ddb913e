/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - the connection to one agent: hello, and one question at a time.
 *
 * An agent has one thread for all of its clients, in a program that may be stopped or busy: each
 * question has a time after which the connection is given up and tried anew, later and later. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/version.h"
#include "manager/fleet/relays.h"

enum { FIRST_RETRY_MS = 500, LAST_RETRY_MS = 30000, HELLO_S = 30 };

/* ---- what others are told ---- */

static void tell(struct fleet *f, const struct instance *i)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_text(&j, "id", i->id);
	json_put_text(&j, "application", i->app ? i->app->name : "");
	json_put_text(&j, "state", instance_state_word(i->state));
	json_close(&j, '}');
	hub_put(&f->hub, slice_str(i->app ? i->app->name : ""), "instance", buf_slice(&out));
	buf_release(&out);
}

static void set_state(struct fleet *f, struct instance *i, enum instance_state state,
		      const char *why)
{
	snprintf(i->why, sizeof(i->why), "%s", why);
	if (i->state == state)
		return;
	i->state = state;
	i->since_ms = clock_day_ms();
	log_put(state == INSTANCE_CONNECTED || state == INSTANCE_ENDED ? LOG_INFO : LOG_DEBUG,
		"%s (%s): %s%s%s", i->id, i->app ? i->app->name : "?", instance_state_word(state),
		why[0] ? ": " : "", why);
	tell(f, i);
	if (f->changed)
		f->changed(f->bus);
}

/* ---- questions ---- */

struct ask *session_ask(struct instance *i, unsigned patience_s)
{
	struct ask *a = mem_alloc(sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct ask){ .of = i, .patience_ms = patience_s * 1000ull };
	return a;
}

static void end_ask(struct ask *a, int status, struct slice text)
{
	a->done(a, status, text);
	buf_release(&a->frame);
	mem_free(a);
}

static void send_next(struct instance *i)
{
	struct ask *a = i->asks;

	if (!a || a->sent || !i->welcomed)
		return;
	a->sent = true;
	a->until_ms = clock_steady_ms() + a->patience_ms;
	buf_put(&i->link.out, buf_slice(&a->frame));
}

void session_send(struct fleet *f, struct ask *a)
{
	struct instance *i = a->of;

	if (a->frame.err || i->state != INSTANCE_CONNECTED) {
		end_ask(a, ASK_GONE,
			slice_str(a->frame.err ? "it is too long" : "it is not connected"));
		return;
	}
	*i->last = a;
	i->last = &a->next;
	send_next(i);
	fleet_wake(f);
}

static void finish_first(struct instance *i, int status, struct slice text)
{
	struct ask *a = i->asks;

	i->asks = a->next;
	if (!i->asks)
		i->last = &i->asks;
	end_ask(a, status, text);
}

/* ---- begin and end ---- */

void session_lost(struct fleet *f, struct instance *i, const char *why)
{
	enum instance_state was = i->state;

	link_close(&i->link);
	keep_stop(i);
	i->welcomed = false;
	if (was != INSTANCE_ENDED) /* no new questions from the ends of the old ones */
		i->state = INSTANCE_AWAY;
	while (i->asks)
		finish_first(i, ASK_GONE, slice_str(why));
	i->state = was;
	if (was == INSTANCE_CONNECTED)
		poll_flush(f, i);
	if (was != INSTANCE_ENDED)
		set_state(f, i, INSTANCE_AWAY, why);
	i->backoff_ms = i->backoff_ms ? i->backoff_ms * 2 : FIRST_RETRY_MS;
	if (i->backoff_ms > LAST_RETRY_MS)
		i->backoff_ms = LAST_RETRY_MS;
	i->retry_ms = clock_steady_ms() + i->backoff_ms;
}

void session_end(struct fleet *f, struct instance *i)
{
	session_lost(f, i, "it has ended");
	i->ended_ms = clock_day_ms();
	set_state(f, i, INSTANCE_ENDED, "");
}

static void start(struct fleet *f, struct instance *i, uint64_t now)
{
	int rc = i->relay ? relays_open(f, i, &i->link) : link_open(&i->link, &i->peer);

	if (rc < 0) {
		session_lost(f, i,
			     rc == E_NOT_FOUND	   ? "no agent listens"
			     : rc == E_UNSUPPORTED ? "its socket is somebody else's"
						   : "its agent cannot be reached");
		return;
	}
	i->heard_ms = now;
	wire_put_hello(&i->link.out, &(struct wire_hello){ WIRE_MAGIC, WIRE_VERSION,
							   slice_str("sonded " SONDE_VERSION) });
}

static bool is_wanted(const struct settings *c, struct slice app)
{
	for (unsigned i = 0; i < c->n_apps; i++)
		if (slice_is(app, c->apps[i]))
			return true;
	return c->n_apps == 0;
}

/* ---- one of several managers ---- */

static bool may_talk(const struct fleet *f, const struct instance *i)
{
	return !f->bus || i->hold == HOLD_OURS || i->hold == HOLD_ALONE;
}

void session_hold(struct fleet *f, struct instance *i, enum hold hold, const char *holder)
{
	bool had = may_talk(f, i);

	i->hold = hold;
	snprintf(i->holder, sizeof(i->holder), "%s", holder);
	if (i->state == INSTANCE_ENDED)
		return;
	if (may_talk(f, i)) {
		if (!had) {
			i->retry_ms = 0;
			i->has_bases = i->recalled = false; /* others have stored newer ones */
		}
		fleet_wake(f);
	} else if (had) {
		fleet_wake(f); /* its thread hangs up */
	} else if (hold == HOLD_OTHERS) {
		snprintf(i->why, sizeof(i->why), "%s has it", holder);
	}
}

/* Another manager talks to it, or is asked whether it does.  False: so do we not. */
static bool is_held(struct fleet *f, struct instance *i)
{
	char why[sizeof(i->why)];

	if (i->hold != HOLD_WANTED && i->hold != HOLD_OTHERS)
		return true;
	snprintf(why, sizeof(why), "%s has it",
		 i->hold == HOLD_OTHERS ? i->holder : "another manager");
	if (i->link.fd >= 0)
		session_lost(f, i, why);
	return false;
}

/* Without an application it is shown nowhere. */
static void ignore(struct instance *i)
{
	link_close(&i->link);
	i->state = INSTANCE_ENDED;
	i->ended_ms = clock_day_ms();
}

static void take_welcome(struct fleet *f, struct instance *i, struct slice payload)
{
	struct wire_welcome w;
	struct slice app;

	if (wire_get_welcome(payload, &w) < 0 || w.magic != WIRE_MAGIC ||
	    w.version != WIRE_VERSION) {
		session_lost(f, i, "its agent speaks another version of the protocol");
		return;
	}
	app = w.app.n ? w.app : slice_str("unknown");
	if (!is_wanted(f->config, app)) {
		ignore(i);
		return;
	}
	i->app = i->app ? i->app : fleet_app_make(f, app);
	snprintf(i->jvm, sizeof(i->jvm), "%.*s", SLICE_FMT(w.jvm));
	snprintf(i->build, sizeof(i->build), "%.*s", SLICE_FMT(w.build));
	i->started_ms = clock_day_ms() - w.uptime_ns / 1000000;
	if (!i->app) {
		session_lost(f, i, "out of memory");
		return;
	}
	i->backoff_ms = 0;
	if (!may_talk(f, i)) {
		i->hold = HOLD_WANTED;
		session_lost(f, i, "it is not known yet which manager has it");
		return;
	}
	i->welcomed = true;
	i->next_report_ms = i->next_tree_ms = 0;
	set_state(f, i, INSTANCE_CONNECTED, "");
}

/* ---- frames ---- */

static void take(struct fleet *f, struct instance *i, unsigned type, struct slice payload)
{
	struct wire_done done;

	i->heard_ms = clock_steady_ms();
	i->seen_ms = clock_day_ms();
	if (!i->welcomed) {
		if (type == WIRE_welcome)
			take_welcome(f, i, payload);
		else
			session_lost(f, i, "what listens there is not Sonde's agent");
		return;
	}
	if (!i->asks || !i->asks->sent)
		return; /* what nobody has asked for */
	if (type == WIRE_done) {
		if (wire_get_done(payload, &done) < 0) {
			session_lost(f, i, "its agent sent nonsense");
			return;
		}
		finish_first(i, (int)(done.status & 255), done.text);
		send_next(i);
	} else if (type != WIRE_progress && i->asks->row) {
		i->asks->row(i->asks, type, payload);
	}
}

void session_io(struct fleet *f, struct instance *i)
{
	struct slice payload;
	unsigned type;
	int rc = link_pump(&i->link), got = 1;

	while (i->link.fd >= 0 && (got = link_next(&i->link, &type, &payload)) > 0)
		take(f, i, type, payload);
	if (i->link.fd >= 0 && got < 0)
		session_lost(f, i, "its agent sent nonsense");
	else if (i->link.fd >= 0 && rc < 0)
		session_lost(f, i,
			     i->welcomed ? "its agent closed the connection"
					 : "its agent closed the connection at once");
}

void session_step(struct fleet *f, struct instance *i, uint64_t now)
{
	if (i->state == INSTANCE_ENDED || (i->relay && !i->agent) || !is_held(f, i))
		return;
	if (i->link.fd < 0) {
		if (now >= i->retry_ms)
			start(f, i, now);
		return;
	}
	if (!i->welcomed && now - i->heard_ms > HELLO_S * 1000)
		session_lost(f, i, "its agent has not answered");
	else if (i->asks && i->asks->sent && now > i->asks->until_ms)
		session_lost(f, i, "its agent takes too long");
}
