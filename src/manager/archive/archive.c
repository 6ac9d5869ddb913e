/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c - opens the store, and its writer: a queue, and one commit for all that is in it. */
#include "manager/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "manager/log.h"
#include "manager/archive/archive_priv.h"

enum { BEHIND = 20000, SWEEP_MS = 60000, GATHER_MS = 50, BUSY_MS = 10000 };

const unsigned archive_step_ms[ARCHIVE_LEVELS] = { 10000, 60000, 600000 };

uint64_t archive_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
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

static bool execute(struct archive *s, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(s->db, sql, NULL, NULL, &why) == SQLITE_OK)
		return true;
	log_put(LOG_ERROR, "%s: %s: %s", s->path, sql, why ? why : "");
	sqlite3_free(why);
	return false;
}

static void finish(struct archive *s, struct archive_job *job, int rc)
{
	struct waiting *w = job->owner;

	if (w)
		*w = (struct waiting){ true, rc };
	s->queued--;
	archive_job_drop(job);
}

/* Numbers that were given to names in what is rolled back are not in the store. */
static void forget_ids(struct archive *s)
{
	for (unsigned i = 0; i < COUNT(s->ids); i++)
		map_release(&s->ids[i]);
	arena_release(&s->names);
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

/* Each job alone can fail without taking the others along. */
static int run_one(struct archive *s, struct archive_job *job)
{
	int rc;

	if (is_torn(s, job) || !execute(s, "SAVEPOINT job"))
		return E_IO;
	rc = job->run(s, job);
	if (sqlite3_get_autocommit(s->db)) /* a full disk: SQLite has rolled back everything */
		return E_IO;
	if (rc < 0) {
		execute(s, "ROLLBACK TO job");
		forget_ids(s);
	}
	return execute(s, "RELEASE job") ? rc : E_IO;
}

static void run_all(struct archive *s, struct archive_job *jobs)
{
	bool good = execute(s, "BEGIN IMMEDIATE");
	struct archive_job *next;
	uint64_t failed = 0, n = 0;

	for (struct archive_job *job = jobs; job; job = job->next) {
		int rc = good ? run_one(s, job) : E_IO;

		if (rc < 0)
			tear(s, job);
		good = good && !sqlite3_get_autocommit(s->db);
		n++;
		failed += rc < 0;
		if (job->owner)
			((struct waiting *)job->owner)->rc = rc;
	}
	good = good && execute(s, "COMMIT");
	if (!good && !sqlite3_get_autocommit(s->db))
		execute(s, "ROLLBACK");
	if (!good)
		forget_ids(s);
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

static struct archive_job *take_all(struct archive *s)
{
	struct archive_job *jobs;
	struct timespec until;

	pthread_mutex_lock(&s->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	if (!s->first && !s->ends)
		pthread_cond_timedwait(&s->work, &s->lock, &until);
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
	bool ends = false;

	while (!ends) {
		struct archive_job *jobs;

		ends = __atomic_load_n(&s->ends, __ATOMIC_ACQUIRE);
		jobs = take_all(s);
		if (jobs) {
			run_all(s, jobs);
			if (!ends && !someone_waits(s))
				usleep(GATHER_MS * 1000);
		}
		if (archive_now_ms() - s->swept_ms > SWEEP_MS) {
			archive_sweep(s);
			s->swept_ms = archive_now_ms();
		}
	}
	return NULL;
}

/* ---- readers ---- */

static sqlite3 *open_reader(struct archive *s)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(s->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		sqlite3_close(db);
		return NULL;
	}
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_exec(db, "PRAGMA mmap_size=268435456; PRAGMA cache_size=-16384", NULL, NULL, NULL);
	return db;
}

sqlite3 *archive_reader(struct archive *s)
{
	sqlite3 *db = NULL;

	pthread_mutex_lock(&s->reading);
	while (!db) {
		for (unsigned i = 0; i < READERS && !db; i++) {
			if (s->busy[i])
				continue;
			if (!s->readers[i])
				s->readers[i] = open_reader(s);
			db = s->readers[i];
			s->busy[i] = db != NULL;
			if (!db)
				goto out;
		}
		if (!db)
			pthread_cond_wait(&s->free, &s->reading);
	}
out:
	pthread_mutex_unlock(&s->reading);
	return db;
}

void archive_reader_back(struct archive *s, sqlite3 *db)
{
	pthread_mutex_lock(&s->reading);
	for (unsigned i = 0; i < READERS; i++)
		if (s->readers[i] == db)
			s->busy[i] = false;
	pthread_cond_signal(&s->free);
	pthread_mutex_unlock(&s->reading);
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
static int lock_dir(struct archive *s, const char *dir)
{
	s->lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	log_put(LOG_ERROR, "%s: %s", dir,
		errno == EWOULDBLOCK ? "another sonded uses this store" : strerror(errno));
	return E_IO;
}

static int open_file(struct archive *s, const char *dir)
{
	mode_t old = umask(077); /* arguments and names of customers are in it */
	int rc;

	snprintf(s->path, sizeof(s->path), "%.4000s/sonde.db", dir);
	rc = sqlite3_open_v2(s->path, &s->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			     NULL);
	umask(old);
	if (rc != SQLITE_OK) {
		log_put(LOG_ERROR, "%s: %s", s->path, sqlite3_errmsg(s->db));
		return E_IO;
	}
	sqlite3_busy_timeout(s->db, BUSY_MS);
	return archive_prepare(s);
}

static void init(struct archive *s, const struct archive_limits *limits)
{
	s->limits = *limits;
	s->lock_fd = -1;
	s->is_well = true;
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->reading, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->done, NULL);
	pthread_cond_init(&s->free, NULL);
}

int archive_open(struct archive **out, const char *dir, const struct archive_limits *limits)
{
	struct archive *s = mem_alloc(sizeof(*s));
	int rc;

	if (!s)
		return E_NO_MEMORY;
	*s = (struct archive){ 0 };
	init(s, limits);
	rc = make_dirs(dir) ? lock_dir(s, dir) : E_IO;
	if (rc < 0 && s->lock_fd < 0)
		log_put(LOG_ERROR, "%s: cannot be made: %s", dir, strerror(errno));
	if (rc >= 0)
		rc = open_file(s, dir);
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
	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->st[i]);
	for (unsigned i = 0; i < READERS; i++)
		sqlite3_close(s->readers[i]);
	sqlite3_close(s->db);
	forget_ids(s);
	map_release(&s->torn);
	arena_release(&s->torn_names);
	buf_release(&s->packed);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	mem_free(s);
}

void archive_state(struct archive *s, struct archive_state *out)
{
	struct stat st;

	pthread_mutex_lock(&s->lock);
	*out = (struct archive_state){ .queued = s->queued,
				       .written = s->written,
				       .failed = s->failed,
				       .is_well = s->is_well };
	pthread_mutex_unlock(&s->lock);
	if (stat(s->path, &st) == 0)
		out->bytes = (uint64_t)st.st_size;
}
