/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - what is known about watched calls that run now.
 *
 * A thread keeps the facts of all its watched calls in one buffer, in the order in which they came;
 * each says the depth of its frame.  When a call ends, its facts go into the ring, and those of
 * frames from its depth on are taken out of the buffer. */
#include "probe/pages.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before the bytes "key NUL value NUL" of a fact; not aligned. */
struct fact {
	uint16_t depth, n;
};

static struct fact fact_at(const struct probe_thread *t, uint32_t at)
{
	struct fact fact;

	memcpy(&fact, t->facts + at, sizeof(fact));
	return fact;
}

static uint32_t fact_size(struct fact fact)
{
	return (uint32_t)sizeof(fact) + fact.n;
}

static const struct probe_frame *watched_frame(const struct probe_thread *t, uint32_t id)
{
	const struct probe_frame *f = t->top;

	for (; !frame_is_nobodys(f); f--)
		if ((f->id & ~ID_SLOW) == id && f->token & 1)
			return f;
	return NULL;
}

void probe_fact(uint32_t id, const char *key, size_t key_n, const char *value, size_t value_n)
{
	struct probe_thread *t = probe_local.muted ? probe_local.aside : probe_local.mine;
	const struct probe_frame *f = t ? watched_frame(t, id) : NULL;
	struct fact fact;
	size_t room;
	char *p;

	if (!f)
		return;
	key_n = strnlen(key, key_n);
	value_n = strnlen(value, value_n);
	room = sizeof(t->facts) - t->facts_n;
	if (room < sizeof(fact) + key_n + 2)
		return;
	room -= sizeof(fact) + key_n + 2;
	if (value_n > room) {
		value_n = room;
		while (value_n > 0 && ((unsigned char)value[value_n] & 0xc0) == 0x80)
			value_n--; /* not in the middle of a character */
	}
	fact.depth = (uint16_t)(f - t->frames);
	fact.n = (uint16_t)(key_n + value_n + 2);
	p = t->facts + t->facts_n;
	memcpy(p, &fact, sizeof(fact));
	p += sizeof(fact);
	memcpy(p, key, key_n);
	p[key_n] = '\0';
	memcpy(p + key_n + 1, value, value_n);
	p[key_n + 1 + value_n] = '\0';
	t->facts_n += fact_size(fact);
}

void facts_forget(struct probe_thread *t, const struct probe_frame *f)
{
	uint32_t kept = 0, n = t->facts_n;

	for (uint32_t at = 0; at < n;) {
		struct fact fact = fact_at(t, at);

		if (fact.depth < f - t->frames) {
			memmove(t->facts + kept, t->facts + at, fact_size(fact));
			kept += fact_size(fact);
		}
		at += fact_size(fact);
	}
	t->facts_n = kept;
}

/* Adds up the bytes of a frame's facts, and copies them to where it is not NULL. */
static size_t collect(const struct probe_thread *t, const struct probe_frame *f, char *where)
{
	size_t n = 0;

	for (uint32_t at = 0; at < t->facts_n;) {
		struct fact fact = fact_at(t, at);

		if (fact.depth == f - t->frames) {
			if (where)
				memcpy(where + n, t->facts + at + sizeof(fact), fact.n);
			n += fact.n;
		}
		at += fact_size(fact);
	}
	return n;
}

void facts_put(struct probe_thread *t, const struct probe_frame *f, struct probe_call *call)
{
	char *where;

	call->tid = t ? t->tid : (uint32_t)syscall(SYS_gettid);
	call->facts_n = f ? collect(t, f, NULL) : 0;
	where = ring_begin(call);
	if (!where)
		return;
	if (f)
		collect(t, f, where);
	ring_end(where);
}
