/* SPDX-License-Identifier: Apache-2.0 */
/* run_report.c - the figures that the agents of a finished program left behind.
 *
 * Each agent writes one file when its JVM ends, "report.PID", with the frames that it would have
 * sent as an answer to `report`.  What an agent noted (a rule file it could not read, a rule
 * that it did not take) is told on stderr: during the run nobody could be told. */
#define _GNU_SOURCE /* versionsort */
#include <dirent.h>
#include <stdlib.h>

#include "classfile/show/show.h"
#include "cli/client/calibration.h"
#include "cli/report/report_table.h"
#include "cli/run/run.h"
#include "cli/screen/term.h"

enum { ROWS_MAX = 40 };

static void print_text(const struct report *r, const struct costs *c, FILE *to, struct buf *out)
{
	size_t called = 0;
	const struct report_table how = { .top = ROWS_MAX,
					  .wide = to != stderr || !term_columns(),
					  .utf8 = term_utf8(),
					  .has_costs = c != NULL,
					  .width = term_columns() };

	report_table_print(&how, r, out);
	for (size_t i = 0; i < r->n; i++)
		called += r->all[i]->m.calls != 0;
	if (called > ROWS_MAX)
		buf_text(out,
			 "--report FILE.json has all methods, --record FILE all that is known\n");
}

static void print_json(const struct report *r, const char *pid, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_u64(&j, "pid", strtoull(pid, NULL, 10));
	report_json(r, &j);
	json_put_str(&j, "notes", r->status.notes);
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* Each line of the agent's notes, with the process it is about. */
static void tell_notes(const struct report *r, const char *pid)
{
	struct slice left = r->status.notes;

	while (left.n) {
		const uint8_t *end = memchr(left.p, '\n', left.n);
		size_t n = end ? (size_t)(end - left.p) : left.n;
		struct buf line = { 0 };

		show_name(&line, (struct slice){ left.p, n });
		fprintf(stderr, "sonde: process %s: %.*s\n", pid, SLICE_FMT(buf_slice(&line)));
		buf_release(&line);
		n += end != NULL;
		left = (struct slice){ left.p + n, left.n - n };
	}
}

static int print_one(const char *dir, const char *pid, bool json, FILE *to)
{
	struct report r;
	struct costs costs;
	struct buf out = { 0 };
	char path[300];
	bool known;
	int status;

	snprintf(path, sizeof(path), "%s/report.%s", dir, pid);
	report_init(&r);
	status = report_read_file(&r, path);
	if (status == CLI_DONE) {
		known = calibration_for(r.calibration.jvm, 0, CALIBRATION_LEAVE, &costs) >= 0;
		report_compensate(&r, known ? &costs : NULL);
		report_sort(&r, REPORT_TOTAL);
		if (json)
			print_json(&r, pid, &out);
		else
			print_text(&r, known ? &costs : NULL, to, &out);
		if (r.err || out.err)
			status = cli_cannot("process %s: %s", pid,
					    err_text(r.err ? r.err : out.err));
		else
			fwrite(out.p, 1, out.n, to);
		tell_notes(&r, pid);
	}
	buf_release(&out);
	report_release(&r);
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
		status = cli_cannot(
			"no figures: no process with the agent in it has ended below this command");
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
