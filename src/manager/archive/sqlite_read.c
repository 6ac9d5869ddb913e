/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_read.c - what is asked of the store, each through a connection of its own. */
#include <stdio.h>

#include "manager/log.h"
#include "manager/archive/blob.h"
#include "manager/archive/sqlite_priv.h"

/* ---- one question ---- */

struct question {
	struct sqlite *s;
	sqlite3 *db;
	sqlite3_stmt *st;
};

static int ask(struct question *q, struct sqlite *s, const char *text)
{
	*q = (struct question){ .s = s, .db = sqlite_reader(s) };
	if (!q->db)
		return E_IO;
	if (sqlite3_prepare_v2(q->db, text, -1, &q->st, NULL) == SQLITE_OK)
		return 0;
	log_put(LOG_ERROR, "store: %s", sqlite3_errmsg(q->db));
	sqlite_reader_back(s, q->db);
	return E_IO;
}

static bool next_row(struct question *q)
{
	return sqlite3_step(q->st) == SQLITE_ROW;
}

static int answered(struct question *q)
{
	int rc = sqlite3_finalize(q->st) == SQLITE_OK ? 0 : E_IO;

	sqlite_reader_back(q->s, q->db);
	return rc;
}

/* ---- figures ---- */

int sqlite_bases(void *s, struct slice instance, archive_on_base *on, void *ctx)
{
	struct question q;
	int rc = ask(
		&q, s,
		"SELECT b.id, m.name, b.calls, b.errors, b.timed, b.total, b.self, b.stalls, b.cpu,"
		" b.blocked, b.allocated, b.max, b.raw FROM instance i JOIN base b ON b.instance = i.id"
		" JOIN method m ON m.id = b.method WHERE i.name = ? ORDER BY b.id");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "s", instance);
	while (next_row(&q)) {
		struct archive_base b = { .id = (uint32_t)sqlite_number(q.st, 0),
					  .method = sqlite_text(q.st, 1),
					  .max_ns = sqlite_number(q.st, 11),
					  .raw = sqlite_text(q.st, 12) };

		for (int i = 0; i < SUMS; i++)
			b.sums[i] = sqlite_number(q.st, 2 + i);
		on(ctx, &b);
	}
	return answered(&q);
}

static const char figures_sql[] =
	"SELECT m.name, f.slot, f.calls, f.errors, f.timed, f.total, f.self, f.stalls, f.cpu, f.blocked,"
	" f.allocated, f.max, f.peak, f.spread FROM app a JOIN app_method am ON am.app = a.id"
	" JOIN method m ON m.id = am.method"
	" JOIN figure f ON f.level = ?1 AND f.app = a.id AND f.method = am.method"
	" AND f.slot BETWEEN ?2 AND ?3"
	" WHERE a.name = ?4 AND (?5 = '' OR m.name = ?5)"
	" AND (?6 = '' OR f.instance = (SELECT id FROM instance WHERE name = ?6)) ORDER BY m.id, f.slot";

int sqlite_figures(void *s, const struct archive_span *span, archive_on_figure *on, void *ctx)
{
	uint64_t step = archive_step_ms[span->level], from = span->from_ms - span->from_ms % step;
	struct question q;
	int rc = ask(&q, s, figures_sql);

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "iiisss", (uint64_t)span->level, from, span->to_ms, span->app,
		    span->method, span->instance);
	while (next_row(&q)) {
		struct archive_figure f = { .method = sqlite_text(q.st, 0),
					    .slot_ms = sqlite_number(q.st, 1),
					    .max_ns = sqlite_number(q.st, 11),
					    .active_peak = sqlite_number(q.st, 12),
					    .spread = sqlite_text(q.st, 13) };

		for (int i = 0; i < SUMS; i++)
			f.sums[i] = sqlite_number(q.st, 2 + i);
		on(ctx, &f);
	}
	return answered(&q);
}

/* ---- transactions ---- */

#define TRACE_COLUMNS                                                                                \
	"t.id, a.name, i.name, m.name, t.thread, t.at, t.elapsed, t.flags, t.calls, t.parts, t.data" \
	" FROM trace t CROSS JOIN app a ON a.id = t.app CROSS JOIN instance i ON i.id = t.instance"  \
	" CROSS JOIN method m ON m.id = t.root"

/* The most telling condition drives: captured data, else time. */
static void put_query(const struct archive_filter *f, struct buf *sql)
{
	buf_text(sql, "SELECT ");
	if (f->n_data)
		buf_text(
			sql,
			"t.id, a.name, i.name, m.name, t.thread, t.at, t.elapsed, t.flags, t.calls,"
			" t.parts, t.data FROM data d CROSS JOIN trace t ON t.id = d.id CROSS JOIN app"
			" a ON a.id = t.app CROSS JOIN instance i ON i.id = t.instance"
			" CROSS JOIN method m ON m.id = t.root WHERE d.name = ?10 AND d.value = ?11"
			" AND d.at BETWEEN ?1 AND ?2 AND (d.at, d.id) < (?3, ?4)");
	else
		buf_text(sql,
			 TRACE_COLUMNS " WHERE t.at BETWEEN ?1 AND ?2 AND (t.at, t.id) < (?3, ?4)");
	buf_text(sql, " AND t.elapsed BETWEEN ?5 AND ?6 AND t.flags & ?7 = ?7");
	if (f->app.n)
		buf_text(sql, " AND t.app = (SELECT id FROM app WHERE name = ?8)");
	if (f->instance.n)
		buf_text(sql, " AND t.instance = (SELECT id FROM instance WHERE name = ?9)");
	if (f->root.n)
		buf_text(sql, " AND instr(m.name, ?26)");
	if (f->q.n)
		buf_text(sql, " AND (instr(m.name, ?27) OR instr(t.thread, ?27) OR"
			      " instr(t.data, cast(?27 AS BLOB)))");
	for (unsigned i = 1; i < f->n_data; i++)
		buf_printf(
			sql,
			" AND EXISTS (SELECT 1 FROM data WHERE name = ?%u AND value = ?%u AND at = t.at"
			" AND id = t.id)",
			10 + 2 * i, 11 + 2 * i);
	buf_text(sql, f->n_data ? " ORDER BY d.at DESC, d.id DESC LIMIT ?28"
				: " ORDER BY t.at DESC, t.id DESC LIMIT ?28");
	buf_u8(sql, '\0');
}

static void bind_text(sqlite3_stmt *st, int at, struct slice s)
{
	if (s.n)
		sqlite3_bind_text64(st, at, (const char *)s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
}

static void bind_filter(sqlite3_stmt *st, const struct archive_filter *f)
{
	uint64_t most = INT64_MAX, before = f->before_ms ? f->before_ms : most;

	sqlite_bind(st, "iiiiiii", f->from_ms, f->to_ms, before, f->before_ms ? f->before_id : most,
		    f->min_ns, f->max_ns < most ? f->max_ns : most, (uint64_t)f->flags);
	bind_text(st, 8, f->app);
	bind_text(st, 9, f->instance);
	for (unsigned i = 0; i < f->n_data; i++) {
		sqlite3_bind_text64(st, (int)(10 + 2 * i), (const char *)f->data[i][0].p,
				    f->data[i][0].n, SQLITE_STATIC, SQLITE_UTF8);
		sqlite3_bind_text64(st, (int)(11 + 2 * i), (const char *)f->data[i][1].p,
				    f->data[i][1].n, SQLITE_STATIC, SQLITE_UTF8);
	}
	bind_text(st, 26, f->root);
	bind_text(st, 27, f->q);
	sqlite3_bind_int64(st, 28, f->limit);
}

static struct archive_trace trace_of(sqlite3_stmt *st)
{
	return (struct archive_trace){ .id = sqlite_number(st, 0),
				       .app = sqlite_text(st, 1),
				       .instance = sqlite_text(st, 2),
				       .root = sqlite_text(st, 3),
				       .thread = sqlite_text(st, 4),
				       .when_ms = sqlite_number(st, 5),
				       .elapsed_ns = sqlite_number(st, 6),
				       .flags = (uint32_t)sqlite_number(st, 7),
				       .calls = (uint32_t)sqlite_number(st, 8),
				       .parts = (uint32_t)sqlite_number(st, 9),
				       .data = sqlite_text(st, 10) };
}

int sqlite_traces(void *s, const struct archive_filter *f, archive_on_trace *on, void *ctx)
{
	struct buf sql = { 0 };
	struct question q;
	int rc;

	put_query(f, &sql);
	rc = sql.err ? sql.err : ask(&q, s, (const char *)sql.p);
	buf_release(&sql);
	if (rc < 0)
		return rc;
	bind_filter(q.st, f);
	while (next_row(&q)) {
		struct archive_trace t = trace_of(q.st);

		on(ctx, &t);
	}
	return answered(&q);
}

int sqlite_trace(void *s, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx)
{
	struct question q;
	int found = E_NOT_FOUND, rc = ask(&q, s, "SELECT " TRACE_COLUMNS " WHERE t.id = ?");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "i", id);
	if (next_row(&q)) {
		struct archive_trace t = trace_of(q.st);

		on(ctx, &t);
		found = 0;
	}
	answered(&q);
	if (found < 0)
		return found;
	rc = ask(&q, s, "SELECT bytes FROM blob WHERE id = ?");
	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "i", id);
	rc = next_row(&q) ? blob_expand(sqlite_text(q.st, 0), blob) : E_NOT_FOUND;
	answered(&q);
	return rc;
}

/* ---- plans, digs, audit ---- */

static const char plans_sql[] =
	"SELECT a.name, p.version, p.changed, p.who, p.comment, p.doc FROM plan p JOIN app a ON a.id = p.app"
	" WHERE a.name = ?1 AND (?2 = 0 OR p.version = ?2) ORDER BY p.version DESC LIMIT ?3";
static const char newest_plans_sql[] =
	"SELECT a.name, p.version, p.changed, p.who, p.comment, p.doc FROM plan p JOIN app a ON a.id = p.app"
	" WHERE p.version = (SELECT max(version) FROM plan WHERE app = p.app)"
	" AND ?1 = '' AND ?2 = 0 LIMIT ?3";

int sqlite_plans(void *s, struct slice app, uint64_t version, unsigned limit, archive_on_plan *on,
		 void *ctx)
{
	struct question q;
	int rc = ask(&q, s, app.n ? plans_sql : newest_plans_sql);

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "sii", app, version, (uint64_t)limit);
	while (next_row(&q)) {
		struct archive_plan p = { .app = sqlite_text(q.st, 0),
					  .version = sqlite_number(q.st, 1),
					  .changed_ms = sqlite_number(q.st, 2),
					  .by = sqlite_text(q.st, 3),
					  .comment = sqlite_text(q.st, 4),
					  .doc = sqlite_text(q.st, 5) };

		on(ctx, &p);
	}
	return answered(&q);
}

int sqlite_digs(void *s, struct slice app, unsigned limit, archive_on_text *on, void *ctx)
{
	struct question q;
	int rc =
		ask(&q, s,
		    "SELECT doc FROM dig WHERE ?1 = '' OR app = ?1 ORDER BY started DESC LIMIT ?2");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "si", app, (uint64_t)limit);
	while (next_row(&q))
		on(ctx, sqlite_text(q.st, 0));
	return answered(&q);
}

int sqlite_dig(void *s, struct slice id, archive_on_text *on, void *ctx)
{
	struct question q;
	int rc = ask(&q, s, "SELECT doc FROM dig WHERE id = ?");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "s", id);
	while (next_row(&q))
		on(ctx, sqlite_text(q.st, 0));
	return answered(&q);
}

int sqlite_alerts(void *s, const struct archive_alerts *which, archive_on_text *on, void *ctx)
{
	struct question q;
	int rc = ask(&q, s,
		     "SELECT doc FROM alert WHERE (?1 = '' OR app = ?1) AND (?2 = '' OR id = ?2)"
		     " AND (?3 = 0 OR ended = 0) ORDER BY began DESC, id DESC LIMIT ?4");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "ssii", which->app, which->id, (uint64_t)which->open,
		    (uint64_t)which->limit);
	while (next_row(&q))
		on(ctx, sqlite_text(q.st, 0));
	return answered(&q);
}

int sqlite_carried(void *s, archive_on_carried *on, void *ctx)
{
	struct question q;
	int rc = ask(&q, s, "SELECT instance, texts FROM carried WHERE texts != ''");

	if (rc < 0)
		return rc;
	while (next_row(&q))
		on(ctx, sqlite_text(q.st, 0), sqlite_text(q.st, 1));
	return answered(&q);
}

int sqlite_audit(void *s, unsigned limit, archive_on_audit *on, void *ctx)
{
	struct question q;
	int rc = ask(&q, s,
		     "SELECT at, who, role, origin, action, target, detail, status FROM audit"
		     " ORDER BY id DESC LIMIT ?");

	if (rc < 0)
		return rc;
	sqlite_bind(q.st, "i", (uint64_t)limit);
	while (next_row(&q)) {
		struct job_audit a = { .at_ms = sqlite_number(q.st, 0),
				       .who = sqlite_text(q.st, 1),
				       .role = sqlite_text(q.st, 2),
				       .from = sqlite_text(q.st, 3),
				       .action = sqlite_text(q.st, 4),
				       .target = sqlite_text(q.st, 5),
				       .detail = sqlite_text(q.st, 6),
				       .status = (int)sqlite_number(q.st, 7) };

		on(ctx, &a);
	}
	return answered(&q);
}
