/* SPDX-License-Identifier: Apache-2.0 */
/* api_fleet.c - applications, processes, what Sonde costs, how the manager is. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/version.h"
#include "manager/bus/bus.h"
#include "manager/http/request.h"

int api_manager(struct api_request *c)
{
	struct json j = request_json(c);

	json_put_nonempty(&j, "version", SONDE_VERSION);
	json_put_nonempty(&j, "host", c->f->host);
	json_put_u64(&j, "started_ms", c->f->started_ms);
	json_put_u64(&j, "now_ms", clock_day_ms());
	json_put_nonempty(&j, "role", c->role == ROLE_OPERATE ? "operate" : "view");
	return request_end(&j, 200);
}

/* ---- processes ---- */

/* ---- processes ---- */

/* What another manager has is shown as that one tells it. */
static bool is_shown(const struct instance *i)
{
	return i->app && i->hold != HOLD_OTHERS;
}

static void put_far(void *ctx, const struct far_instance *i)
{
	struct json *j = ctx;

	if (j->more)
		buf_u8(j->out, ',');
	buf_text(j->out, i->json);
	j->more = true;
}

int api_instances(struct api_request *c)
{
	struct slice app = query_get(&c->query, "application");
	struct json j = request_json(c);

	json_put_open(&j, "instances", '[');
	pthread_mutex_lock(&c->f->lock);
	for (struct instance *i = c->f->instances; i; i = i->next)
		if (is_shown(i) && (!app.n || slice_is(app, i->app->name)))
			shown_instance(&j, i);
	bus_each(c->f->bus, app, put_far, &j);
	pthread_mutex_unlock(&c->f->lock);
	json_close(&j, ']');
	return request_end(&j, 200);
}

int api_instance(struct api_request *c)
{
	struct json j = json_to(&c->out);
	struct instance *i;

	pthread_mutex_lock(&c->f->lock);
	i = fleet_instance(c->f, c->args[0]);
	if (i)
		shown_instance(&j, i);
	pthread_mutex_unlock(&c->f->lock);
	return i ? 200 : request_fail(c, 404, "not_found", "there is no such instance");
}

/* ---- applications ---- */

static void add_far(void *ctx, const struct far_instance *i)
{
	struct shown_sum *s = ctx;

	s->known++;
	s->seen_ms = i->sum.seen_ms > s->seen_ms ? i->sum.seen_ms : s->seen_ms;
	if (!i->is_connected)
		return;
	s->connected++;
	s->methods = i->sum.methods > s->methods ? i->sum.methods : s->methods;
	s->share += i->sum.share;
	s->rate += i->sum.rate;
	s->errors_rate += i->sum.errors_rate;
	s->calls += i->sum.calls;
	s->total_ns += i->sum.total_ns;
}

static struct shown_sum sum_up(const struct fleet *f, const struct app *a)
{
	struct shown_sum s = { 0 };

	for (struct instance *i = f->instances; i; i = i->next)
		if (i->app == a && is_shown(i))
			shown_add(&s, i);
	bus_each(f->bus, slice_str(a->name), add_far, &s);
	return s;
}

static void put_app(struct json *j, const struct fleet *f, const struct app *a)
{
	struct shown_sum s = sum_up(f, a);

	json_put_nonempty(j, "name", a->name);
	json_put_u64(j, "connected", s.connected);
	json_put_u64(j, "known", s.known);
	json_put_u64(j, "methods", s.methods);
	if (s.calls) {
		json_put_double(j, "rate", s.rate);
		json_put_double(j, "errors_rate", s.errors_rate);
		json_put_double(j, "mean_ns", (double)s.total_ns / (double)s.calls);
	}
	json_put_double(j, "overhead_share", s.connected ? s.share / (double)s.connected : 0);
	json_put_u64(j, "plan_version", a->plan.version);
	json_put_u64(j, "plan_rules", a->plan.n);
	if (s.seen_ms)
		json_put_u64(j, "last_seen_ms", s.seen_ms);
}

int api_applications(struct api_request *c)
{
	struct json j = request_json(c);

	json_put_open(&j, "applications", '[');
	pthread_mutex_lock(&c->f->lock);
	for (struct app *a = c->f->apps; a; a = a->next) {
		json_open(&j, '{');
		put_app(&j, c->f, a);
		json_close(&j, '}');
	}
	pthread_mutex_unlock(&c->f->lock);
	json_close(&j, ']');
	return request_end(&j, 200);
}

int api_application(struct api_request *c)
{
	struct app *a;
	struct json j;

	pthread_mutex_lock(&c->f->lock);
	a = request_app(c);
	if (a) {
		j = request_json(c);
		put_app(&j, c->f, a);
		json_put_open(&j, "instances", '[');
		for (struct instance *i = c->f->instances; i; i = i->next)
			if (i->app == a && is_shown(i))
				shown_instance(&j, i);
		bus_each(c->f->bus, slice_str(a->name), put_far, &j);
		json_close(&j, ']');
		json_close(&j, '}');
	}
	pthread_mutex_unlock(&c->f->lock);
	return a ? 200 : 404;
}

/* ---- what it costs ---- */

static void put_cost(struct json *j, const struct instance *i)
{
	double rate = 0;

	for (size_t k = 0; k < i->n; k++)
		rate += i->figures[k].rate;
	json_open(j, '{');
	json_put_nonempty(j, "instance", i->id);
	json_put_nonempty(j, "application", i->app ? i->app->name : "");
	json_put_double(j, "share", i->hooks_share + i->agent_share);
	json_put_double(j, "hooks_share", i->hooks_share);
	json_put_double(j, "agent_share", i->agent_share);
	json_put_double(j, "calls_per_s", rate);
	json_put_u64(j, "methods", i->status.methods);
	json_close(j, '}');
}

static void put_manager(struct json *j, struct fleet *f)
{
	struct archive_state store;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	archive_state(f->store, &store);
	json_put_open(j, "manager", '{');
	json_put_double(j, "cpu_s",
			(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
				(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
	json_put_double(j, "up_s", (double)(clock_day_ms() - f->started_ms) / 1000);
	json_put_u64(j, "memory_peak", (uint64_t)u.ru_maxrss * 1024);
	json_put_u64(j, "store_bytes", store.bytes);
	json_put_u64(j, "traces_kept", f->traces_kept);
	json_put_u64(j, "traces_passed", f->traces_passed);
	json_close(j, '}');
}

int api_overhead(struct api_request *c)
{
	struct json j = request_json(c);

	json_put_open(&j, "instances", '[');
	pthread_mutex_lock(&c->f->lock);
	for (struct instance *i = c->f->instances; i; i = i->next)
		if (i->state == INSTANCE_CONNECTED)
			put_cost(&j, i);
	pthread_mutex_unlock(&c->f->lock);
	json_close(&j, ']');
	put_manager(&j, c->f);
	return request_end(&j, 200);
}

/* ---- health and log ---- */

static void put_bus(struct json *j, const struct bus_state *s)
{
	json_put_open(j, "bus", '{');
	json_put_bool(j, "up", s->is_up);
	json_put_u64(j, "managers", s->managers);
	json_put_u64(j, "processes", s->processes);
	json_put_u64(j, "asked", s->asked);
	json_put_u64(j, "answered", s->answered);
	json_close(j, '}');
}

int api_health(struct api_request *c)
{
	struct archive_state store;
	struct bus_state bus;
	struct json j = request_json(c);
	uint64_t connected = 0;
	bool loaded, lonely;

	pthread_mutex_lock(&c->f->lock);
	loaded = c->f->is_loaded;
	pthread_mutex_unlock(&c->f->lock);
	archive_state(c->f->store, &store);
	bus_state(c->f->bus, &bus);
	lonely = c->f->bus && !bus.is_up;
	json_put_nonempty(&j, "status",
			  store.is_well && !store.is_away && loaded && !lonely && !bus.is_twice
				  ? "ok"
				  : "degraded");
	if (c->role >= ROLE_VIEW) {
		pthread_mutex_lock(&c->f->lock);
		for (struct instance *i = c->f->instances; i; i = i->next)
			connected += i->state == INSTANCE_CONNECTED;
		pthread_mutex_unlock(&c->f->lock);
		json_put_u64(&j, "agents", connected);
		json_put_open(&j, "store", '{');
		json_put_u64(&j, "bytes", store.bytes);
		json_put_u64(&j, "queued", store.queued);
		json_put_u64(&j, "written", store.written);
		json_put_u64(&j, "failed", store.failed);
		json_put_u64(&j, "spooled", store.spooled);
		json_close(&j, '}');
		if (c->f->bus)
			put_bus(&j, &bus);
	}
	json_put_open(&j, "problems", '[');
	if (!store.is_well)
		json_text(&j, "the store cannot be written; the log says why");
	if (store.is_away)
		json_text(&j, "the store does not answer; what comes waits in the spool");
	if (lonely)
		json_text(&j, "the bus does not answer; other managers are not heard");
	if (bus.is_twice)
		json_text(&j, "another manager on the bus has our name");
	if (!loaded)
		json_text(&j, "plans are not known yet; processes stay as they are");
	json_close(&j, ']');
	return request_end(&j, store.is_well ? 200 : 503);
}

static void put_entry(void *ctx, const struct job_audit *a)
{
	struct json *j = ctx;

	json_open(j, '{');
	json_put_u64(j, "at_ms", a->at_ms);
	json_put_str(j, "who", a->who);
	json_put_str(j, "role", a->role);
	json_put_str(j, "from", a->from);
	json_put_str(j, "action", a->action);
	json_put_str(j, "target", a->target);
	json_put_str(j, "detail", a->detail);
	json_put_u64(j, "status", (uint64_t)a->status);
	json_close(j, '}');
}

int api_audit(struct api_request *c)
{
	uint64_t limit = 100;
	struct json j;
	int rc;

	if (!query_number(&c->query, "limit", 1, 10000, &limit))
		return request_fail(c, 400, "usage", "limit is a number up to 10000");
	j = request_json(c);
	json_put_open(&j, "entries", '[');
	rc = archive_audit(c->f->store, (unsigned)limit, put_entry, &j);
	json_close(&j, ']');
	request_end(&j, 200);
	return rc < 0 ? request_fail(c, 500, "store", "the store cannot be read") : 200;
}
