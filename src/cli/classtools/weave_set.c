/* SPDX-License-Identifier: Apache-2.0 */
/* weave_set.c - reading the sources, and who extends what. */
#include "cli/classtools/weave_set.h"

#include <stdio.h>

#include "base/mem.h"
#include "cli/classtools/source.h"
#include "cli/screen/cli.h"
#include "cli/screen/progress.h"
#include "weave/class_facts.h"

static bool find_class(void *ctx, struct slice name, struct rule_class *out)
{
	const struct weave_set *s = ctx;
	const uintptr_t *found = map_get(&s->by_name, name);

	if (!found)
		return false;
	*out = *(const struct rule_class *)*found;
	return true;
}

void set_init(struct weave_set *s)
{
	*s = (struct weave_set){ .resolver = { .ctx = s, .find = find_class } };
	arena_init(&s->mem);
	arena_init(&s->scratch);
}

void set_release(struct weave_set *s)
{
	map_release(&s->by_name);
	map_release(&s->by_place);
	mem_free(s->v);
	arena_release(&s->mem);
	arena_release(&s->scratch);
}

static bool copy(struct arena *mem, struct slice *s)
{
	if (!s->n)
		return true;
	*s = arena_dup(mem, *s);
	return s->p != NULL;
}

/* Keeps name and ancestors of a class, the first of its name for the resolver, too. */
static int keep_facts(struct weave_set *s, const struct class *cls, struct rule_class *facts)
{
	struct slice *interfaces;
	struct rule_class *kept;
	uintptr_t *place;
	bool fresh, ok;

	if (class_facts_of_class(cls, &s->scratch, facts) <
	    0) /* annotations: the weaver will say so */
		*facts = (struct rule_class){ .name = class_name(cls), .super = class_super(cls) };
	facts->annotations = NULL;
	facts->annotation_count = 0;
	interfaces = arena_alloc(&s->mem, facts->interface_count * sizeof(*interfaces));
	kept = arena_alloc(&s->mem, sizeof(*kept));
	ok = interfaces && kept && copy(&s->mem, &facts->name) && copy(&s->mem, &facts->super);
	for (size_t i = 0; ok && i < facts->interface_count; i++) {
		interfaces[i] = facts->interfaces[i];
		ok = copy(&s->mem, &interfaces[i]);
	}
	if (!ok)
		return E_NO_MEMORY;
	facts->interfaces = interfaces;
	place = map_put(&s->by_name, facts->name, &fresh);
	if (!place)
		return E_NO_MEMORY;
	if (fresh) {
		*kept = *facts;
		*place = (uintptr_t)kept;
	}
	return 0;
}

static bool make_room(struct weave_set *s)
{
	size_t cap = s->cap ? 2 * s->cap : 256;
	struct set_class *v;

	if (s->n < s->cap)
		return true;
	v = mem_realloc(s->v, cap * sizeof(*v));
	if (!v)
		return false;
	s->v = v;
	s->cap = cap;
	return true;
}

/* Where a class will be written: a lone file in the directory of its package. */
static const char *place_of(struct weave_set *s, const struct source_class *src,
			    const struct set_class *c)
{
	struct slice name = c->facts.name;
	char *path;

	if (!c->alone || !name.n)
		return arena_str(&s->mem, slice_str(src->name));
	path = arena_alloc(&s->mem, name.n + sizeof(".class"));
	if (path) {
		memcpy(path, name.p, name.n);
		memcpy(path + name.n, ".class", sizeof(".class"));
	}
	return path;
}

/* 1: another class goes to the same place. */
static int is_hidden(struct weave_set *s, const struct set_class *c)
{
	size_t n = strlen(c->group), m = strlen(c->name);
	uint8_t *key = arena_alloc(&s->mem, n + m + 1);
	bool fresh;

	if (!key)
		return E_NO_MEMORY;
	memcpy(key, c->group, n);
	key[n] = '/';
	memcpy(key + n + 1, c->name, m);
	if (!map_put(&s->by_place, (struct slice){ key, n + m + 1 }, &fresh))
		return E_NO_MEMORY;
	return !fresh;
}

static int add_class(struct weave_set *s, const struct source_class *src)
{
	struct set_class c = { .alone = !*src->inside };
	struct class *cls;
	int rc = 0;

	if (!make_room(s))
		return E_NO_MEMORY;
	arena_reset(&s->scratch);
	if (class_read(&s->scratch, src->bytes, &cls, NULL) >= 0) {
		rc = keep_facts(s, cls, &c.facts);
		c.n_methods = cls->n_methods;
		class_release(cls);
	}
	if (rc < 0)
		return rc;
	c.shown = arena_str(&s->mem, slice_str(src->shown));
	c.group = arena_str(&s->mem, slice_str(src->group));
	c.name = place_of(s, src, &c);
	c.bytes = arena_dup(&s->mem, src->bytes);
	if (!c.shown || !c.group || !c.name || !c.bytes.p)
		return E_NO_MEMORY;
	rc = is_hidden(s, &c);
	if (rc != 0) {
		s->hidden += rc > 0;
		return rc;
	}
	if (s->methods + c.n_methods >= INT32_MAX)
		return E_LIMIT;
	c.first_id = (int32_t)(1 + s->methods);
	s->methods += c.n_methods;
	s->bytes += c.bytes.n;
	s->v[s->n++] = c;
	return 0;
}

static int add_known(struct weave_set *s, const struct source_class *src)
{
	struct rule_class facts;
	struct class *cls;
	int rc;

	arena_reset(&s->scratch);
	if (class_read(&s->scratch, src->bytes, &cls, NULL) < 0)
		return 0;
	rc = keep_facts(s, cls, &facts);
	class_release(cls);
	return rc;
}

static int read_all(struct weave_set *s, char *const *specs, size_t n,
		    int (*add)(struct weave_set *s, const struct source_class *src))
{
	struct source *source = source_open(specs, n);
	struct progress progress;
	struct source_class src;
	struct fault f;
	uint64_t done = 0;
	int rc;

	if (!source)
		return E_NO_MEMORY;
	progress_start(&progress, "read");
	while ((rc = source_next(source, &src, &f)) != 0) {
		if (rc != 1) {
			progress_clear(&progress);
			cli_cannot("%s", f.text);
			s->unreadable += rc < 0;
			continue;
		}
		rc = add(s, &src);
		if (rc < 0)
			break;
		progress_step(&progress, source_fraction(source), ++done);
	}
	progress_clear(&progress);
	source_close(source);
	return rc < 0 ? rc : 0;
}

int set_read(struct weave_set *s, char *const *specs, size_t n)
{
	return read_all(s, specs, n, add_class);
}

int set_read_path(struct weave_set *s, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, ":");
		char *spec = arena_str(&s->mem, (struct slice){ (const uint8_t *)path, n });
		int rc;

		if (!spec)
			return E_NO_MEMORY;
		rc = n ? read_all(s, &spec, 1, add_known) : 0;
		if (rc < 0)
			return rc;
		path += n + (path[n] == ':');
	}
	return 0;
}
