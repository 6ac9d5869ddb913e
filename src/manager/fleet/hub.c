/* SPDX-License-Identifier: Apache-2.0 */
/* hub.c - a ring of events. */
#include "manager/fleet/hub.h"

#include <stdio.h>

void hub_init(struct hub *h)
{
	*h = (struct hub){ 0 };
	pthread_mutex_init(&h->lock, NULL);
	pthread_mutex_init(&h->waking, NULL);
}

void hub_release(struct hub *h)
{
	for (size_t i = 0; i < HUB_EVENTS; i++)
		buf_release(&h->events[i].text);
}

void hub_listen(struct hub *h, void (*woken)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&h->waking);
	h->woken = woken;
	h->ctx = ctx;
	pthread_mutex_unlock(&h->waking);
}

void hub_wake(struct hub *h)
{
	pthread_mutex_lock(&h->waking);
	if (h->woken)
		h->woken(h->ctx);
	pthread_mutex_unlock(&h->waking);
}

void hub_put(struct hub *h, struct slice app, const char *name, struct slice json)
{
	struct hub_event *e;

	pthread_mutex_lock(&h->lock);
	e = &h->events[h->next % HUB_EVENTS];
	snprintf(e->app, sizeof(e->app), "%.*s", SLICE_FMT(app));
	buf_clear(&e->text);
	buf_printf(&e->text, "id: %llu\nevent: %s\ndata: ", (unsigned long long)h->next, name);
	buf_put(&e->text, json);
	buf_text(&e->text, "\n\n");
	h->next++;
	pthread_mutex_unlock(&h->lock);
	hub_wake(h);
}

uint64_t hub_now(struct hub *h)
{
	uint64_t now;

	pthread_mutex_lock(&h->lock);
	now = h->next;
	pthread_mutex_unlock(&h->lock);
	return now;
}

bool hub_read(struct hub *h, uint64_t *at, const char *app, struct buf *out)
{
	bool whole;

	pthread_mutex_lock(&h->lock);
	whole = h->next - *at <= HUB_EVENTS;
	if (!whole)
		*at = h->next - HUB_EVENTS;
	for (; *at < h->next; ++*at) {
		const struct hub_event *e = &h->events[*at % HUB_EVENTS];

		if (!e->text.err && (!app || !e->app[0] || strcmp(e->app, app) == 0))
			buf_put(out, buf_slice(&e->text));
	}
	pthread_mutex_unlock(&h->lock);
	return whole;
}
