/* SPDX-License-Identifier: Apache-2.0 */
/* call_facts.c - what is known about watched calls that run now.
 *
 * A thread keeps the facts of all its watched calls in one buffer, in the order in which they came;
 * each says the depth of its frame.  When a call ends, its facts go into the ring, and those of
 * frames from its depth on are taken out of the buffer. */
#include "probe/pages.h"

#include "base/utf8.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool call_facts_next(const struct probe_thread *t, const struct probe_frame *from, uint32_t *at,
		     struct probe_fact *out)
{
	while (*at < t->facts_n) {
		memcpy(out, t->facts + *at, sizeof(*out));
		*at += (uint32_t)sizeof(*out);
		if (out->depth >= from - t->frames)
			return true;
		*at += out->n;
	}
	return false;
}

uint32_t call_facts_above(const struct probe_thread *t, const struct probe_frame *from)
{
	struct probe_fact fact;
	uint32_t n = 0;

	for (uint32_t at = 0; call_facts_next(t, from, &at, &fact); at += fact.n)
		n++;
	return n;
}

/* The highest frame of the method about which facts are wanted. */
static const struct probe_frame *watched_frame(uint32_t id)
{
	const struct probe_frame *f = thread_top();

	for (; f && !frame_is_nobodys(f); f--)
		if (frame_id(f) == id && f->token & 1)
			return f;
	return NULL;
}

void probe_fact(uint32_t id, const char *key, size_t key_n, const char *value, size_t value_n)
{
	struct probe_thread *t = probe_local.mine;
	const struct probe_frame *f = watched_frame(id);
	struct probe_fact fact;
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
		while (value_n > 0 && utf8_is_inner((uint8_t)value[value_n]))
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
	t->facts_n += (uint32_t)sizeof(fact) + fact.n;
}

void call_facts_forget(struct probe_thread *t, const struct probe_frame *from)
{
	uint32_t kept = 0;
	struct probe_fact fact;

	for (uint32_t at = 0; call_facts_next(t, t->frames, &at, &fact); at += fact.n) {
		uint32_t size = (uint32_t)sizeof(fact) + fact.n;

		if (fact.depth >= from - t->frames)
			continue;
		memmove(t->facts + kept, t->facts + at - sizeof(fact), size);
		kept += size;
	}
	t->facts_n = kept;
}

/* Adds up the bytes of a frame's facts, and copies them to where it is not NULL. */
static size_t collect(const struct probe_thread *t, const struct probe_frame *f, char *where)
{
	struct probe_fact fact;
	size_t n = 0;

	for (uint32_t at = 0; call_facts_next(t, f, &at, &fact); at += fact.n) {
		if (fact.depth != f - t->frames)
			continue;
		if (where)
			memcpy(where + n, t->facts + at, fact.n);
		n += fact.n;
	}
	return n;
}

void call_facts_put(struct probe_thread *t, const struct probe_frame *f, struct probe_call *call)
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
