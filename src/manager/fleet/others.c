/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/fleet/others.h"

#include "base/mem.h"
#include "manager/fleet/carried.h"
#include "manager/fleet/plan.h"
#include "manager/wait.h"

enum { EVERY_MS = 1000 };

struct others {
	struct fleet *f;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	bool ends;
};

static int load(struct fleet *f)
{
	int rc = plan_pull(f, (struct slice){ NULL, 0 });

	if (rc >= 0)
		rc = carried_load(f);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&f->lock);
	f->is_loaded = true;
	pthread_mutex_unlock(&f->lock);
	return 0;
}

static bool nap(struct others *s)
{
	bool ends;

	pthread_mutex_lock(&s->lock);
	if (!s->ends)
		wait_ms(&s->work, &s->lock, EVERY_MS);
	ends = s->ends;
	pthread_mutex_unlock(&s->lock);
	return !ends;
}

static void *run(void *arg)
{
	struct others *s = arg;
	struct fleet *f = s->f;

	while (nap(s)) {
		if (f->is_loaded) /* only this thread sets it now */
			plan_pull(f, (struct slice){ NULL, 0 });
		else if (load(f) >= 0)
			log_put(LOG_INFO, "the store is there: plans are known now");
	}
	return NULL;
}

int others_start(struct others **out, struct fleet *f)
{
	struct others *s;
	int rc = load(f);

	*out = NULL;
	if (!archive_is_shared(f->store)) {
		if (rc < 0)
			log_put(LOG_ERROR, "plans cannot be read from the store");
		return rc;
	}
	if (rc < 0)
		log_put(LOG_WARN,
			"the store does not answer: until it does, plans are not known and processes"
			" stay as they are");
	s = mem_alloc(sizeof(*s));
	if (!s)
		return E_NO_MEMORY;
	*s = (struct others){ .f = f };
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	if (pthread_create(&s->thread, NULL, run, s) != 0) {
		mem_free(s);
		return E_NO_MEMORY;
	}
	*out = s;
	return 0;
}

void others_stop(struct others *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->ends = true;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	mem_free(s);
}
