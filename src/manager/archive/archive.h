/* SPDX-License-Identifier: Apache-2.0 */
/* archive.h - what the manager keeps: figures in intervals, transactions, plans, who did what.
 *
 * An engine below it does the work (archive_priv.h): a SQLite file, or a ClickHouse server.  All writing is
 * done by one thread, which takes what has come together and commits it at once (group commit);
 * archive_put() only queues, archive_put_wait() returns when its job is on disk.  Reading may be
 * done by any thread.
 *
 * Figures are sums of what was added since the last time; the totals they were made from are
 * written in the same transaction, so that nothing is counted twice after a crash, and what was not
 * written yet is found again from the agent. */
#ifndef MANAGER_ARCHIVE_ARCHIVE_H
#define MANAGER_ARCHIVE_ARCHIVE_H

#include "base/arena.h"
#include "base/buf.h"
#include "manager/archive/press.h"

struct archive;

struct archive_limits {
	unsigned keep_days;
	uint64_t keep_bytes;
};

/* where: a directory, or clickhouse://[USER[:PASSWORD]@]HOST:PORT/DATABASE with `spool`, a directory for what
 * waits while it is down.  0; or negative after a line in the log. */
int archive_open(struct archive **out, const char *where, const char *spool,
		 const struct archive_limits *limits);
/* Do others write there, too? */
bool archive_is_shared(const struct archive *s);
void archive_close(struct archive *s); /* writes what is queued; NULL is fine */

/* ---- figures ---- */

/* What can be added up. */
enum archive_sum {
	SUM_CALLS,
	SUM_ERRORS,
	SUM_TIMED,
	SUM_TOTAL_NS,
	SUM_SELF_NS,
	SUM_STALLS,
	SUM_CPU_NS,
	SUM_BLOCKED_NS,
	SUM_ALLOCATED,
	SUMS
};

struct archive_figure {
	uint64_t slot_ms;
	uint64_t sums[SUMS];
	uint64_t max_ns, active_peak;
	struct slice method, spread;
};

/* The totals of a method, by its number in the agent. */
struct archive_base {
	uint32_t id;
	struct slice method;
	uint64_t sums[SUMS];
	uint64_t max_ns;
	struct slice raw; /* its histogram, as the agent sent it */
};

enum { ARCHIVE_LEVELS = 3 }; /* of roll-up: 10 s, a minute, ten minutes */
extern const unsigned archive_step_ms[ARCHIVE_LEVELS];

/* ---- transactions ---- */

struct archive_trace {
	uint64_t id;					/* given by the store */
	struct slice app, instance, root, thread, data; /* data: name NUL value NUL ... */
	uint64_t when_ms, elapsed_ns;
	uint32_t flags, calls, parts;
	struct slice blob; /* packed */
};

/* The machine of a process is what its name begins with; '-' is not in it. */
static inline struct slice archive_host(struct slice instance)
{
	const uint8_t *end = instance.n ? memchr(instance.p, '-', instance.n) : NULL;

	return (struct slice){ instance.p, end ? (size_t)(end - instance.p) : instance.n };
}

struct archive_filter {
	struct slice app, instance, root, q; /* .n 0: any */
	struct slice data[8][2];	     /* name, value */
	unsigned n_data;
	uint64_t from_ms, to_ms, min_ns, max_ns;
	uint32_t flags; /* all of them must be set */
	uint64_t before_ms, before_id;
	unsigned limit;
};

/* ---- jobs of the writer ---- */

enum archive_kind {
	JOB_INSTANCE,
	JOB_FIGURES,
	JOB_TRACE,
	JOB_PLAN,
	JOB_AUDIT,
	JOB_DIG,
	JOB_ALERT,
	JOB_CARRIED,
	JOB_KINDS
};

struct archive_job {
	struct archive_job *next;
	struct arena mem; /* of this job and all it points to */
	enum archive_kind kind;
	void *owner; /* of archive_put_wait */
	/* A job builds upon those before it of the same chain: when one has failed, those that were
	 * queued behind it fail as well, until there is one of a higher chain. */
	struct slice chained_to; /* .n 0: to nothing */
	uint64_t chain;
};

/* A job of `size` bytes in an arena of its own, zeroed; NULL: out of memory. */
void *archive_job(size_t size);
void archive_job_drop(struct archive_job *job);		      /* one that was not put */
void archive_put(struct archive *s, struct archive_job *job); /* it is the store's from now on */
int archive_put_wait(struct archive *s,
		     struct archive_job *job); /* what its run gave, or the commit */
bool archive_is_behind(
	const struct archive *s); /* the queue is long: leave out what can be left out */

struct job_instance {
	struct archive_job job;
	struct slice ident, app, text; /* text: JSON of what does not change */
	uint64_t seen_ms;
};

struct job_figures {
	struct archive_job job;
	struct slice app, instance;
	struct archive_figure *rows;
	struct archive_base *bases;
	size_t n, n_bases;
};

struct job_trace {
	struct archive_job job;
	struct archive_trace t;
	struct press_item press; /* the archive's own: t.blob, compressed */
};

struct job_plan {
	struct archive_job job;
	struct slice app, by, comment, doc; /* doc: JSON */
	uint64_t version, changed_ms;
};

struct job_audit {
	struct archive_job job;
	struct slice who, role, from, action, target, detail;
	uint64_t at_ms;
	int status;
};

struct job_dig {
	struct archive_job job;
	struct slice id, app, doc; /* doc: JSON */
	uint64_t started_ms;
};

/* In place of the one of that id, if there is one. */
struct job_alert {
	struct archive_job job;
	struct slice id, app, doc;   /* doc: JSON */
	uint64_t began_ms, ended_ms; /* ended_ms 0: it is open */
};

/* Rules of the plan that are, or have been, in a process. */
struct job_carried {
	struct archive_job job;
	struct slice instance, texts; /* each text ends with its line */
	uint64_t at_ms;
};

/* ---- reading ---- */

typedef void archive_on_base(void *ctx, const struct archive_base *b);
int archive_bases(struct archive *s, struct slice instance, archive_on_base *on, void *ctx);

struct archive_span {
	struct slice app, instance, method; /* instance, method: .n 0: all */
	uint64_t from_ms, to_ms;
	unsigned level;
};
typedef void archive_on_figure(void *ctx, const struct archive_figure *f);
int archive_figures(struct archive *s, const struct archive_span *span, archive_on_figure *on,
		    void *ctx);

typedef void archive_on_trace(void *ctx, const struct archive_trace *t);
int archive_traces(struct archive *s, const struct archive_filter *f, archive_on_trace *on,
		   void *ctx);
/* One with its blob, which is appended to blob.  0 or E_NOT_FOUND. */
int archive_trace(struct archive *s, uint64_t id, struct buf *blob, archive_on_trace *on,
		  void *ctx);

struct archive_plan {
	struct slice app, by, comment, doc;
	uint64_t version, changed_ms;
};
typedef void archive_on_plan(void *ctx, const struct archive_plan *p);
/* version 0: all of app, newest first; app .n 0: the newest of each. */
int archive_plans(struct archive *s, struct slice app, uint64_t version, unsigned limit,
		  archive_on_plan *on, void *ctx);

typedef void archive_on_text(void *ctx, struct slice text);
int archive_digs(struct archive *s, struct slice app, unsigned limit, archive_on_text *on,
		 void *ctx);
int archive_dig(struct archive *s, struct slice id, archive_on_text *on, void *ctx);
struct archive_alerts {
	struct slice app, id; /* .n 0: any */
	bool open;	      /* no others */
	unsigned limit;
};
/* Newest first. */
int archive_alerts(struct archive *s, const struct archive_alerts *which, archive_on_text *on,
		   void *ctx);
typedef void archive_on_carried(void *ctx, struct slice instance, struct slice texts);
int archive_carried(struct archive *s, archive_on_carried *on, void *ctx);
typedef void archive_on_audit(void *ctx, const struct job_audit *a);
int archive_audit(struct archive *s, unsigned limit, archive_on_audit *on, void *ctx);

struct archive_state {
	uint64_t bytes, queued, written, failed;
	uint64_t spooled; /* bytes on disk here, for an engine that is down */
	bool is_well;
	bool is_away; /* the engine does not answer; what comes waits on disk here */
};
void archive_state(struct archive *s, struct archive_state *out);

#endif
