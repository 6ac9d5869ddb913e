/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - WHERE SPOOL BEGIN_MS write|read|race|age|sweep: the manager's store without the manager, so that its engines
 * can be compared.
 *
 * write: puts in the first half of what there is, says so, and waits for a line on stdin; the second
 * half, and so on.  What is written depends on nothing but BEGIN_MS.  read: asks for all of it, and
 * prints the answers without what an engine may choose (ids).  race: two managers write the same versions of a
 * plan in the same moment.  age: puts in old transactions, and young ones; sweep: waits until the old ones have
 * gone. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manager/archive/archive.h"
#include "manager/figures/spread.h"

enum { SLOTS = 130, METHODS = 7, TRACES = 400, CUSTOMERS = 9 };

static uint64_t begin_ms, chain = 1;

static void die(const char *what)
{
	fprintf(stderr, "engine: %s\n", what);
	exit(3);
}

static struct slice dup_text(struct archive_job *job, const char *text)
{
	return arena_dup(&job->mem, slice_str(text));
}

static void wait_for(struct archive *s, struct archive_job *job, int want)
{
	int rc = archive_put_wait(s, job);

	if (rc != want) {
		fprintf(stderr, "engine: a job gave %d, not %d\n", rc, want);
		exit(3);
	}
}

/* ---- what is written ---- */

static struct slice spread_of(struct archive_job *job, uint64_t ns, unsigned count)
{
	static struct call_spread s;
	struct buf raw = { 0 }, packed = { 0 };
	struct slice out;

	s = (struct call_spread){ 0 };
	buf_u32(&raw, 0);
	buf_u32(&raw, (uint32_t)ns);
	buf_u32(&raw, count);
	spread_add_raw(&s, (struct slice){ NULL, 0 }, buf_slice(&raw));
	spread_put(&s, &packed);
	out = arena_dup(&job->mem, buf_slice(&packed));
	buf_release(&raw);
	buf_release(&packed);
	return out;
}

static void put_figures(struct archive *s, unsigned slot, unsigned process, int want,
			uint64_t chained)
{
	struct job_figures *j = archive_job(sizeof(*j));
	struct arena *mem = &j->job.mem;
	char text[100];

	j->job.kind = JOB_FIGURES;
	j->app = dup_text(&j->job, process < 3 ? "shop" : "o'ther\\app");
	snprintf(text, sizeof(text), "host-%u", process);
	j->instance = dup_text(&j->job, text);
	j->job.chained_to = j->instance;
	j->job.chain = chained;
	j->rows = arena_zero(mem, METHODS * sizeof(*j->rows));
	j->bases = arena_zero(mem, METHODS * sizeof(*j->bases));
	for (unsigned i = 0; i < METHODS; i++) {
		struct archive_figure *f = &j->rows[j->n++];
		struct archive_base *b = &j->bases[j->n_bases++];

		snprintf(text, sizeof(text), "a.B%u.run'\\(Ljava/lang/String;)V", i % 6);
		f->method = b->method = dup_text(&j->job, text);
		f->slot_ms = begin_ms + slot * 10000;
		b->id = i;
		for (unsigned k = 0; k < SUMS; k++) {
			f->sums[k] = 1 + slot * (k + 1) + i * process;
			b->sums[k] = (slot + 1) * (k + 2) * 1000000000ull + i;
		}
		f->max_ns = (slot * 7919 + i * 31) % 5000;
		f->active_peak = slot % 5;
		f->spread = spread_of(&j->job, 100 + slot * 13 + i, i + 1);
		b->raw = dup_text(&j->job, "raw");
	}
	if (want || slot % 10 == 9)
		wait_for(s, &j->job, want);
	else
		archive_put(s, &j->job);
}

static void put_trace(struct archive *s, unsigned n)
{
	struct job_trace *j = archive_job(sizeof(*j));
	char text[3000], data[80];
	int used = snprintf(data, sizeof(data), "customer%cc%u%ckind%c%s", 0, n % CUSTOMERS, 0, 0,
			    n % 4 ? "NORMAL" : "GI'FT");

	j->job.kind = JOB_TRACE;
	j->t.app = dup_text(&j->job, n % 3 ? "shop" : "o'ther\\app");
	j->t.instance = dup_text(&j->job, n % 2 ? "host-1" : "host-2");
	j->t.root = dup_text(&j->job, n % 5 ? "web.Page.show()V" : "web.Page.save()V");
	j->t.thread = dup_text(&j->job, n % 7 ? "worker" : "main");
	j->t.data = arena_dup(&j->job.mem, (struct slice){ (uint8_t *)data, (size_t)used + 1 });
	j->t.when_ms = begin_ms + n / 2 * 1000;
	j->t.elapsed_ns = 1000 + n * 97 % 1000 * 1000;
	j->t.flags = n % 6;
	j->t.calls = n;
	j->t.parts = 1 + n % 3;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * n >> 3);
	j->t.blob = arena_dup(&j->job.mem, (struct slice){ (uint8_t *)text, 1000 + n });
	archive_put(s, &j->job);
}

static void put_plan(struct archive *s, const char *app, uint64_t version, int want,
		     const char *torn)
{
	struct job_plan *j = archive_job(sizeof(*j));
	char text[60];

	snprintf(text, sizeof(text), "{\"rules\":[\"v%llu\"]}", (unsigned long long)version);
	j->job.kind = JOB_PLAN;
	j->app = dup_text(&j->job, app);
	j->by = dup_text(&j->job, "me");
	j->comment = dup_text(&j->job, "it's \\ new\n");
	j->doc = dup_text(&j->job, text);
	j->job.chained_to = dup_text(&j->job, torn);
	j->job.chain = 1;
	j->version = version;
	j->changed_ms = begin_ms + version;
	wait_for(s, &j->job, want);
}

static void put_papers(struct archive *s, unsigned n)
{
	struct job_alert *a = archive_job(sizeof(*a));
	struct job_dig *d = archive_job(sizeof(*d));
	struct job_carried *c = archive_job(sizeof(*c));
	struct job_audit *u = archive_job(sizeof(*u));
	char text[60];

	snprintf(text, sizeof(text), "id-%u", n / 2); /* each is written twice */
	a->job.kind = JOB_ALERT;
	a->id = dup_text(&a->job, text);
	a->app = dup_text(&a->job, n % 4 ? "shop" : "o'ther\\app");
	a->began_ms = begin_ms + n / 2 * 1000;
	a->ended_ms = n % 4 == 3 ? begin_ms + 5000 : 0;
	d->job.kind = JOB_DIG;
	d->id = dup_text(&d->job, text);
	d->app = dup_text(&d->job, "shop");
	d->started_ms = begin_ms + n / 2;
	c->job.kind = JOB_CARRIED;
	c->instance = dup_text(&c->job, text);
	c->at_ms = begin_ms;
	snprintf(text, sizeof(text), "doc %u\n", n);
	a->doc = dup_text(&a->job, text);
	d->doc = dup_text(&d->job, text);
	c->texts = dup_text(&c->job, n % 5 == 4 ? "" : text);
	u->job.kind = JOB_AUDIT;
	u->at_ms = begin_ms + n;
	u->who = u->role = u->from = u->action = u->target = dup_text(&u->job, "x'\\");
	u->detail = dup_text(&u->job, text);
	u->status = 200 + (int)n;
	archive_put(s, &a->job);
	archive_put(s, &d->job);
	archive_put(s, &c->job);
	wait_for(s, &u->job, 0);
}

static void write_half(struct archive *s, unsigned half)
{
	for (unsigned slot = half * SLOTS / 2; slot < (half + 1) * SLOTS / 2; slot++)
		for (unsigned process = 0; process < 5; process++)
			if ((slot + process) % 9)
				put_figures(s, slot, process, 0, chain);
	for (unsigned n = half * TRACES / 2; n < (half + 1) * TRACES / 2; n++)
		put_trace(s, n);
	for (unsigned n = half * 10; n < half * 10 + 10; n++)
		put_papers(s, n);
}

static void rest_of_line(const char *what)
{
	char line[100];

	puts(what);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("nobody goes on");
}

static void wait_for_spool(struct archive *s)
{
	struct archive_state state = { .spooled = 1 };

	for (unsigned i = 0; i < 600 && state.spooled; i++) {
		usleep(100000);
		archive_state(s, &state);
	}
	if (state.spooled)
		die("the spool does not become empty");
}

static void write_all(struct archive *s)
{
	write_half(s, 0);
	put_plan(s, "shop", 1, 0, "");
	put_plan(s, "shop", 2, 0, "");
	put_plan(s, "o'ther\\app", 1, 0, "");
	put_plan(s, "shop", 2, E_DUPLICATE, "host-1");
	/* what builds upon it fails too, until somebody has read what is there */
	put_figures(s, 0, 1, E_IO, 1);
	put_figures(s, 0, 1, 0, 2);
	chain = 2;
	rest_of_line("first half");
	write_half(s, 1);
	rest_of_line("second half");
	wait_for_spool(s);
	put_plan(s, "shop", 3, 0, "");
}

/* ---- what is read ---- */

static uint64_t hash(struct slice s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ s.p[i]) * 0x100000001b3u;
	return h;
}

static void on_base(void *ctx, const struct archive_base *b)
{
	(void)ctx;
	printf("base %u %.*s %llu %llu %llu %.*s\n", b->id, SLICE_FMT(b->method),
	       (unsigned long long)b->sums[0], (unsigned long long)b->sums[SUMS - 1],
	       (unsigned long long)b->max_ns, SLICE_FMT(b->raw));
}

static void on_figure(void *ctx, const struct archive_figure *f)
{
	printf("figure %s %.*s %llu", (const char *)ctx, SLICE_FMT(f->method),
	       (unsigned long long)(f->slot_ms - begin_ms));
	for (unsigned k = 0; k < SUMS; k++)
		printf(" %llu", (unsigned long long)f->sums[k]);
	printf(" %llu %llu %016llx\n", (unsigned long long)f->max_ns,
	       (unsigned long long)f->active_peak, (unsigned long long)hash(f->spread));
}

static uint64_t last_id, last_ms;

static void on_trace(void *ctx, const struct archive_trace *t)
{
	const char *what = ctx;

	printf("trace %s %.*s %.*s %.*s %.*s %llu %llu %u %u %u %016llx\n", what, SLICE_FMT(t->app),
	       SLICE_FMT(t->instance), SLICE_FMT(t->root), SLICE_FMT(t->thread),
	       (unsigned long long)(t->when_ms - begin_ms), (unsigned long long)t->elapsed_ns,
	       t->flags, t->calls, t->parts, (unsigned long long)hash(t->data));
	last_id = t->id;
	last_ms = t->when_ms;
}

static void read_traces(struct archive *s, const char *what, struct archive_filter f)
{
	f.from_ms = f.from_ms ? f.from_ms : begin_ms;
	f.to_ms = begin_ms + 10000000;
	f.max_ns = f.max_ns ? f.max_ns : UINT64_MAX;
	f.limit = f.limit ? f.limit : 1000;
	if (archive_traces(s, &f, on_trace, (void *)(uintptr_t)what) < 0)
		die(what);
}

static void read_blob(struct archive *s)
{
	struct buf blob = { 0 };

	if (archive_trace(s, last_id, &blob, on_trace, (void *)(uintptr_t) "one") < 0)
		die("one trace");
	printf("blob %zu %016llx\n", blob.n, (unsigned long long)hash(buf_slice(&blob)));
	printf("unknown %d\n",
	       archive_trace(s, last_id + 12345678, &blob, on_trace, NULL) == E_NOT_FOUND);
	buf_release(&blob);
}

static void on_plan(void *ctx, const struct archive_plan *p)
{
	(void)ctx;
	printf("plan %.*s %llu %llu %.*s %.*s %.*s\n", SLICE_FMT(p->app),
	       (unsigned long long)p->version, (unsigned long long)(p->changed_ms - begin_ms),
	       SLICE_FMT(p->by), SLICE_FMT(p->comment), SLICE_FMT(p->doc));
}

static void on_text(void *ctx, struct slice text)
{
	printf("%s %.*s", (const char *)ctx, SLICE_FMT(text));
}

static void on_carried(void *ctx, struct slice instance, struct slice texts)
{
	(void)ctx;
	printf("carried %.*s %.*s", SLICE_FMT(instance), SLICE_FMT(texts));
}

static void on_audit(void *ctx, const struct job_audit *a)
{
	(void)ctx;
	printf("audit %llu %.*s %d %.*s", (unsigned long long)(a->at_ms - begin_ms),
	       SLICE_FMT(a->who), a->status, SLICE_FMT(a->detail));
}

static void read_figures(struct archive *s)
{
	static const char *const levels[] = { "10s", "1m", "10m" };

	for (unsigned level = 0; level < ARCHIVE_LEVELS; level++) {
		struct archive_span span = { .app = slice_str("shop"),
					     .from_ms = begin_ms + 123456,
					     .to_ms = begin_ms + 1000001,
					     .level = level };
		void *ctx = (void *)(uintptr_t)levels[level];

		archive_figures(s, &span, on_figure, ctx);
		span.app = slice_str("o'ther\\app");
		span.instance = slice_str("host-4");
		span.method = slice_str("a.B2.run'\\(Ljava/lang/String;)V");
		if (archive_figures(s, &span, on_figure, ctx) < 0)
			die("figures");
	}
	for (unsigned i = 0; i < 5; i++) {
		char text[20];

		snprintf(text, sizeof(text), "host-%u", i);
		if (archive_bases(s, slice_str(text), on_base, NULL) < 0)
			die("bases");
	}
}

static void read_all(struct archive *s)
{
	struct slice gift[2] = { slice_str("kind"), slice_str("GI'FT") };
	struct slice customer[2] = { slice_str("customer"), slice_str("c3") };
	struct archive_filter two = { .n_data = 2 };

	memcpy(two.data[0], gift, sizeof(gift));
	memcpy(two.data[1], customer, sizeof(customer));
	read_figures(s);
	read_traces(s, "all", (struct archive_filter){ 0 });
	read_traces(s, "app", (struct archive_filter){ .app = slice_str("o'ther\\app") });
	read_traces(s, "slow", (struct archive_filter){ .min_ns = 900000, .flags = 1 });
	read_traces(s, "root",
		    (struct archive_filter){ .root = slice_str("save"),
					     .instance = slice_str("host-1") });
	read_traces(s, "text", (struct archive_filter){ .q = slice_str("GI'F") });
	read_traces(s, "data", two);
	read_traces(s, "page", (struct archive_filter){ .limit = 7 });
	read_traces(
		s, "next",
		(struct archive_filter){ .limit = 7, .before_ms = last_ms, .before_id = last_id });
	read_blob(s);
	archive_plans(s, slice_str("shop"), 0, 100, on_plan, NULL);
	archive_plans(s, slice_str("shop"), 2, 100, on_plan, NULL);
	archive_plans(s, slice_str(""), 0, 100, on_plan, NULL);
	archive_digs(s, slice_str("shop"), 3, on_text, (void *)(uintptr_t) "dig");
	archive_dig(s, slice_str("id-4"), on_text, (void *)(uintptr_t) "one dig");
	archive_alerts(s, &(struct archive_alerts){ .limit = 100 }, on_text,
		       (void *)(uintptr_t) "alert");
	archive_alerts(s, &(struct archive_alerts){ .open = true, .limit = 2 }, on_text,
		       (void *)(uintptr_t) "open");
	archive_alerts(s, &(struct archive_alerts){ .id = slice_str("id-2"), .limit = 1 }, on_text,
		       (void *)(uintptr_t) "by id");
	archive_carried(s, on_carried, NULL);
	archive_audit(s, 15, on_audit, NULL);
}

/* ---- two managers ---- */

enum { RACES = 6 };

static pthread_barrier_t ready;

struct racer {
	struct archive *s;
	const char *name;
	bool won[RACES + 1];
};

static void *race_one(void *ctx)
{
	struct racer *r = ctx;

	for (uint64_t v = 1; v <= RACES; v++) {
		struct job_plan *j = archive_job(sizeof(*j));

		j->job.kind = JOB_PLAN;
		j->app = dup_text(&j->job, "contested");
		j->by = j->comment = dup_text(&j->job, "");
		j->doc = dup_text(&j->job, r->name);
		j->version = v;
		pthread_barrier_wait(&ready);
		r->won[v] = archive_put_wait(r->s, &j->job) >= 0;
	}
	return NULL;
}

static void see_winner(void *ctx, const struct archive_plan *p)
{
	struct racer *all = ctx;

	for (unsigned i = 0; i < 2; i++)
		if (all[i].won[p->version] && !slice_is(p->doc, all[i].name))
			die("the winner's version is not the one that is stored");
	printf("version %llu %.*s\n", (unsigned long long)p->version, SLICE_FMT(p->doc));
}

static void race(const char *where, const char *spool, const struct archive_limits *limits)
{
	struct racer all[2] = { { .name = "first" }, { .name = "second" } };
	pthread_t threads[2];
	unsigned won = 0;

	pthread_barrier_init(&ready, NULL, 2);
	for (unsigned i = 0; i < 2; i++) {
		char own[4096];

		snprintf(own, sizeof(own), "%s-%s", spool, all[i].name);
		if (archive_open(&all[i].s, where, own, limits) < 0 ||
		    pthread_create(&threads[i], NULL, race_one, &all[i]) != 0)
			die("race");
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned v = 1; v <= RACES; v++) {
		if (all[0].won[v] && all[1].won[v])
			die("both were told that they had written a version");
		won += all[0].won[v] || all[1].won[v];
	}
	archive_plans(all[0].s, slice_str("contested"), 0, 100, see_winner, all);
	printf("won %u\n", won);
	for (unsigned i = 0; i < 2; i++)
		archive_close(all[i].s);
}

/* ---- what is too old ---- */

enum { OLD = 40000, YOUNG = 10, SWEEP_S = 30 };

static void put_aged(struct archive *s)
{
	for (unsigned n = 0; n < OLD + YOUNG; n++) {
		struct job_trace *j = archive_job(sizeof(*j));

		j->job.kind = JOB_TRACE;
		j->t.app = j->t.instance = j->t.root = j->t.thread = dup_text(&j->job, "x");
		j->t.data =
			arena_dup(&j->job.mem, (struct slice){ (const uint8_t *)"a\0b\0c\0d", 8 });
		j->t.blob = dup_text(&j->job, "blob");
		j->t.when_ms = n < OLD ? begin_ms - 40ull * 86400000 + n : begin_ms + n;
		archive_put(s, &j->job);
	}
}

static void count_trace(void *ctx, const struct archive_trace *t)
{
	(void)t;
	++*(unsigned *)ctx;
}

static void see_sweep(struct archive *s)
{
	struct archive_filter f = { .to_ms = INT64_MAX,
				    .max_ns = UINT64_MAX,
				    .limit = OLD + YOUNG };
	unsigned n = 0;

	for (unsigned i = 0; i < SWEEP_S * 10; i++) {
		n = 0;
		archive_traces(s, &f, count_trace, &n);
		if (n <= YOUNG)
			break;
		usleep(100000);
	}
	printf("left %u\n", n);
}

int main(int argc, char **argv)
{
	struct archive_limits limits = { 30, 1ull << 30 };
	struct archive *s = NULL;

	if (argc != 5)
		die("WHERE SPOOL BEGIN_MS write|read|race|age|sweep");
	begin_ms = strtoull(argv[3], NULL, 10);
	if (strcmp(argv[4], "race") == 0) {
		race(argv[1], argv[2], &limits);
		return 0;
	}
	if (archive_open(&s, argv[1], argv[2], &limits) < 0)
		return 3;
	if (strcmp(argv[4], "write") == 0)
		write_all(s);
	else if (strcmp(argv[4], "age") == 0)
		put_aged(s);
	else if (strcmp(argv[4], "sweep") == 0)
		see_sweep(s);
	else
		read_all(s);
	archive_close(s);
	return 0;
}
