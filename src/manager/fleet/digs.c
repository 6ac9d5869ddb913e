/* SPDX-License-Identifier: Apache-2.0 */
/* digs.c - runs `sonde dig`, which has a connection of its own to the agent: when it ends, also by
 * being killed, its hooks go. */

#include "manager/fleet/digs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/proc.h"

enum { USUAL_FOR_MS = 55000, GRACE_MS = 120000, TEXT_MAX = 4 << 20, KEPT = 50 };

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

struct dig_command {
	char pid[16], for_ms[24], budget[32];
	char *argv[16];
	int n;
};

static void add(struct dig_command *c, const char *arg)
{
	c->argv[c->n++] = (char *)(uintptr_t)arg;
	c->argv[c->n] = NULL;
}

static void make_command(struct fleet *f, struct dig_command *c, struct dug *d,
			 const struct digs_wish *w, pid_t pid)
{
	*c = (struct dig_command){ 0 };
	snprintf(c->pid, sizeof(c->pid), "%d", (int)pid);
	snprintf(c->for_ms, sizeof(c->for_ms), "--for=%llums", (unsigned long long)w->for_ms);
	snprintf(c->budget, sizeof(c->budget), "--budget=%g%%", w->budget * 100);
	add(c, f->config->sonde);
	add(c, "dig");
	add(c, "--json");
	add(c, "--aloud");
	add(c, "--save");
	add(c, d->rules_path);
	if (w->for_ms)
		add(c, c->for_ms);
	if (w->budget > 0)
		add(c, c->budget);
	add(c, "--");
	add(c, c->pid);
	if (d->method[0])
		add(c, d->method);
}

static int spawn(struct dug *d, struct dig_command *c)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, rc = E_IO;
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
		posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&files, out[1], 1);
		posix_spawn_file_actions_adddup2(&files, err[1], 2);
		rc = posix_spawn(&d->pid, c->argv[0], &files, NULL, c->argv, environ) == 0 ? 0
											   : E_IO;
	}
	posix_spawn_file_actions_destroy(&files);
	close(out[1]);
	close(err[1]);
	if (rc < 0) {
		close(out[0]);
		close(err[0]);
		return rc;
	}
	d->out = out[0];
	d->err = err[0];
	fcntl(d->out, F_SETFL, O_NONBLOCK);
	fcntl(d->err, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Its directory is ours alone, so that nobody puts a link there. */
static bool make_place(struct dug *d)
{
	snprintf(d->rules_path, sizeof(d->rules_path), "/tmp/sonded-dig.XXXXXX");
	if (!mkdtemp(d->rules_path)) {
		d->rules_path[0] = '\0';
		return false;
	}
	strcat(d->rules_path, "/rules");
	return true;
}

static void remove_place(struct dug *d)
{
	char *slash = strrchr(d->rules_path, '/');

	if (!slash)
		return;
	unlink(d->rules_path);
	*slash = '\0';
	rmdir(d->rules_path);
	d->rules_path[0] = '\0';
}

static void digs_free(struct dug *d)
{
	remove_place(d);
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
	*d = (struct dug){ .out = -1, .err = -1, .started_ms = fleet_day_ms() };
	snprintf(d->id, sizeof(d->id), "%llx-%u", (unsigned long long)d->started_ms, ++number);
	snprintf(d->instance, sizeof(d->instance), "%s", i->id);
	snprintf(d->app, sizeof(d->app), "%s", i->app->name);
	snprintf(d->by, sizeof(d->by), "%.*s", SLICE_FMT(w->by));
	snprintf(d->method, sizeof(d->method), "%.*s", SLICE_FMT(w->method));
	strcpy(d->state, "running");
	d->end_by_ms = fleet_clock_ms() + GRACE_MS + (w->for_ms ? w->for_ms : USUAL_FOR_MS);
	d->next = f->digs;
	return d;
}

int digs_start(struct fleet *f, const struct digs_wish *w, struct dug **out)
{
	struct instance *i = fleet_instance(f, w->instance);
	struct dig_command c;
	struct dug *d;

	if (!i || i->state != INSTANCE_CONNECTED)
		return E_NOT_FOUND;
	if (i->relay) /* a process here may have its number */
		return E_UNSUPPORTED;
	if (count(f, true) >= DIGS_AT_ONCE)
		return E_LIMIT;
	d = make(f, w, i);
	if (!d || !make_place(d)) {
		mem_free(d);
		return E_NO_MEMORY;
	}
	make_command(f, &c, d, w, i->peer.pid);
	if (spawn(d, &c) < 0) {
		digs_free(d);
		return E_IO;
	}
	f->digs = d;
	tell(f, d);
	fleet_wake(f);
	*out = d;
	return 0;
}

void digs_cancel(struct dug *d)
{
	if (!digs_runs(d) || d->pid <= 0)
		return;
	d->cancelled = true;
	kill(d->pid, SIGINT);
}

/* ---- reading ---- */

nfds_t digs_watch(struct fleet *f, struct pollfd *fds, nfds_t room)
{
	nfds_t n = 0;

	for (struct dug *d = f->digs; d; d = d->next) {
		if (d->out >= 0 && n < room)
			fds[n++] = (struct pollfd){ d->out, POLLIN, 0 };
		if (d->err >= 0 && n < room)
			fds[n++] = (struct pollfd){ d->err, POLLIN, 0 };
	}
	return n;
}

/* True: something came. */
static bool drain(int *fd, struct buf *to)
{
	size_t before = to->n;

	while (*fd >= 0) {
		uint8_t *at = to->n < TEXT_MAX ? buf_room(to, 4096) : NULL;
		ssize_t n = at ? read(*fd, at, 4096) : 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			break;
		}
		to->n += (size_t)n;
	}
	return to->n != before;
}

static void read_rules(struct dug *d)
{
	FILE *file = fopen(d->rules_path, "re");
	char line[16384];

	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '#' && line[0] != '\n')
			buf_text(&d->rules, line);
	if (file)
		fclose(file);
	remove_place(d);
}

/* The last thing that it said. */
static void set_why(struct dug *d)
{
	struct slice text = buf_slice(&d->lines), line;

	while (proc_line(&text, &line))
		if (line.n)
			snprintf(d->why, sizeof(d->why), "%.*s", SLICE_FMT(line));
}

static void finish(struct fleet *f, struct dug *d, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 3;

	drain(&d->out, &d->answer);
	drain(&d->err, &d->lines);
	d->ended_ms = fleet_day_ms();
	d->pid = 0;
	snprintf(d->state, sizeof(d->state), "%s",
		 d->cancelled ? "cancelled"
		 : code == 0  ? "slow"
		 : code == 1  ? "nothing"
			      : "failed");
	if (code > 1)
		set_why(d);
	read_rules(d);
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

void digs_step(struct fleet *f, uint64_t now)
{
	for (struct dug *d = f->digs; d; d = d->next) {
		int status = 0;

		if (!digs_runs(d))
			continue;
		drain(&d->out, &d->answer);
		if (drain(&d->err, &d->lines))
			hub_wake(&f->hub);
		if (now > d->end_by_ms)
			kill(d->pid, SIGKILL);
		if (waitpid(d->pid, &status, WNOHANG) == d->pid)
			finish(f, d, status);
	}
	drop_old(f);
}

void digs_end_all(struct fleet *f)
{
	while (f->digs) {
		struct dug *d = f->digs;

		if (d->out >= 0) /* before it is waited for: it may be writing */
			close(d->out);
		if (d->err >= 0)
			close(d->err);
		if (digs_runs(d)) {
			kill(d->pid, SIGTERM);
			waitpid(d->pid, NULL, 0);
		}
		f->digs = d->next;
		digs_free(d);
	}
}
