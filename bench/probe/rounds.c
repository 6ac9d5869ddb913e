/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - what does it cost to hook a method?  Contestants take turns and are compared.
 *
 *	rounds PLAN JSON LOG-DIRECTORY
 *
 * The plan has groups of contestants, as lines with fields between tabs:
 *
 *	group	TITLE	FLOOR			a table; FLOOR is the key of the contestant to compare with
 *	run	KEY	LABEL	COMMAND		a contestant (java/bench/Victim.java says what it answers)
 *	prepare	COMMAND				of the last one: before it warms up
 *	until	COMMAND				it warms up until this succeeds
 *	send	LINE				then: said to it, and it must answer something but 0
 *	undo	LINE				at the end: said to it, and its hook must cost something again
 *	seen	COMMAND				at the end, after a reset and calls: succeeds if it has
 *						seen them; its hook may cost nothing then
 *	reset	COMMAND				in each turn: before it is measured
 *	lead	MS				let it run for so long before each turn, unmeasured
 *	work	N				in each round let it do so many longer calls, too
 *	ask	COMMAND				in each turn: after that; prints "step NS [LOW HIGH]", what the
 *						tool says a call has taken, and the same with "work"
 *	after	COMMAND				the same, once, when it has ended
 *	most	BAR	KEY	LIMIT	UNIT	KEY costs at most LIMIT ("ns", or so many times the key UNIT)
 *	least	BAR	KEY	LIMIT	OTHER	OTHER costs at least LIMIT times KEY
 *	above	BAR	KEY	LIMIT	OTHER	KEY costs at most LIMIT ns more than OTHER
 *	holds	BAR	KEY	METHOD	PERCENT	KEY's interval for METHOD, at most so wide either way (0: any), holds what
 *						the method takes without hook in most rounds
 *	skip	LABEL	WHY			said in the table
 *
 * Commands are for sh; PID and LOG are in their environment.  The contestants of a group live side
 * by side, and in each round every one runs for a moment, while the others are stopped.  A cost is
 * what a call of the hooked method takes more than one of the same method without hook, both
 * measured in the same turn of the same process; figures are medians over the rounds, a ratio is
 * the median of the rounds' ratios.  They are processor time of the calling thread; the column
 * "wall" has the cost by the wall clock.
 *
 * Exit status: 0 measured, 2 usage, 3 could not. Environment: BENCH_NAME (probe), BENCH_QUICK=1 (a
 * smoke test), BENCH_ROUNDS, BENCH_MS, BENCH_WARM_MS. */
#define _GNU_SOURCE
#include "../lib/plan.h"
#include "../lib/spread.h"
#include "base/json.h"
#include "contestant.h"

#include <math.h>

#define BUSY 1.05   /* wall clock against processor time, from which totals say little */
#define NOTHING 1.0 /* ns; no hook that does something is as cheap ... */
#define LOOKS 3	    /* ... each time that one looks */

enum { MAX_RUNS = 40, MAX_BARS = 40, MAX_FIELDS = 6, WARM_MORE = 10 };

/* What a tool says: ns a call, and its interval; NAN when it does not say. */
struct said {
	double ns, low, high;
};

struct run {
	const char *key, *label;
	const char *prepare, *until, *send, *undo, *seen, *reset, *ask, *after;
	const char *skipped; /* why it did not take part */
	unsigned lead, work;
	struct contestant at;
	double bare[SPREAD_MAX], cost[SPREAD_MAX], wall[SPREAD_MAX];
	double work_bare[SPREAD_MAX]; /* wall clock */
	bool busy[SPREAD_MAX];	      /* others had the processor in between */
	struct said step[SPREAD_MAX], longer[SPREAD_MAX];
	char why[256];
};

struct bar {
	const char *kind, *name, *key, *limit, *other;
};

struct group {
	const char *title, *floor;
	struct run runs[MAX_RUNS];
	unsigned n_runs;
	struct bar bars[MAX_BARS];
	unsigned n_bars;
};

struct rounds {
	unsigned n, ms, warm_ms;
	const char *logs;
	const char *name; /* of the bench */
	struct buf bars_out, json_out;
	struct json json;
};

/* One that took part; NULL: there is none. */
static struct run *find(struct group *g, const char *key)
{
	for (unsigned i = 0; i < g->n_runs; i++) {
		if (strcmp(g->runs[i].key, key) == 0 && !g->runs[i].skipped)
			return &g->runs[i];
	}
	return NULL;
}

/* ---- one contestant ----------------------------------------------------------------------------- */

/* Of a log: the first line that tells of an error, or else the last that says something. */
static void find_reason(const char *path, char *out, size_t cap)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (line[strspn(line, " \t")])
			snprintf(out, cap, "%.*s", (int)cap - 1, line);
		if (strstr(line, "Exception") || strcasestr(line, "error"))
			break;
	}
	if (f)
		fclose(f);
}

static bool run_drop(struct run *r, const char *why)
{
	r->skipped = why;
	contestant_end(&r->at);
	return false;
}

/* As its log says. */
static bool run_skip(struct run *r, const char *what)
{
	char words[160] = "it said nothing";

	find_reason(r->at.log, words, sizeof(words));
	snprintf(r->why, sizeof(r->why), "%s: %s", what, words);
	return run_drop(r, r->why);
}

static bool said_parse(const char *line, const char *method, struct said *out)
{
	size_t n = strlen(method);
	struct said s = { NAN, NAN, NAN };

	if (strncmp(line, method, n) != 0 || line[n] != ' ' ||
	    sscanf(line + n, "%lf %lf %lf", &s.ns, &s.low, &s.high) < 1)
		return false;
	*out = s;
	return true;
}

/* Its output goes into the contestant's log, but for what the tool says of that round. */
static bool run_shell(struct run *r, const char *command, unsigned round)
{
	FILE *log = fopen(r->at.log, "a"), *f;
	char line[1024], pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)r->at.pid);
	setenv("PID", pid, 1);
	setenv("LOG", r->at.log, 1);
	f = popen(command, "re");
	while (f && log && fgets(line, sizeof(line), f)) {
		if (!said_parse(line, "step", &r->step[round]) &&
		    !said_parse(line, "work", &r->longer[round]))
			fputs(line, log);
	}
	if (log)
		fclose(log);
	return f && pclose(f) == 0;
}

/* BARE HOOKED BARE HOOKED: by processor time, by the wall clock. */
static bool run_measure(struct run *r, const char *what, unsigned amount, double v[4])
{
	char line[64], answer[256];

	snprintf(line, sizeof(line), "%s %u", what, amount);
	return contestant_ask(&r->at, line, answer, sizeof(answer)) &&
	       sscanf(answer, "%lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3]) == 4;
}

static bool run_prepare(struct rounds *d, struct run *r)
{
	char answer[256];
	double v[4];

	if (!contestant_start(&r->at) || !contestant_ask(&r->at, NULL, answer, sizeof(answer)))
		return run_skip(r, "does not start");
	if (r->prepare && !run_shell(r, r->prepare, 0))
		return run_skip(r, "cannot be prepared");
	if (!run_measure(r, "go", d->warm_ms, v) ||
	    (r->work && !run_measure(r, "work", 2 * r->work, v)))
		return run_skip(r, "ended while it warmed up");
	if (r->send &&
	    (!contestant_ask(&r->at, r->send, answer, sizeof(answer)) || strcmp(answer, "0") == 0))
		return run_skip(r, r->send);
	for (int look = 0; look < LOOKS; look++) {
		if (!run_measure(r, "go", d->ms, v))
			return run_skip(r, "ended while it warmed up");
		/* Who is asked will tell. */
		if (r->send || r->ask || r->seen || v[1] - v[0] >= NOTHING)
			break;
		if (look == LOOKS - 1)
			return run_drop(r, "the method costs the same: it did not hook it");
	}
	contestant_pause(&r->at, true);
	return true;
}

static bool run_turn(struct rounds *d, struct run *r, unsigned round)
{
	double v[4], w[4] = { 0 };
	bool ok;

	contestant_pause(&r->at, false);
	ok = (!r->lead || run_measure(r, "go", r->lead, v)) &&
	     (!r->reset || run_shell(r, r->reset, round)) && run_measure(r, "go", d->ms, v) &&
	     (!r->work || run_measure(r, "work", r->work, w)) &&
	     (!r->ask || run_shell(r, r->ask, round));
	if (!ok)
		return run_skip(r, "fails while it is measured");
	r->bare[round] = v[0];
	r->cost[round] = v[1] - v[0];
	r->wall[round] = v[3] - v[2];
	r->work_bare[round] = w[2];
	r->busy[round] = v[3] > BUSY * v[1] || w[3] > BUSY * w[1] || w[2] > BUSY * w[0];
	contestant_pause(&r->at, true);
	return true;
}

/* Sees that a hook which costs next to nothing was there at all. */
static bool run_check(struct rounds *d, struct run *r)
{
	char answer[256];
	double v[4];

	if ((r->undo && !contestant_ask(&r->at, r->undo, answer, sizeof(answer))) ||
	    (r->seen && r->reset && !run_shell(r, r->reset, 0)) ||
	    !run_measure(r, "go", d->ms, v) || !run_measure(r, "go", d->ms, v))
		return run_skip(r, "cannot be checked");
	if (r->seen && !run_shell(r, r->seen, 0))
		return run_drop(r, "it saw no calls: it was not hooked");
	if (!r->seen && v[1] - v[0] < NOTHING)
		return run_drop(r, "open it costs nothing, too: it was not hooked");
	return true;
}

/* Of a tool that tells only at the end. */
static void said_once(struct rounds *d, struct run *r, double ns)
{
	for (unsigned i = 0; i < d->n; i++)
		r->step[i] = (struct said){ ns, NAN, NAN };
}

static void run_finish(struct rounds *d, struct run *r)
{
	unsigned long long calls, sum;
	char answer[256];

	contestant_pause(&r->at, false);
	if ((r->undo || r->seen) && !run_check(d, r))
		return;
	if (contestant_ask(&r->at, "end", answer, sizeof(answer)) &&
	    sscanf(answer, "%llu %llu", &calls, &sum) == 2 && sum > 0)
		said_once(d, r, (double)sum / (double)calls);
	contestant_end(&r->at);
	if (!r->after)
		return;
	if (run_shell(r, r->after, 0))
		said_once(d, r, r->step[0].ns);
	else
		fprintf(stderr, "%s: %s: could not be asked what it saw, see %s\n", d->name,
			r->label, r->at.log);
}

/* ---- a group ------------------------------------------------------------------------------------ */

static void group_measure(struct rounds *d, struct group *g)
{
	for (unsigned i = 0; i < g->n_runs; i++) {
		struct run *r = &g->runs[i];

		if (r->skipped)
			continue;
		fprintf(stderr, "%s: %s: %s ...\n", d->name, g->title, r->label);
		snprintf(r->at.log, sizeof(r->at.log), "%s/%.40s-%s.log", d->logs, g->title,
			 r->key);
		run_prepare(d, r);
	}
	fprintf(stderr, "%s: %s: %u rounds ...\n", d->name, g->title, d->n);
	for (unsigned round = 0; round < d->n; round++) {
		for (unsigned i = 0; i < g->n_runs; i++) {
			struct run *r = &g->runs[(round + i) % g->n_runs];

			if (!r->skipped)
				run_turn(d, r, round);
		}
	}
	for (unsigned i = 0; i < g->n_runs; i++) {
		if (!g->runs[i].skipped)
			run_finish(d, &g->runs[i]);
	}
}

/* Medians over the rounds. */
static struct said said_middle(const struct said *said, unsigned n)
{
	double ns[SPREAD_MAX], low[SPREAD_MAX], high[SPREAD_MAX];

	for (unsigned i = 0; i < n; i++) {
		ns[i] = said[i].ns;
		low[i] = said[i].low;
		high[i] = said[i].high;
		if (isnan(ns[i]))
			return said[i];
	}
	return (struct said){ spread_of(ns, n).median, spread_of(low, n).median,
			      spread_of(high, n).median };
}

static void said_print(const struct said *said, unsigned n)
{
	struct said s = said_middle(said, n);

	if (isnan(s.ns))
		printf("  -");
	else if (isnan(s.low) || s.low >= s.high)
		printf("  %.1f", s.ns);
	else
		printf("  %.1f [%.1f %.1f]", s.ns, s.low, s.high);
}

static void group_print(struct rounds *d, struct group *g)
{
	struct run *floor = find(g, g->floor);

	printf("\n%s: ns a call above the bare method, medians of %u rounds\n", g->title, d->n);
	printf("%-44s %8s %8s %8s %8s %8s  %s\n", "", "cost", "q1", "q3", "wall", "x floor",
	       "says a call takes");
	for (unsigned i = 0; i < g->n_runs; i++) {
		struct run *r = &g->runs[i];
		struct spread cost = spread_of(r->cost, d->n);

		if (r->skipped)
			continue;
		printf("%-44s %8.1f %8.1f %8.1f %8.1f", r->label, cost.median, cost.q1, cost.q3,
		       spread_of(r->wall, d->n).median);
		if (floor)
			printf(" %8.2f", spread_ratio(r->cost, floor->cost, d->n).median);
		else
			printf(" %8s", "-");
		said_print(r->step, d->n);
		if (r->work) {
			printf("; a longer one");
			said_print(r->longer, d->n);
			printf(", bare %.1f", spread_of(r->work_bare, d->n).median);
		}
		printf("\n");
	}
	if (floor)
		printf("the bare method: %.1f ns\n", spread_of(floor->bare, d->n).median);
	for (unsigned i = 0; i < g->n_runs; i++) {
		if (g->runs[i].skipped)
			printf("skipped: %s: %s\n", g->runs[i].label, g->runs[i].skipped);
	}
	fflush(stdout);
}

/* ---- bars --------------------------------------------------------------------------------------- */

struct verdict {
	bool measured, met;
	double figure;
	char text[160], bar[160];
};

/* In how many rounds does the interval hold what the same code takes without hook, in the same turn
 * of the same process?  1 % is left for what differs still.  Rounds in which the machine was busy
 * do not count. */
static void judge_holds(struct rounds *d, struct group *g, const struct bar *b, struct verdict *v)
{
	struct run *r = find(g, b->key);
	bool work = strcmp(b->limit, "work") == 0;
	double widest = strtod(b->other, NULL), width;
	unsigned held = 0, n = 0;
	struct said middle;

	snprintf(v->bar, sizeof(v->bar),
		 widest > 0 ? "its interval, at most +-%s %%, holds what it takes without hook in "
			      "3 of 4 rounds"
			    : "its interval holds what it takes without hook in 3 of 4 rounds",
		 b->other);
	if (!r)
		return;
	for (unsigned i = 0; i < d->n; i++) {
		struct said s = work ? r->longer[i] : r->step[i];
		double truth = work ? r->work_bare[i] : r->bare[i];

		if (isnan(s.low))
			return;
		if (r->busy[i])
			continue;
		n++;
		held += s.low * 0.99 <= truth && truth <= s.high * 1.01;
	}
	if (n == 0) {
		snprintf(v->text, sizeof(v->text), "the machine was too busy");
		return;
	}
	middle = said_middle(work ? r->longer : r->step, d->n);
	width = 50 * (middle.high - middle.low) / middle.ns;
	v->measured = true;
	v->figure = held;
	v->met = 4 * held >= 3 * n && (widest <= 0 || width <= widest);
	snprintf(v->text, sizeof(v->text), "%u of %u rounds, %.1f [%.1f, %.1f] ns", held, n,
		 middle.ns, middle.low, middle.high);
}

static void judge_above(struct rounds *d, struct group *g, const struct bar *b, struct verdict *v)
{
	struct run *r = find(g, b->key), *o = find(g, b->other);
	double more[SPREAD_MAX];

	snprintf(v->bar, sizeof(v->bar), "at most %s ns more than %s", b->limit, b->other);
	if (!r || !o)
		return;
	for (unsigned i = 0; i < d->n; i++)
		more[i] = r->cost[i] - o->cost[i];
	v->measured = true;
	v->figure = spread_of(more, d->n).median;
	v->met = v->figure <= strtod(b->limit, NULL);
	snprintf(v->text, sizeof(v->text), "%+.1f ns", v->figure);
}

static void judge_cost(struct rounds *d, struct group *g, const struct bar *b, struct verdict *v)
{
	struct run *r = find(g, b->key), *o = find(g, b->other);
	bool least = strcmp(b->kind, "least") == 0, ns = strcmp(b->other, "ns") == 0;
	double limit = strtod(b->limit, NULL);

	if (ns)
		snprintf(v->bar, sizeof(v->bar), "at most %s ns", b->limit);
	else if (least)
		snprintf(v->bar, sizeof(v->bar), "%s costs at least %s x", b->other, b->limit);
	else
		snprintf(v->bar, sizeof(v->bar), "at most %s x %s", b->limit, b->other);
	if (!r || (!ns && !o))
		return;
	v->measured = true;
	if (ns)
		v->figure = spread_of(r->cost, d->n).median;
	else if (least)
		v->figure = spread_ratio(o->cost, r->cost, d->n).median;
	else
		v->figure = spread_ratio(r->cost, o->cost, d->n).median;
	v->met = least ? v->figure >= limit : v->figure <= limit;
	snprintf(v->text, sizeof(v->text), ns ? "%.1f ns" : "%.2f x", v->figure);
}

static void group_judge(struct rounds *d, struct group *g)
{
	for (unsigned i = 0; i < g->n_bars; i++) {
		const struct bar *b = &g->bars[i];
		struct verdict v = { .text = "not measured" };

		if (strcmp(b->kind, "holds") == 0)
			judge_holds(d, g, b, &v);
		else if (strcmp(b->kind, "above") == 0)
			judge_above(d, g, b, &v);
		else
			judge_cost(d, g, b, &v);
		buf_printf(&d->bars_out, "%s/%s: %s (bar: %s) %s\n", d->name, b->name, v.text,
			   v.bar, v.met ? "met" : "short");
		json_open(&d->json, '{');
		json_put_text(&d->json, "bar", b->name);
		json_put_text(&d->json, "what", v.bar);
		if (v.measured) {
			json_put_double(&d->json, "figure", v.figure);
		}
		json_put_bool(&d->json, "met", v.met);
		json_close(&d->json, '}');
	}
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void said_json(struct rounds *d, const char *key, const struct said *said)
{
	struct json *j = &d->json;
	struct said middle = said_middle(said, d->n);

	if (isnan(middle.ns))
		return;
	json_put_open(j, key, '[');
	for (unsigned i = 0; i < (isnan(middle.low) ? 1 : d->n); i++) {
		json_open(j, '{');
		json_put_double(j, "ns", said[i].ns);
		json_put_double(j, "low_ns", said[i].low);
		json_put_double(j, "high_ns", said[i].high);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void run_json(struct rounds *d, struct group *g, const struct run *r)
{
	struct json *j = &d->json;
	struct run *floor = find(g, g->floor);
	struct spread cost = spread_of(r->cost, d->n);

	json_open(j, '{');
	json_put_text(j, "contestant", r->key);
	json_put_text(j, "label", r->label);
	if (r->skipped) {
		json_put_text(j, "skipped", r->skipped);
	} else {
		json_put_double(j, "bare_ns", spread_of(r->bare, d->n).median);
		json_put_double(j, "cost_ns", cost.median);
		json_put_double(j, "cost_ns_q1", cost.q1);
		json_put_double(j, "cost_ns_q3", cost.q3);
		json_put_double(j, "wall_ns", spread_of(r->wall, d->n).median);
		if (floor)
			json_put_double(j, "floors",
					spread_ratio(r->cost, floor->cost, d->n).median);
		said_json(d, "says", r->step);
		said_json(d, "says_longer", r->longer);
		if (r->work)
			json_put_double(j, "bare_longer_ns", spread_of(r->work_bare, d->n).median);
		json_put_open(j, "rounds", '[');
		for (unsigned i = 0; i < d->n; i++)
			json_double(j, r->cost[i]);
		json_close(j, ']');
	}
	json_close(j, '}');
}

static void group_run(struct rounds *d, struct group *g)
{
	if (g->n_runs == 0)
		return;
	group_measure(d, g);
	group_print(d, g);
	json_open(&d->json, '{');
	json_put_text(&d->json, "title", g->title);
	json_put_open(&d->json, "contestants", '[');
	for (unsigned i = 0; i < g->n_runs; i++)
		run_json(d, g, &g->runs[i]);
	json_close(&d->json, ']');
	json_put_open(&d->json, "bars", '[');
	group_judge(d, g);
	json_close(&d->json, ']');
	json_close(&d->json, '}');
}

/* ---- the plan ----------------------------------------------------------------------------------- */

static struct run *run_new(struct group *g, const char *key, const char *label)
{
	struct run *r = &g->runs[g->n_runs++];

	*r = (struct run){ .key = key, .label = label };
	for (unsigned i = 0; i < SPREAD_MAX; i++)
		r->step[i] = r->longer[i] = (struct said){ NAN, NAN, NAN };
	return r;
}

/* A line about the last contestant. */
static bool run_add(struct run *r, const char *what, const char *value)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = {
		{ "prepare", &r->prepare }, { "until", &r->until }, { "send", &r->send },
		{ "undo", &r->undo },	    { "seen", &r->seen },   { "reset", &r->reset },
		{ "ask", &r->ask },	    { "after", &r->after },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(what, texts[i].name) == 0) {
			*texts[i].to = value;
			return true;
		}
	}
	if (strcmp(what, "work") == 0)
		r->work = (unsigned)strtoul(value, NULL, 10);
	else if (strcmp(what, "lead") == 0)
		r->lead = (unsigned)strtoul(value, NULL, 10);
	else
		return false;
	return true;
}

/* False: the plan is wrong. */
static bool group_add(struct group *g, char *line)
{
	char *f[MAX_FIELDS];
	int n = plan_split(line, f, MAX_FIELDS);

	if (n == 4 && strcmp(f[0], "run") == 0 && g->n_runs < MAX_RUNS) {
		run_new(g, f[1], f[2])->at.command = f[3];
		return true;
	}
	if (n == 3 && strcmp(f[0], "skip") == 0 && g->n_runs < MAX_RUNS) {
		run_new(g, "", f[1])->skipped = f[2];
		return true;
	}
	if (n == 5 && g->n_bars < MAX_BARS) {
		g->bars[g->n_bars++] = (struct bar){ f[0], f[1], f[2], f[3], f[4] };
		return true;
	}
	if (n == 2 && g->n_runs > 0 && run_add(&g->runs[g->n_runs - 1], f[0], f[1]))
		return true;
	fprintf(stderr, "plan: bad line: %s\n", f[0]);
	return false;
}

/* Runs the plan's groups one after the other.  The groups point into the text. */
static int plan_run(struct rounds *d, char *text)
{
	static struct group g;
	char *line, *f[MAX_FIELDS];

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		if (strncmp(line, "group\t", 6) != 0) {
			if (!group_add(&g, line))
				return 2;
			continue;
		}
		group_run(d, &g);
		if (plan_split(line, f, MAX_FIELDS) != 3)
			return 2;
		memset(&g, 0, sizeof(g));
		g.title = f[1];
		g.floor = f[2];
	}
	group_run(d, &g);
	return 0;
}

int main(int argc, char **argv)
{
	struct rounds d = { .n = plan_setting("BENCH_ROUNDS", 25, 2),
			    .ms = plan_setting("BENCH_MS", 180, 60),
			    .warm_ms = plan_setting("BENCH_WARM_MS", 3000, 1500) };
	FILE *plan = argc == 4 ? fopen(argv[1], "r") : NULL;
	char *text = NULL;
	size_t cap = 0;
	int rc;

	if (!plan || getdelim(&text, &cap, 0, plan) < 0 || d.n < 1 || d.n > SPREAD_MAX) {
		fprintf(stderr, "usage: rounds PLAN JSON LOG-DIRECTORY\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	d.logs = argv[3];
	d.name = getenv("BENCH_NAME") ? getenv("BENCH_NAME") : "probe";
	d.json = json_to(&d.json_out);
	json_open(&d.json, '{');
	json_put_text(&d.json, "bench", d.name);
	json_put_open(&d.json, "groups", '[');
	rc = plan_run(&d, text);
	json_close(&d.json, ']');
	json_close(&d.json, '}');
	fclose(plan);
	free(text);
	if (rc == 0 && !plan_write(argv[2], &d.json_out))
		rc = 3;
	printf("\n%.*s", (int)d.bars_out.n, (const char *)d.bars_out.p);
	buf_release(&d.json_out);
	buf_release(&d.bars_out);
	return rc;
}
