/* SPDX-License-Identifier: Apache-2.0 */
/* bus_sweep.c - what managers that will not come back have left in the bucket.
 *
 * A manager that is killed takes back nothing.  Its processes are taken over by whoever reaches them; those that nobody
 * reaches, and its own entries, are taken out when it has been silent for an hour.  Two managers may do it at once. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manager/bus/bus_priv.h"

enum { AT_ONCE = 256, GONE_MS = 3600000, TIDY_MS = 3600000 };

struct sweep {
	char (*keys)[BUS_KEY + 16];
	unsigned n;
};

/* The first entry goes last, since without it nobody knows of the others. */
static void find_managers(const struct bus *b, struct sweep *s)
{
	for (const struct far_manager *m = b->managers; m; m = m->next) {
		if (bus_silent_ms(b, m) < GONE_MS || s->n + FAR_PARTS > AT_ONCE)
			continue;
		for (unsigned k = m->parts > 1 ? m->parts : 1; k-- > 0;)
			s->n += bus_peers_key(s->keys[s->n], m->name, k);
	}
}

/* Those of managers that have no entry: whoever holds a process has told of itself before. */
static void find_holds(struct bus *b, struct sweep *s)
{
	char key[BUS_KEY];

	for (unsigned k = 0; k < HOLD_BUCKETS; k++)
		for (const struct held *h = b->held[k]; h && s->n < AT_ONCE; h = h->next)
			if (strcmp(h->manager, b->name) != 0 && !bus_manager(b, h->manager) &&
			    bus_key_make(key, "hold", slice_str(h->id)))
				snprintf(s->keys[s->n++], sizeof(s->keys[0]), "%s", key);
}

void bus_sweep(struct bus *b)
{
	struct sweep s = { .keys = calloc(AT_ONCE, sizeof(*s.keys)) };
	uint64_t now = clock_steady_ms();

	if (!s.keys)
		return;
	pthread_mutex_lock(&b->lock);
	if (b->is_up && now - b->up_at_ms > DEAD_MS) {
		find_managers(b, &s);
		if (b->n_managers < FAR_MANAGERS) /* else some are not known */
			find_holds(b, &s);
	}
	pthread_mutex_unlock(&b->lock);
	for (unsigned k = 0; k < s.n; k++)
		if (bus_link_drop(b->link, s.keys[k]) < 0)
			break;
	free(s.keys);
	if (s.n)
		log_put(LOG_INFO, "bus: takes out %u entries of managers that are gone", s.n);
	if (now - b->tidied_ms > TIDY_MS && bus_link_tidy(b->link) >= 0) {
		b->tidied_ms = now;
		log_put(LOG_DEBUG, "bus: what is left of dropped keys has been taken out");
	}
}
