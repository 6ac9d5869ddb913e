/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.c - one SQLite file: connections, and a transaction for all jobs that came together. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "manager/log.h"
#include "manager/archive/sqlite_priv.h"

enum { BUSY_MS = 10000 };

/* ---- writing ---- */

static bool execute(struct sqlite *s, const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(s->db, sql, NULL, NULL, &why) == SQLITE_OK)
		return true;
	log_put(LOG_ERROR, "%s: %s: %s", s->path, sql, why ? why : "");
	sqlite3_free(why);
	return false;
}

/* Numbers that were given to names in what is rolled back are not in the store. */
static void forget_ids(struct sqlite *s)
{
	for (unsigned i = 0; i < COUNT(s->ids); i++)
		map_release(&s->ids[i]);
	arena_release(&s->names);
}

static bool begin(void *back)
{
	return execute(back, "BEGIN IMMEDIATE");
}

/* A full disk: SQLite has rolled back everything. */
static bool is_lost(void *back)
{
	struct sqlite *s = back;

	return sqlite3_get_autocommit(s->db);
}

static int run_saved(struct sqlite *s, struct archive_job *job)
{
	int rc;

	if (sqlite_step(s->st[ST_SAVE]) < 0)
		return E_IO;
	rc = sqlite_run(s, job);
	if (is_lost(s))
		return E_IO;
	if (rc < 0) {
		sqlite_step(s->st[ST_SAVE_BACK]);
		forget_ids(s);
	}
	return sqlite_step(s->st[ST_SAVE_END]) < 0 ? E_IO : rc;
}

/* Each job alone can fail without taking the others along.  Most are one statement, which does all or nothing, and
 * some names, which do no harm without it; a transaction takes its rows back by itself. */
static int run(void *back, struct archive_job *job)
{
	struct sqlite *s = back;
	int rc = job->kind == JOB_FIGURES ? run_saved(s, job) : sqlite_run(s, job);

	return is_lost(s) ? E_IO : rc;
}

static bool commit(void *back)
{
	return execute(back, "COMMIT");
}

static void rollback(void *back)
{
	if (!is_lost(back))
		execute(back, "ROLLBACK");
	forget_ids(back);
}

/* ---- readers ---- */

static sqlite3 *open_reader(struct sqlite *s)
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

sqlite3 *sqlite_reader(struct sqlite *s)
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

void sqlite_reader_back(struct sqlite *s, sqlite3 *db)
{
	pthread_mutex_lock(&s->reading);
	for (unsigned i = 0; i < READERS; i++)
		if (s->readers[i] == db)
			s->busy[i] = false;
	pthread_cond_signal(&s->free);
	pthread_mutex_unlock(&s->reading);
}

/* ---- open and close ---- */

static int open_file(struct sqlite *s, const char *dir)
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
	return sqlite_prepare(s);
}

static void close_all(void *back)
{
	struct sqlite *s = back;

	for (unsigned i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(s->st[i]);
	for (unsigned i = 0; i < READERS; i++)
		sqlite3_close(s->readers[i]);
	sqlite3_close(s->db);
	forget_ids(s);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	mem_free(s);
}

static int open_all(void **back, const struct archive_place *place)
{
	struct sqlite *s = mem_alloc(sizeof(*s));
	int rc;

	if (!s)
		return E_NO_MEMORY;
	*s = (struct sqlite){ .limits = place->limits, .lock_fd = -1 };
	pthread_mutex_init(&s->reading, NULL);
	pthread_cond_init(&s->free, NULL);
	rc = archive_take_dir(place->where, &s->lock_fd);
	if (rc >= 0)
		rc = open_file(s, place->where);
	if (rc < 0) {
		close_all(s);
		return rc;
	}
	*back = s;
	return 0;
}

static uint64_t bytes(void *back)
{
	struct sqlite *s = back;
	struct stat st;

	return stat(s->path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

const struct archive_engine sqlite_engine = {
	.open = open_all,
	.close = close_all,
	.bytes = bytes,
	.begin = begin,
	.run = run,
	.is_lost = is_lost,
	.commit = commit,
	.rollback = rollback,
	.sweep = sqlite_sweep,
	.bases = sqlite_bases,
	.figures = sqlite_figures,
	.traces = sqlite_traces,
	.trace = sqlite_trace,
	.plans = sqlite_plans,
	.digs = sqlite_digs,
	.dig = sqlite_dig,
	.alerts = sqlite_alerts,
	.carried = sqlite_carried,
	.audit = sqlite_audit,
};
