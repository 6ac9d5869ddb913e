/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - measures what hooks cost, by a program that has the same methods hooked and not.
 *
 * java/calibrate is run with the agent in it.  In short windows that take turns it runs one loop
 * plain and the same loop over hooked methods, and tells the time of both; the agent tells what it
 * measured.  Of each pair of windows
 *
 *	pair  = hooked - plain		what the hook adds to whoever calls
 *	inner = told - plain		what of it is in the method's own figure
 *	outer = pair - inner
 *
 * per call.  What else runs on the machine can only add, so of the windows of a loop a low quantile
 * is kept of each; and of all loops of a length class the span, but for those that were disturbed.
 * Shorter runs have the program interpreted, and keep the agent to plain JNI. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/library.h"
#include "cli/attach/target.h"
#include "cli/client/calibration.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/progress.h"
#include "jvm/launch.h"

enum {
	LIGHT_COPY = 5,
	COPIES = 7, /* of the loops: plain, and those of copies[] */
	LOOPS_MAX = 64,
	WINDOWS = 15,
	WINDOW_NS = 250000,
	RARE_NS = 1500000, /* of a window, when one call in RARE is timed */
	RARE = 40,
	NOISE_MIN = 3, /* percent; code that the JVM compiles anew is not equally fast */
	/* Ns by which calls differ from blank ones, at least: by what they begin and end with. */
	SOLO_OFF = 5,
	RARE_OFF = 7,	/* ns by which rare calls of two processes differ, at least; 6.8 was seen */
	SHORT_NS = 400, /* shorter ones show best what does not depend on the length */
	FEW = 3,	/* loops are too few for a class of its own */
	CALLS_MIN = 50,
	CALLS_MAX = 4000,
	NOISE_MAX = 20,	 /* ns by which the windows of a good loop differ */
	COMPILED_MS = 3, /* of compiling in one round of warming up: it is over */
	WARM_MS = 1500,	 /* at least; more until the agent uses its fastest way */
	WARM_MS_MAX = 9000,
	FAST_MS_MAX = 90000, /* until the agent uses its fastest way, on a busy machine */
	FAN_CALLS = 73,	     /* hooked calls in one of the first shape of java/calibrate */
	TREE_CALLS = 127,    /* ... and of the second */
	ALONE_MS = 300,	     /* until all hooks are closed */
	ATTEMPTS = 120,	     /* to have a call measured alone in a window */
	QUICK = 20,   /* ... of which so many follow at once; a busy machine closes hooks late */
	REST_MS = 50, /* before each of the others */
	ANSWER_MS = 20000, /* of the program */
	END_MS = 3000,
};

/* Which class of java/calibrate is hooked how; by its place in Main.loop(), from 1 on. */
static const struct {
	const char *class, *level;
	enum cost_kind kind;
} copies[COPIES - 1] = {
	{ "Every", "timed 1/1", COST_EVERY },
	{ "Settled", "timed", COST_SETTLED },
	{ "Rare", "timed 1/40", COST_RARE },
	{ "Passed", "timed 1/1000000", COST_PASSED },
	{ "Light", "light", COST_LIGHT },
	{ "Solo", "timed", COST_SOLO }, /* the last: from here on, other hooks are closed */
};

/* The program. */
struct run {
	pid_t child;
	int in, out; /* to it and from it */
	char text[256];
	size_t text_n;
	struct client client;
	struct progress *progress;
	enum cost_tier tier;
	unsigned loops,
		shapes; /* shapes stand behind the loops, and call hooked methods themselves */
	/* Sums of what the agent told in the last window. */
	double told_ns, told_calls;
	double pulse;
	bool fast;
	bool alone; /* methods are measured alone */
	char mechanism[24], jvm[160];
};

struct sample {
	double plain, inner, pair; /* ns a call */
	bool chained;		   /* each call needs the result of the one before */
	double noise;		   /* by how much the windows differ */
	double plain_noise;	   /* ... those of the plain loop */
	double pulse;		   /* of rare calls */
};

/* One window: ns a call. */
struct window {
	double plain, hooked, told;
};

struct readings {
	struct sample of[COST_TIERS][COST_KINDS][LOOPS_MAX];
	unsigned n[COST_TIERS][COST_KINDS];
};

/* ---- the program -------------------------------------------------------------------------- */

static void add_hook(struct buf *out, unsigned copy)
{
	char rule[128], text[400];

	snprintf(rule, sizeof(rule), "hook sonde.calibrate.%s::body* %s", copies[copy].class,
		 copies[copy].level);
	launch_encode(rule, text, sizeof(text));
	buf_printf(out, ",hook=%s", text);
}

/* What is meant for other programs would be loaded into this one, too. */
static void clean_environment(void)
{
	static const char *const unwanted[] = { "LD_", "JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=",
						"_JAVA_OPTIONS=", "CLASSPATH=" };
	char **to = environ;

	for (char **from = environ; from && *from; from++) {
		bool wanted = true;

		for (size_t i = 0; i < COUNT(unwanted); i++)
			wanted &= strncmp(*from, unwanted[i], strlen(unwanted[i])) != 0;
		if (wanted)
			*to++ = *from;
	}
	if (to)
		*to = NULL;
}

static void become(const char *java, char **argv, int in, int out)
{
	int null = open("/dev/null", O_RDWR);

	(void)setpriority(PRIO_PROCESS, 0, 5);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(126);
	clean_environment();
	execv(java, argv);
	_exit(127);
}

static int start(struct run *r, const char *home, const char *lib)
{
	char java[PATH_MAX + 16], jar[PATH_MAX + 32], slash[PATH_MAX];
	struct buf agent = { 0 };
	char *argv[20];
	int to[2], from[2], n = 0;

	snprintf(java, sizeof(java), "%s/bin/java", home);
	snprintf(slash, sizeof(slash), "%s", lib);
	*strrchr(slash, '/') = '\0';
	snprintf(jar, sizeof(jar), "%s/sonde-calibrate.jar", slash);
	if (access(java, X_OK) != 0)
		return cli_cannot("%s: %s", java, strerror(errno));
	if (access(jar, R_OK) != 0)
		return cli_cannot("%s: %s", jar, strerror(errno));
	buf_printf(&agent, "-agentpath:%s=yes,steady,cache=off%s", lib,
		   r->tier == COST_JNI ? ",jni" : "");
	for (unsigned i = 0; i < COPIES - 1; i++)
		add_hook(&agent, i);
	buf_u8(&agent, 0);
	argv[n++] = java;
	argv[n++] = (char *)agent.p;
	argv[n++] = "-XX:+UseSerialGC";
	argv[n++] = "-Xmx64m";
	if (r->tier == COST_INTERPRETED) {
		argv[n++] = "-XX:CompileCommand=quiet";
		argv[n++] = "-XX:CompileCommand=exclude,sonde.calibrate.*::*";
	} else { /* the best code soon: there are many loops */
		argv[n++] = "-XX:Tier3InvocationThreshold=50";
		argv[n++] = "-XX:Tier3MinInvocationThreshold=20";
		argv[n++] = "-XX:Tier3CompileThreshold=200";
		argv[n++] = "-XX:Tier4InvocationThreshold=300";
		argv[n++] = "-XX:Tier4MinInvocationThreshold=50";
		argv[n++] = "-XX:Tier4CompileThreshold=1000";
	}
	argv[n++] = "-cp";
	argv[n++] = jar;
	argv[n++] = "sonde.calibrate.Main";
	argv[n] = NULL;
	if (agent.err || pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
		buf_release(&agent);
		return cli_cannot("no pipe: %s", strerror(errno));
	}
	r->child = fork();
	if (r->child == 0)
		become(java, argv, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	r->in = to[1];
	r->out = from[0];
	buf_release(&agent);
	return r->child > 0 ? CLI_DONE : cli_cannot("no new process: %s", strerror(errno));
}

/* Asks it to end, so that it leaves nothing in /tmp: neither the agent's socket nor the JVM's
 * account. */
static void end_child(pid_t child)
{
	bool ended = kill(child, SIGTERM) != 0;

	for (int ms = 0; ms < END_MS && !ended; ms += 10) {
		ended = waitpid(child, NULL, WNOHANG) == child;
		if (!ended)
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	if (!ended) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	target_remove_socket(child);
}

static void stop(struct run *r)
{
	client_close(&r->client);
	if (r->in > 0)
		close(r->in);
	if (r->out > 0)
		close(r->out);
	if (r->child > 0)
		end_child(r->child);
}

/* The next line of the program's. */
static int read_line(struct run *r, char line[sizeof(r->text)])
{
	char *end;

	while (!(end = memchr(r->text, '\n', r->text_n))) {
		struct pollfd p = { .fd = r->out, .events = POLLIN };
		ssize_t n = 0;
		int ready = r->text_n < sizeof(r->text) ? poll(&p, 1, ANSWER_MS) : -1;

		if (ready > 0)
			n = read(r->out, r->text + r->text_n, sizeof(r->text) - r->text_n);
		if (client_interrupted())
			return CLI_CANNOT;
		if (ready == 0)
			return cli_cannot("the calibration program has not answered for %d s",
					  ANSWER_MS / 1000);
		if (n <= 0)
			return cli_cannot("the calibration program ended");
		r->text_n += (size_t)n;
	}
	*end++ = '\0';
	memcpy(line, r->text, (size_t)(end - r->text));
	r->text_n -= (size_t)(end - r->text);
	memmove(r->text, end, r->text_n);
	return CLI_DONE;
}

/* Sends a command and reads the answer. */
static int tell(struct run *r, char answer[sizeof(r->text)], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int tell(struct run *r, char answer[sizeof(r->text)], const char *fmt, ...)
{
	char text[80];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (write(r->in, text, (size_t)n) != n)
		return cli_cannot("the calibration program ended");
	return read_line(r, answer);
}

/* ---- the agent in it ---------------------------------------------------------------------- */

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct run *r = ctx;
	struct wire_method m;
	struct wire_status s;
	struct wire_solo one;

	if (type == WIRE_solo && wire_get_solo(payload, &one) >= 0) {
		r->told_ns += one.mean_ns * (double)one.calls;
		r->told_calls += (double)one.calls;
	} else if (type == WIRE_method && !r->alone && wire_get_method(payload, &m) >= 0) {
		r->told_ns += (double)m.total_ns;
		r->told_calls += (double)(m.one_in > 1 ? m.calls : m.timed);
	} else if (type == WIRE_status && wire_get_status(payload, &s) >= 0) {
		r->fast = s.fast;
		r->pulse = s.pulse_ns;
		snprintf(r->mechanism, sizeof(r->mechanism), "%.*s", SLICE_FMT(s.mechanism));
	}
	return true;
}

static int reset(struct run *r)
{
	wire_put_reset(&r->client.out, &(struct wire_reset){ 0 });
	return client_ask(&r->client, take, r);
}

static int report(struct run *r)
{
	r->told_ns = r->told_calls = 0;
	wire_put_report(&r->client.out, &(struct wire_report){ 0 });
	return client_ask(&r->client, take, r);
}

/* From here on all hooks are closed, and methods measured alone. */
static int go_alone(struct run *r)
{
	char answer[sizeof(r->text)];
	int status;

	wire_put_in_place(&r->client.out,
			  &(struct wire_in_place){ .flags = IN_PLACE_HELD | IN_PLACE_SHUT });
	status = client_ask(&r->client, take, r);
	r->alone = true;
	return status == CLI_DONE ? tell(r, answer, "warm %d\n", ALONE_MS) : status;
}

static int join_agent(struct run *r)
{
	struct target target;
	char pid[16];
	int status;

	snprintf(pid, sizeof(pid), "%d", (int)r->child);
	status = target_find(pid, &target);
	if (status == CLI_DONE)
		status = client_open(&r->client, &target);
	r->client.quiet = true;
	if (status == CLI_DONE)
		snprintf(r->jvm, sizeof(r->jvm), "%.*s", SLICE_FMT(r->client.welcome.jvm));
	return status;
}

/* ---- windows ------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_size);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static bool is_timed(unsigned copy)
{
	enum cost_kind kind = copies[copy - 1].kind;

	return kind <= COST_RARE || kind == COST_SOLO;
}

static int window_once(struct run *r, unsigned loop, unsigned copy, unsigned calls,
		       struct window *out)
{
	char answer[sizeof(r->text)];
	long long plain, hooked;
	bool timed = is_timed(copy);
	int status = timed ? reset(r) : CLI_DONE;

	if (status == CLI_DONE)
		status = tell(r, answer, "run %u %u %u\n", loop, copy, calls);
	if (status == CLI_DONE && sscanf(answer, "ran %lld %lld", &plain, &hooked) != 2)
		status = cli_cannot("the calibration program says '%s'", answer);
	if (status == CLI_DONE && timed)
		status = report(r);
	if (status != CLI_DONE)
		return status;
	out->plain = (double)plain / calls;
	out->hooked = (double)hooked / calls;
	out->told = timed && r->told_calls > 0 ? r->told_ns / r->told_calls : out->plain;
	return CLI_DONE;
}

/* One window of a loop, plain and hooked. */
static int window(struct run *r, unsigned loop, unsigned copy, unsigned calls, struct window *out)
{
	char answer[sizeof(r->text)];
	bool is_alone = copies[copy - 1].kind == COST_SOLO;
	int status = CLI_DONE;

	for (int n = 0; n < ATTEMPTS && status == CLI_DONE; n++) {
		if (n >= QUICK)
			status = tell(r, answer, "warm %d\n", REST_MS);
		if (status == CLI_DONE)
			status = window_once(r, loop, copy, calls, out);
		if (status != CLI_DONE || !is_alone || r->told_calls > 0)
			return status;
	}
	return status == CLI_DONE ? cli_cannot("the agent measures nothing alone") : status;
}

/* How many calls a window has, of so many ns each. */
static unsigned calls_for(unsigned copy, double plain)
{
	if (copies[copy - 1].kind == COST_RARE)
		return (unsigned)fmin(RARE * CALLS_MAX,
				      fmax(RARE * CALLS_MIN, RARE_NS / (plain + 10)));
	return (unsigned)fmin(CALLS_MAX, fmax(CALLS_MIN, WINDOW_NS / (plain + 60)));
}

static int measure_loop(struct run *r, unsigned loop, unsigned copy, struct sample *out)
{
	double plain[WINDOWS], hooked[WINDOWS], told[WINDOWS];
	unsigned calls = CALLS_MIN, low = 1; /* not the least: that may be luck */
	struct window w;
	int status = window(r, loop, copy, calls, &w);

	if (status != CLI_DONE)
		return status;
	calls = calls_for(copy, w.plain);
	for (unsigned i = 0; i < WINDOWS; i++) {
		status = window(r, loop, copy, calls, &w);
		if (status != CLI_DONE)
			return status;
		plain[i] = w.plain;
		hooked[i] = w.hooked;
		told[i] = w.told;
	}
	out->noise = median(hooked, WINDOWS) - hooked[low] + median(plain, WINDOWS) - plain[low];
	out->plain_noise = median(plain, WINDOWS) - plain[low];
	(void)median(told, WINDOWS);
	out->pulse = r->pulse;
	out->plain = plain[low];
	out->chained = loop % 2 == 0;
	out->pair = hooked[low] - plain[low];
	out->inner = is_timed(copy) ? told[low] - plain[low] : 0;
	return CLI_DONE;
}

static bool is_worth(const struct run *r, unsigned loop, unsigned copy)
{
	bool is_long = (loop / 2) % 3 == 0 && loop >= 2; /* the third length of its kind */
	bool timed = is_timed(copy) &&
		     copies[copy - 1].kind != COST_RARE; /* only short ones, there */

	if (r->tier != COST_COMPILED)
		return loop < 2 * 3 && !is_long;
	return timed || loop < 2 * 3;
}

static int measure(struct run *r, struct readings *all)
{
	for (unsigned copy = 1; copy < COPIES; copy++) {
		enum cost_kind kind = copies[copy - 1].kind;
		unsigned *n = &all->n[r->tier][kind];
		int begun = kind == COST_SOLO ? go_alone(r) : CLI_DONE;

		if (begun != CLI_DONE)
			return begun;
		for (unsigned loop = 0; loop < r->loops; loop++) {
			int status;

			if (!is_worth(r, loop, copy))
				continue;
			status = measure_loop(r, loop, copy, &all->of[r->tier][kind][*n]);
			if (status != CLI_DONE)
				return status;
			++*n;
			if (r->progress)
				progress_step(r->progress,
					      (copy - 1 + (double)loop / r->loops) / (COPIES - 1),
					      copy);
		}
	}
	return CLI_DONE;
}

/* What closed hooks cost: other hooks are, by now. */
static int measure_closed(struct run *r, struct readings *all)
{
	static const unsigned calls[2] = { FAN_CALLS, TREE_CALLS };
	unsigned *n = &all->n[r->tier][COST_CLOSED];

	for (unsigned loop = 0; loop < r->loops + r->shapes; loop++) {
		struct sample *s = &all->of[r->tier][COST_CLOSED][*n];
		unsigned each = loop < r->loops ? 1 : calls[loop - r->loops];
		int status;

		if (loop < r->loops && (loop % 2 || !is_worth(r, loop, LIGHT_COPY)))
			continue;
		status = measure_loop(r, loop, 1, s);
		if (status != CLI_DONE)
			return status;
		s->pair = fmax(0, s->pair / each);
		s->plain /= each;
		s->noise = s->inner = 0;
		s->chained = true;
		++*n;
	}
	return CLI_DONE;
}

/* Is what a call costs now what it will cost?  Another way into C costs twice as much, and then what is
 * subtracted from others' figures would be wrong without anybody knowing. */
static bool is_warm(const struct run *r, uint64_t ms, long compiled)
{
	if (!r->fast)
		return ms >= FAST_MS_MAX;
	return ms >= WARM_MS_MAX || (ms >= WARM_MS && compiled <= COMPILED_MS);
}

/* Runs all loops until the JVM has no more to compile, and the agent has its fastest way. */
static int warm_up(struct run *r)
{
	char answer[sizeof(r->text)];
	uint64_t begin = clock_steady_ns(), ms;
	long before = 0, compiled = 0; /* ms spent so far */
	int status;

	do {
		before = compiled;
		status = tell(r, answer, "warm %d\n", r->tier == COST_INTERPRETED ? 300 : 500);
		if (status == CLI_DONE && sscanf(answer, "warm %ld", &compiled) != 1)
			status = cli_cannot("the calibration program says '%s'", answer);
		if (status == CLI_DONE)
			status = report(r);
		ms = (clock_steady_ns() - begin) / 1000000;
	} while (status == CLI_DONE && !is_warm(r, ms, compiled - before));
	if (status == CLI_DONE && !r->fast)
		return cli_cannot(
			"the machine is too busy to calibrate: in %d s the agent has not come to "
			"its fastest way into C",
			FAST_MS_MAX / 1000);
	return status;
}

static int measure_tier(struct run *r, const char *home, const char *lib, struct readings *all)
{
	char line[sizeof(r->text)];
	int status = start(r, home, lib);

	if (status == CLI_DONE)
		status = read_line(r, line);
	if (status == CLI_DONE && (sscanf(line, "ready %u %u", &r->loops, &r->shapes) != 2 ||
				   !r->loops || r->loops > LOOPS_MAX || r->shapes != 2))
		status = cli_cannot("the calibration program says '%s'", line);
	if (status == CLI_DONE)
		status = join_agent(r);
	if (status == CLI_DONE)
		status = warm_up(r);
	if (status == CLI_DONE)
		status = measure(r, all);
	if (status == CLI_DONE)
		status = measure_closed(r, all);
	stop(r);
	return status;
}

/* ---- costs -------------------------------------------------------------------------------- */

static struct span span_of(double *v, unsigned n)
{
	double mid = median(v, n);	  /* sorts */
	unsigned cut = (3 * n + 10) / 20; /* the most extreme are rare in programs */

	return (struct span){ v[cut] - 1, mid, v[n - 1 - cut] + 1 };
}

/* Of the samples in one length class; or, for COST_CLASSES, of all chained ones: where calls do not
 * need each other, the processor overlaps plain ones as it does in few programs.  False: there are
 * too few that are good for anything. */
static bool cost_from(const struct sample *s, unsigned n, unsigned class, double noise,
		      struct cost *out)
{
	double inner[LOOPS_MAX], outer[LOOPS_MAX], pair[LOOPS_MAX];
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		if (class < COST_CLASSES ? cost_class(s[i].plain) != class
					 : !s[i].chained || s[i].plain > SHORT_NS)
			continue;
		if (s[i].noise > noise)
			continue;
		inner[k] = s[i].inner;
		pair[k] = s[i].pair;
		outer[k++] = s[i].pair - s[i].inner;
	}
	if (k < (class < COST_CLASSES ? FEW : 1))
		return false;
	*out = (struct cost){ span_of(inner, k), span_of(outer, k), span_of(pair, k) };
	return true;
}

static void centre(struct span *s, double mid)
{
	s->mid = mid;
	s->low = fmin(s->low, mid);
	s->high = fmax(s->high, mid);
}

/* What a settled hook adds does not depend on the length, and short calls show it best. */
static void same_for_all(struct cost of[COST_CLASSES], const struct cost *any)
{
	for (unsigned i = 0; i < COST_CLASSES; i++) {
		centre(&of[i].inner, any->inner.mid);
		centre(&of[i].outer, any->outer.mid);
		centre(&of[i].pair, any->pair.mid);
	}
}

/* What a closed hook costs among many that do next to nothing: the shapes are the last samples. */
static double closed_in_shapes(const struct readings *all, enum cost_tier t)
{
	const struct sample *s = all->of[t][COST_CLOSED];
	unsigned n = all->n[t][COST_CLOSED];

	return n >= 2 ? (s[n - 1].pair + s[n - 2].pair) / 2 : 0;
}

static bool find_kind(struct readings *all, enum cost_tier t, enum cost_kind k,
		      struct cost of[COST_CLASSES])
{
	struct cost any, last;

	/* a busy machine has no good loops: then all have to do */
	if (!cost_from(all->of[t][k], all->n[t][k], COST_CLASSES, NOISE_MAX, &any) &&
	    !cost_from(all->of[t][k], all->n[t][k], COST_CLASSES, INFINITY, &any))
		return false;
	last = any; /* where nothing was measured, as in the class before */
	for (unsigned i = 0; i < COST_CLASSES; i++) {
		if (cost_from(all->of[t][k], all->n[t][k], i, NOISE_MAX, &of[i]))
			last = of[i];
		of[i] = last;
	}
	if (k == COST_SETTLED || k == COST_RARE)
		same_for_all(of, &any);
	for (unsigned i = 0; i < COST_CLASSES && k >= COST_PASSED; i++) {
		if (k == COST_SOLO || k == COST_CLOSED)
			of[i] = any;
		if (k == COST_SOLO) {
			if (t != COST_INTERPRETED) /* what is found here is its own error, so far */
				of[i].inner.mid = 0;
			of[i].inner.low = fmin(of[i].inner.low, of[i].inner.mid - SOLO_OFF);
			of[i].inner.high = fmax(of[i].inner.high, of[i].inner.mid + SOLO_OFF);
			continue;
		}
		if (k == COST_CLOSED) /* it depends on what the compiler makes of it */
			of[i].pair = (struct span){ 0,
						    fmin(closed_in_shapes(all, t), of[i].pair.high),
						    of[i].pair.high };
		of[i].inner = (struct span){ 0, 0, 0 };
		of[i].outer = of[i].pair;
	}
	return true;
}

/* By what share windows of the same plain code differ: half of the loops do by less. */
static double find_noise(const struct readings *all)
{
	double v[COST_KINDS * LOOPS_MAX];
	unsigned n = 0;

	for (unsigned k = 0; k < COST_KINDS; k++)
		for (unsigned i = 0; i < all->n[0][k]; i++)
			if (all->of[0][k][i].plain >= 100)
				v[n++] = all->of[0][k][i].plain_noise / all->of[0][k][i].plain;
	return n ? fmin(1, fmax(NOISE_MIN / 100.0, 2 * median(v, n))) : NOISE_MIN / 100.0;
}

/* Its windows tell what a rare call adds to its own time, but not what to the others: most calls of
 * them were passed over.  That is what a settled one adds, and besides as much as it takes longer
 * itself. */
static void complete_rare(struct cost rare[COST_CLASSES], const struct cost settled[COST_CLASSES])
{
	for (unsigned i = 0; i < COST_CLASSES; i++) {
		double more = rare[i].inner.mid - settled[i].inner.mid;

		rare[i].inner.low = fmin(rare[i].inner.low, rare[i].inner.mid - RARE_OFF);
		rare[i].inner.high = fmax(rare[i].inner.high, rare[i].inner.mid + RARE_OFF);
		rare[i].outer = settled[i].outer;
		rare[i].pair = (struct span){ settled[i].pair.low + more,
					      settled[i].pair.mid + more,
					      settled[i].pair.high + more };
	}
}

static double find_pulse(const struct readings *all)
{
	double v[LOOPS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < all->n[0][COST_RARE]; i++)
		if (all->of[0][COST_RARE][i].pulse > 0)
			v[n++] = all->of[0][COST_RARE][i].pulse;
	return n ? median(v, n) : 0;
}

/* False: nothing was measured. */
static bool find_costs(struct readings *all, struct costs *out)
{
	for (unsigned t = 0; t < COST_TIERS; t++) {
		for (unsigned k = 0; k < COST_KINDS; k++) {
			if (t == COST_JNI && !all->n[t][k])
				memcpy(out->of[t][k], out->of[0][k], sizeof(out->of[t][k]));
			else if (!find_kind(all, t, k, out->of[t][k]))
				return false;
		}
		complete_rare(out->of[t][COST_RARE], out->of[t][COST_SETTLED]);
	}
	out->noise = find_noise(all);
	out->pulse = find_pulse(all);
	return true;
}

static void write_samples(const struct readings *all, struct buf *out)
{
	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < all->n[t][k]; i++) {
				const struct sample *s = &all->of[t][k][i];

				buf_printf(out,
					   "sample %u %u %.2f inner %.2f pair %.2f noise %.2f\n", t,
					   k, s->plain, s->inner, s->pair, s->noise);
			}
}

int calibrate(const char *home, bool quiet, struct calibration_key *key, struct buf *text)
{
	static struct readings all;
	struct progress progress;
	struct costs costs = { 0 };
	struct library lib;
	struct fault f = { 0 };
	int status = CLI_DONE;

	all = (struct readings){ 0 };
	if (library_open(&lib, LIBRARY_JVM, &f) < 0) {
		library_close(&lib);
		return cli_cannot("libsonde.so was not found");
	}
	progress_start(&progress, "calibrate");
	for (unsigned t = 0; t < COST_TIERS && status == CLI_DONE; t++) {
		struct run r = { .tier = t, .client.fd = -1, .progress = quiet ? NULL : &progress };

		if (t == COST_JNI && strcmp(costs.mechanism, "FFM critical") != 0)
			break; /* there is one way only */
		status = measure_tier(&r, home, lib.path, &all);
		if (t == COST_COMPILED && status == CLI_DONE) {
			snprintf(costs.mechanism, sizeof(costs.mechanism), "%s", r.mechanism);
			if (calibration_key(slice_str(r.jvm), key) < 0)
				status = cli_cannot("libsonde.so was not found");
		}
	}
	progress_clear(&progress);
	library_close(&lib);
	if (status != CLI_DONE)
		return status;
	if (!find_costs(&all, &costs))
		return cli_cannot("the calibration program told nothing");
	buf_clear(text);
	buf_printf(text, "sonde calibration 3\ncpu %s\nkernel %s\njvm %s\nbuild %s\n", key->cpu,
		   key->kernel, key->jvm, key->build);
	write_samples(&all, text);
	cost_write(&costs, text);
	buf_text(text, "end\n");
	if (text->err)
		return cli_no_memory();
	if (calibration_store(key, buf_slice(text)) < 0)
		return cli_cannot("the calibration could not be stored: %s", strerror(errno));
	return CLI_DONE;
}
