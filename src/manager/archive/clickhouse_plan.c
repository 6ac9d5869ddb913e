/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse_plan.c - a version of a plan is written once, though the server has neither transactions nor
 * unique keys, and several managers write there.
 *
 * Who wants to write a version looks for claims to it, puts one of its own, and waits for WAIT_MS.  Whoever
 * came later than that sees the claim and gives up; all who came in time see each other, and the
 * smallest claim wins.  A claim that was put too late counts for nothing: its owner gives up.  One that comes to
 * nothing (its manager was killed) is dead when somebody has seen it for DEAD_MS; its owner has given
 * up long before. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "manager/archive/clickhouse_priv.h"

enum { WAIT_MS = 400, BEGIN_MS = 3000, DEAD_MS = 10000, AGAIN_MS = 20, NONCE = 16 };

static void take_version(void *ctx, const struct archive_plan *p)
{
	*(uint64_t *)ctx = p->version;
}

/* An answer can be lost; a row that is in twice is in once. */
static int insert(struct clickhouse *c, const struct clickhouse_doc *d, uint64_t until_ms)
{
	struct buf row = { 0 };
	int rc;

	clickhouse_put_doc(c, &row, d);
	do {
		rc = row.err ? row.err : clickhouse_insert(c, T_DOC, buf_slice(&row));
		if (rc == E_IO)
			usleep(AGAIN_MS * 1000);
	} while (rc == E_IO && clock_steady_ms() < until_ms);
	buf_release(&row);
	return rc;
}

/* ---- claims ---- */

static bool is_dead(struct clickhouse *c, uint64_t nonce)
{
	uint64_t now = clock_steady_ms();
	unsigned n = c->n_claims < CLAIMS ? c->n_claims : CLAIMS;

	for (unsigned i = 0; i < n; i++)
		if (c->claims[i].nonce == nonce)
			return now - c->claims[i].seen_ms > DEAD_MS;
	c->claims[c->n_claims % CLAIMS].nonce = nonce;
	c->claims[c->n_claims++ % CLAIMS].seen_ms = now;
	return false;
}

/* *least: the smallest one that lives, UINT64_MAX when there is none. */
static int read_claims(struct clickhouse *c, const struct job_plan *j, uint64_t *least)
{
	struct buf sql = { 0 }, answer = { 0 };
	int rc;

	*least = UINT64_MAX;
	buf_text(&sql, "SELECT who FROM doc FINAL WHERE kind = 'claim' AND app = ");
	clickhouse_quote(&sql, j->app);
	buf_printf(&sql, " AND number = %" PRIu64 " FORMAT TabSeparated", j->version);
	rc = sql.err ? sql.err : clickhouse_run(c, buf_slice(&sql), &answer);
	for (size_t i = 0; rc >= 0 && i + NONCE < answer.n; i += NONCE + 1) {
		uint64_t nonce = strtoull((const char *)answer.p + i, NULL, 16);

		if (nonce < *least && !is_dead(c, nonce))
			*least = nonce;
	}
	buf_release(&answer);
	buf_release(&sql);
	return rc;
}

static uint64_t make_nonce(struct clickhouse *c)
{
	uint64_t v = c->run_id + ++c->jobs * 0x9e3779b97f4a7c15u;

	v = (v ^ v >> 31) * 0xbf58476d1ce4e5b9u;
	return v ^ v >> 29;
}

static int put_claim(struct clickhouse *c, const struct job_plan *j, uint64_t nonce)
{
	struct buf key = { 0 };
	char who[NONCE + 1];
	int rc;

	snprintf(who, sizeof(who), "%016" PRIx64, nonce);
	buf_printf(&key, "%020" PRIu64 " %s ", j->version, who);
	buf_put(&key, j->app);
	rc = key.err ? key.err
		     : insert(c,
			      &(struct clickhouse_doc){ .kind = "claim",
							.key = buf_slice(&key),
							.app = j->app,
							.who = slice_str(who),
							.at = clock_day_ms(),
							.number = j->version },
			      clock_steady_ms() + WAIT_MS);
	buf_release(&key);
	return rc;
}

/* 0: the version is ours to be written. */
static int claim(struct clickhouse *c, const struct job_plan *j)
{
	uint64_t began = clock_steady_ms(), least, nonce = make_nonce(c);
	int rc = read_claims(c, j, &least);

	if (rc >= 0 && least != UINT64_MAX)
		return E_DUPLICATE;
	if (rc >= 0)
		rc = put_claim(c, j, nonce);
	if (rc >= 0 && clock_steady_ms() - began > WAIT_MS)
		return E_IO; /* it is too slow to know */
	if (rc < 0)
		return rc;
	usleep(WAIT_MS * 1000);
	for (;;) {
		rc = read_claims(c, j, &least);
		if (rc != E_IO || clock_steady_ms() - began > BEGIN_MS)
			break;
		usleep(AGAIN_MS * 1000);
	}
	return rc < 0 ? rc : least == nonce ? 0 : E_DUPLICATE;
}

/* ---- the version ---- */

static int write_version(struct clickhouse *c, const struct job_plan *j)
{
	struct buf key = { 0 };
	int rc;

	buf_printf(&key, "%020" PRIu64 " ", j->version);
	buf_put(&key, j->app);
	rc = key.err ? key.err
		     : insert(c,
			      &(struct clickhouse_doc){ .kind = "plan",
							.key = buf_slice(&key),
							.app = j->app,
							.who = j->by,
							.comment = j->comment,
							.text = j->doc,
							.at = j->changed_ms,
							.number = j->version },
			      clock_steady_ms() + BEGIN_MS);
	buf_release(&key);
	return rc;
}

int clickhouse_plan(struct clickhouse *c, const struct job_plan *j)
{
	uint64_t newest = 0, began;
	int rc;

	if (outbox_is_down(&c->outbox))
		return E_IO;
	began = clock_steady_ms();
	do {
		rc = clickhouse_plans(c, j->app, 0, 1, take_version, &newest);
	} while (rc == E_IO && clock_steady_ms() - began < WAIT_MS);
	if (rc >= 0 && newest >= j->version)
		rc = E_DUPLICATE;
	if (rc < 0)
		return rc;
	began = clock_steady_ms();
	rc = claim(c, j);
	if (rc >= 0 && clock_steady_ms() - began > BEGIN_MS)
		rc = E_IO;
	if (rc >= 0)
		rc = write_version(c, j);
	return rc >= 0 && clock_steady_ms() - began > DEAD_MS ? E_IO : rc;
}
