/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - the figures that the agents of a finished program left behind.
 *
 * Each agent writes one file when its JVM ends, "report.PID", with the frames that it would have
 * sent as an answer to `report`.  What an agent noted (a rule file it could not read, a rule
 * that it did not take) is told on stderr: during the run nobody could be told. */
#define _GNU_SOURCE /* versionsort */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "classfile/show.h"
#include "cli/run.h"
#include "wire/wire.h"

enum { REPORT_MAX = 256 << 20, ROWS_MAX = 40 };

/* The figures of one JVM; names are views of frames. */
struct figures {
	const char *pid;
	struct buf frames;
	struct wire_method *methods;
	size_t n, room;
	struct wire_status status;
};

static int take_method(struct figures *f, struct slice payload)
{
	if (f->n == f->room) {
		size_t room = f->room ? f->room * 2 : 64;
		void *p = mem_realloc(f->methods, room * sizeof(*f->methods));

		if (!p)
			return E_NO_MEMORY;
		f->methods = p;
		f->room = room;
	}
	return wire_get_method(payload, &f->methods[f->n++]);
}

static int decode(struct figures *f)
{
	struct slice left = buf_slice(&f->frames), payload;
	unsigned type;
	int rc = 0;

	while (left.n && rc == 0) {
		long n = wire_frame(left, &type, &payload);

		if (n <= 0)
			return n < 0 ? (int)n : E_TRUNCATED;
		if (type == WIRE_method)
			rc = take_method(f, payload);
		else if (type == WIRE_status)
			rc = wire_get_status(payload, &f->status);
		left = (struct slice){ left.p + n, left.n - (size_t)n };
	}
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct wire_method *m = a, *n = b;

	if (m->total_ns != n->total_ns)
		return m->total_ns < n->total_ns ? 1 : -1;
	if (m->calls != n->calls)
		return m->calls < n->calls ? 1 : -1;
	return m->id < n->id ? -1 : m->id > n->id;
}

/* "1.23 ms"; a light hook has no time. */
static const char *time_text(char text[32], uint64_t ns, bool timed)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = (double)ns;
	size_t u = 0;

	for (; v >= 1000 && u + 1 < COUNT(units); u++)
		v /= 1000;
	if (timed)
		snprintf(text, 32, "%.*f %s", u && v < 100 ? 2 : 0, v, units[u]);
	else
		snprintf(text, 32, "-");
	return text;
}

static void print_row(const struct wire_method *m, struct buf *out)
{
	char calls[32], total[32], self[32], mean[32], most[32];
	bool timed = m->timed > 0;

	buf_printf(out, "%14s %7llu %10s %10s %10s %10s  ", cli_number(calls, m->calls),
		   (unsigned long long)m->errors, time_text(total, m->total_ns, timed),
		   time_text(self, m->self_ns, timed),
		   time_text(mean, m->calls ? m->total_ns / m->calls : 0, timed),
		   time_text(most, m->max_ns, timed));
	show_name(out, m->name);
	buf_u8(out, '\n');
}

static void print_text(const struct figures *f, struct buf *out)
{
	char number[32];
	size_t called = 0;

	buf_printf(out, "%14s %7s %10s %10s %10s %10s  %s\n", "calls", "errors", "total", "self",
		   "mean", "max", "method");
	for (size_t i = 0; i < f->n; i++) {
		if (!f->methods[i].calls)
			continue;
		if (called++ < ROWS_MAX)
			print_row(&f->methods[i], out);
	}
	if (called > ROWS_MAX)
		buf_printf(out, "%14s more methods; --report FILE.json has all\n",
			   cli_number(number, called - ROWS_MAX));
	if (f->n > called)
		buf_printf(out, "%14s hooked and never called\n",
			   cli_number(number, f->n - called));
}

static void json_method(struct json *j, const struct wire_method *m)
{
	json_open(j, '{');
	json_key(j, "method");
	json_str(j, m->name);
	cli_json_count(j, "calls", m->calls);
	cli_json_count(j, "errors", m->errors);
	cli_json_count(j, "timed", m->timed);
	cli_json_count(j, "raw_ns", m->total_ns);
	cli_json_count(j, "low_ns", m->low_ns);
	cli_json_count(j, "high_ns", m->high_ns);
	cli_json_count(j, "self_ns", m->self_ns);
	cli_json_count(j, "min_ns", m->min_ns);
	cli_json_count(j, "max_ns", m->max_ns);
	json_close(j, '}');
}

static void print_json(const struct figures *f, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	cli_json_count(&j, "pid", strtoull(f->pid, NULL, 10));
	json_key(&j, "methods");
	json_open(&j, '[');
	for (size_t i = 0; i < f->n; i++)
		json_method(&j, &f->methods[i]);
	json_close(&j, ']');
	json_key(&j, "notes");
	json_str(&j, f->status.notes);
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* Each line of the agent's notes, with the process it is about. */
static void tell_notes(const struct figures *f)
{
	struct slice left = f->status.notes;

	while (left.n) {
		const uint8_t *end = memchr(left.p, '\n', left.n);
		size_t n = end ? (size_t)(end - left.p) : left.n;
		struct buf line = { 0 };

		show_name(&line, (struct slice){ left.p, n });
		fprintf(stderr, "sonde: process %s: %.*s\n", f->pid, SLICE_FMT(buf_slice(&line)));
		buf_release(&line);
		n += end != NULL;
		left = (struct slice){ left.p + n, left.n - n };
	}
}

static int print_one(const char *dir, const char *pid, bool json, FILE *to)
{
	struct figures f = { .pid = pid };
	struct buf out = { 0 };
	char path[300];
	int rc, status = CLI_DONE;

	snprintf(path, sizeof(path), "%s/report.%s", dir, pid);
	rc = run_read_file(path, REPORT_MAX, &f.frames);
	if (rc == 0)
		rc = decode(&f);
	if (rc == 0) {
		if (f.n)
			qsort(f.methods, f.n, sizeof(*f.methods), by_time);
		if (json)
			print_json(&f, &out);
		else
			print_text(&f, &out);
		rc = out.err;
	}
	if (rc < 0)
		status = cli_cannot("process %s: its figures cannot be read: %s", pid,
				    rc == E_IO ? strerror(errno) : err_text(rc));
	else
		fwrite(out.p, 1, out.n, to);
	tell_notes(&f);
	buf_release(&out);
	buf_release(&f.frames);
	mem_free(f.methods);
	return status;
}

static int is_report(const struct dirent *e)
{
	return strncmp(e->d_name, "report.", 7) == 0 && strlen(e->d_name) < 40;
}

int run_report(const struct run_place *place, bool json, FILE *to)
{
	struct dirent **list = NULL;
	int n = scandir(place->dir, &list, is_report, versionsort), status = CLI_DONE;

	if (n <= 0)
		status = cli_cannot("no figures: no observed JVM has ended below this command");
	for (int i = 0; i < n; i++) {
		const char *pid = list[i]->d_name + 7;
		int one;

		if (n > 1 && !json)
			fprintf(to, "%sprocess %s\n", i ? "\n" : "", pid);
		one = print_one(place->dir, pid, json, to);
		status = status == CLI_DONE ? one : status;
		free(list[i]);
	}
	free(list);
	return status;
}
