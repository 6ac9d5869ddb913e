/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse_link.c - statements over HTTP, and the tables.
 *
 * Every row has a key that is made once, before it is sent for the first time; all tables replace
 * rows of the same key, so a batch that is sent twice is in once.  Dialect: what ClickHouse has
 * understood since 2018. */
#include <stdio.h>

#include "manager/archive/clickhouse_priv.h"
#include "manager/log.h"

enum { ANSWER_MAX = 512 << 20, ASK_MS = 60000 };

const char *const clickhouse_tables[TABLES] = { "figure", "base", "trace", "data", "doc", "audit" };

#define SUM_COLUMNS                                                                            \
	"calls UInt64, errors UInt64, timed UInt64, total UInt64, self UInt64, stalls UInt64," \
	" cpu UInt64, blocked UInt64, allocated UInt64, max UInt64"
#define BY_DAY(column) " PARTITION BY toDate(toDateTime(intDiv(" column ", 1000)))"

static const char *const schema[] = {
	"CREATE TABLE IF NOT EXISTS figure (app String, method String, slot UInt64, instance String,"
	" job UInt64, n UInt32, " SUM_COLUMNS ", peak UInt64, spread String)"
	" ENGINE = ReplacingMergeTree" BY_DAY(
		"slot") " ORDER BY (app, method, slot, instance, job, n)",
	"CREATE TABLE IF NOT EXISTS base (instance String, id UInt32, method String, " SUM_COLUMNS
	", raw String, at UInt64, ver UInt64) ENGINE = ReplacingMergeTree(ver)"
	" ORDER BY (instance, id)",
	"CREATE TABLE IF NOT EXISTS trace (id UInt64, app String, instance String, root String, at UInt64,"
	" elapsed UInt64, flags UInt32, calls UInt32, parts UInt32, thread String, data String,"
	" blob String) ENGINE = ReplacingMergeTree" BY_DAY("at") " ORDER BY (at, id)",
	"CREATE TABLE IF NOT EXISTS data (name String, value String, at UInt64, id UInt64)"
	" ENGINE = ReplacingMergeTree" BY_DAY("at") " ORDER BY (name, value, at, id)",
	"CREATE TABLE IF NOT EXISTS doc (kind String, key String, app String, at UInt64, number UInt64,"
	" who String, comment String, text String, ver UInt64) ENGINE = ReplacingMergeTree(ver)"
	" ORDER BY (kind, key)",
	"CREATE TABLE IF NOT EXISTS audit (at UInt64, job UInt64, who String, role String, origin String,"
	" action String, target String, detail String, status UInt32)"
	" ENGINE = ReplacingMergeTree" BY_DAY("at") " ORDER BY (at, job)",
};

/* ---- connections ---- */

static struct poster *take_poster(struct clickhouse *c, unsigned *at)
{
	struct poster *p = NULL;

	pthread_mutex_lock(&c->asking);
	for (;;) {
		for (*at = 0; *at < ASKERS && c->busy[*at];)
			++*at;
		if (*at < ASKERS)
			break;
		pthread_cond_wait(&c->free, &c->asking);
	}
	if (!c->askers[*at])
		c->askers[*at] = post_open();
	p = c->askers[*at];
	c->busy[*at] = p != NULL;
	pthread_mutex_unlock(&c->asking);
	return p;
}

static void give_back(struct clickhouse *c, unsigned at)
{
	pthread_mutex_lock(&c->asking);
	c->busy[at] = false;
	pthread_cond_signal(&c->free);
	pthread_mutex_unlock(&c->asking);
}

/* The first line of what it says. */
static void log_refusal(const struct posted *said, const struct buf *answer)
{
	const char *text = said->status && answer->n ? (const char *)answer->p : said->why;
	size_t n = said->status && answer->n ? answer->n : strlen(said->why);

	n = n < 300 ? n : 300;
	log_put(LOG_WARN, "clickhouse: status %d: %.*s", said->status, (int)n, text);
}

static int send_to(struct clickhouse *c, const char *url, struct slice body, struct buf *out)
{
	struct buf answer = { 0 };
	struct post what = { .url = url,
			     .headers = { "Content-Type: application/octet-stream" },
			     .body = body,
			     .limit_ms = ASK_MS,
			     .answer = &answer,
			     .answer_max = ANSWER_MAX };
	struct posted said;
	unsigned at;
	struct poster *p = take_poster(c, &at);
	bool good;

	if (!p)
		return E_NO_MEMORY;
	what.headers[1] = c->user[0] ? c->user : NULL;
	what.headers[2] = c->user[0] && c->key[0] ? c->key : NULL;
	good = post_send(p, &what, &said) && said.status == 200;
	give_back(c, at);
	if (!good)
		log_refusal(&said, &answer);
	else if (out)
		buf_put(out, buf_slice(&answer));
	buf_release(&answer);
	return good ? 0 : said.status ? E_DAMAGED : E_IO;
}

int clickhouse_run(struct clickhouse *c, struct slice sql, struct buf *out)
{
	char url[1300];

	/* else an error in the middle of an answer comes with status 200 */
	snprintf(url, sizeof(url), "%s&wait_end_of_query=1", c->url);
	return send_to(c, url, sql, out);
}

int clickhouse_insert(struct clickhouse *c, enum clickhouse_table table, struct slice rows)
{
	char url[1400];

	snprintf(url, sizeof(url), "%s&query=INSERT%%20INTO%%20%s%%20FORMAT%%20RowBinary", c->url,
		 clickhouse_tables[table]);
	return send_to(c, url, rows, NULL);
}

int clickhouse_make_tables(struct clickhouse *c)
{
	int rc = 0;

	for (unsigned i = 0; i < COUNT(schema) && rc >= 0; i++)
		rc = clickhouse_run(c, slice_str(schema[i]), NULL);
	return rc;
}

void clickhouse_quote(struct buf *sql, struct slice text)
{
	buf_u8(sql, '\'');
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'' || text.p[i] == '\\')
			buf_u8(sql, '\\');
		if (text.p[i])
			buf_u8(sql, text.p[i]);
		else
			buf_text(sql, "\\0");
	}
	buf_u8(sql, '\'');
}
