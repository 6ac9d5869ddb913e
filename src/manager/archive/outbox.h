/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - batches on their way to a store on another machine: on disk first, sent in order, each again
 * and again until it is taken, later and later while nobody takes them.  Of one thread, but for what
 * is read by outbox_waiting and outbox_is_down. */
#ifndef MANAGER_ARCHIVE_OUTBOX_H
#define MANAGER_ARCHIVE_OUTBOX_H

#include "manager/archive/spool.h"

struct outbox {
	const char *name; /* of the store, for the log */
	/* 0: it is taken; E_IO: nobody answers, or not now; E_DAMAGED: it is refused.  An empty one asks
	 * whether the store is back. */
	int (*send)(void *ctx, struct slice batch);
	void *ctx;
	uint64_t most; /* bytes that may wait */
	struct spool spool;
	unsigned tries, refusals; /* one after the other */
	uint64_t retry_ms;
	bool is_down;
};

int outbox_open(struct outbox *o, const char *dir); /* with all above `spool` set */
void outbox_close(struct outbox *o);
bool outbox_put(struct outbox *o, struct slice batch); /* true: it is on disk */
void outbox_drain(struct outbox *o);		       /* sends as long as it is taken */
void outbox_say(struct outbox *o, bool down);	       /* it was found out elsewhere */
uint64_t outbox_waiting(const struct outbox *o);       /* bytes */
bool outbox_is_down(const struct outbox *o);

#endif
