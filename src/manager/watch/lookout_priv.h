/* SPDX-License-Identifier: Apache-2.0 */
/* lookout_priv.h - what the files of the watch share. */
#ifndef MANAGER_WATCH_LOOKOUT_PRIV_H
#define MANAGER_WATCH_LOOKOUT_PRIV_H

#include "manager/watch/alerts.h"
#include "manager/watch/learn.h"
#include "manager/watch/lookout.h"

struct lookout {
	struct fleet *f;
	const struct settings *config;
	struct tell *tell;
	struct learned_app *apps; /* of the thread */
	uint64_t window_ms, judged_ms;
	bool is_restored;
	pthread_t thread;
	pthread_mutex_t lock; /* of what is below */
	pthread_cond_t work;
	struct alert *alerts; /* that are open, or that a dig runs for */
	struct lookout_counts counts;
	bool ends;
};

/* ---- lookout_alert.c ---- */

/* All that broke in one window in the same way, the worst first. */
struct broken_figures {
	struct alert_figure *v;
	size_t n;
};
void lookout_raise(struct lookout *w, struct learned_app *app, enum usual_kind kind,
		   const struct broken_figures *b);
void lookout_good_again(struct lookout *w, struct learned_app *app, enum usual_kind kind,
			const char *method);
struct alert *lookout_find_open(struct lookout *w, const char *app, enum usual_kind kind);
/* Alerts that were open when sonded ended; false: the store does not say now. */
bool lookout_restore(struct lookout *w);

/* ---- lookout_dig.c ---- */

void lookout_digs(struct lookout *w,
		  uint64_t now); /* starts those wanted, reads those that ended */

/* Tells the store and the pages, and with `event` also hooks and people. */
void lookout_publish(struct lookout *w, struct alert *a, const char *event);

#endif
