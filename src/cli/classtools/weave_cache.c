/* SPDX-License-Identifier: Apache-2.0 */
/* weave_cache.c - one class after another into the cache. */
#include "cli/classtools/weave_cache.h"

#include <stdio.h>
#include <unistd.h>

#include "cache/cache_place.h"
#include "cli/screen/cli.h"

enum { PATIENCE_MS = 10000 }; /* while JVMs write */

int weave_cache_open(struct weave_cache *c, const char *dir, const struct weaver *w,
		     struct arena *mem)
{
	struct store_options o = { 0 };
	struct fault f = { 0 };
	int rc;

	*c = (struct weave_cache){ 0 };
	if (dir ? snprintf(c->dir, sizeof(c->dir), "%s", dir) >= (int)sizeof(c->dir)
		: !cache_usual_place(c->dir, sizeof(c->dir)))
		return cli_cannot(
			"there is no usual place for the cache without HOME: use --cache DIR");
	o.dir = c->dir;
	if (store_open(&o, &c->store, &f) < 0)
		return cli_cannot("%s", f.text);
	pthread_mutex_init(&c->lock, NULL);
	rc = cache_rules_init(&c->rules, w, store_secret(c->store), mem);
	for (size_t i = 0; i < w->rules->n; i++)
		c->some |= w->rules->all[i]->kind == RULE_PLACE &&
			   w->rules->all[i]->place == PLACE_AHEAD;
	return rc < 0 ? cli_cannot("%s", err_text(rc)) : CLI_DONE;
}

void weave_cache_close(struct weave_cache *c)
{
	if (!c->store)
		return;
	store_close(c->store);
	pthread_mutex_destroy(&c->lock);
}

bool weave_cache_wants(struct weave_cache *c, const struct rule_class *facts)
{
	if (!c->some || rules_match_place(c->rules.weaver->rules, facts, NULL) == PLACE_AHEAD)
		return true;
	__atomic_fetch_add(&c->elsewhere, 1, __ATOMIC_RELAXED);
	return false;
}

static int lock_patiently(struct store *s)
{
	int rc = store_lock(s);

	for (int i = 0; rc < 0 && i < PATIENCE_MS; i++) {
		usleep(1000);
		rc = store_lock(s);
	}
	return rc;
}

static int add(struct weave_cache *c, const struct cache_look *look, struct slice link)
{
	int rc = lock_patiently(c->store);

	if (rc < 0)
		return rc;
	if (!look->has_recipe && !look->nothing) {
		rc = store_add(c->store, look->recipe, RECORD_CLASS, buf_slice(&look->kept));
		c->bytes += look->kept.n;
	}
	if (rc >= 0)
		rc = store_add(c->store, look->link, RECORD_LINK, link);
	store_unlock(c->store);
	return rc;
}

int weave_cache_one(struct weave_cache *c, const struct cache_query *q, struct arena *work,
		    struct cache_look *out)
{
	struct buf link = { 0 };
	int rc = cache_find(c->store, q, out), found = rc;

	if (rc == 0) {
		buf_clear(&out->kept);
		rc = cache_weave(q, out, work, &out->kept);
	}
	if (rc < 0)
		return rc;
	if (!out->has_link)
		cache_link_put(&c->rules, out, &link);
	pthread_mutex_lock(&c->lock);
	if (found && out->has_link)
		c->found++;
	else
		c->stored++;
	rc = link.err;
	if (rc >= 0 && link.n)
		rc = add(c, out, buf_slice(&link));
	pthread_mutex_unlock(&c->lock);
	buf_release(&link);
	return rc < 0 ? rc : found;
}
