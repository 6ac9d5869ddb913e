/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite_write.c - the tables, and the jobs of the writer.
 *
 * Names of applications, methods and instances are written once and are numbers elsewhere.  Figures
 * are added to the rows of all levels of roll-up at once. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "manager/figures/spread.h"
#include "manager/log.h"
#include "manager/archive/sqlite_priv.h"

enum { SCHEMA = 1, DAY_MS = 86400000, SWEEP_ROWS = 5000 };

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS app(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);"
	"CREATE TABLE IF NOT EXISTS method(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);"
	"CREATE TABLE IF NOT EXISTS instance(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, app INTEGER,"
	" seen INTEGER, doc TEXT);"
	"CREATE TABLE IF NOT EXISTS app_method(app INTEGER, method INTEGER, PRIMARY KEY(app, method))"
	" WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS figure(level INTEGER, app INTEGER, method INTEGER, slot INTEGER,"
	" instance INTEGER, calls INTEGER, errors INTEGER, timed INTEGER, total INTEGER, self INTEGER,"
	" stalls INTEGER, cpu INTEGER, blocked INTEGER, allocated INTEGER, max INTEGER, peak INTEGER,"
	" spread BLOB, PRIMARY KEY(level, app, method, slot, instance)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS base(instance INTEGER, id INTEGER, method INTEGER, calls INTEGER,"
	" errors INTEGER, timed INTEGER, total INTEGER, self INTEGER, stalls INTEGER, cpu INTEGER,"
	" blocked INTEGER, allocated INTEGER, max INTEGER, raw BLOB, PRIMARY KEY(instance, id))"
	" WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS trace(id INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER,"
	" instance INTEGER, root INTEGER, at INTEGER, elapsed INTEGER, flags INTEGER, calls INTEGER,"
	" parts INTEGER, thread TEXT, data BLOB);"
	"CREATE INDEX IF NOT EXISTS trace_at ON trace(at, id);"
	"CREATE INDEX IF NOT EXISTS trace_app ON trace(app, at, id);"
	"CREATE TABLE IF NOT EXISTS blob(id INTEGER PRIMARY KEY, bytes BLOB);"
	"CREATE TABLE IF NOT EXISTS data(name TEXT, value TEXT, at INTEGER, id INTEGER,"
	" PRIMARY KEY(name, value, at, id)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS plan(app INTEGER, version INTEGER, changed INTEGER, who TEXT,"
	" comment TEXT, doc TEXT, PRIMARY KEY(app, version)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS audit(id INTEGER PRIMARY KEY, at INTEGER, who TEXT, role TEXT,"
	" origin TEXT, action TEXT, target TEXT, detail TEXT, status INTEGER);"
	"CREATE TABLE IF NOT EXISTS dig(id TEXT PRIMARY KEY, app TEXT, started INTEGER, doc TEXT);"
	"CREATE TABLE IF NOT EXISTS alert(id TEXT PRIMARY KEY, app TEXT, began INTEGER, ended INTEGER,"
	" doc TEXT);"
	"CREATE INDEX IF NOT EXISTS alert_began ON alert(began);"
	"CREATE TABLE IF NOT EXISTS carried(instance TEXT PRIMARY KEY, at INTEGER, texts TEXT);";

static const char *const sql[STATEMENTS] = {
	[ST_APP_ADD] =
		"INSERT INTO app(name) VALUES(?) ON CONFLICT DO UPDATE SET name = name RETURNING id",
	[ST_METHOD_ADD] =
		"INSERT INTO method(name) VALUES(?) ON CONFLICT DO UPDATE SET name = name RETURNING id",
	[ST_INSTANCE_ADD] =
		"INSERT INTO instance(name) VALUES(?) ON CONFLICT DO UPDATE SET name = name RETURNING id",
	[ST_INSTANCE_SET] = "UPDATE instance SET app = ?, seen = ?, doc = ? WHERE id = ?",
	[ST_APP_METHOD] = "INSERT OR IGNORE INTO app_method VALUES(?, ?)",
	[ST_FIGURE] =
		"INSERT INTO figure VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		" ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
		" errors = errors + excluded.errors, timed = timed + excluded.timed,"
		" total = total + excluded.total, self = self + excluded.self,"
		" stalls = stalls + excluded.stalls, cpu = cpu + excluded.cpu,"
		" blocked = blocked + excluded.blocked, allocated = allocated + excluded.allocated,"
		" max = max(max, excluded.max), peak = max(peak, excluded.peak),"
		" spread = spread_sum(spread, excluded.spread)",
	[ST_BASE] = "REPLACE INTO base VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ST_TRACE] =
		"INSERT INTO trace(app, instance, root, at, elapsed, flags, calls, parts, thread, data)"
		" VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[ST_BLOB] = "INSERT INTO blob VALUES(?, ?)",
	[ST_DATA] = "INSERT OR IGNORE INTO data VALUES(?, ?, ?, ?)",
	[ST_PLAN] = "INSERT INTO plan VALUES(?, ?, ?, ?, ?, ?)",
	[ST_AUDIT] = "INSERT INTO audit(at, who, role, origin, action, target, detail, status)"
		     " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
	[ST_DIG] = "REPLACE INTO dig VALUES(?, ?, ?, ?)",
	[ST_CARRIED] = "REPLACE INTO carried VALUES(?, ?, ?)",
	[ST_OLDEST] = "SELECT id, at, data FROM trace WHERE at < ? ORDER BY at, id LIMIT ?",
	[ST_DROP_DATA] = "DELETE FROM data WHERE name = ? AND value = ? AND at = ? AND id = ?",
	[ST_DROP_BLOB] = "DELETE FROM blob WHERE id = ?",
	[ST_DROP_TRACE] = "DELETE FROM trace WHERE id = ?",
	[ST_SAVE] = "SAVEPOINT job",
	[ST_SAVE_BACK] = "ROLLBACK TO job",
	[ST_SAVE_END] = "RELEASE job",
	[ST_DROP_TRACES] = "DELETE FROM trace WHERE (at, id) <= (?, ?)",
	[ST_ALERT] = "REPLACE INTO alert VALUES(?, ?, ?, ?, ?)",
};

/* ---- statements ---- */

void sqlite_bind(sqlite3_stmt *st, const char *kinds, ...)
{
	va_list args;

	va_start(args, kinds);
	for (int i = 1; kinds[i - 1]; i++) {
		if (kinds[i - 1] == 'i') {
			sqlite3_bind_int64(st, i, (sqlite3_int64)va_arg(args, uint64_t));
		} else {
			struct slice s = va_arg(args, struct slice);
			const void *p = s.p ? s.p : (const uint8_t *)"";

			if (kinds[i - 1] == 's')
				sqlite3_bind_text64(st, i, p, s.n, SQLITE_STATIC, SQLITE_UTF8);
			else
				sqlite3_bind_blob64(st, i, p, s.n, SQLITE_STATIC);
		}
	}
	va_end(args);
}

int sqlite_step(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	if (rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	log_put(LOG_ERROR, "store: %s", sqlite3_errmsg(sqlite3_db_handle(st)));
	return rc == SQLITE_CONSTRAINT ? E_DUPLICATE : E_IO;
}

struct slice sqlite_text(sqlite3_stmt *st, int column)
{
	const void *p = sqlite3_column_blob(st, column);

	return (struct slice){ p, (size_t)sqlite3_column_bytes(st, column) };
}

uint64_t sqlite_number(sqlite3_stmt *st, int column)
{
	return (uint64_t)sqlite3_column_int64(st, column);
}

static void spread_sum(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct call_spread s = { 0 };
	struct buf out = { 0 };

	for (int i = 0; i < n; i++)
		spread_add(&s, (struct slice){ sqlite3_value_blob(v[i]),
					       (size_t)sqlite3_value_bytes(v[i]) });
	spread_put(&s, &out);
	sqlite3_result_blob64(ctx, out.p ? out.p : (uint8_t *)"", out.n, SQLITE_TRANSIENT);
	buf_release(&out);
}

static bool run_sql(struct sqlite *s, const char *text)
{
	char *why = NULL;

	if (sqlite3_exec(s->db, text, NULL, NULL, &why) == SQLITE_OK)
		return true;
	log_put(LOG_ERROR, "%s: %s", s->path, why ? why : "cannot be used");
	sqlite3_free(why);
	return false;
}

static int check_version(struct sqlite *s)
{
	sqlite3_stmt *st = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	if (version == 0 || version == SCHEMA)
		return 0;
	log_put(LOG_ERROR, "%s: was written by a newer sonded, or is no store", s->path);
	return E_VERSION;
}

int sqlite_prepare(struct sqlite *s)
{
	char version[48];

	if (!run_sql(
		    s,
		    "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
		    "PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-65536"))
		return E_IO;
	if (check_version(s) < 0)
		return E_VERSION;
	snprintf(version, sizeof(version), "PRAGMA user_version=%d", SCHEMA);
	if (!run_sql(s, schema) || !run_sql(s, version))
		return E_IO;
	sqlite3_create_function(s->db, "spread_sum", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
				spread_sum, NULL, NULL);
	for (unsigned i = 0; i < STATEMENTS; i++) {
		if (sqlite3_prepare_v3(s->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &s->st[i],
				       NULL) == SQLITE_OK)
			continue;
		log_put(LOG_ERROR, "%s: %s", s->path, sqlite3_errmsg(s->db));
		return E_IO;
	}
	return 0;
}

/* ---- numbers of names ---- */

enum { IDS_APP, IDS_METHOD, IDS_INSTANCE };

static int number_of(struct sqlite *s, unsigned kind, struct slice name, uint64_t *out)
{
	static const enum statement add[] = { ST_APP_ADD, ST_METHOD_ADD, ST_INSTANCE_ADD };
	uintptr_t *at = map_get(&s->ids[kind], name);
	sqlite3_stmt *st = s->st[add[kind]];
	struct slice key;
	int rc;

	if (at) {
		*out = *at;
		return 0;
	}
	sqlite_bind(st, "s", name);
	rc = sqlite3_step(st);
	*out = rc == SQLITE_ROW ? sqlite_number(st, 0) : 0;
	sqlite3_reset(st);
	if (rc != SQLITE_ROW)
		return E_IO;
	key = arena_dup(&s->names, name);
	at = key.p ? map_put(&s->ids[kind], key, NULL) : NULL;
	if (at)
		*at = (uintptr_t)*out;
	return 0;
}

/* ---- jobs ---- */

static int run_instance(struct sqlite *s, struct archive_job *job)
{
	struct job_instance *j = (struct job_instance *)job;
	uint64_t app, id;

	if (number_of(s, IDS_APP, j->app, &app) < 0 ||
	    number_of(s, IDS_INSTANCE, j->ident, &id) < 0)
		return E_IO;
	sqlite_bind(s->st[ST_INSTANCE_SET], "iisi", app, j->seen_ms, j->text, id);
	return sqlite_step(s->st[ST_INSTANCE_SET]);
}

static int put_figure(struct sqlite *s, const struct archive_figure *f, uint64_t app,
		      uint64_t instance)
{
	sqlite3_stmt *st = s->st[ST_FIGURE];
	const uint64_t *n = f->sums;
	uint64_t method;
	int rc = number_of(s, IDS_METHOD, f->method, &method);

	if (rc < 0)
		return rc;
	sqlite_bind(s->st[ST_APP_METHOD], "ii", app, method);
	rc = sqlite_step(s->st[ST_APP_METHOD]);
	for (uint64_t level = 0; level < ARCHIVE_LEVELS && rc >= 0; level++) {
		uint64_t slot = f->slot_ms - f->slot_ms % archive_step_ms[level];

		sqlite_bind(st, "iiiiiiiiiiiiiiiib", level, app, method, slot, instance, n[0], n[1],
			    n[2], n[3], n[4], n[5], n[6], n[7], n[8], f->max_ns, f->active_peak,
			    f->spread);
		rc = sqlite_step(st);
	}
	return rc;
}

static int put_base(struct sqlite *s, const struct archive_base *b, uint64_t instance)
{
	const uint64_t *n = b->sums;
	uint64_t method;

	if (number_of(s, IDS_METHOD, b->method, &method) < 0)
		return E_IO;
	sqlite_bind(s->st[ST_BASE], "iiiiiiiiiiiiib", instance, (uint64_t)b->id, method, n[0], n[1],
		    n[2], n[3], n[4], n[5], n[6], n[7], n[8], b->max_ns, b->raw);
	return sqlite_step(s->st[ST_BASE]);
}

static int run_figures(struct sqlite *s, struct archive_job *job)
{
	struct job_figures *j = (struct job_figures *)job;
	uint64_t app, instance;
	int rc = number_of(s, IDS_APP, j->app, &app);

	if (rc >= 0)
		rc = number_of(s, IDS_INSTANCE, j->instance, &instance);
	for (size_t i = 0; i < j->n && rc >= 0; i++)
		rc = put_figure(s, &j->rows[i], app, instance);
	for (size_t i = 0; i < j->n_bases && rc >= 0; i++)
		rc = put_base(s, &j->bases[i], instance);
	return rc;
}

static int put_data(struct sqlite *s, const struct archive_trace *t, uint64_t id)
{
	struct slice rest = t->data, part[2];
	int rc = 0;

	while (rc >= 0 && archive_pair(&rest, part)) {
		sqlite_bind(s->st[ST_DATA], "ssii", part[0], part[1], t->when_ms, id);
		rc = sqlite_step(s->st[ST_DATA]);
	}
	return rc;
}

static int put_blob(struct sqlite *s, struct slice blob, uint64_t id)
{
	sqlite_bind(s->st[ST_BLOB], "ib", id, blob);
	return sqlite_step(s->st[ST_BLOB]);
}

static int drop_trace(struct sqlite *s, uint64_t at, uint64_t id, struct slice data)
{
	struct slice part[2];
	int rc = 0;

	while (rc >= 0 && archive_pair(&data, part)) {
		sqlite_bind(s->st[ST_DROP_DATA], "ssii", part[0], part[1], at, id);
		rc = sqlite_step(s->st[ST_DROP_DATA]);
	}
	sqlite_bind(s->st[ST_DROP_BLOB], "i", id);
	return rc < 0 ? rc : sqlite_step(s->st[ST_DROP_BLOB]);
}

/* It must not stay in part, and a savepoint would copy every page that it touches. */
static void take_back(struct sqlite *s, const struct archive_trace *t, uint64_t id)
{
	if (sqlite3_get_autocommit(s->db)) /* all of it has gone already */
		return;
	drop_trace(s, t->when_ms, id, t->data);
	sqlite_bind(s->st[ST_DROP_TRACE], "i", id);
	sqlite_step(s->st[ST_DROP_TRACE]);
}

static int run_trace(struct sqlite *s, struct archive_job *job)
{
	struct job_trace *j = (struct job_trace *)job;
	struct archive_trace *t = &j->t;
	uint64_t app, instance, root, id;
	int rc;

	if (number_of(s, IDS_APP, t->app, &app) < 0 ||
	    number_of(s, IDS_INSTANCE, t->instance, &instance) < 0 ||
	    number_of(s, IDS_METHOD, t->root, &root) < 0)
		return E_IO;
	sqlite_bind(s->st[ST_TRACE], "iiiiiiiisb", app, instance, root, t->when_ms, t->elapsed_ns,
		    (uint64_t)t->flags, (uint64_t)t->calls, (uint64_t)t->parts, t->thread, t->data);
	rc = sqlite_step(s->st[ST_TRACE]);
	if (rc < 0)
		return rc;
	id = (uint64_t)sqlite3_last_insert_rowid(s->db);
	rc = put_blob(s, j->press.packed, id);
	if (rc >= 0)
		rc = put_data(s, t, id);
	if (rc < 0)
		take_back(s, t, id);
	return rc;
}

static int run_plan(struct sqlite *s, struct archive_job *job)
{
	struct job_plan *j = (struct job_plan *)job;
	uint64_t app;

	if (number_of(s, IDS_APP, j->app, &app) < 0)
		return E_IO;
	sqlite_bind(s->st[ST_PLAN], "iiisss", app, j->version, j->changed_ms, j->by, j->comment,
		    j->doc);
	return sqlite_step(s->st[ST_PLAN]);
}

static int run_audit(struct sqlite *s, struct archive_job *job)
{
	struct job_audit *j = (struct job_audit *)job;

	sqlite_bind(s->st[ST_AUDIT], "issssssi", j->at_ms, j->who, j->role, j->from, j->action,
		    j->target, j->detail, (uint64_t)j->status);
	return sqlite_step(s->st[ST_AUDIT]);
}

static int run_dig(struct sqlite *s, struct archive_job *job)
{
	struct job_dig *j = (struct job_dig *)job;

	sqlite_bind(s->st[ST_DIG], "ssis", j->id, j->app, j->started_ms, j->doc);
	return sqlite_step(s->st[ST_DIG]);
}

static int run_alert(struct sqlite *s, struct archive_job *job)
{
	struct job_alert *j = (struct job_alert *)job;

	sqlite_bind(s->st[ST_ALERT], "ssiis", j->id, j->app, j->began_ms, j->ended_ms, j->doc);
	return sqlite_step(s->st[ST_ALERT]);
}

static int run_carried(struct sqlite *s, struct archive_job *job)
{
	struct job_carried *j = (struct job_carried *)job;

	sqlite_bind(s->st[ST_CARRIED], "sis", j->instance, j->at_ms, j->texts);
	return sqlite_step(s->st[ST_CARRIED]);
}

int sqlite_run(struct sqlite *s, struct archive_job *job)
{
	static int (*const runs[JOB_KINDS])(struct sqlite * s, struct archive_job * job) = {
		[JOB_INSTANCE] = run_instance, [JOB_FIGURES] = run_figures, [JOB_TRACE] = run_trace,
		[JOB_PLAN] = run_plan,	       [JOB_AUDIT] = run_audit,	    [JOB_DIG] = run_dig,
		[JOB_ALERT] = run_alert,       [JOB_CARRIED] = run_carried,
	};

	return runs[job->kind](s, job);
}

/* ---- what goes again ---- */

static uint64_t ask_number(struct sqlite *s, const char *text)
{
	sqlite3_stmt *st = NULL;
	uint64_t n = 0;

	if (sqlite3_prepare_v2(s->db, text, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite_number(st, 0);
	sqlite3_finalize(st);
	return n;
}

/* The oldest ones, with what belongs to them, by their keys; *n: how many. */
static int drop_oldest(struct sqlite *s, uint64_t before_ms, unsigned *n)
{
	sqlite3_stmt *st = s->st[ST_OLDEST];
	uint64_t at = 0, id = 0;
	int rc = 0;

	sqlite_bind(st, "ii", before_ms, (uint64_t)SWEEP_ROWS);
	for (*n = 0; rc >= 0 && sqlite3_step(st) == SQLITE_ROW; ++*n) {
		id = sqlite_number(st, 0);
		at = sqlite_number(st, 1);
		rc = drop_trace(s, at, id, sqlite_text(st, 2));
	}
	sqlite3_reset(st);
	if (rc < 0 || !*n)
		return rc;
	sqlite_bind(s->st[ST_DROP_TRACES], "ii", at, id);
	return sqlite_step(s->st[ST_DROP_TRACES]);
}

/* True: there may be more. */
static bool drop_traces(struct sqlite *s, uint64_t before_ms)
{
	unsigned n = 0;

	if (!run_sql(s, "BEGIN IMMEDIATE"))
		return false;
	if (drop_oldest(s, before_ms, &n) >= 0 && run_sql(s, "COMMIT"))
		return n == SWEEP_ROWS;
	if (!sqlite3_get_autocommit(s->db))
		run_sql(s, "ROLLBACK");
	return false;
}

/* What was needed of processes to go on with them. */
static void drop_ended(struct sqlite *s, uint64_t before_ms)
{
	char text[260];
	unsigned long long at = before_ms;

	snprintf(
		text, sizeof(text),
		"DELETE FROM base WHERE instance IN (SELECT id FROM instance WHERE seen < %llu);"
		"DELETE FROM carried WHERE instance IN (SELECT name FROM instance WHERE seen < %llu)",
		at, at);
	run_sql(s, text);
}

static void drop_figures(struct sqlite *s, uint64_t now, uint64_t keep_ms)
{
	const uint64_t keep[ARCHIVE_LEVELS] = { DAY_MS, 7ull * DAY_MS, keep_ms };
	char text[160];

	for (int level = 0; level < ARCHIVE_LEVELS; level++) {
		uint64_t most = keep[level] < keep_ms ? keep[level] : keep_ms;

		snprintf(text, sizeof(text), "DELETE FROM figure WHERE level = %d AND slot < %llu",
			 level, (unsigned long long)(now > most ? now - most : 0));
		run_sql(s, text);
	}
	drop_ended(s, now > 2ull * DAY_MS ? now - 2ull * DAY_MS : 0);
}

/* Who did what, digs, alerts.  Plans stay. */
static void drop_papers(struct sqlite *s, uint64_t before_ms)
{
	char text[240];
	unsigned long long at = before_ms;

	snprintf(text, sizeof(text),
		 "DELETE FROM audit WHERE at < %llu; DELETE FROM dig WHERE started < %llu;"
		 "DELETE FROM alert WHERE ended > 0 AND began < %llu",
		 at, at, at);
	run_sql(s, text);
}

/* Not the size of the file, which shrinks long after rows have gone. */
static bool is_too_large(struct sqlite *s)
{
	return ask_number(s, "SELECT (page_count - freelist_count) * page_size FROM"
			     " pragma_page_count, pragma_freelist_count, pragma_page_size") >
	       s->limits.keep_bytes;
}

bool sqlite_sweep(void *back)
{
	struct sqlite *s = back;
	uint64_t now = clock_day_ms(), keep_ms = (uint64_t)s->limits.keep_days * DAY_MS;
	uint64_t before_ms = now > keep_ms ? now - keep_ms : 0;
	bool more = drop_traces(s, before_ms > s->drop_ms ? before_ms : s->drop_ms);

	if (!more) {
		drop_figures(s, now, keep_ms);
		drop_papers(s, before_ms);
		/* the oldest tenth */
		s->drop_ms = is_too_large(s)
				     ? ask_number(s, "SELECT min(at) + (max(at) - min(at)) / 10"
						     " + 1 FROM trace")
				     : 0;
		more = s->drop_ms != 0;
	}
	run_sql(s, "PRAGMA incremental_vacuum(2000)");
	return more;
}
