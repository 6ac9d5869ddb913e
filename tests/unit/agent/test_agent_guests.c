/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/guests.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 4, ROUNDS = 300 };

/* What the agent gives back when it leaves: 1 while it is in. */
static int *thing;

struct guest {
	pthread_t thread;
	bool stop, come, go; /* atomic */
	unsigned used, turned_away, bad;
};

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_SEQ_CST);
}

static bool is(bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void *come_and_go(void *ctx)
{
	struct guest *g = ctx;

	while (!is(&g->stop)) {
		if (!guests_come()) {
			g->turned_away++;
			continue;
		}
		g->used++;
		g->bad += *thing != 1;
		if (!guests_come()) /* again, while it is in */
			g->bad++;
		else
			guests_go();
		g->bad += *thing != 1;
		guests_go();
	}
	return NULL;
}

TEST(guests_have_gone_when_the_door_is_closed)
{
	struct guest g[THREADS] = { 0 };
	unsigned used = 0, bad = 0;

	thing = malloc(sizeof(*thing));
	*thing = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&g[i].thread, NULL, come_and_go, &g[i]);
	for (int i = 0; i < ROUNDS; i++) {
		int *old = thing;

		if (!CHECK(guests_close(20000)))
			break;
		*old = 0;
		thing = NULL;
		free(old);
		thing = malloc(sizeof(*thing));
		*thing = 1;
		guests_open();
		usleep(50);
	}
	for (int i = 0; i < THREADS; i++) {
		set(&g[i].stop);
		pthread_join(g[i].thread, NULL);
		used += g[i].used;
		bad += g[i].bad;
	}
	CHECK_INT(bad, 0, "used after it was given back");
	CHECK(used > 0);
	CHECK_INT(guests_count(), 0, NULL);
	free(thing);
}

static void *stay(void *ctx)
{
	struct guest *g = ctx;

	if (guests_come()) {
		set(&g->come);
		while (!is(&g->go))
			usleep(100);
		g->used = guests_come(); /* the door is closed for others only */
		if (g->used)
			guests_go();
		guests_go();
	}
	return NULL;
}

TEST(guests_who_do_not_go_keep_the_agent_in)
{
	struct guest g = { 0 };

	pthread_create(&g.thread, NULL, stay, &g);
	while (!is(&g.come))
		usleep(100);
	CHECK(!guests_close(20));
	CHECK_INT(guests_count(), 1, NULL);
	CHECK(guests_come()); /* the door is open again */
	guests_go();
	set(&g.go);
	CHECK(guests_close(20000));
	CHECK(!guests_come());
	pthread_join(g.thread, NULL);
	CHECK_INT(g.used, 1, NULL);
	guests_open();
	CHECK(guests_come());
	guests_go();
	CHECK_INT(guests_count(), 0, NULL);
}
