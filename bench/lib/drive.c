/* SPDX-License-Identifier: Apache-2.0 */
/* drive.c - runs contestants against each other and prints who is how fast.
 *
 *	drive NAME PLAN JSON
 *
 * The plan has groups of contestants, as lines with fields between tabs:
 *
 *	group	TITLE	BASE	CORPUS		a table; the ratios in it are "BASE is N times this"
 *	run	LABEL	COMMAND			a contestant (contest.h says what it answers)
 *	jit	LABEL	COMMAND			the same, and it has to warm up first
 *	bar	BAR	LEAST	LABEL	PATTERN	LABEL is at least LEAST times as fast as each
 *						contestant with a label like PATTERN (fnmatch)
 *	free					outputs need not be alike, only well formed
 *	note	TEXT				printed under the table
 *
 * The contestants of a group live side by side.  First, untimed, each one's output is read and
 * counted.  Then each warms up, and then they take turns: in each round every one runs for a
 * moment, so that noise of the machine hits all alike.  The figures are medians over the rounds;
 * a ratio is the median of the rounds' ratios.
 *
 * Time is the wall clock's.  "cpu" is the ratio by processor time instead, with all threads of the
 * contestant: it shows what the wall clock owes to a busy machine or to a second thread.
 *
 * Exit status: 0 measured, 1 a contestant's output is wrong, 2 usage, 3 could not.
 * Environment: BENCH_QUICK=1 (a smoke test), BENCH_ROUNDS, BENCH_MS, BENCH_WARM_MS. */
#define _GNU_SOURCE
#include "base/json.h"
#include "classfile/insn.h"
#include "contest.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RUNS = 32, MAX_BARS = 16, MAX_ROUNDS = 101, MAX_FIELDS = 6 };

struct census { /* of one corpus */
	uint64_t classes, bytes, methods, insns, code_bytes, same;
	uint64_t bad; /* classes and methods that the library refuses */
};

struct spread {
	double q1, median, q3;
};

struct run {
	const char *label, *command;
	bool warm_up;
	pid_t pid;
	clockid_t cpu;
	FILE *to, *from;
	uint64_t classes, bytes; /* of the corpus, as the contestant says */
	struct census out;
	double mb_s[MAX_ROUNDS], mb_cpu[MAX_ROUNDS], classes_s[MAX_ROUNDS];
	struct spread speed;
	uint64_t peak_kib;
};

struct bar {
	const char *name, *label, *pattern;
	double least;
	double ratio;	     /* the lowest, and to whom */
	const char *against; /* NULL: nobody was there */
};

struct group {
	const char *title, *base, *corpus;
	struct run runs[MAX_RUNS];
	unsigned n_runs;
	struct bar bars[MAX_BARS];
	unsigned n_bars;
	const char *note;
	bool free;
};

struct drive {
	const char *name;
	unsigned rounds, ms, warm_ms;
	char dump[4096];
	bool wrong;
	struct buf json_out, bars_out;
	struct json json;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *sorted, unsigned n, double q)
{
	double at = q * (n - 1);
	unsigned low = (unsigned)at;

	return low + 1 < n ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low])
			   : sorted[low];
}

static struct spread spread_of(const double *v, unsigned n)
{
	double s[MAX_ROUNDS];

	memcpy(s, v, n * sizeof(*v));
	qsort(s, n, sizeof(*s), by_value);
	return (struct spread){ quantile(s, n, 0.25), quantile(s, n, 0.5), quantile(s, n, 0.75) };
}

/* Of two contestants' speeds in each round. */
static struct spread ratio_of(const double *a, const double *b, unsigned n)
{
	double v[MAX_ROUNDS];

	for (unsigned i = 0; i < n; i++)
		v[i] = a[i] / b[i];
	return spread_of(v, n);
}

/* ---- the contestants as processes --------------------------------------------------------------- */

static bool run_start(struct run *r)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return false;
	r->pid = fork();
	if (r->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl("/bin/sh", "sh", "-c", r->command, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	r->to = fdopen(in[1], "w");
	r->from = fdopen(out[0], "r");
	return r->pid > 0 && r->to && r->from && clock_getcpuclockid(r->pid, &r->cpu) == 0;
}

static bool run_failed(const struct run *r)
{
	fprintf(stderr, "%s: no answer\n", r->label);
	return false;
}

/* Sends a line (or none), reads one. */
static bool run_ask(struct run *r, const char *ask, char *answer, int n)
{
	if (*ask && (fprintf(r->to, "%s\n", ask) < 0 || fflush(r->to)))
		return run_failed(r);
	return fgets(answer, n, r->from) || run_failed(r);
}

static bool run_ready(struct run *r)
{
	unsigned long long classes, bytes;
	char line[256];

	if (!run_ask(r, "", line, sizeof(line)))
		return false;
	if (sscanf(line, "ready %llu %llu", &classes, &bytes) != 2)
		return run_failed(r);
	r->classes = classes;
	r->bytes = bytes;
	return true;
}

/* i < 0: only to warm up. */
static bool run_round(struct run *r, unsigned ms, int i)
{
	unsigned long long ns, bytes, classes;
	uint64_t cpu = clock_ns(r->cpu);
	char line[256];

	snprintf(line, sizeof(line), "round %u", ms);
	if (!run_ask(r, line, line, sizeof(line)))
		return false;
	if (sscanf(line, "%llu %llu %llu", &ns, &bytes, &classes) != 3 || ns == 0)
		return run_failed(r);
	if (i >= 0) {
		r->mb_s[i] = (double)bytes * 1e3 / (double)ns;
		r->mb_cpu[i] = (double)bytes * 1e3 / (double)(clock_ns(r->cpu) - cpu);
		r->classes_s[i] = (double)classes * 1e9 / (double)ns;
	}
	return true;
}

/* Until the contestant has used that much processor time: on a busy machine the wall clock would
 * not tell when its code is compiled. */
static bool run_warm_up(struct run *r, unsigned ms)
{
	uint64_t end = clock_ns(r->cpu) + (r->warm_up ? ms : 0) * 1000000ull;

	do {
		if (!run_round(r, 1, -1))
			return false;
	} while (clock_ns(r->cpu) < end);
	return true;
}

static void run_peak(struct run *r)
{
	char path[64], line[256];
	unsigned long long kib;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)r->pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmHWM: %llu", &kib) == 1)
			r->peak_kib = kib;
	}
	if (f)
		fclose(f);
}

static void run_end(struct run *r)
{
	if (r->to)
		fclose(r->to);
	if (r->from)
		fclose(r->from);
	if (r->pid > 0)
		waitpid(r->pid, NULL, 0);
	r->to = r->from = NULL;
	r->pid = 0;
}

/* ---- is the output right? ----------------------------------------------------------------------- */

static void count_method(struct census *c, struct class *cls, struct member *m)
{
	struct code *code;

	if (!m->code.p)
		return;
	c->methods++;
	if (code_elevate(cls, m, &code, NULL) < 0) {
		c->bad++;
		return;
	}
	c->code_bytes += code->bytes.n;
	for (struct insn *n = code->start; n; n = n->next)
		c->insns += n->op != OP_LABEL;
}

static void count_class(struct census *c, struct arena *mem, struct slice bytes)
{
	struct class *cls;

	arena_reset(mem);
	c->classes++;
	c->bytes += bytes.n;
	if (class_read(mem, bytes, &cls, NULL) < 0) {
		c->bad++;
		return;
	}
	for (uint32_t i = 0; i < cls->n_methods; i++)
		count_method(c, cls, &cls->methods[i]);
	class_release(cls);
}

/* Counts what the contestant makes of the corpus, by the library's own reader. */
static bool run_census(struct drive *d, const struct corpus *in, struct run *r)
{
	struct corpus out;
	struct arena mem;
	char line[sizeof(d->dump) + 8];

	snprintf(line, sizeof(line), "dump %s", d->dump);
	if (!run_ask(r, line, line, sizeof(line)) || strcmp(line, "done\n"))
		return run_failed(r);
	if (!corpus_read(&out, d->dump, 0, SIZE_MAX))
		return false;
	unlink(d->dump);
	arena_init(&mem);
	r->out = (struct census){ 0 };
	for (size_t i = 0; i < out.n; i++) {
		count_class(&r->out, &mem, out.classes[i]);
		r->out.same += out.n == in->n && slice_eq(out.classes[i], in->classes[i]);
	}
	arena_release(&mem);
	corpus_release(&out);
	return true;
}

/* Those of a group do the same change, unless it is free: instructions and methods must be as many.
 * (Bytes of code need not: who numbers the constants anew writes ldc where ldc_w was.) */
static void group_check(struct drive *d, struct group *g)
{
	const struct census *first = &g->runs[0].out;

	for (unsigned i = 0; i < g->n_runs; i++) {
		const struct census *c = &g->runs[i].out;

		if (c->bad || c->classes != g->runs[i].classes) {
			printf("wrong: %s: %llu of %llu classes came out, %llu faults in them\n",
			       g->runs[i].label, (unsigned long long)c->classes,
			       (unsigned long long)g->runs[i].classes, (unsigned long long)c->bad);
			d->wrong = true;
		}
		if (!g->free && g->runs[i].bytes == g->runs[0].bytes &&
		    (c->methods != first->methods || c->insns != first->insns)) {
			printf("wrong: %s: %llu instructions, but %s: %llu\n", g->runs[i].label,
			       (unsigned long long)c->insns, g->runs[0].label,
			       (unsigned long long)first->insns);
			d->wrong = true;
		}
	}
}

/* ---- one group ---------------------------------------------------------------------------------- */

static struct run *find(struct group *g, const char *label)
{
	for (unsigned i = 0; i < g->n_runs; i++) {
		if (strcmp(g->runs[i].label, label) == 0)
			return &g->runs[i];
	}
	return NULL;
}

static void bar_judge(struct drive *d, struct group *g, struct bar *bar)
{
	const struct run *us = find(g, bar->label);

	for (unsigned i = 0; us && i < g->n_runs; i++) {
		const struct run *r = &g->runs[i];
		double ratio = ratio_of(us->mb_s, r->mb_s, d->rounds).median;

		if (r != us && fnmatch(bar->pattern, r->label, 0) == 0 &&
		    (!bar->against || ratio < bar->ratio)) {
			bar->ratio = ratio;
			bar->against = r->label;
		}
	}
	if (bar->against)
		buf_printf(&d->bars_out, "%s/%s: %.2f x %s (bar: >= %g x) %s\n", d->name, bar->name,
			   bar->ratio, bar->against, bar->least,
			   bar->ratio >= bar->least ? "met" : "short");
	else
		buf_printf(&d->bars_out, "%s/%s: not measured (bar: >= %g x %s)\n", d->name,
			   bar->name, bar->least, bar->pattern);
}

static void group_print(struct drive *d, struct group *g)
{
	const struct run *base = find(g, g->base);
	int width = 10;

	for (unsigned i = 0; i < g->n_runs; i++) {
		int n = (int)strlen(g->runs[i].label);

		width = n > width ? n : width;
	}
	printf("\n%s\n\n%-*s %8s %17s %10s %7s %7s %8s %11s %10s\n", g->title, width, "contestant",
	       "MB/s", "quartiles", "classes/s", "ratio", "cpu", "peak MiB", "output", "code");
	for (unsigned i = 0; i < g->n_runs; i++) {
		struct run *r = &g->runs[i];

		printf("%-*s %8.1f %8.1f-%-8.1f %10.0f", width, r->label, r->speed.median,
		       r->speed.q1, r->speed.q3, spread_of(r->classes_s, d->rounds).median);
		printf(" %7.2f %7.2f", ratio_of(base->mb_s, r->mb_s, d->rounds).median,
		       ratio_of(base->mb_cpu, r->mb_cpu, d->rounds).median);
		printf(" %8.1f %11llu %10llu", (double)r->peak_kib / 1024,
		       (unsigned long long)r->out.bytes, (unsigned long long)r->out.code_bytes);
		if (r->out.same == r->out.classes)
			printf("  identical");
		else if (r->out.same > r->out.classes * 9 / 10)
			printf("  %llu differ", (unsigned long long)(r->out.classes - r->out.same));
		printf("\n");
	}
	printf("ratio: %s is so many times as fast\n", base->label);
	if (g->runs[0].bytes == g->runs[g->n_runs - 1].bytes)
		printf("corpus: %llu classes, %.1f MB; %llu instructions in the output\n",
		       (unsigned long long)g->runs[0].classes, (double)g->runs[0].bytes / 1e6,
		       (unsigned long long)g->runs[0].out.insns);
	if (g->note)
		printf("%s\n", g->note);
	fflush(stdout);
}

static void run_json(struct drive *d, const struct run *base, const struct run *r)
{
	struct json *j = &d->json;
	struct spread ratio = ratio_of(base->mb_s, r->mb_s, d->rounds);

	json_open(j, '{');
	json_put_text(j, "contestant", r->label);
	json_put_double(j, "mb_s", r->speed.median);
	json_put_double(j, "mb_s_q1", r->speed.q1);
	json_put_double(j, "mb_s_q3", r->speed.q3);
	json_put_double(j, "classes_s", spread_of(r->classes_s, d->rounds).median);
	json_put_double(j, "ratio", ratio.median);
	json_put_double(j, "ratio_q1", ratio.q1);
	json_put_double(j, "ratio_q3", ratio.q3);
	json_put_double(j, "cpu_ratio", ratio_of(base->mb_cpu, r->mb_cpu, d->rounds).median);
	json_put_u64(j, "peak_kib", r->peak_kib);
	json_put_u64(j, "classes", r->classes);
	json_put_u64(j, "bytes", r->bytes);
	json_put_u64(j, "output_bytes", r->out.bytes);
	json_put_u64(j, "methods", r->out.methods);
	json_put_u64(j, "instructions", r->out.insns);
	json_put_u64(j, "code_bytes", r->out.code_bytes);
	json_put_u64(j, "identical", r->out.same);
	json_put_open(j, "rounds", '[');
	for (unsigned i = 0; i < d->rounds; i++)
		json_double(j, r->mb_s[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void group_json(struct drive *d, struct group *g)
{
	struct json *j = &d->json;

	json_open(j, '{');
	json_put_text(j, "title", g->title);
	json_put_text(j, "base", g->base);
	json_put_open(j, "contestants", '[');
	for (unsigned i = 0; i < g->n_runs; i++)
		run_json(d, find(g, g->base), &g->runs[i]);
	json_close(j, ']');
	json_put_open(j, "bars", '[');
	for (unsigned i = 0; i < g->n_bars; i++) {
		const struct bar *bar = &g->bars[i];

		json_open(j, '{');
		json_put_text(j, "bar", bar->name);
		json_put_double(j, "least", bar->least);
		if (bar->against) {
			json_put_double(j, "ratio", bar->ratio);
			json_put_text(j, "against", bar->against);
			json_put_bool(j, "met", bar->ratio >= bar->least);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

/* Of a contestant that cannot take part. */
static void group_drop(struct group *g, unsigned i)
{
	printf("skipped: %s: %s\n", g->title, g->runs[i].label);
	run_end(&g->runs[i]);
	g->n_runs--;
	memmove(&g->runs[i], &g->runs[i + 1], (g->n_runs - i) * sizeof(g->runs[0]));
}

static bool group_measure(struct drive *d, struct group *g)
{
	struct corpus in;
	bool ok = corpus_read(&in, g->corpus, 0, SIZE_MAX);

	for (unsigned i = 0; ok && i < g->n_runs;) {
		if (run_start(&g->runs[i]) && run_ready(&g->runs[i]) &&
		    run_census(d, &in, &g->runs[i]))
			i++;
		else
			group_drop(g, i);
	}
	corpus_release(&in);
	for (unsigned i = 0; ok && i < g->n_runs; i++)
		ok = run_warm_up(&g->runs[i], d->warm_ms);
	for (unsigned round = 0; ok && round < d->rounds; round++) {
		for (unsigned i = 0; ok && i < g->n_runs; i++)
			ok = run_round(&g->runs[(round + i) % g->n_runs], d->ms, (int)round);
	}
	for (unsigned i = 0; i < g->n_runs; i++) {
		run_peak(&g->runs[i]);
		run_end(&g->runs[i]);
	}
	return ok;
}

static bool group_run(struct drive *d, struct group *g)
{
	if (g->n_runs == 0)
		return true;
	fprintf(stderr, "%s: %s ...\n", d->name, g->title);
	if (!group_measure(d, g))
		return false;
	if (!find(g, g->base)) {
		fprintf(stderr, "%s: %s did not run\n", g->title, g->base);
		return false;
	}
	for (unsigned i = 0; i < g->n_runs; i++)
		g->runs[i].speed = spread_of(g->runs[i].mb_s, d->rounds);
	group_print(d, g);
	group_check(d, g);
	for (unsigned i = 0; i < g->n_bars; i++)
		bar_judge(d, g, &g->bars[i]);
	group_json(d, g);
	return true;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

/* False: the plan is wrong. */
static bool group_add(struct group *g, char *line)
{
	char *f[MAX_FIELDS];
	int n = plan_split(line, f, MAX_FIELDS);

	bool jit = n > 0 && strcmp(f[0], "jit") == 0;

	if (n == 3 && (jit || strcmp(f[0], "run") == 0) && g->n_runs < MAX_RUNS) {
		g->runs[g->n_runs++] =
			(struct run){ .label = f[1], .command = f[2], .warm_up = jit };
		return true;
	}
	if (n == 5 && strcmp(f[0], "bar") == 0 && g->n_bars < MAX_BARS) {
		g->bars[g->n_bars++] = (struct bar){
			.name = f[1],
			.least = strtod(f[2], NULL),
			.label = f[3],
			.pattern = f[4],
		};
		return true;
	}
	if (n == 1 && strcmp(f[0], "free") == 0) {
		g->free = true;
		return true;
	}
	if (n == 2 && strcmp(f[0], "note") == 0) {
		g->note = f[1];
		return true;
	}
	fprintf(stderr, "plan: bad line: %s\n", f[0]);
	return false;
}

/* Runs the plan's groups one after the other.  The groups point into the text. */
static int plan_run(struct drive *d, char *text)
{
	struct group g = { 0 };
	char *line, *f[MAX_FIELDS];

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		if (strncmp(line, "group\t", 6) != 0) {
			if (!group_add(&g, line))
				return 2;
			continue;
		}
		if (!group_run(d, &g))
			return 3;
		if (plan_split(line, f, MAX_FIELDS) != 4)
			return 2;
		g = (struct group){ .title = f[1], .base = f[2], .corpus = f[3] };
	}
	return group_run(d, &g) ? 0 : 3;
}

int main(int argc, char **argv)
{
	struct drive d = { .rounds = plan_setting("BENCH_ROUNDS", 11, 2),
			   .ms = plan_setting("BENCH_MS", 500, 50),
			   .warm_ms = plan_setting("BENCH_WARM_MS", 8000, 200) };
	FILE *plan = argc == 4 ? fopen(argv[2], "r") : NULL;
	char *text = NULL;
	size_t cap = 0;
	int rc;

	if (!plan || getdelim(&text, &cap, 0, plan) < 0 || d.rounds < 1 || d.rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: drive NAME PLAN JSON\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	d.name = argv[1];
	snprintf(d.dump, sizeof(d.dump), "%s.dump", argv[3]);
	d.json = json_to(&d.json_out);
	json_open(&d.json, '{');
	json_put_text(&d.json, "bench", d.name);
	json_put_u64(&d.json, "round_ms", d.ms);
	json_put_open(&d.json, "groups", '[');
	rc = plan_run(&d, text);
	json_close(&d.json, ']');
	json_close(&d.json, '}');
	fclose(plan);
	free(text);
	if (rc == 0 && !plan_write(argv[3], &d.json_out))
		rc = 3;
	printf("\n%.*s", (int)d.bars_out.n, (const char *)d.bars_out.p);
	buf_release(&d.json_out);
	buf_release(&d.bars_out);
	return rc ? rc : d.wrong;
}
