/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_priv.h - what the files of the SQLite engine share. */
#ifndef MANAGER_ARCHIVE_SQLITE_PRIV_H
#define MANAGER_ARCHIVE_SQLITE_PRIV_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/map.h"
#include "manager/archive/archive_priv.h"

enum { READERS = 4 };

enum statement {
	ST_APP_ADD,
	ST_METHOD_ADD,
	ST_INSTANCE_ADD,
	ST_INSTANCE_SET,
	ST_APP_METHOD,
	ST_FIGURE,
	ST_BASE,
	ST_TRACE,
	ST_BLOB,
	ST_DATA,
	ST_PLAN,
	ST_AUDIT,
	ST_DIG,
	ST_ALERT,
	ST_CARRIED,
	ST_OLDEST,
	ST_DROP_DATA,
	ST_DROP_BLOB,
	ST_DROP_TRACE,
	ST_DROP_TRACES,
	ST_SAVE,
	ST_SAVE_BACK,
	ST_SAVE_END,
	STATEMENTS
};

struct sqlite {
	char path[4096];
	struct archive_limits limits;
	int lock_fd;
	sqlite3 *db; /* the writer's */
	sqlite3_stmt *st[STATEMENTS];
	struct arena names;
	struct map ids[3]; /* of applications, methods, instances: text -> rowid */
	uint64_t drop_ms;  /* transactions before it are too much; 0: none */

	pthread_mutex_t reading;
	pthread_cond_t free;
	sqlite3 *readers[READERS];
	bool busy[READERS];
};

sqlite3 *sqlite_reader(struct sqlite *s); /* waits for one; NULL: it cannot be opened */
void sqlite_reader_back(struct sqlite *s, sqlite3 *db);

int sqlite_prepare(struct sqlite *s); /* tables and statements of the writer */
bool sqlite_sweep(void *back);	      /* as in archive_priv.h */

/* Binds in the order of the letters: i uint64_t, s struct slice, b struct slice as bytes. */
void sqlite_bind(sqlite3_stmt *st, const char *kinds, ...);
int sqlite_step(sqlite3_stmt *st); /* runs a statement without rows, and resets it */
struct slice sqlite_text(sqlite3_stmt *st, int column);
uint64_t sqlite_number(sqlite3_stmt *st, int column);

int sqlite_run(struct sqlite *s, struct archive_job *job); /* one job; sqlite_write.c */

/* ---- sqlite_read.c ---- */
int sqlite_bases(void *back, struct slice instance, archive_on_base *on, void *ctx);
int sqlite_figures(void *back, const struct archive_span *span, archive_on_figure *on, void *ctx);
int sqlite_traces(void *back, const struct archive_filter *f, archive_on_trace *on, void *ctx);
int sqlite_trace(void *back, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx);
int sqlite_plans(void *back, struct slice app, uint64_t version, unsigned limit,
		 archive_on_plan *on, void *ctx);
int sqlite_digs(void *back, struct slice app, unsigned limit, archive_on_text *on, void *ctx);
int sqlite_dig(void *back, struct slice id, archive_on_text *on, void *ctx);
int sqlite_alerts(void *back, const struct archive_alerts *which, archive_on_text *on, void *ctx);
int sqlite_carried(void *back, archive_on_carried *on, void *ctx);
int sqlite_audit(void *back, unsigned limit, archive_on_audit *on, void *ctx);

#endif
