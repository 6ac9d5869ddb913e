/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_vitals.c - puts together what the JVM's own account and /proc say about it.
 *
 * /proc/PID/stat has times in ticks of sysconf(_SC_CLK_TCK); its second field, the name, may hold
 * anything, so fields are counted from the last ')'.  /proc/PID/io is for the same user only. */
#include "cli/report/jvm_vitals.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/attach/jvms.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "jvm/proc.h"

enum { TEXT_MAX = 4096 };

static void read_stat(pid_t pid, struct jvm_vitals *v)
{
	struct buf text = { 0 };
	const char *p = NULL;
	char *end;
	uint64_t field[21] = { 0 }; /* from the third on, which is a letter */

	if (proc_read(pid, "stat", TEXT_MAX, &text) >= 0) {
		buf_u8(&text, '\0');
		p = text.err ? NULL : strrchr((const char *)text.p, ')');
	}
	if (p && strlen(p) > 3) {
		p += 3; /* ") S" */
		for (size_t i = 1; i < COUNT(field); i++, p = end)
			field[i] = (uint64_t)strtoll(p, &end, 10);
		/* utime and stime are fields 14 and 15, num_threads 20 */
		v->cpu_ns =
			(field[11] + field[12]) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
		v->kernel_threads = field[17];
	}
	buf_release(&text);
}

static void read_io(pid_t pid, struct jvm_vitals *v)
{
	const struct {
		const char *name;
		uint64_t *to;
	} wanted[] = { { "rchar: ", &v->read_bytes },
		       { "wchar: ", &v->written_bytes },
		       { "read_bytes: ", &v->disk_read_bytes },
		       { "write_bytes: ", &v->disk_written_bytes } };
	struct buf text = { 0 };
	struct slice left, line;

	v->has_io = proc_read(pid, "io", TEXT_MAX, &text) >= 0 && text.n;
	left = buf_slice(&text);
	while (proc_line(&left, &line))
		for (size_t i = 0; i < COUNT(wanted); i++) {
			size_t n = strlen(wanted[i].name);

			if (line.n > n && memcmp(line.p, wanted[i].name, n) == 0)
				*wanted[i].to = strtoull((const char *)line.p + n, NULL, 10);
		}
	buf_release(&text);
}

int jvm_vitals_read(pid_t pid, struct jvm_vitals *out)
{
	struct arena mem;
	struct jvm jvm;
	int rc;

	*out = (struct jvm_vitals){ 0 };
	arena_init(&mem);
	rc = jvm_read(pid, &mem, &jvm);
	if (rc >= 0) {
		out->counts = jvm.counts;
		out->has_account = jvm.counts.hz > 0;
		out->uptime_s = jvm.uptime;
		if (out->has_account)
			out->gc_ns = (uint64_t)((double)jvm.counts.gc_ticks * 1e9 /
						(double)jvm.counts.hz);
		read_stat(pid, out);
		read_io(pid, out);
	}
	arena_release(&mem);
	return rc;
}

void jvm_vitals_text(const struct jvm_vitals *v, struct buf *out)
{
	const struct hsperf_counts *c = &v->counts;
	double up = v->uptime_s > 0 ? v->uptime_s : 0;
	char a[FIGURE_MAX], b[FIGURE_MAX], t[FIGURE_MAX];
	char gcs[2 * FIGURE_MAX], threads[2 * FIGURE_MAX];

	if (v->has_account)
		buf_printf(out,
			   "JVM: heap %s of %s at the last collection, %s in %s (%.2g %%), "
			   "%s (at most %llu)\n",
			   figure_bytes(a, c->heap_used), figure_bytes(b, c->heap_max),
			   figure_of(gcs, c->gcs, "collection"), figure_time(t, (double)v->gc_ns),
			   up > 0 ? (double)v->gc_ns / up / 1e7 : 0,
			   figure_of(threads, c->threads, "thread"),
			   (unsigned long long)c->threads_peak);
	else
		buf_text(out,
			 "JVM: heap, collections and threads are not known: it keeps no account "
			 "(-XX:-UsePerfData)\n");
	buf_printf(out, "     %s of processor time (%.2f processors)",
		   figure_time(t, (double)v->cpu_ns), up > 0 ? (double)v->cpu_ns / up / 1e9 : 0);
	if (v->has_io)
		buf_printf(out, ", %s read, %s written (from and to disks %s",
			   figure_bytes(a, v->read_bytes), figure_bytes(b, v->written_bytes),
			   figure_bytes(t, v->disk_read_bytes));
	if (v->has_io)
		buf_printf(out, " and %s)", figure_bytes(a, v->disk_written_bytes));
	else
		buf_text(out, "; bytes read and written are for its user and root only");
	buf_u8(out, '\n');
}

static void count_or_null(struct json *j, const char *name, uint64_t n, bool known)
{
	if (known) {
		json_put_u64(j, name, n);
		return;
	}
	json_key(j, name);
	json_null(j);
}

void jvm_vitals_json(const struct jvm_vitals *v, struct json *j)
{
	const struct hsperf_counts *c = &v->counts;
	bool known = v->has_account;

	json_open(j, '{');
	json_key(j, "uptime_s");
	if (v->uptime_s >= 0)
		json_double(j, v->uptime_s);
	else
		json_null(j);
	count_or_null(j, "heap_used", c->heap_used, known);
	count_or_null(j, "heap_capacity", c->heap_capacity, known);
	count_or_null(j, "heap_max", c->heap_max, known);
	count_or_null(j, "gcs", c->gcs, known);
	count_or_null(j, "gc_ns", v->gc_ns, known);
	count_or_null(j, "threads", c->threads, known);
	count_or_null(j, "threads_peak", c->threads_peak, known);
	count_or_null(j, "classes", c->classes, known);
	json_put_u64(j, "kernel_threads", v->kernel_threads);
	json_put_u64(j, "cpu_ns", v->cpu_ns);
	count_or_null(j, "read_bytes", v->read_bytes, v->has_io);
	count_or_null(j, "written_bytes", v->written_bytes, v->has_io);
	count_or_null(j, "disk_read_bytes", v->disk_read_bytes, v->has_io);
	count_or_null(j, "disk_written_bytes", v->disk_written_bytes, v->has_io);
	json_close(j, '}');
}
