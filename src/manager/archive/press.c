/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/archive/press.h"

#include <pthread.h>

#include "base/mem.h"
#include "manager/archive/blob.h"

struct press {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct press_item *items; /* to be walked over; NULL: it is idle */
	bool ends, is_wanted;	  /* wanted: the writer needs the rest of its time */
	struct {
		struct blob_press *press;
		struct buf scratch;
	} writer, beside;
};

static int compress(struct press_item *item, struct blob_press *press, struct buf *scratch)
{
	int rc;

	buf_clear(scratch);
	rc = blob_compress(press, item->from, scratch);
	if (rc >= 0)
		item->packed = arena_dup(item->mem, buf_slice(scratch));
	if (rc >= 0 && !item->packed.p)
		rc = E_NO_MEMORY;
	return rc;
}

static bool claim(struct press_item *item)
{
	return !__atomic_exchange_n(&item->is_claimed, true, __ATOMIC_ACQ_REL);
}

/* ---- beside the writer ---- */

static void walk(struct press *p, struct press_item *items)
{
	for (struct press_item *i = items; i && !__atomic_load_n(&p->is_wanted, __ATOMIC_RELAXED);
	     i = i->next) {
		int rc;

		if (!claim(i))
			continue;
		rc = compress(i, p->beside.press, &p->beside.scratch);
		pthread_mutex_lock(&p->lock);
		i->pressed = rc < 0 ? rc : 1;
		pthread_cond_signal(&p->idle);
		pthread_mutex_unlock(&p->lock);
	}
}

static void *run(void *arg)
{
	struct press *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		struct press_item *items = p->items;

		if (!items) {
			pthread_cond_wait(&p->work, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		walk(p, items);
		pthread_mutex_lock(&p->lock);
		p->items = NULL;
		pthread_cond_signal(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the writer ---- */

void press_begin(struct press *p, struct press_item *items)
{
	if (!items || !items->next) /* it is done sooner than somebody wakes up */
		return;
	pthread_mutex_lock(&p->lock);
	__atomic_store_n(&p->is_wanted, false, __ATOMIC_RELAXED);
	p->items = items;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

int press_need(struct press *p, struct press_item *item)
{
	int rc;

	if (claim(item))
		return compress(item, p->writer.press, &p->writer.scratch);
	pthread_mutex_lock(&p->lock);
	while (!item->pressed)
		pthread_cond_wait(&p->idle, &p->lock);
	rc = item->pressed < 0 ? item->pressed : 0;
	pthread_mutex_unlock(&p->lock);
	return rc;
}

void press_end(struct press *p)
{
	pthread_mutex_lock(&p->lock);
	__atomic_store_n(&p->is_wanted, true, __ATOMIC_RELAXED);
	while (p->items)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

/* ---- begin and end ---- */

static void release(struct press *p)
{
	blob_press_free(p->writer.press);
	blob_press_free(p->beside.press);
	buf_release(&p->writer.scratch);
	buf_release(&p->beside.scratch);
	mem_free(p);
}

int press_start(struct press **out)
{
	struct press *p = mem_alloc(sizeof(*p));

	if (!p)
		return E_NO_MEMORY;
	*p = (struct press){ 0 };
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->writer.press = blob_press_new();
	p->beside.press = blob_press_new();
	if (!p->writer.press || !p->beside.press || pthread_create(&p->thread, NULL, run, p) != 0) {
		release(p);
		return E_NO_MEMORY;
	}
	*out = p;
	return 0;
}

void press_stop(struct press *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	release(p);
}
