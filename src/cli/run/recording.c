/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - recordings as files.
 *
 * A recording says of each process what its agent told at the end, and takes along the calibration
 * for it, when there was one: so that what is found in it later, or elsewhere, is what a report
 * would have said on the spot. */
#define _GNU_SOURCE /* versionsort */
#include "cli/run/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/client/calibration.h"
#include "cli/run/run.h"
#include "cli/screen/cli.h"
#include "cli/screen/private.h"
#include "wire/trace_file.h"
#include "wire/wire.h"

enum { FILE_MAX = 512 << 20 };

bool recording_is(const char *path)
{
	uint8_t head[8];
	struct stat st;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC)
							     : -1;
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : 0;

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(head) && trace_file_is((struct slice){ head, sizeof(head) });
}

/* Who an agent was. */
static bool welcome_of(struct slice frames, struct wire_welcome *out)
{
	struct slice payload;
	unsigned type;

	return wire_frame(frames, &type, &payload) > 0 && type == WIRE_welcome &&
	       wire_get_welcome(payload, out) >= 0;
}

/* ---- reading ------------------------------------------------------------------------------ */

static void take_machine(struct recording *r, struct slice text)
{
	struct calibration_key here;

	if (calibration_key(slice_str(""), &here) >= 0)
		r->here = slice_is(cost_line(text, "cpu"), here.cpu) &&
			  slice_is(cost_line(text, "kernel"), here.kernel) &&
			  slice_is(cost_line(text, "sonde"), here.build);
}

struct found {
	unsigned n;
	char pids[200];
	bool now; /* the last process is the one that is meant */
};

static void take_process(struct recording *r, struct slice frames, pid_t pid, struct found *found)
{
	struct wire_welcome w;
	size_t n = strlen(found->pids);

	found->now = false;
	if (!welcome_of(frames, &w))
		return;
	found->n++;
	snprintf(found->pids + n, sizeof(found->pids) - n, "%s%u", n ? ", " : "", w.pid);
	found->now = !pid || (pid_t)w.pid == pid;
	if (found->now) {
		r->frames = frames;
		r->jvm = w.jvm;
		r->pid = (pid_t)w.pid;
	}
}

static int take_all(struct recording *r, const char *path, pid_t pid)
{
	struct fault f = { 0 };
	struct found found = { 0 };
	struct slice payload;
	struct trace_file t;
	unsigned kind;
	int rc = trace_file_open(&t, buf_slice(&r->bytes), &f);

	while (rc >= 0 && (rc = trace_file_next(&t, &kind, &payload, &f)) > 0) {
		if (kind == TRACE_MACHINE)
			take_machine(r, payload);
		else if (kind == TRACE_PROCESS)
			take_process(r, payload, pid, &found);
		else if (kind == TRACE_COSTS && found.now)
			r->has_costs = cost_read(payload, &r->costs) >= 0;
	}
	if (rc < 0)
		return cli_cannot("%s: %s (at byte %ld)", path, f.text, (long)f.at);
	if (!found.n)
		return cli_cannot("%s: no JVM was recorded", path);
	if (!pid && found.n > 1)
		return cli_cannot("%s: several processes were recorded: %s; say which by --pid",
				  path, found.pids);
	if (!r->frames.p)
		return cli_cannot("%s: process %d is not in it, but %s", path, (int)pid,
				  found.pids);
	return CLI_DONE;
}

int recording_read(struct recording *r, const char *path, pid_t pid)
{
	int rc;

	*r = (struct recording){ 0 };
	rc = run_read_file(path, FILE_MAX, &r->bytes);
	if (rc < 0)
		return cli_cannot("%s: %s", path, rc == E_IO ? strerror(errno) : err_text(rc));
	return take_all(r, path, pid);
}

void recording_release(struct recording *r)
{
	buf_release(&r->bytes);
	*r = (struct recording){ 0 };
}

bool recording_costs(struct recording *r, struct costs *out)
{
	if (r->has_costs) {
		*out = r->costs;
		return true;
	}
	if (!r->here) {
		fputs("sonde: figures are raw: the recording has no calibration and was made on another "
		      "machine or by another build\n",
		      stderr);
		return false;
	}
	return calibration_for(r->jvm, 0, CALIBRATION_WAIT, out) >= 0;
}

/* ---- writing ------------------------------------------------------------------------------ */

static int is_report(const struct dirent *e)
{
	return strncmp(e->d_name, "report.", 7) == 0 && strlen(e->d_name) < 40;
}

static int add_process(const char *path, struct buf *out)
{
	struct buf frames = { 0 }, text = { 0 };
	struct calibration_key key;
	struct wire_welcome w;
	struct costs costs;
	int rc = run_read_file(path, FILE_MAX / 2, &frames);

	if (rc >= 0)
		trace_file_put(out, TRACE_PROCESS, buf_slice(&frames));
	if (rc >= 0 && welcome_of(buf_slice(&frames), &w) && calibration_key(w.jvm, &key) >= 0 &&
	    calibration_load(&key, &text, &costs) >= 0)
		trace_file_put(out, TRACE_COSTS, buf_slice(&text));
	buf_release(&frames);
	buf_release(&text);
	return rc;
}

static void add_machine(struct buf *out)
{
	struct calibration_key here;
	struct buf text = { 0 };

	if (calibration_key(slice_str(""), &here) < 0)
		return;
	buf_printf(&text, "cpu %s\nkernel %s\nsonde %s\n", here.cpu, here.kernel, here.build);
	trace_file_put(out, TRACE_MACHINE, buf_slice(&text));
	buf_release(&text);
}

static int write_file(const char *path, const struct buf *bytes)
{
	int fd = private_open(path);
	size_t at = 0;
	ssize_t n = 0;

	if (fd < 0)
		return cli_cannot("%s: %s", path, strerror(errno));
	while (at < bytes->n && n >= 0) {
		n = write(fd, bytes->p + at, bytes->n - at);
		at += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (close(fd) != 0 || n < 0)
		return cli_cannot("%s: %s", path, strerror(errno));
	return CLI_DONE;
}

int recording_write(const char *path, const char *dir)
{
	struct dirent **list = NULL;
	struct buf out = { 0 };
	int n = scandir(dir, &list, is_report, versionsort), rc = 0, status;

	trace_file_begin(&out);
	add_machine(&out);
	for (int i = 0; i < n; i++) {
		char name[600];

		snprintf(name, sizeof(name), "%s/%s", dir, list[i]->d_name);
		rc = rc < 0 ? rc : add_process(name, &out);
		free(list[i]);
	}
	free(list);
	trace_file_end(&out);
	rc = rc < 0 ? rc : out.err;
	if (n <= 0)
		status = cli_cannot(
			"nothing to record: no process with the agent in it has ended below this command");
	else if (rc < 0)
		status = cli_cannot("%s: %s", path, rc == E_IO ? strerror(errno) : err_text(rc));
	else
		status = write_file(path, &out);
	buf_release(&out);
	return status;
}
