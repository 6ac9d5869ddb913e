/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse_priv.h - what the files of the ClickHouse engine share. */
#ifndef MANAGER_ARCHIVE_CLICKHOUSE_PRIV_H
#define MANAGER_ARCHIVE_CLICKHOUSE_PRIV_H

#include <pthread.h>

#include "manager/archive/archive_priv.h"
#include "manager/archive/outbox.h"
#include "manager/net/post.h"

enum clickhouse_table { T_FIGURE, T_BASE, T_TRACE, T_DATA, T_DOC, T_AUDIT, TABLES };
extern const char *const clickhouse_tables[TABLES];

enum { ASKERS = 4, CLAIMS = 64 };

struct clickhouse {
	char url[1200];		  /* "http://HOST:PORT/?database=D" */
	char user[300], key[300]; /* headers; "": none */
	char database[128];
	struct archive_limits limits;
	struct outbox outbox;
	struct buf rows[TABLES]; /* of the batch that is being made */
	uint64_t run_id, jobs;	 /* what makes numbers of jobs unique */
	uint64_t swept_ms;
	bool has_tables;
	struct {
		uint64_t nonce, seen_ms; /* monotonic */
	} claims[CLAIMS]; /* of others, when they were seen first; clickhouse_plan.c */
	unsigned n_claims;

	pthread_mutex_t asking;
	pthread_cond_t free;
	struct poster *askers[ASKERS];
	bool busy[ASKERS];
	uint64_t bytes; /* on the server's disk, when it was last asked */
};

/* A row of T_DOC; its key is kind and key. */
struct clickhouse_doc {
	const char *kind;
	struct slice key, app, who, comment, text;
	uint64_t at, number;
};
void clickhouse_put_doc(struct clickhouse *c, struct buf *out, const struct clickhouse_doc *d);

/* Runs a statement; its answer is appended to `out` (NULL: not wanted).  0; E_IO: it did not answer;
 * E_DAMAGED: it refused. */
int clickhouse_run(struct clickhouse *c, struct slice sql, struct buf *out);
int clickhouse_insert(struct clickhouse *c, enum clickhouse_table table, struct slice rows);
int clickhouse_make_tables(struct clickhouse *c);
void clickhouse_quote(struct buf *sql, struct slice text); /* 'text' */

/* ---- clickhouse_plan.c ---- */
int clickhouse_plan(struct clickhouse *c, const struct job_plan *j); /* of the writer */

/* ---- clickhouse_read.c: as in archive_priv.h ---- */
int clickhouse_bases(void *back, struct slice instance, archive_on_base *on, void *ctx);
int clickhouse_figures(void *back, const struct archive_span *span, archive_on_figure *on,
		       void *ctx);
int clickhouse_traces(void *back, const struct archive_filter *f, archive_on_trace *on, void *ctx);
int clickhouse_trace(void *back, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx);
int clickhouse_plans(void *back, struct slice app, uint64_t version, unsigned limit,
		     archive_on_plan *on, void *ctx);
int clickhouse_digs(void *back, struct slice app, unsigned limit, archive_on_text *on, void *ctx);
int clickhouse_dig(void *back, struct slice id, archive_on_text *on, void *ctx);
int clickhouse_alerts(void *back, const struct archive_alerts *which, archive_on_text *on,
		      void *ctx);
int clickhouse_carried(void *back, archive_on_carried *on, void *ctx);
int clickhouse_audit(void *back, unsigned limit, archive_on_audit *on, void *ctx);

#endif
