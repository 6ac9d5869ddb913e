/* SPDX-License-Identifier: Apache-2.0 */
/* digs.c - what digs have said, until they have ended; beside us, or beside a relay. */

#include "manager/fleet/digs.h"

#include <cjson/cJSON.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "jvm/proc.h"
#include "manager/fleet/dig_far.h"
#include "manager/fleet/relays.h"
#include "wire/mux.h"

enum { USUAL_FOR_MS = 55000, GRACE_MS = 120000, KEPT = 50, CANNOT = 3 };

int digs_load(struct fleet *f)
{
	signal(SIGPIPE, SIG_IGN);
	f->digs = NULL;
	return 0;
}

bool digs_runs(const struct dug *d)
{
	return strcmp(d->state, "running") == 0;
}

struct dug *digs_find(struct fleet *f, struct slice id)
{
	struct dug *d = f->digs;

	while (d && !slice_is(id, d->id))
		d = d->next;
	return d;
}

/* ---- what is told ---- */

static void put_lines(struct json *j, const char *key, struct slice text)
{
	struct slice line;

	json_put_open(j, key, '[');
	while (proc_line(&text, &line))
		if (line.n)
			json_str(j, line);
	json_close(j, ']');
}

static void put_time(struct json *j, const char *key, uint64_t ms)
{
	if (!ms)
		return;
	json_put_u64(j, key, ms);
}

void digs_json(const struct dug *d, struct json *j)
{
	struct slice answer = buf_slice(&d->answer);

	json_open(j, '{');
	json_put_nonempty(j, "id", d->id);
	json_put_nonempty(j, "instance", d->instance);
	json_put_nonempty(j, "application", d->app);
	json_put_nonempty(j, "state", d->state);
	json_put_nonempty(j, "by", d->by);
	json_put_nonempty(j, "method", d->method);
	json_put_nonempty(j, "why", d->why);
	put_time(j, "started_ms", d->started_ms);
	put_time(j, "ended_ms", d->ended_ms);
	put_time(j, "pushed_version", d->pushed);
	put_lines(j, "lines", buf_slice(&d->lines));
	put_lines(j, "rules", buf_slice(&d->rules));
	while (answer.n && answer.p[answer.n - 1] == '\n')
		answer.n--;
	if (answer.n > 1 && answer.p[0] == '{' && answer.p[answer.n - 1] == '}' && !digs_runs(d)) {
		json_key(j, "answer");
		buf_put(j->out, answer); /* JSON of our own command line */
		j->more = true;
	}
	json_close(j, '}');
}

static void tell(struct fleet *f, const struct dug *d)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_nonempty(&j, "id", d->id);
	json_put_nonempty(&j, "state", d->state);
	json_close(&j, '}');
	hub_put(&f->hub, slice_str(d->app), "dig", buf_slice(&out));
	buf_release(&out);
}

static void keep(struct fleet *f, const struct dug *d)
{
	struct job_dig *job = archive_job(sizeof(*job));
	struct buf out = { 0 };
	struct json j = json_to(&out);

	if (!job)
		return;
	digs_json(d, &j);
	job->job.kind = JOB_DIG;
	job->id = arena_dup(&job->job.mem, slice_str(d->id));
	job->app = arena_dup(&job->job.mem, slice_str(d->app));
	job->doc = arena_dup(&job->job.mem, buf_slice(&out));
	job->started_ms = d->started_ms;
	archive_put(f->store, &job->job);
	buf_release(&out);
}

void digs_pushed(struct fleet *f, struct dug *d, uint64_t version)
{
	d->pushed = version;
	keep(f, d);
}

/* ---- start ---- */

static void digs_free(struct dug *d)
{
	dig_child_release(&d->child);
	if (d->far >= 0)
		close(d->far);
	buf_release(&d->far_in);
	buf_release(&d->answer);
	buf_release(&d->lines);
	buf_release(&d->rules);
	mem_free(d);
}

static size_t count(struct fleet *f, bool running)
{
	size_t n = 0;

	for (struct dug *d = f->digs; d; d = d->next)
		n += digs_runs(d) || !running;
	return n;
}

static struct dug *make(struct fleet *f, const struct digs_wish *w, const struct instance *i)
{
	static unsigned number;
	struct dug *d = mem_alloc(sizeof(*d));

	if (!d)
		return NULL;
	*d = (struct dug){ .child = { .out = -1, .err = -1 },
			   .far = -1,
			   .started_ms = clock_day_ms() };
	snprintf(d->id, sizeof(d->id), "%llx-%u", (unsigned long long)d->started_ms, ++number);
	snprintf(d->instance, sizeof(d->instance), "%s", i->id);
	snprintf(d->app, sizeof(d->app), "%s", i->app->name);
	snprintf(d->by, sizeof(d->by), "%.*s", SLICE_FMT(w->by));
	snprintf(d->method, sizeof(d->method), "%.*s", SLICE_FMT(w->method));
	strcpy(d->state, "running");
	d->end_by_ms = clock_steady_ms() + GRACE_MS + (w->for_ms ? w->for_ms : USUAL_FOR_MS);
	d->next = f->digs;
	return d;
}

static int start_far(struct fleet *f, struct dug *d, const struct digs_wish *w, struct instance *i)
{
	char text[1100];

	snprintf(text, sizeof(text), "%llu %.6f %s", (unsigned long long)w->for_ms, w->budget,
		 d->method);
	d->far = relays_channel(f, i, MUX_DIG, slice_str(text));
	return d->far;
}

static int start(struct fleet *f, struct dug *d, const struct digs_wish *w, struct instance *i)
{
	if (i->relay)
		return start_far(f, d, w, i);
	return dig_child_start(&d->child, &(struct dig_order){ .sonde = f->config->sonde,
							       .method = d->method,
							       .of = i->peer.pid,
							       .for_ms = w->for_ms,
							       .budget = w->budget });
}

int digs_start(struct fleet *f, const struct digs_wish *w, struct dug **out)
{
	struct instance *i = fleet_instance(f, w->instance);
	struct dug *d;
	int rc;

	if (!i || i->state != INSTANCE_CONNECTED)
		return E_NOT_FOUND;
	if (count(f, true) >= DIGS_AT_ONCE)
		return E_LIMIT;
	d = make(f, w, i);
	if (!d)
		return E_NO_MEMORY;
	rc = start(f, d, w, i);
	if (rc < 0) {
		digs_free(d);
		return rc;
	}
	f->digs = d;
	tell(f, d);
	fleet_wake(f);
	*out = d;
	return 0;
}

void digs_cancel(struct dug *d)
{
	char word = DIG_FAR_CANCEL;

	if (!digs_runs(d))
		return;
	d->cancelled = true;
	if (d->child.pid > 0)
		kill(d->child.pid, SIGINT);
	else if (d->far >= 0 && send(d->far, &word, 1, MSG_NOSIGNAL) != 1)
		log_put(LOG_WARN, "dig %s cannot be cancelled", d->id);
}

/* ---- reading ---- */

nfds_t digs_watch(struct fleet *f, struct pollfd *fds, nfds_t room)
{
	nfds_t n = 0;

	for (struct dug *d = f->digs; d; d = d->next) {
		const int all[] = { d->child.out, d->child.err, d->far };

		for (unsigned k = 0; k < COUNT(all); k++)
			if (all[k] >= 0 && n < room)
				fds[n++] = (struct pollfd){ all[k], POLLIN, 0 };
	}
	return n;
}

/* The last thing that it said. */
static void set_why(struct dug *d)
{
	struct slice text = buf_slice(&d->lines), line;

	while (proc_line(&text, &line))
		if (line.n)
			snprintf(d->why, sizeof(d->why), "%.*s", SLICE_FMT(line));
}

static void finish(struct fleet *f, struct dug *d, int code)
{
	d->ended_ms = clock_day_ms();
	snprintf(d->state, sizeof(d->state), "%s",
		 d->cancelled ? "cancelled"
		 : code == 0  ? "slow"
		 : code == 1  ? "nothing"
			      : "failed");
	if (code > 1 && !d->why[0])
		set_why(d);
	keep(f, d);
	tell(f, d);
	log_put(LOG_INFO, "dig %s in %s: %s", d->id, d->instance, d->state);
}

static void drop_old(struct fleet *f)
{
	unsigned n = 0;

	for (struct dug **at = &f->digs; *at;) {
		struct dug *d = *at;

		if (++n <= KEPT || digs_runs(d)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		digs_free(d);
	}
}

static void finish_here(struct fleet *f, struct dug *d, int status)
{
	dig_child_drain(&d->child.out, &d->answer);
	dig_child_drain(&d->child.err, &d->lines);
	dig_child_rules(&d->child, &d->rules);
	d->child.pid = 0;
	finish(f, d, WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT);
}

static void step_here(struct fleet *f, struct dug *d, uint64_t now)
{
	int status = 0;

	dig_child_drain(&d->child.out, &d->answer);
	if (dig_child_drain(&d->child.err, &d->lines))
		hub_wake(&f->hub);
	if (now > d->end_by_ms)
		kill(d->child.pid, SIGKILL);
	if (waitpid(d->child.pid, &status, WNOHANG) == d->child.pid)
		finish_here(f, d, status);
}

/* It goes out as it is, so it must be JSON, whatever a relay has sent. */
static void check_answer(struct dug *d)
{
	cJSON *all = cJSON_ParseWithLength((const char *)d->answer.p, d->answer.n);
	char *text = cJSON_IsObject(all) ? cJSON_PrintUnformatted(all) : NULL;

	buf_clear(&d->answer);
	if (text)
		buf_text(&d->answer, text);
	cJSON_free(text);
	cJSON_Delete(all);
}

static void step_far(struct fleet *f, struct dug *d, uint64_t now)
{
	bool more = d->far >= 0 && dig_child_drain(&d->far, &d->far_in);
	int code = dig_far_take(&d->far_in, &d->answer, &d->lines, &d->rules);

	if (more)
		hub_wake(&f->hub);
	if (code == DIG_FAR_MORE && d->far >= 0 && now <= d->end_by_ms)
		return;
	if (code < 0)
		snprintf(d->why, sizeof(d->why), "%s",
			 code != DIG_FAR_MORE ? "its relay sent nonsense"
			 : d->far >= 0	      ? "it takes too long"
					      : "its relay went away, or cannot dig");
	if (d->far >= 0)
		close(d->far);
	d->far = -1;
	check_answer(d);
	finish(f, d, code < 0 ? CANNOT : code);
}

void digs_step(struct fleet *f, uint64_t now)
{
	for (struct dug *d = f->digs; d; d = d->next) {
		if (digs_runs(d) && d->child.pid > 0)
			step_here(f, d, now);
		else if (digs_runs(d))
			step_far(f, d, now);
	}
	drop_old(f);
}

void digs_end_all(struct fleet *f)
{
	while (f->digs) {
		struct dug *d = f->digs;

		pid_t pid = d->child.pid;

		dig_child_release(&d->child); /* before it is waited for: it may be writing */
		if (pid > 0) {
			kill(pid, SIGTERM);
			waitpid(pid, NULL, 0);
		}
		f->digs = d->next;
		digs_free(d);
	}
}
