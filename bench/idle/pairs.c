/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - what an agent costs that has nothing to do: the same program without it and with it.
 *
 *	pairs PLAN JSON LOG
 *
 * The plan has lines with fields between tabs; A and B are commands for sh:
 *
 *	start	NAME	PORT	PAIRS	A	B	time to the first answer, and memory then
 *	own	NAME	PORT	STARTS	A	B	processor time of the agent's own code
 *	load	NAME	PORT	PAIRS	A	B	throughput under wrk
 *
 * For start, A is the program without and B with the agent.  The first answer is the first line
 * that it prints (PORT 0), or the first good answer to an HTTP request.  Both are started in turns,
 * A first or B first.  Of times the fastest fifth is looked at, since a machine shared with others
 * only ever makes a start slower; the interval (95 %) comes from drawing the pairs again.  Of
 * memory it is the median of the pairs' differences, with an interval from their ranks.
 *
 * For own, A runs the program with the agent under a profiler, which is ended by SIGTERM after the
 * first answer, and B prints what it has seen: samples, thread and library, line by line.  The
 * agent's are those of its library and of its thread.  Differences of a few milliseconds between
 * starts of seconds cannot be told by pairs.  What the JVM and the kernel do for an agent in the
 * program's threads is not in it, and is what pairs of hello world show.
 *
 * For load, A is a server and B is sonde.  Two processes differ by luck (what was compiled when,
 * where memory lies), by more than what is looked for; so it is one server, to which the agent is
 * attached and from which it is detached again, in turns, and neighbouring windows are compared.
 * There are LIVES servers, one after the other.  The interval is Student's over the logarithms of
 * all pairs' ratios.
 *
 * Exit status: 0 measured, 2 usage, 3 could not.  Environment: BENCH_QUICK=1 (a smoke test). */
#define _GNU_SOURCE
#include "../lib/plan.h"
#include "../lib/spread.h"
#include "base/json.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE "/examples/servlets/servlet/HelloWorldExample"

enum { MAX_FIELDS = 7, LIVES = 2, START_S = 60, DRAWS = 2000 };

#define WIDEST 0.06 /* of an interval that says something */

struct pairs {
	const char *log;
	bool quick;
	struct buf bars, json_out;
	struct json json;
};

/* One line of the plan. */
struct plan {
	const char *name;
	unsigned port;
	unsigned n;
	const char *command[2]; /* without, with */
};

struct process {
	pid_t pid;
	int out; /* what it prints, or -1 */
	double begin;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static bool process_start(struct pairs *d, struct process *p, const char *command, bool talks)
{
	int out[2], in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int log = open(d->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (in < 0 || log < 0 || pipe2(out, O_CLOEXEC)) {
		perror(d->log);
		return false;
	}
	p->begin = now();
	p->pid = fork();
	if (p->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in, STDIN_FILENO);
		dup2(talks ? out[1] : log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(in);
	close(log);
	close(out[1]);
	p->out = out[0];
	return p->pid > 0;
}

static void process_end(struct process *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close(p->out);
	*p = (struct process){ .out = -1 };
}

/* Proportional set size, in KiB: what memory this process is to blame for. */
static double process_pss(const struct process *p)
{
	char path[64], line[256];
	double kib = NAN;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)p->pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Pss: %lf", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib;
}

/* Seconds of processor time so far. */
static double process_cpu(const struct process *p)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(p->pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Asks for the page; was it given? */
static bool http_ask(unsigned port)
{
	static const char request[] = "GET " PAGE " HTTP/1.0\r\nHost: localhost\r\n\r\n";
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct timeval patience = { .tv_sec = START_S };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[512];
	ssize_t n = 0;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
	    write(fd, request, sizeof(request) - 1) > 0)
		n = recv(fd, answer, sizeof(answer), MSG_WAITALL);
	close(fd);
	return n > 12 && memcmp(answer + 8, " 200", 4) == 0;
}

/* Seconds from its start to the first answer; NAN: there was none. */
static double first_answer(const struct process *p, unsigned port)
{
	struct pollfd f = { .fd = p->out, .events = POLLIN };
	struct timespec moment = { .tv_nsec = 500000 };

	if (port == 0) {
		if (poll(&f, 1, START_S * 1000) == 1 && f.revents & POLLIN)
			return now() - p->begin;
		return NAN;
	}
	while (now() - p->begin < START_S && waitpid(p->pid, NULL, WNOHANG) == 0) {
		if (http_ask(port))
			return now() - p->begin;
		nanosleep(&moment, NULL);
	}
	return NAN;
}

/* ---- bars --------------------------------------------------------------------------------------- */

struct figure {
	double low, middle, high;
};

/* The median of n differences, and the ranks between which the true one lies with 95 % at least: it
 * lies outside by the chance that a fair coin shows the same side too often. */
static struct figure figure_of(double *v, unsigned n)
{
	double chance = pow(0.5, n), tail = 0;
	unsigned k = 0;

	qsort(v, n, sizeof(*v), spread_order);
	while (k < n / 2 && tail + chance <= 0.025) {
		tail += chance;
		chance *= (double)(n - k) / (k + 1);
		k++;
	}
	k = k ? k - 1 : 0;
	return (struct figure){ v[k], spread_quantile(v, n, 0.5), v[n - 1 - k] };
}

/* The fastest fifth of n figures ends here.  Changes their order. */
static double fast_end(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), spread_order);
	return spread_quantile(v, n, 0.2);
}

/* How much later the fastest fifth of `with` ends than that of `without`. */
static struct figure fast_figure(const double *without, const double *with, unsigned n)
{
	double a[SPREAD_MAX], b[SPREAD_MAX], drawn[DRAWS];
	uint64_t random = 88172645463325252u;
	struct figure f;

	memcpy(a, without, n * sizeof(*a));
	memcpy(b, with, n * sizeof(*b));
	f.middle = fast_end(b, n) - fast_end(a, n);
	for (unsigned k = 0; k < DRAWS; k++) {
		for (unsigned i = 0; i < n; i++) {
			unsigned at;

			random = random * 6364136223846793005u + 1442695040888963407u;
			at = (unsigned)((random >> 33) % n);
			a[i] = without[at];
			b[i] = with[at];
		}
		drawn[k] = fast_end(b, n) - fast_end(a, n);
	}
	qsort(drawn, DRAWS, sizeof(*drawn), spread_order);
	f.low = spread_quantile(drawn, DRAWS, 0.025);
	f.high = spread_quantile(drawn, DRAWS, 0.975);
	return f;
}

struct bar {
	const char *part; /* behind the plan's name */
	const char *unit;
	const char *what;
	bool met;
};

static void bar_add(struct pairs *d, const struct plan *plan, const struct figure *f,
		    const struct bar *bar)
{
	struct json *j = &d->json;
	char name[128];

	snprintf(name, sizeof(name), "%s%s", plan->name, bar->part);
	buf_printf(&d->bars, "idle/%s: %.3g %s [%.3g %.3g] (bar: %s) %s\n", name, f->middle,
		   bar->unit, f->low, f->high, bar->what, bar->met ? "met" : "short");
	json_open(j, '{');
	json_put_text(j, "bar", name);
	json_put_double(j, "figure", f->middle);
	json_put_double(j, "low", f->low);
	json_put_double(j, "high", f->high);
	json_put_text(j, "unit", bar->unit);
	json_put_bool(j, "met", bar->met);
	json_close(j, '}');
}

static bool give_up(struct pairs *d, const struct plan *plan, const char *what)
{
	printf("skipped: %s: %s, see %s\n", plan->name, what, d->log);
	buf_printf(&d->bars, "idle/%s: not measured (bar: costs nothing) short\n", plan->name);
	return false;
}

/* ---- start -------------------------------------------------------------------------------------- */

/* Of one start: milliseconds until the first answer, by the clock and by the processor, and MiB
 * then. */
enum { MS, CPU_MS, MIB, START_FIGURES };

static bool start_once(struct pairs *d, const struct plan *plan, int with, double v[START_FIGURES])
{
	struct timespec moment = { .tv_nsec = 100000000 };
	struct process p;

	if (!process_start(d, &p, plan->command[with], plan->port == 0))
		return false;
	v[MS] = first_answer(&p, plan->port) * 1e3;
	v[CPU_MS] = process_cpu(&p) * 1e3;
	nanosleep(&moment, NULL);
	v[MIB] = process_pss(&p) / 1024;
	process_end(&p);
	return !isnan(v[MS]) && !isnan(v[MIB]);
}

/* All starts, without and with the agent. */
struct starts {
	unsigned n;
	double v[2][SPREAD_MAX][START_FIGURES];
};

/* Prints one figure, and gives the difference that the agent makes. */
static struct figure start_print(const struct starts *s, int which, const char *name,
				 const char *unit)
{
	double without[SPREAD_MAX], with[SPREAD_MAX], difference[SPREAD_MAX];
	struct figure f;

	for (unsigned i = 0; i < s->n; i++) {
		without[i] = s->v[0][i][which];
		with[i] = s->v[1][i][which];
		difference[i] = with[i] - without[i];
	}
	f = which == MIB ? figure_of(difference, s->n) : fast_figure(without, with, s->n);
	printf("%-24s %10.1f %10.1f %10.2f [%.2f %.2f] %s\n", name, spread_of(without, s->n).median,
	       spread_of(with, s->n).median, f.middle, f.low, f.high, unit);
	return f;
}

static bool start_measure(struct pairs *d, const struct plan *plan)
{
	static struct starts s;
	struct figure f;

	s.n = d->quick ? 3 : plan->n;
	fprintf(stderr, "idle: %s: %u pairs ...\n", plan->name, s.n);
	start_once(d, plan, 0, s.v[0][0]); /* what it reads comes into memory */
	for (unsigned i = 0; i < s.n; i++) {
		for (unsigned turn = 0; turn < 2; turn++) {
			int with = (i + turn) & 1;

			if (!start_once(d, plan, with, s.v[with][i]))
				return give_up(d, plan, "gave no answer");
		}
	}
	f = start_print(&s, MS, plan->name, "ms");
	bar_add(d, plan, &f, &(struct bar){ "-time", "ms", "at most 10 ms", f.middle <= 10 });
	start_print(&s, CPU_MS, "", "ms of processor time");
	f = start_print(&s, MIB, "", "MiB");
	bar_add(d, plan, &f, &(struct bar){ "-memory", "MiB", "at most 2 MiB", f.middle <= 2 });
	fflush(stdout);
	return true;
}

/* ---- the agent's own ---------------------------------------------------------------------------- */

#define SAMPLE_MS 0.1 /* as bench/idle/run has it */

/* Milliseconds of all threads, and of the agent. */
static bool own_read(const char *command, double *all, double *own)
{
	char line[512], thread[128], library[256];
	FILE *f = popen(command, "re");
	double samples;

	*all = *own = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lf %127[^;];%255s", &samples, thread, library) != 3)
			continue;
		*all += samples * SAMPLE_MS;
		if (strstr(library, "libsonde") || strncmp(thread, "sonde", 5) == 0)
			*own += samples * SAMPLE_MS;
	}
	return f && pclose(f) == 0 && *all > 0;
}

static bool own_once(struct pairs *d, const struct plan *plan, double *all, double *own)
{
	struct process p;
	bool answered;

	if (!process_start(d, &p, plan->command[0], plan->port == 0))
		return false;
	answered = !isnan(first_answer(&p, plan->port));
	kill(p.pid, SIGTERM);
	waitpid(p.pid, NULL, 0);
	close(p.out);
	return answered && own_read(plan->command[1], all, own);
}

static bool own_measure(struct pairs *d, const struct plan *plan)
{
	double all[SPREAD_MAX], own[SPREAD_MAX];
	unsigned n = d->quick ? 1 : plan->n;
	struct figure f;

	fprintf(stderr, "idle: %s: %u starts ...\n", plan->name, n);
	for (unsigned i = 0; i < n; i++)
		if (!own_once(d, plan, &all[i], &own[i]))
			return give_up(d, plan, "was not seen");
	qsort(own, n, sizeof(*own), spread_order);
	f = (struct figure){ own[0], spread_quantile(own, n, 0.5), own[n - 1] };
	printf("%-24s %10s %10.1f %10.2f [%.2f %.2f] ms of processor time, the agent's own\n",
	       plan->name, "", spread_of(all, n).median, f.middle, f.low, f.high);
	bar_add(d, plan, &f, &(struct bar){ "", "ms", "at most 10 ms", f.high <= 10 });
	fflush(stdout);
	return true;
}

/* ---- load --------------------------------------------------------------------------------------- */

struct window {
	double requests_s, cpu_us; /* a second; processor time of the server for each */
};

static bool load_window(const struct process *p, unsigned port, unsigned seconds, struct window *w)
{
	char command[256], line[256];
	double cpu = process_cpu(p), requests = 0;
	FILE *f;

	snprintf(command, sizeof(command), "wrk -t1 -c4 -d%us http://127.0.0.1:%u" PAGE, seconds,
		 port);
	w->requests_s = 0;
	f = popen(command, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, " %lf requests in", &requests);
		sscanf(line, "Requests/sec: %lf", &w->requests_s);
	}
	w->cpu_us = (process_cpu(p) - cpu) * 1e6 / requests;
	return f && pclose(f) == 0 && requests > 0 && w->requests_s > 0;
}

/* Attaches the agent or detaches it. */
static bool change(struct pairs *d, const struct plan *plan, const struct process *p, bool with)
{
	char command[512];

	snprintf(command, sizeof(command), "%s %s %d >>%s 2>&1", plan->command[1],
		 with ? "attach" : "detach", (int)p->pid, d->log);
	return system(command) == 0;
}

/* What the pairs of one server's life, and then of all, gave. */
struct load {
	unsigned n;
	struct window sum[2];	     /* without, with */
	double ratio[2][SPREAD_MAX]; /* logarithms: of throughput, of processor time */
};

static bool load_life(struct pairs *d, const struct plan *plan, unsigned pairs, struct load *l)
{
	unsigned warm = d->quick ? 1 : 10, seconds = d->quick ? 1 : 2;
	struct process p = { .out = -1 };
	struct window w[2];
	bool ok = process_start(d, &p, plan->command[0], false) &&
		  !isnan(first_answer(&p, plan->port));

	for (unsigned k = 0; ok && k < 2; k++) /* in, and out again */
		ok = load_window(&p, plan->port, warm, &w[0]) && change(d, plan, &p, k == 0);
	for (unsigned i = 0; ok && i < pairs; i++) {
		for (unsigned turn = 0; ok && turn < 2; turn++) {
			unsigned k = (i + turn) & 1; /* neighbours of two pairs are of one kind */

			ok = turn == 0 || change(d, plan, &p, k == 1);
			ok = ok && load_window(&p, plan->port, seconds, &w[k]);
			l->sum[k].requests_s += w[k].requests_s;
			l->sum[k].cpu_us += w[k].cpu_us;
		}
		l->ratio[0][l->n] = log(w[1].requests_s / w[0].requests_s);
		l->ratio[1][l->n++] = log(w[1].cpu_us / w[0].cpu_us);
	}
	if (p.pid > 0)
		process_end(&p);
	return ok;
}

/* Student's interval around the mean of n logarithms, as ratios. */
static struct figure ratio_figure(const double *v, unsigned n)
{
	static const double t[] = { 0,	   12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				    2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131 };
	unsigned freedom = n - 1;
	double mean = 0, squares = 0, half;

	for (unsigned i = 0; i < n; i++)
		mean += v[i] / n;
	for (unsigned i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	half = freedom ? sqrt(squares / freedom / n) : INFINITY;
	half *= freedom < sizeof(t) / sizeof(t[0]) ? t[freedom] : 2.13;
	return (struct figure){ exp(mean - half), exp(mean), exp(mean + half) };
}

static bool load_measure(struct pairs *d, const struct plan *plan)
{
	static struct load l;
	unsigned n = d->quick ? 2 : plan->n / LIVES;
	struct figure f, cpu;

	l = (struct load){ 0 };
	for (unsigned i = 0; i < LIVES; i++) {
		fprintf(stderr, "idle: %s: server %u of %u, %u pairs ...\n", plan->name, i + 1,
			LIVES, n);
		if (!load_life(d, plan, n, &l))
			return give_up(d, plan, "did not serve");
	}
	f = ratio_figure(l.ratio[0], l.n);
	cpu = ratio_figure(l.ratio[1], l.n);
	printf("%-24s %10.0f %10.0f %10.4f [%.4f %.4f] requests a second, x\n", plan->name,
	       l.sum[0].requests_s / l.n, l.sum[1].requests_s / l.n, f.middle, f.low, f.high);
	printf("%-24s %10.1f %10.1f %10.4f [%.4f %.4f] us of processor time for each, x\n", "",
	       l.sum[0].cpu_us / l.n, l.sum[1].cpu_us / l.n, cpu.middle, cpu.low, cpu.high);
	fflush(stdout);
	bar_add(d, plan, &f,
		&(struct bar){ "", "x the throughput",
			       "the interval holds 1 and is no wider than 6 %",
			       f.low <= 1 && f.high >= 1 && f.high - f.low <= WIDEST });
	return true;
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static int plan_line(struct pairs *d, char *line)
{
	char *f[MAX_FIELDS];
	struct plan plan;

	if (plan_split(line, f, MAX_FIELDS) != 6)
		return 2;
	plan = (struct plan){ .name = f[1],
			      .port = (unsigned)strtoul(f[2], NULL, 10),
			      .n = (unsigned)strtoul(f[3], NULL, 10),
			      .command = { f[4], f[5] } };
	if (plan.n < 1 || plan.n > SPREAD_MAX)
		return 2;
	if (strcmp(f[0], "start") == 0)
		start_measure(d, &plan);
	else if (strcmp(f[0], "own") == 0)
		own_measure(d, &plan);
	else if (strcmp(f[0], "load") == 0)
		load_measure(d, &plan);
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	struct pairs d = { .quick = plan_is_quick() };
	FILE *plan = argc == 4 ? fopen(argv[1], "r") : NULL;
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	if (!plan) {
		fprintf(stderr, "usage: pairs PLAN JSON LOG\n");
		return 2;
	}
	d.log = argv[3];
	d.json = json_to(&d.json_out);
	json_open(&d.json, '{');
	json_put_text(&d.json, "bench", "idle");
	json_put_open(&d.json, "bars", '[');
	printf("%-24s %10s %10s %10s\n", "", "without", "with", "difference");
	while (rc == 0 && getline(&line, &cap, plan) > 0) {
		line[strcspn(line, "\n")] = 0;
		rc = plan_line(&d, line);
	}
	json_close(&d.json, ']');
	json_close(&d.json, '}');
	fclose(plan);
	free(line);
	if (rc == 0 && !plan_write(argv[2], &d.json_out))
		rc = 3;
	printf("\n%.*s", (int)d.bars.n, (const char *)d.bars.p);
	buf_release(&d.json_out);
	buf_release(&d.bars);
	return rc;
}
