/* SPDX-License-Identifier: Apache-2.0 */
/* watch_priv.h - what the files of the watch share. */
#ifndef MANAGER_WATCH_WATCH_PRIV_H
#define MANAGER_WATCH_WATCH_PRIV_H

#include "manager/watch/alerts.h"
#include "manager/watch/learn.h"
#include "manager/watch/watch.h"

struct watch {
	struct fleet *f;
	const struct settings *config;
	struct tell *tell;
	struct learned_app *apps; /* of the thread */
	uint64_t window_ms, judged_ms;
	pthread_t thread;
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t work;
	struct alert *alerts; /* that are open, or that a dig runs for */
	struct watch_counts counts;
	bool ends;
};

/* ---- watch_alert.c ---- */

/* All that broke in one window in the same way, the worst first. */
struct breaks {
	struct alert_figure *v;
	size_t n;
};
void watch_raise(struct watch *w, struct learned_app *app, enum usual_kind kind,
		 const struct breaks *b);
void watch_good_again(struct watch *w, struct learned_app *app, enum usual_kind kind,
		      const char *method);
struct alert *watch_find_open(struct watch *w, const char *app, enum usual_kind kind);
void watch_restore(struct watch *w); /* alerts that were open when sonded ended */

/* ---- watch_dig.c ---- */

void watch_digs(struct watch *w, uint64_t now); /* starts those wanted, reads those that ended */

/* Tells the store and the pages, and with `event` also hooks and people. */
void watch_publish(struct watch *w, struct alert *a, const char *event);

#endif
