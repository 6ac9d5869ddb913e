/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c - the writer: a queue, and one commit for all that is in it. */
#include "manager/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/log.h"
#include "manager/wait.h"
#include "base/map.h"
#include "manager/archive/archive_priv.h"

enum { BEHIND = 20000, SWEEP_MS = 60000, GATHER_MS = 50 };

struct archive {
	const struct archive_engine *engine;
	void *back;
	pthread_t writer;
	struct press *press;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct archive_job *first, **last;
	size_t queued;
	uint64_t written, failed;
	uint64_t swept_ms;
	bool ends, is_well;
	struct map torn; /* of the writer: name of a chain -> its number */
	struct arena torn_names;
};

const unsigned archive_step_ms[ARCHIVE_LEVELS] = { 10000, 60000, 600000 };

bool archive_pair(struct slice *data, struct slice pair[2])
{
	for (unsigned i = 0; i < 2; i++) {
		const uint8_t *end = data->n ? memchr(data->p, 0, data->n) : NULL;

		if (!end)
			return false;
		pair[i] = (struct slice){ data->p, (size_t)(end - data->p) };
		*data = (struct slice){ end + 1, data->n - pair[i].n - 1 };
	}
	return true;
}

/* ---- the queue ---- */

/* Of those that wait for a job. */
struct waiting {
	bool done;
	int rc;
};

void *archive_job(size_t size)
{
	struct arena mem;
	struct archive_job *job;

	arena_init(&mem);
	job = arena_zero(&mem, size);
	if (!job)
		return NULL;
	job->mem = mem;
	return job;
}

void archive_job_drop(struct archive_job *job)
{
	struct arena mem = job->mem;

	arena_release(&mem);
}

static void enqueue(struct archive *s, struct archive_job *job)
{
	job->next = NULL;
	*s->last = job;
	s->last = &job->next;
	s->queued++;
	pthread_cond_signal(&s->work);
}

void archive_put(struct archive *s, struct archive_job *job)
{
	pthread_mutex_lock(&s->lock);
	enqueue(s, job);
	pthread_mutex_unlock(&s->lock);
}

int archive_put_wait(struct archive *s, struct archive_job *job)
{
	struct waiting w = { false, 0 };

	job->owner = &w;
	pthread_mutex_lock(&s->lock);
	enqueue(s, job);
	while (!w.done)
		pthread_cond_wait(&s->done, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return w.rc;
}

bool archive_is_behind(const struct archive *s)
{
	return __atomic_load_n(&s->queued, __ATOMIC_RELAXED) > BEHIND;
}

/* ---- the writer ---- */

static void finish(struct archive *s, struct archive_job *job, int rc)
{
	struct waiting *w = job->owner;

	if (w)
		*w = (struct waiting){ true, rc };
	s->queued--;
	archive_job_drop(job);
}

static bool is_torn(struct archive *s, const struct archive_job *job)
{
	uintptr_t *at = job->chained_to.n ? map_get(&s->torn, job->chained_to) : NULL;

	return at && job->chain <= *at;
}

static void tear(struct archive *s, const struct archive_job *job)
{
	uintptr_t *at = job->chained_to.n ? map_get(&s->torn, job->chained_to) : NULL;
	struct slice key;

	if (job->chained_to.n && !at) {
		key = arena_dup(&s->torn_names, job->chained_to);
		at = key.p ? map_put(&s->torn, key, NULL) : NULL;
	}
	if (at && *at < job->chain)
		*at = (uintptr_t)job->chain;
}

static int run_one(struct archive *s, struct archive_job *job)
{
	int rc = is_torn(s, job) ? E_IO : 0;

	if (rc >= 0 && job->kind == JOB_TRACE)
		rc = press_need(s->press, &((struct job_trace *)job)->press);
	return rc < 0 ? rc : s->engine->run(s->back, job);
}

static struct press_item *list_blobs(struct archive_job *jobs)
{
	struct press_item *first = NULL, **last = &first;

	for (struct archive_job *job = jobs; job; job = job->next) {
		struct job_trace *t = (struct job_trace *)job;

		if (job->kind != JOB_TRACE)
			continue;
		t->press = (struct press_item){ .from = t->t.blob, .mem = &job->mem };
		*last = &t->press;
		last = &t->press.next;
	}
	return first;
}

static void run_all(struct archive *s, struct archive_job *jobs)
{
	bool good = s->engine->begin(s->back);
	struct archive_job *next;
	uint64_t failed = 0, n = 0;

	press_begin(s->press, list_blobs(jobs));
	for (struct archive_job *job = jobs; job; job = job->next) {
		int rc = good ? run_one(s, job) : E_IO;

		if (rc < 0)
			tear(s, job);
		good = good && !s->engine->is_lost(s->back);
		n++;
		failed += rc < 0;
		if (job->owner)
			((struct waiting *)job->owner)->rc = rc;
	}
	press_end(s->press);
	good = good && s->engine->commit(s->back);
	if (!good)
		s->engine->rollback(s->back);
	for (struct archive_job *job = jobs; job && !good; job = job->next)
		tear(s, job);
	pthread_mutex_lock(&s->lock);
	for (; jobs; jobs = next) {
		struct waiting *w = jobs->owner;

		next = jobs->next;
		finish(s, jobs, !good ? E_IO : w ? w->rc : 0);
	}
	s->is_well = good;
	s->written += good ? n - failed : 0;
	s->failed += good ? failed : n;
	pthread_cond_broadcast(&s->done);
	pthread_mutex_unlock(&s->lock);
}

static struct archive_job *take_all(struct archive *s, bool waits)
{
	struct archive_job *jobs;

	pthread_mutex_lock(&s->lock);
	if (!s->first && !s->ends && waits)
		wait_ms(&s->work, &s->lock, 1000);
	jobs = s->first;
	s->first = NULL;
	s->last = &s->first;
	pthread_mutex_unlock(&s->lock);
	return jobs;
}

static bool someone_waits(struct archive *s)
{
	const struct archive_job *job;

	pthread_mutex_lock(&s->lock);
	for (job = s->first; job && !job->owner;)
		job = job->next;
	pthread_mutex_unlock(&s->lock);
	return job != NULL;
}

static void *write_all(void *arg)
{
	struct archive *s = arg;
	bool ends = false, sweeps = false;

	while (!ends) {
		struct archive_job *jobs;

		ends = __atomic_load_n(&s->ends, __ATOMIC_ACQUIRE);
		jobs = take_all(s, !sweeps);
		if (jobs) {
			run_all(s, jobs);
			if (!ends && !someone_waits(s))
				usleep(GATHER_MS * 1000);
		}
		if (s->engine->tick)
			s->engine->tick(s->back);
		if (sweeps || clock_day_ms() - s->swept_ms > SWEEP_MS) {
			sweeps = s->engine->sweep(s->back) && !ends;
			s->swept_ms = clock_day_ms();
		}
	}
	return NULL;
}

/* ---- open and close ---- */

static bool make_dirs(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Two managers with one store would both collect the same. */
int archive_take_dir(const char *dir, int *fd)
{
	if (!make_dirs(dir)) {
		log_put(LOG_ERROR, "%s: cannot be made: %s", dir, strerror(errno));
		return E_IO;
	}
	*fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	log_put(LOG_ERROR, "%s: %s", dir,
		errno == EWOULDBLOCK ? "another sonded uses this store" : strerror(errno));
	return E_IO;
}

int archive_open(struct archive **out, const char *where, const char *spool,
		 const struct archive_limits *limits)
{
	bool remote = strncmp(where, "clickhouse://", 13) == 0;
	struct archive *s = mem_alloc(sizeof(*s));
	int rc;

	if (!s)
		return E_NO_MEMORY;
	*s = (struct archive){ .is_well = true };
	s->engine = remote ? &clickhouse_engine : &sqlite_engine;
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->done, NULL);
	rc = s->engine->open(&s->back, &(struct archive_place){ where, spool, *limits });
	if (rc >= 0)
		rc = press_start(&s->press);
	if (rc >= 0 && pthread_create(&s->writer, NULL, write_all, s) != 0)
		rc = E_NO_MEMORY;
	if (rc < 0) {
		s->writer = 0;
		archive_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void archive_close(struct archive *s)
{
	if (!s)
		return;
	if (s->writer) {
		pthread_mutex_lock(&s->lock);
		__atomic_store_n(&s->ends, true, __ATOMIC_RELEASE);
		pthread_cond_signal(&s->work);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->writer, NULL);
	}
	press_stop(s->press);
	if (s->back)
		s->engine->close(s->back);
	map_release(&s->torn);
	arena_release(&s->torn_names);
	mem_free(s);
}

bool archive_is_shared(const struct archive *s)
{
	return s->engine->is_away != NULL;
}

void archive_state(struct archive *s, struct archive_state *out)
{
	pthread_mutex_lock(&s->lock);
	*out = (struct archive_state){ .queued = s->queued,
				       .written = s->written,
				       .failed = s->failed,
				       .is_well = s->is_well };
	pthread_mutex_unlock(&s->lock);
	out->bytes = s->engine->bytes(s->back);
	if (!archive_is_shared(s))
		return;
	out->spooled = s->engine->waiting(s->back);
	out->is_away = s->engine->is_away(s->back);
}

/* ---- reading ---- */

int archive_bases(struct archive *s, struct slice instance, archive_on_base *on, void *ctx)
{
	return s->engine->bases(s->back, instance, on, ctx);
}

int archive_figures(struct archive *s, const struct archive_span *span, archive_on_figure *on,
		    void *ctx)
{
	return s->engine->figures(s->back, span, on, ctx);
}

int archive_traces(struct archive *s, const struct archive_filter *f, archive_on_trace *on,
		   void *ctx)
{
	return s->engine->traces(s->back, f, on, ctx);
}

int archive_trace(struct archive *s, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx)
{
	return s->engine->trace(s->back, id, blob, on, ctx);
}

int archive_plans(struct archive *s, struct slice app, uint64_t version, unsigned limit,
		  archive_on_plan *on, void *ctx)
{
	return s->engine->plans(s->back, app, version, limit, on, ctx);
}

int archive_digs(struct archive *s, struct slice app, unsigned limit, archive_on_text *on,
		 void *ctx)
{
	return s->engine->digs(s->back, app, limit, on, ctx);
}

int archive_dig(struct archive *s, struct slice id, archive_on_text *on, void *ctx)
{
	return s->engine->dig(s->back, id, on, ctx);
}

int archive_alerts(struct archive *s, const struct archive_alerts *which, archive_on_text *on,
		   void *ctx)
{
	return s->engine->alerts(s->back, which, on, ctx);
}

int archive_carried(struct archive *s, archive_on_carried *on, void *ctx)
{
	return s->engine->carried(s->back, on, ctx);
}

int archive_audit(struct archive *s, unsigned limit, archive_on_audit *on, void *ctx)
{
	return s->engine->audit(s->back, limit, on, ctx);
}
