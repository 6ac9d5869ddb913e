/* SPDX-License-Identifier: Apache-2.0 */
/* solo.c - calls that are measured alone.
 *
 * probe_words.solo is the right to measure: the thread that takes the 1 out of it has it, alone
 * until it is put back.  What it guards needs no further care; only a call that was given up may
 * still come to its end later.  Therefore a call knows the window in which it began, and windows
 * write into two arrays in turn. */
#include "probe/solo.h"

#include "base/tick.h"
#include "probe/inner.h"
#include "probe/taken.h"

enum {
	BLANKS = 2, /* before each call; the last one counts */
	LONG = 4,   /* times as long as the shortest: no blank call counts for more */
};

static struct {
	uint32_t window; /* grows */
	uint32_t drawing;
	uint64_t left;	/* calls that are still wanted */
	uint64_t until; /* tick */
	uint64_t token; /* of the call that is measured; 0: none */
	uint32_t began; /* ... and the window in which it began */
	uint32_t over;	/* the window in which nothing runs any more */
	uint32_t id;
	unsigned blanks; /* that it has had */
	uint64_t blank;	 /* ticks of the last one, unless it was long */
	uint64_t least;	 /* ... of the shortest ever; 0: there was none */
	uint32_t chance;
	bool asked; /* taken is of this call */
	struct taken taken;
	struct solo_sum sums[2][SOLO_METHODS];
} solo;

static uint8_t places[PROBE_METHODS]; /* of a method among those of the window */

static struct {
	uint8_t is_long, rest;
	uint8_t left; /* calls that pass before the next one is measured */
} ways[PROBE_METHODS];

/* The call, or a blank one, begins now. */
static uint64_t begin_now(uint64_t marks)
{
	uint64_t token;

	tick_settle();
	token = tick_now() << 1 | marks;
	STORE(solo.token, token);
	return token;
}

/* This thread has the right to measure, unless it was taken away, and comes back from a blank
 * call. */
static uint64_t go_on(uint32_t id)
{
	uint64_t token = probe_local.blank;

	probe_local.blank = 0;
	if (TAKE(solo.token) != token || solo.id != id)
		return 0;
	return begin_now(++solo.blanks < BLANKS ? SOLO_BLANK : SOLO_TOKEN);
}

/* Is it one of those that pass?  Threads may spoil each other's count, which does not matter. */
static bool passes(uint32_t id)
{
	uint8_t left = LOAD(ways[id].left);

	if (left)
		STORE(ways[id].left, (uint8_t)(left - 1));
	return left != 0;
}

/* How many calls pass after the one that begins now.  A fixed number would see only one kind of
 * call in a program whose calls differ by turns. */
static uint8_t next_rest(uint32_t id)
{
	unsigned rest = LOAD(ways[id].rest);

	solo.chance = solo.chance * 1664525 + 1013904223;
	return (uint8_t)((uint64_t)solo.chance * (2 * rest + 1) >> 32);
}

/* Not to be inlined into anything: what lies between the counter and the program is calibrated. */
APART uint64_t solo_enter(uint32_t id)
{
	if (probe_local.muted || id >= PROBE_METHODS)
		return 0;
	if (probe_local.blank)
		return go_on(id);
	if (!LOAD(solo.left))
		return 0; /* only marks are taken */
	if (LOAD(probe_words.solo) && passes(id))
		return SOLO_TOKEN;
	if (!__atomic_exchange_n(&probe_words.solo, 0, __ATOMIC_ACQUIRE))
		return 0;
	STORE(solo.began, LOAD(solo.window));
	STORE(solo.id, id);
	if (tick_now() >= LOAD(solo.until)) {
		PUBLISH(solo.over, LOAD(solo.began));
		return 0;
	}
	solo.blanks = 0;
	STORE(ways[id].left, next_rest(id));
	solo.asked = LOAD(ways[id].is_long);
	if (solo.asked)
		taken_begin(&solo.taken);
	return begin_now(SOLO_BLANK);
}

/* The right to measure goes back, if there is something left to be measured. */
static void give_back(uint32_t window)
{
	PUBLISH(solo.token, 0);
	if (LOAD(solo.window) != window)
		return;
	if (LOAD(solo.drawing) && solo.left)
		PUBLISH(probe_words.solo, 1);
	else
		PUBLISH(solo.over, window);
}

static void add(struct solo_sum *s, uint64_t ticks)
{
	STORE(s->calls, s->calls + 1);
	STORE(s->ticks, s->ticks + ticks);
	STORE(s->blank, s->blank + solo.blank);
	if (ticks > s->max)
		STORE(s->max, ticks);
}

/* The ticks of a call without those in which the processor was taken away, if that is known. */
static uint64_t own_ticks(struct solo_sum *s, uint64_t ticks)
{
	uint64_t wall;
	int64_t away = solo.asked ? taken_end(&solo.taken, &wall) : -1;

	if (away < 0 || !wall)
		return ticks;
	STORE(s->asked, s->asked + 1);
	return ticks - (uint64_t)((double)ticks * (double)away / (double)wall);
}

APART void solo_exit(uint32_t id, uint64_t token)
{
	uint64_t now, ticks;
	uint32_t window;
	struct solo_sum *s;

	tick_settle();
	now = tick_now();
	if (token == SOLO_TOKEN)
		return; /* it passed */
	if (TAKE(solo.token) != token || solo.id != id)
		return; /* given up */
	ticks = now - ((token & ~SOLO_BLANK) >> 1);
	if ((token & SOLO_BLANK) == SOLO_BLANK) {
		if (ticks && (!solo.least || ticks < solo.least))
			solo.least = ticks;
		/* Else the processor was taken away in it, and the call would be reported as much too
		 * short. */
		solo.blank = ticks < LONG * solo.least ? ticks : LONG * solo.least;
		probe_local.blank = token;
		return;
	}
	window = solo.began;
	if (window == LOAD(solo.window)) {
		s = &solo.sums[window & 1][places[id]];
		add(s, (int64_t)ticks > 0 ? own_ticks(s, ticks) : 0);
		if (now >= LOAD(solo.until))
			solo.left = 1;
		solo.left -= solo.left > 0;
	}
	give_back(window);
}

void solo_forget(uint32_t id, uint64_t token)
{
	if (token != SOLO_TOKEN && TAKE(solo.token) == token && solo.id == id)
		give_back(solo.began);
}

void solo_mark(uint32_t id)
{
	if (!probe_local.muted && id < PROBE_METHODS && LOAD(solo.drawing))
		SHARED_ADD(solo.sums[LOAD(solo.window) & 1][LOAD(places[id])].calls, 1);
}

void solo_way(uint32_t id, const struct solo_way *way)
{
	STORE(ways[id].is_long, (uint8_t)way->is_long);
	STORE(ways[id].rest, way->rest > SOLO_REST ? (uint8_t)SOLO_REST : way->rest);
	STORE(ways[id].left, next_rest(id)); /* nor is the first call of a window like others */
}

void solo_begin(const uint32_t *ids, size_t n, uint64_t calls, uint64_t until)
{
	uint32_t next = solo.window + 1;

	for (size_t i = 0; i < n && i < SOLO_METHODS; i++) {
		solo.sums[next & 1][i] = (struct solo_sum){ 0 };
		STORE(places[ids[i]], (uint8_t)i);
	}
	solo.left = calls;
	STORE(solo.until, until);
	STORE(solo.token, 0);
	if (!calls)
		STORE(solo.over, next);
	PUBLISH(solo.window, next);
	STORE(solo.drawing, 1);
	PUBLISH(probe_words.solo, 1); /* marks come by it, too */
}

bool solo_end(void)
{
	__atomic_store_n(&solo.drawing, 0, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&probe_words.solo, 0, __ATOMIC_ACQ_REL))
		STORE(solo.over, solo.window); /* it is free */
	return TAKE(solo.over) == solo.window;
}

int solo_cut(void)
{
	int place = TAKE(solo.token) ? places[LOAD(solo.id) & (PROBE_METHODS - 1)] : -1;

	STORE(solo.token, 0);
	STORE(solo.over, solo.window);
	return place;
}

struct solo_sum solo_sum(size_t i)
{
	const struct solo_sum *s = &solo.sums[solo.window & 1][i];

	return (struct solo_sum){ LOAD(s->calls), LOAD(s->ticks), LOAD(s->max), LOAD(s->blank),
				  LOAD(s->asked) };
}

bool solo_is_over(void)
{
	return TAKE(solo.over) == solo.window;
}
