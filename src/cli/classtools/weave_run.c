/* SPDX-License-Identifier: Apache-2.0 */
/* weave_run.c - the threads of a weaving. */
#include "cli/classtools/weave_run.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "classfile/check/check.h"
#include "cli/classtools/outdir.h"
#include "cli/screen/progress.h"

struct weave_worker {
	pthread_t thread;
	struct weave_run *run;
	struct arena mem, work;	    /* of the class at hand */
	struct arena check, before; /* the woven class and the original one, read again */
	struct arena keep;	    /* findings */
	struct buf out;
	struct weave_counts n;
	uint64_t *by_rule;
	struct fault failed;
	const struct set_class *src;
	struct weave_finding **tail; /* where the next finding of this class goes */
};

/* ---- what is told ---- */

static bool tell(struct weave_worker *w, enum finding_kind kind, const struct class *cls,
		 const struct member *m, const struct fault *f)
{
	struct weave_finding *find = arena_zero(&w->keep, sizeof(*find));
	struct slice name, desc;
	uint8_t *text;

	if (!find)
		return false;
	find->kind = kind;
	find->fault = *f;
	if (m) {
		name = member_name(cls, m);
		desc = member_desc(cls, m);
		text = arena_alloc(&w->keep, name.n + desc.n);
		if (!text)
			return false;
		memcpy(text, name.p, name.n);
		memcpy(text + name.n, desc.p, desc.n);
		find->method = (struct slice){ text, name.n + desc.n };
		find->id = w->src->first_id + (int32_t)(m - cls->methods);
	}
	*w->tail = find;
	w->tail = &find->next;
	return true;
}

static bool tell_outcome(struct weave_worker *w, const struct class *cls,
			 const struct weave_outcome *o)
{
	const struct member *m = &cls->methods[o->method];
	struct fault f = { 0 };

	w->by_rule[o->rule->index]++;
	if (o->rc >= 0) {
		fault_set(&f, 0, -1, "%.*s", SLICE_FMT(o->template->name));
		return !w->run->tell_woven || tell(w, FIND_WOVEN, cls, m, &f);
	}
	w->n.left[ERR_FLOOR - o->rc]++;
	fault_set(&f, o->rc, -1, "%s", o->why && *o->why ? o->why : err_text(o->rc));
	return !w->run->tell_left || tell(w, FIND_LEFT, cls, m, &f);
}

/* ---- our own checker ---- */

static int check_method(struct class *cls, uint32_t i, struct fault *f)
{
	struct code *code;
	int rc = code_elevate(cls, &cls->methods[i], &code, f);

	return rc < 0 ? rc : code_check(code, f);
}

/* The original, to see whether it was any better; NULL: it cannot be read or memory is out. */
static struct class *original(struct weave_worker *w, struct class **cls)
{
	if (*cls)
		return *cls;
	arena_reset(&w->before);
	if (class_read(&w->before, w->src->bytes, cls, NULL) < 0)
		*cls = NULL;
	return *cls;
}

static bool check_methods(struct weave_worker *w, struct class *woven, struct class **before)
{
	for (uint32_t i = 0; i < woven->n_methods; i++) {
		struct fault f = { 0 };
		int rc = 0;

		if (!woven->methods[i].code.p)
			continue;
		w->n.checked++;
		rc = check_method(woven, i, &f);
		if (rc == E_NO_MEMORY)
			return false;
		if (rc >= 0 || (original(w, before) && check_method(*before, i, NULL) < 0))
			continue;
		w->n.disagreements++;
		if (!tell(w, FIND_CHECK, woven, &woven->methods[i], &f))
			return false;
	}
	return true;
}

/* What the checker says of the woven class, unless it says the same of the original. */
static bool check(struct weave_worker *w)
{
	struct class *woven, *before = NULL;
	struct fault f = { 0 };
	bool good;
	int rc;

	arena_reset(&w->check);
	rc = class_read(&w->check, buf_slice(&w->out), &woven, &f);
	if (rc < 0) {
		w->n.disagreements++;
		return tell(w, FIND_CHECK, NULL, NULL, &f);
	}
	rc = class_check(woven, &f);
	if (rc < 0 && (!original(w, &before) || class_check(before, NULL) >= 0)) {
		w->n.disagreements++;
		good = tell(w, FIND_CHECK, NULL, NULL, &f);
	} else {
		good = check_methods(w, woven, &before);
	}
	class_release(woven);
	if (before)
		class_release(before);
	return good;
}

/* ---- one class ---- */

static int weave_one(struct weave_worker *w)
{
	const struct weave_run *run = w->run;
	struct weave_job job = { .mem = &w->mem,
				 .work = &w->work,
				 .resolver = &run->set->resolver,
				 .first_id = w->src->first_id,
				 .ahead = true };
	struct fault f = { 0 };
	uint64_t start = clock_steady_ns();
	bool good = true;
	int rc;

	arena_reset(&w->mem);
	buf_clear(&w->out);
	rc = weave_class(run->weaver, &job, w->src->bytes, &w->out, &f);
	w->n.ns += clock_steady_ns() - start;
	w->n.classes++;
	w->n.methods += w->src->n_methods;
	for (uint32_t i = 0; rc >= 0 && good && i < job.n_outcomes; i++)
		good = tell_outcome(w, job.cls, &job.outcomes[i]);
	if (rc < 0 && rc != E_NO_MEMORY) {
		w->n.refused[ERR_FLOOR - rc]++;
		fault_set(&f, rc, -1, "%s", err_text(rc));
		buf_clear(&w->out);
		good = tell(w, FIND_REFUSED, NULL, NULL, &f);
	}
	if (rc >= 0 && job.n_woven) {
		w->n.classes_woven++;
		w->n.methods_woven += job.n_woven;
		w->n.bytes += w->src->bytes.n;
		w->n.bytes_woven += w->out.n;
	}
	w->n.classes_untouched += rc >= 0 && !job.n_woven;
	if (job.cls)
		class_release(job.cls);
	if (good && run->check && w->out.n)
		good = check(w);
	return good && rc != E_NO_MEMORY ? 0 : fault_no_memory(&w->failed);
}

/* ---- into the cache ---- */

static bool count_recipe(struct weave_worker *w, const struct cache_look *look)
{
	struct recipe r = { 0 };
	struct recipe_method m;
	uint64_t woven = 0;
	bool good = true;

	if (!look->nothing && recipe_get(buf_slice(&look->kept), &r) < 0)
		return true;
	if (r.rc < 0) {
		struct fault f = { 0 };

		fault_set(&f, r.rc, -1, "%.*s", SLICE_FMT(r.why));
		w->n.refused[ERR_FLOOR - r.rc]++;
		return tell(w, FIND_REFUSED, NULL, NULL, &f);
	}
	for (size_t at = 0; good && recipe_next(&r, &at, &m);) {
		woven += m.rc >= 0;
		if (m.rule < look->n_touching)
			w->by_rule[look->touching[m.rule]->index]++;
		if (m.rc < 0)
			w->n.left[ERR_FLOOR - m.rc]++;
	}
	w->n.methods_woven += woven;
	w->n.classes_woven += woven != 0;
	w->n.classes_untouched += woven == 0;
	if (woven) {
		w->n.bytes += r.original;
		w->n.bytes_woven += r.woven.n;
	}
	return good;
}

/* As the agent will ask: first with what a class says of itself; then, where ancestors are asked
 * for, with all that are known. */
static int cache_one(struct weave_worker *w)
{
	const struct weave_run *run = w->run;
	struct cache_query q = { .rules = &run->cache->rules,
				 .bytes = w->src->bytes,
				 .mem = &w->mem };
	uint64_t start = clock_steady_ns();
	int rc = 0;

	arena_reset(&w->mem);
	w->n.classes++;
	w->n.methods += w->src->n_methods;
	if (!weave_cache_wants(run->cache, &w->src->facts))
		return 0;
	for (int pass = !run->cache->rules.wants_kin; pass < 2 && rc >= 0; pass++) {
		struct cache_look look = { 0 };

		q.resolver = pass && run->cache->rules.wants_kin ? &run->set->resolver : NULL;
		rc = weave_cache_one(run->cache, &q, &w->work, &look);
		if (rc >= 0 && pass && !count_recipe(w, &look))
			rc = E_NO_MEMORY;
		buf_release(&look.kept);
	}
	w->n.ns += clock_steady_ns() - start;
	if (rc >= 0)
		return 0;
	if (rc == E_NO_MEMORY || rc == E_IO || rc == E_LIMIT)
		return fault_set(&w->failed, rc, -1, "%s: %s", run->cache->dir, err_text(rc));
	w->n.refused[ERR_FLOOR - rc]++; /* a class that cannot be read */
	return tell(w, FIND_REFUSED, NULL, NULL,
		    &(struct fault){ .code = rc, .at = -1, .text = "cannot be read" })
		       ? 0
		       : fault_no_memory(&w->failed);
}

static int write_one(struct weave_worker *w)
{
	const struct weave_run *run = w->run;
	struct slice bytes = w->out.n ? buf_slice(&w->out) : w->src->bytes;

	if (!run->out_dir || (run->only_woven && !w->out.n))
		return 0;
	return outdir_write(run->out_dir, w->src->group, w->src->name, bytes, &w->failed);
}

static void work(struct weave_worker *w, struct progress *progress)
{
	struct weave_run *run = w->run;
	size_t i, n = run->set->n;

	while (!__atomic_load_n(&run->stop, __ATOMIC_RELAXED) &&
	       (i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED)) < n) {
		w->src = &run->set->v[i];
		w->tail = &run->findings[i];
		if (run->cache ? cache_one(w) < 0 : weave_one(w) < 0 || write_one(w) < 0)
			__atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
		if (progress)
			progress_step(progress, (double)i / (double)n, i);
	}
}

static void *thread_main(void *arg)
{
	work(arg, NULL);
	return NULL;
}

/* ---- all of them ---- */

_Static_assert(sizeof(struct weave_counts) % sizeof(uint64_t) == 0, "counts are all alike");

static void add_counts(struct weave_run *r, const struct weave_worker *w)
{
	const uint64_t *from = (const uint64_t *)&w->n;
	uint64_t *to = (uint64_t *)&r->n;

	for (size_t i = 0; i < sizeof(w->n) / sizeof(*from); i++)
		to[i] += from[i];
	for (size_t i = 0; i < r->weaver->rules->n; i++)
		r->by_rule[i] += w->by_rule[i];
	if (w->failed.code < 0 && !r->failed.code)
		r->failed = w->failed;
}

static void *zeroes(size_t n, size_t size)
{
	void *p = mem_alloc(n * size + 1);

	return p ? memset(p, 0, n * size) : NULL;
}

static bool prepare(struct weave_run *r)
{
	size_t rules = r->weaver->rules->n;
	bool good;

	r->by_rule = zeroes(rules, sizeof(*r->by_rule));
	r->findings = zeroes(r->set->n, sizeof(struct weave_finding *));
	r->workers = zeroes(r->jobs, sizeof(*r->workers));
	good = r->by_rule && r->findings && r->workers;
	for (unsigned i = 0; good && i < r->jobs; i++) {
		r->workers[i].run = r;
		r->workers[i].by_rule = zeroes(rules, sizeof(*r->by_rule));
		good = r->workers[i].by_rule != NULL;
	}
	return good;
}

int weave_run(struct weave_run *r)
{
	struct progress progress;
	unsigned started = 1; /* this thread is the first worker */

	if (!prepare(r))
		return fault_no_memory(&r->failed);
	for (; started < r->jobs; started++)
		if (pthread_create(&r->workers[started].thread, NULL, thread_main,
				   &r->workers[started]) != 0)
			break; /* then with fewer */
	progress_start(&progress, "weave");
	work(&r->workers[0], &progress);
	for (unsigned i = 1; i < started; i++)
		pthread_join(r->workers[i].thread, NULL);
	progress_clear(&progress);
	r->jobs = started;
	for (unsigned i = 0; i < started; i++)
		add_counts(r, &r->workers[i]);
	return r->failed.code;
}

void weave_run_release(struct weave_run *r)
{
	for (unsigned i = 0; r->workers && i < r->jobs; i++) {
		struct weave_worker *w = &r->workers[i];

		arena_release(&w->mem);
		arena_release(&w->work);
		arena_release(&w->check);
		arena_release(&w->before);
		arena_release(&w->keep);
		buf_release(&w->out);
		mem_free(w->by_rule);
	}
	mem_free(r->workers);
	mem_free(r->by_rule);
	mem_free(r->findings);
}
