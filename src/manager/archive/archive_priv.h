/* SPDX-License-Identifier: Apache-2.0 */
/* archive_priv.h - what is below the archive: where its jobs go, and where its answers come from.
 *
 * The functions that write are called by one thread, those that read by any. */
#ifndef MANAGER_ARCHIVE_ARCHIVE_PRIV_H
#define MANAGER_ARCHIVE_ARCHIVE_PRIV_H

#include "manager/archive/archive.h"

struct archive_place {
	const char *where, *spool;
	struct archive_limits limits;
};

struct archive_engine {
	int (*open)(void **back, const struct archive_place *place); /* logs what is wrong */
	void (*close)(void *back);
	uint64_t (*bytes)(void *back);
	/* Of one that others write to as well, else NULL. */
	uint64_t (*waiting)(void *back); /* bytes that were promised, and are not in it yet */
	bool (*is_away)(void *back);	 /* it does not answer */

	/* begin, then run for each job, then commit: what fails alone leaves nothing.  When `run` says
	 * E_IO and `is_lost` is true, all that came since begin has gone. */
	bool (*begin)(void *back);
	int (*run)(void *back, struct archive_job *job);
	bool (*is_lost)(void *back);
	bool (*commit)(void *back);
	void (*rollback)(void *back);
	void (*tick)(void *back); /* about once a second; may be NULL */
	/* Once a minute: takes out what is too old, or too much; true: there is more of it, to be taken out
	 * when jobs have had their turn. */
	bool (*sweep)(void *back);

	int (*bases)(void *back, struct slice instance, archive_on_base *on, void *ctx);
	int (*figures)(void *back, const struct archive_span *span, archive_on_figure *on,
		       void *ctx);
	int (*traces)(void *back, const struct archive_filter *f, archive_on_trace *on, void *ctx);
	int (*trace)(void *back, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx);
	int (*plans)(void *back, struct slice app, uint64_t version, unsigned limit,
		     archive_on_plan *on, void *ctx);
	int (*digs)(void *back, struct slice app, unsigned limit, archive_on_text *on, void *ctx);
	int (*dig)(void *back, struct slice id, archive_on_text *on, void *ctx);
	int (*alerts)(void *back, const struct archive_alerts *which, archive_on_text *on,
		      void *ctx);
	int (*carried)(void *back, archive_on_carried *on, void *ctx);
	int (*audit)(void *back, unsigned limit, archive_on_audit *on, void *ctx);
};

extern const struct archive_engine sqlite_engine, clickhouse_engine;

/* Takes the first name and value off captured data; false: there is none. */
bool archive_pair(struct slice *data, struct slice pair[2]);
/* Makes a directory with those above it; no two managers may use one: *fd keeps it. */
int archive_take_dir(const char *dir, int *fd);

#endif
