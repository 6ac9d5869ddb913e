/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - takes the oldest entries out, adds their figures up, and frees them one round later.
 *
 * The thread that writes the last report of a JVM may hold an entry that was just taken out.  So
 * entries are freed in the next round, a second later, and not at all when the JVM ends. */
#include "agent/serve/idle.h"

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/reading.h"
#include "agent/natives/data.h"
#include "agent/serve/closing.h"
#include "agent/serve/windows.h"
#include "agent/serve/transactions.h"
#include "probe/probe.h"
#include "probe/types.h"

/* The agent's thread. */
static struct woven *out; /* taken out in the last round, by ->all */

/* The method that stands for all that were forgotten; 0: there is none. */
static uint32_t sum_id(void)
{
	static const char name[] = "(unloaded)";
	static struct loader nobody; /* has no other class */
	static uint32_t id;
	struct woven *w;
	int32_t made;

	if (id)
		return id;
	pthread_mutex_lock(&agent.lock);
	w = woven_find(&nobody, name, sizeof(name) - 1, true);
	made = w ? woven_id(w, slice_str("methods"), slice_str("()")) : 0;
	pthread_mutex_unlock(&agent.lock);
	id = made > 0 ? (uint32_t)made : 0;
	return id;
}

static void free_all(void)
{
	struct woven *next;

	for (; out && !agent.dead; out = next) {
		next = out->all;
		woven_free(out);
	}
}

static uint32_t heir_of(const struct woven *w, const struct hooked *h)
{
	uint32_t heir;

	pthread_mutex_lock(&agent.lock);
	heir = woven_heir(w, h);
	pthread_mutex_unlock(&agent.lock);
	return heir;
}

/* Whatever is kept under the numbers of its methods. */
static void clear(const struct woven *w)
{
	for (const struct hooked *h = w->methods; h; h = h->next) {
		uint32_t heir = heir_of(w, h), to = heir ? heir : sum_id();
		uint64_t calls = to ? reading_move(h->id, to) : 0;

		if (!to)
			reading_reset(h->id); /* memory is out: what was measured is lost */
		if (!heir)
			rulebook_unloaded(h->rule, calls > h->before ? calls - h->before : 0);
		types_set(h->id, TYPE_UNKNOWN);
		windows_forget(h->id);
		closing_forget(h->id);
		transactions_forget(h->id);
		data_forget(h->id);
	}
}

void idle_trim(void)
{
	struct woven *w;

	free_all();
	if (agent.dead)
		return;
	for (;;) {
		pthread_mutex_lock(&agent.lock);
		w = woven_unloaded() > IDLE_METHODS ? woven_take_oldest() : NULL;
		pthread_mutex_unlock(&agent.lock);
		if (!w)
			return;
		clear(w);
		pthread_mutex_lock(&agent.lock);
		woven_forget(w);
		pthread_mutex_unlock(&agent.lock);
		w->all = out;
		out = w;
	}
}
