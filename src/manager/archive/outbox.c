/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/archive/outbox.h"

#include "base/clock.h"
#include "manager/archive/archive_priv.h"
#include "manager/log.h"

enum { FIRST_RETRY_MS = 50, LAST_RETRY_MS = 5000, REFUSALS_MAX = 20 };

int outbox_open(struct outbox *o, const char *dir)
{
	o->spool.lock_fd = -1;
	return spool_open(&o->spool, dir);
}

void outbox_close(struct outbox *o)
{
	spool_close(&o->spool);
}

bool outbox_put(struct outbox *o, struct slice batch)
{
	return !batch.n || (outbox_waiting(o) < o->most && spool_put(&o->spool, batch) >= 0);
}

static uint64_t pause_ms(unsigned tries)
{
	uint64_t ms = (uint64_t)FIRST_RETRY_MS << (tries < 10 ? tries : 10);

	return ms < LAST_RETRY_MS ? ms : LAST_RETRY_MS;
}

void outbox_say(struct outbox *o, bool down)
{
	if (down != o->is_down)
		log_put(down ? LOG_WARN : LOG_INFO, "%s %s", o->name,
			down ? "cannot be written; what comes waits in the spool"
			     : "takes data again");
	__atomic_store_n(&o->is_down, down, __ATOMIC_RELAXED);
	o->tries = down ? o->tries + 1 : 0;
	o->retry_ms = down ? clock_day_ms() + pause_ms(o->tries) : 0;
}

/* What is refused again and again would keep all behind it. */
static void refused(struct outbox *o)
{
	if (++o->refusals < REFUSALS_MAX)
		return;
	o->refusals = 0;
	spool_set_aside(&o->spool);
}

static void see_whether_it_is_back(struct outbox *o)
{
	if (o->is_down)
		outbox_say(o, o->send(o->ctx, (struct slice){ NULL, 0 }) < 0);
}

void outbox_drain(struct outbox *o)
{
	struct buf batch = { 0 };
	int rc = 0;

	while (rc >= 0 && clock_day_ms() >= o->retry_ms) {
		buf_clear(&batch);
		rc = spool_oldest(&o->spool, &batch);
		if (rc == E_NOT_FOUND) {
			see_whether_it_is_back(o);
			break;
		}
		if (rc == E_DAMAGED) { /* no try will mend it */
			spool_set_aside(&o->spool);
			rc = 0;
			continue;
		}
		if (rc >= 0)
			rc = o->send(o->ctx, buf_slice(&batch));
		outbox_say(o, rc < 0);
		if (rc >= 0) {
			o->refusals = 0;
			spool_drop(&o->spool);
		} else if (rc == E_DAMAGED) {
			refused(o);
		}
	}
	buf_release(&batch);
}

uint64_t outbox_waiting(const struct outbox *o)
{
	return __atomic_load_n(&o->spool.bytes, __ATOMIC_ACQUIRE);
}

bool outbox_is_down(const struct outbox *o)
{
	return __atomic_load_n(&o->is_down, __ATOMIC_RELAXED);
}
