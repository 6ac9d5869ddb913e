/* SPDX-License-Identifier: Apache-2.0 */
/* archive_priv.h - what the files of the store share. */
#ifndef MANAGER_ARCHIVE_ARCHIVE_PRIV_H
#define MANAGER_ARCHIVE_ARCHIVE_PRIV_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/map.h"
#include "manager/archive/archive.h"

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
	STATEMENTS
};

struct archive {
	char path[4096];
	struct archive_limits limits;
	int lock_fd;
	sqlite3 *db; /* the writer's */
	sqlite3_stmt *st[STATEMENTS];
	struct arena names;
	struct map ids[3]; /* of applications, methods, instances: text -> rowid */
	struct buf packed; /* scratch */

	pthread_t writer;
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct archive_job *first, **last;
	size_t queued;
	uint64_t written, failed;
	uint64_t swept_ms;
	bool ends, is_well;
	struct map torn; /* of the writer: name of a chain -> its number */
	struct arena torn_names;

	pthread_mutex_t reading;
	pthread_cond_t free;
	sqlite3 *readers[READERS];
	bool busy[READERS];
};

sqlite3 *archive_reader(struct archive *s); /* waits for one; NULL: it cannot be opened */
void archive_reader_back(struct archive *s, sqlite3 *db);

int archive_prepare(struct archive *s); /* tables and statements of the writer */
void archive_sweep(struct archive *s);	/* takes out what is too old, or too much */
uint64_t archive_now_ms(void);

/* Binds in the order of the letters: i uint64_t, s struct slice, b struct slice as bytes. */
void archive_bind(sqlite3_stmt *st, const char *kinds, ...);
int archive_step(sqlite3_stmt *st); /* runs a statement without rows, and resets it */
struct slice archive_text(sqlite3_stmt *st, int column);
uint64_t archive_number(sqlite3_stmt *st, int column);

#endif
