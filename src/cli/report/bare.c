/* SPDX-License-Identifier: Apache-2.0 */
/* bare.c - counts marks in windows of a second, while the hooks are in and while they are out. */
#include "cli/report/bare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/whole.h"
#include "cli/attach/target.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/progress.h"
#include "jvm/jvm_threads.h"
#include "plan/dig/dig.h"
#include "plan/inplace/pace.h"
#include "plan/inplace/rounds.h"

enum {
	WINDOW_MS = 1000,
	WARM_MS = 500, /* while the JVM compiles, when there are several rounds */
	ROUNDS = 3,    /* in which methods are measured, each time compiled anew */
	LONGER = 4,    /* times as many windows as were asked for, at most, when they differ */
	WARM_MAX = 60, /* seconds */
	PHASE_MAX = PACE_WINDOWS / 2, /* windows in one go */
	ROOTS_MAX = 200,
	METHODS_MAX = 1 << 18,
};

struct link {
	const struct bare_ask *ask;
	struct client *c;
	const struct target *target;
	struct progress progress;
	unsigned steps, of;	 /* windows so far, and about how many there will be */
	struct pace_method *all; /* calls of all methods, while marks are chosen */
	size_t n_all;
	uint32_t marks[PACE_MARKS];
	uint32_t ids[ROOTS_MAX]; /* of roots: methods that no hooked one calls */
	size_t n_marks, n_ids;
	const uint32_t *counted; /* the marks, or while there are hooks in the roots alone, these */
	size_t n_counted;
	struct buf rules;     /* that leave hooks in the marks */
	struct buf roots;     /* ... in the roots */
	struct rounds *found; /* of these; ROOTS_MAX */
	size_t n_found;
	double calls;	    /* of what is counted, in the last answer */
	double open;	    /* ns that hooks were open, if they are not always; 0: they are */
	uint64_t at;	    /* when the last answer came */
	uint64_t compilers; /* ns that they had run by then; less than before: one has ended */
	struct pace hooked, bare;
	struct bare *out;
};

/* ---- counts ------------------------------------------------------------------------------- */

static bool has_id(const uint32_t *ids, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static bool take_count(void *ctx, unsigned type, struct slice payload)
{
	struct link *l = ctx;
	struct wire_method m;
	struct wire_program p;

	if (type == WIRE_program && wire_get_program(payload, &p) >= 0 && p.flags & PROGRAM_WHOLE)
		l->open = (double)p.open_ns; /* else it is of a time that is over */
	if (type == WIRE_method && wire_get_method(payload, &m) >= 0 &&
	    has_id(l->counted, l->n_counted, m.id))
		l->calls += (double)m.calls;
	return true;
}

static int count(struct link *l)
{
	struct jvm_threads threads;
	int status;

	l->calls = l->open = 0;
	wire_put_report(&l->c->out, &(struct wire_report){ 0 });
	status = client_ask(l->c, take_count, l);
	l->at = clock_steady_ns();
	jvm_threads_read(l->target->pid, &threads);
	l->compilers = threads.jit_ns;
	return status;
}

/* CLI_CANNOT: Ctrl-C, or the program is gone. */
static int pause_for(struct link *l, int ms)
{
	uint64_t end = clock_steady_ns() + (uint64_t)ms * 1000000;
	struct slice payload;
	unsigned type;
	char gone[80];
	int rc = 0;

	while (rc >= 0 && !client_interrupted() && clock_steady_ns() < end)
		rc = client_next(l->c, (int)((end - clock_steady_ns()) / 1000000) + 1, &type,
				 &payload);
	if (rc < 0)
		return cli_cannot("%s", client_gone(l->c, gone));
	return client_interrupted() ? CLI_CANNOT : CLI_DONE;
}

/* One window more. */
static int window(struct link *l, int ms, struct pace *to)
{
	double calls = l->calls, open = l->open;
	uint64_t at = l->at, run = l->compilers;
	int status = pause_for(l, ms);

	if (status == CLI_DONE)
		status = count(l);
	if (status != CLI_DONE)
		return status;
	if (l->calls >= calls && l->open >= open) /* else somebody has reset the figures */
		pace_add(to, l->calls - calls, l->open > 0 ? l->open - open : (double)(l->at - at),
			 (double)(l->compilers > run ? l->compilers - run : 0));
	l->steps++;
	progress_step(&l->progress, l->steps < l->of ? (double)l->steps / l->of : 1, l->steps);
	return CLI_DONE;
}

static void add_span(struct bare *b, struct bare_span span)
{
	if (b->n_spans < BARE_SPANS)
		b->spans[b->n_spans++] = span;
}

/* So many of them, or more while they differ. */
static int windows(struct link *l, size_t n, size_t most, struct pace *to)
{
	uint64_t from = l->at;
	size_t before = to->n;
	int status = CLI_DONE;

	for (size_t i = 0; i < most && status == CLI_DONE; i++)
		if (i < n || !pace_is_sure(to))
			status = window(l, WINDOW_MS, to);
	add_span(l->out, (struct bare_span){ from, l->at, to->n - before, to == &l->hooked });
	return status;
}

static size_t most_windows(const struct link *l, size_t n)
{
	size_t most = l->ask->in_place_ns ? n : LONGER * n;

	return most < PHASE_MAX ? most : PHASE_MAX;
}

static int warm_up(struct link *l)
{
	int ms = l->ask->in_place_ns ? WARM_MS : WINDOW_MS;
	struct pace p = { 0 };
	int status = count(l);

	while (status == CLI_DONE && (int)p.n < WARM_MAX * 1000 / ms && !pace_is_steady(&p))
		status = window(l, ms, &p);
	l->out->waited &= pace_is_steady(&p);
	return status;
}

/* ---- marks -------------------------------------------------------------------------------- */

static bool take_all(void *ctx, unsigned type, struct slice payload)
{
	struct link *l = ctx;
	struct wire_method m;

	if (type != WIRE_method || wire_get_method(payload, &m) < 0 ||
	    (m.flags & (METHOD_GONE | METHOD_ANCHOR | METHOD_PARTLY)))
		return true;
	/* The second time the same methods come in the same order; those that are new come last. */
	for (; l->n_all < METHODS_MAX && l->all[l->n_all].id && l->all[l->n_all].id < m.id;)
		l->n_all++;
	if (l->n_all < METHODS_MAX && (!l->all[l->n_all].id || l->all[l->n_all].id == m.id)) {
		l->all[l->n_all].rate = (double)m.calls - l->all[l->n_all].rate;
		l->all[l->n_all++].id = m.id;
	}
	return true;
}

static int ask_all(struct link *l)
{
	l->n_all = 0;
	wire_put_report(&l->c->out, &(struct wire_report){ REPORT_PARTLY });
	return client_ask(l->c, take_all, l);
}

/* The rules that leave nothing but the marks. */
static bool take_names(void *ctx, unsigned type, struct slice payload)
{
	struct link *l = ctx;
	struct wire_method m;

	if (type != WIRE_method || wire_get_method(payload, &m) < 0 ||
	    !has_id(l->marks, l->n_marks, m.id))
		return true;
	buf_text(&l->rules, "hook ");
	dig_put_target(&l->rules, m.name);
	buf_text(&l->rules, " light\n");
	return true;
}

static int compare_id(const void *key, const void *member)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct pace_method *)member)->id;

	return a < b ? -1 : a > b;
}

/* A method's time is that of the calls from outside in which its own calls come. */
static int add_times(struct link *l)
{
	const struct tree *t = &l->ask->report->tree;
	double *outer = mem_alloc((t->n + 1) * sizeof(*outer));

	if (!outer)
		return cli_no_memory();
	for (uint32_t k = 0; k < t->n; k++) { /* who calls comes before who is called */
		const struct tree_node *n = &t->nodes[k];
		struct pace_method *m = bsearch(&n->f.id, l->all, l->n_all, sizeof(*m), compare_id);

		outer[k] = n->parent == TREE_NONE ? n->f.raw : outer[n->parent];
		if (m)
			m->time = fmax(m->time, outer[k]);
	}
	mem_free(outer);
	return CLI_DONE;
}

static int choose(struct link *l)
{
	size_t size = (METHODS_MAX + 1) * sizeof(*l->all);
	uint64_t begin;
	int status;

	l->all = mem_alloc(size);
	if (!l->all)
		return cli_no_memory();
	memset(l->all, 0, size);
	begin = clock_steady_ns();
	status = ask_all(l);
	if (status == CLI_DONE)
		status = pause_for(l, 2 * WINDOW_MS);
	if (status == CLI_DONE)
		status = ask_all(l);
	for (size_t i = 0; i < l->n_all; i++)
		l->all[i].rate *= 1e9 / (double)(clock_steady_ns() - begin);
	if (status == CLI_DONE)
		status = add_times(l);
	if (status == CLI_DONE)
		l->n_marks = pace_choose(l->all, l->n_all, l->marks);
	l->counted = l->marks;
	l->n_counted = l->n_marks;
	mem_free(l->all);
	if (status != CLI_DONE)
		return status;
	if (!l->n_marks)
		return CLI_NO;
	l->out->marks = (unsigned)l->n_marks;
	buf_text(&l->rules, "skip **\n");
	wire_put_report(&l->c->out, &(struct wire_report){ 0 });
	return client_ask(l->c, take_names, l);
}

static void find_roots(struct link *l)
{
	const struct tree *t = &l->ask->report->tree;

	for (uint32_t k = 0; k < t->n && l->n_ids < ROOTS_MAX; k++) {
		const struct tree_node *n = &t->nodes[k];

		if (n->parent == TREE_NONE && !has_id(l->ids, l->n_ids, n->f.id) &&
		    !tree_is_called(t, n->f.id))
			l->ids[l->n_ids++] = n->f.id;
	}
}

static void put_roots(struct link *l, struct buf *out)
{
	const struct report *r = l->ask->report;

	for (size_t i = 0; i < r->n; i++) {
		const struct wire_method *m = &r->all[i]->m;

		if (!has_id(l->ids, l->n_ids, m->id))
			continue;
		buf_text(out, "hook ");
		dig_put_target(out, m->name);
		buf_text(out, " timed\n");
		l->out->roots++;
	}
}

/* ---- changes ------------------------------------------------------------------------------ */

static bool take_nothing(void *ctx, unsigned type, struct slice payload)
{
	(void)ctx, (void)type, (void)payload;
	return true;
}

/* Nothing but what these rules want is hooked. */
static int leave_only(struct link *l, const struct buf *rules)
{
	uint64_t begin = clock_steady_ns();
	int status;

	wire_put_hook(&l->c->out, &(struct wire_hook){ .rules = buf_slice(rules),
						       .origin = slice_str("report --bare"),
						       .flags = HOOK_HELD | HOOK_YES |
								HOOK_INSTEAD | HOOK_NOW });
	status = client_ask(l->c, take_nothing, NULL);
	l->out->change_ns += (double)(clock_steady_ns() - begin);
	return status;
}

/* The agent serves one client after the other: when it answers again, the hooks are in. */
static int put_back(struct link *l)
{
	uint64_t begin = clock_steady_ns();
	int status;

	client_close(l->c);
	status = client_open(l->c, l->target);
	l->c->quiet = true;
	if (status == CLI_DONE)
		status = count(l);
	l->out->change_ns += (double)(clock_steady_ns() - begin);
	return status;
}

static struct rounds *rounds_of(struct link *l, uint32_t id)
{
	for (size_t i = 0; i < l->n_found; i++)
		if (l->found[i].id == id)
			return &l->found[i];
	if (l->n_found == ROOTS_MAX)
		return NULL;
	l->found[l->n_found] = (struct rounds){ .id = id };
	return &l->found[l->n_found++];
}

static bool take_bare(void *ctx, unsigned type, struct slice payload)
{
	struct link *l = ctx;
	struct wire_solo m;
	struct rounds *r;

	if (type != WIRE_solo || wire_get_solo(payload, &m) < 0 ||
	    (double)m.cut > PLACE_CUT_MAX * (double)m.calls)
		return true;
	r = rounds_of(l, m.id);
	if (r)
		rounds_add(r, &(struct rounds_one){ .mean = { m.mean_ns, m.margin_ns },
						    .plain = m.plain_ns,
						    .calls = (double)m.calls,
						    .windows = (double)m.windows });
	return true;
}

/* Measures the roots in place, with nothing below them. */
static int measure_roots(struct link *l)
{
	int status = leave_only(l, &l->roots);

	l->counted = l->ids;
	l->n_counted = l->n_ids;
	if (status == CLI_DONE)
		status = warm_up(l);
	l->counted = l->marks;
	l->n_counted = l->n_marks;
	if (status == CLI_DONE) {
		wire_put_in_place(&l->c->out,
				  &(struct wire_in_place){ .for_ns = l->ask->in_place_ns / ROUNDS,
							   .flags = IN_PLACE_ALONE });
		status = client_ask(l->c, take_nothing, NULL);
	}
	if (status == CLI_DONE) {
		wire_put_report(&l->c->out, &(struct wire_report){ 0 });
		status = client_ask(l->c, take_bare, l);
	}
	return status;
}

static void tell_roots(struct link *l)
{
	double scatter = rounds_scatter(l->found, l->n_found);

	for (size_t i = 0; i < l->n_found; i++)
		report_set_bare(l->ask->report, &l->found[i], scatter);
}

/* Without hooks, for n windows; where methods are measured, in rounds with hooks in these alone. */
static int go_bare(struct link *l, size_t n)
{
	size_t rounds = l->ask->in_place_ns ? ROUNDS : 1;
	size_t each = (n + rounds - 1) / rounds;
	int status = CLI_DONE;

	for (size_t i = 0; i < rounds && status == CLI_DONE; i++) {
		status = leave_only(l, &l->rules);
		if (status == CLI_DONE)
			status = warm_up(l);
		if (status == CLI_DONE)
			status = windows(l, each, most_windows(l, each), &l->bare);
		if (status == CLI_DONE && l->out->roots)
			status = measure_roots(l);
	}
	if (status == CLI_DONE)
		tell_roots(l);
	return status;
}

/* What the rounds need. */
static int prepare_roots(struct link *l)
{
	find_roots(l);
	buf_text(&l->roots, "skip **\n");
	put_roots(l, &l->roots);
	l->found = mem_alloc(ROOTS_MAX * sizeof(*l->found));
	return l->roots.err || !l->found ? cli_no_memory() : CLI_DONE;
}

static double time_of(const struct pace *p)
{
	double ns = 0;

	for (size_t i = 0; i < p->n; i++)
		ns += p->ns[i];
	return ns;
}

int bare_measure(const struct bare_ask *ask, struct bare *out)
{
	struct link l = { .c = ask->client, .target = ask->target, .ask = ask, .out = out };
	size_t n = (size_t)(ask->for_ns / 1000000 / WINDOW_MS);
	size_t half;
	int status;

	*out = (struct bare){ .speed.margin = -1, .waited = true };
	n = n < 4 ? 4 : n > PHASE_MAX ? PHASE_MAX : n;
	half = (n + 1) / 2;
	l.of = (unsigned)(2 * n + (ask->in_place_ns ? 70 : 30));
	l.c->quiet = true;
	progress_start(&l.progress, "without hooks");
	status = choose(&l);
	if (status == CLI_DONE)
		status = warm_up(&l);
	if (status == CLI_DONE)
		status = windows(&l, half, most_windows(&l, half), &l.hooked);
	if (status == CLI_DONE && ask->in_place_ns)
		status = prepare_roots(&l);
	if (status == CLI_DONE)
		status = go_bare(&l, n);
	if (status == CLI_DONE)
		status = put_back(&l);
	if (status == CLI_DONE)
		status = warm_up(&l);
	/* As many as before: what drifts is told neither too fast nor too slow. */
	if (status == CLI_DONE)
		status = windows(&l, l.hooked.n, l.hooked.n, &l.hooked);
	progress_clear(&l.progress);
	if (status == CLI_DONE)
		out->speed = pace_speed(&l.hooked, &l.bare);
	out->hooked_ns = time_of(&l.hooked);
	out->bare_ns = time_of(&l.bare);
	buf_release(&l.rules);
	buf_release(&l.roots);
	mem_free(l.found);
	return status;
}

void bare_text(const struct bare *b, bool utf8, struct buf *out)
{
	char margin[FIGURE_MAX], windows[FIGURE_MAX], change[FIGURE_MAX];

	if (b->speed.margin < 0 || !(b->speed.value > 0)) {
		buf_text(out, "without hooks: not known\n");
		return;
	}
	buf_printf(
		out,
		"without hooks: 1 s with all of them takes %.3f s without any %s, measured in %s\n",
		b->speed.value, figure_margin(margin, b->speed.margin / b->speed.value, utf8),
		figure_time(windows, b->hooked_ns + b->bare_ns));
	buf_printf(out, "taking the hooks out and putting them back took %s%s\n",
		   figure_time(change, b->change_ns),
		   b->waited ? "" : "; the program was still becoming faster after that");
}

/* Clocks that others read, too. */
static uint64_t unix_ms(uint64_t at)
{
	return clock_day_ms() - (clock_steady_ns() - at) / 1000000;
}

static void spans_json(const struct bare *b, struct json *j)
{
	json_put_open(j, "windows", '[');
	for (size_t i = 0; i < b->n_spans; i++) {
		json_open(j, '{');
		json_put_bool(j, "hooked", b->spans[i].hooked);
		json_put_u64(j, "count", b->spans[i].n);
		json_put_u64(j, "from_ms", unix_ms(b->spans[i].from));
		json_put_u64(j, "to_ms", unix_ms(b->spans[i].to));
		json_close(j, '}');
	}
	json_close(j, ']');
}

void bare_json(const struct bare *b, struct json *j)
{
	bool known = b->speed.margin >= 0;

	json_put_open(j, "bare", '{');
	json_key(j, "speed");
	known ? json_double(j, b->speed.value) : json_null(j);
	json_key(j, "margin");
	known ? json_double(j, b->speed.margin) : json_null(j);
	json_put_u64(j, "marks", b->marks);
	json_put_u64(j, "roots", b->roots);
	json_put_u64(j, "hooked_ns", whole_of(b->hooked_ns));
	json_put_u64(j, "bare_ns", whole_of(b->bare_ns));
	json_put_u64(j, "change_ns", whole_of(b->change_ns));
	json_put_bool(j, "steady", b->waited);
	spans_json(b, j);
	json_close(j, '}');
}
