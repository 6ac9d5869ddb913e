/* SPDX-License-Identifier: Apache-2.0 */
/* cache_lab.c - see cache_lab.h. */
#define _GNU_SOURCE
#include "cache_lab.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

void lab_set_rules(struct lab *l, const char *text)
{
	static struct rule_errors errors;
	struct fault f = { 0 };

	weaver_release(&l->weaver);
	CHECK_INT(rules_parse(&l->mem, slice_str(text), "test", &l->rules, &errors), 0, text);
	CHECK_INT(weaver_init(&l->weaver, &l->mem, l->rules, NULL, NULL, &f), 0, f.text);
	CHECK_INT(cache_rules_init(&l->cache, &l->weaver, store_secret(l->store), &l->mem), 0,
		  NULL);
}

void lab_make_class(struct class_maker *m, const char *name, uint8_t result)
{
	maker_init(m, name, 52);
	maker_code(m, ACC_STATIC, "f", "()I",
		   (struct maker_code){ .code = BYTES((uint8_t)(OP_ICONST_0 + result), OP_IRETURN),
					.max_stack = 1 });
	maker_code(m, ACC_STATIC, "g", "()I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_2, OP_IRETURN), .max_stack = 1 });
}

bool lab_open(struct lab *l, const char *rules)
{
	struct store_options o = { .segment_bytes = 1 << 20 };
	struct fault f = { 0 };

	*l = (struct lab){ 0 };
	arena_init(&l->mem);
	arena_init(&l->work);
	snprintf(l->dir, sizeof(l->dir), "/tmp/sonde-unit-XXXXXX");
	if (!CHECK(mkdtemp(l->dir) != NULL))
		return false;
	o.dir = l->dir;
	if (!CHECK_INT(store_open(&o, &l->store, &f), 0, f.text))
		return false;
	lab_set_rules(l, rules);
	lab_make_class(&l->maker, "a/B", 1);
	l->bytes = maker_bytes(&l->maker);
	return true;
}

void lab_close(struct lab *l)
{
	char command[100];

	weaver_release(&l->weaver);
	maker_release(&l->maker);
	store_close(l->store);
	arena_release(&l->mem);
	arena_release(&l->work);
	snprintf(command, sizeof(command), "rm -rf %s", l->dir);
	CHECK_INT(system(command), 0, NULL);
}

int lab_look(struct lab *l, struct slice bytes, struct cache_look *out)
{
	struct cache_query q = { .rules = &l->cache, .bytes = bytes, .mem = &l->mem };

	return cache_find(l->store, &q, out);
}

int lab_pass(struct lab *l, struct slice bytes, struct cache_look *out)
{
	struct cache_query q = { .rules = &l->cache, .bytes = bytes, .mem = &l->mem };
	struct buf link = { 0 };
	int found = lab_look(l, bytes, out);

	if (found < 0 || out->has_link)
		return found;
	CHECK_INT(store_lock(l->store), 0, NULL);
	if (!found) {
		buf_clear(&out->kept);
		CHECK_INT(cache_weave(&q, out, &l->work, &out->kept), 0, NULL);
		CHECK_INT(store_add(l->store, out->recipe, RECORD_CLASS, buf_slice(&out->kept)), 0,
			  NULL);
	}
	cache_link_put(&l->cache, out, &link);
	CHECK_INT(store_add(l->store, out->link, RECORD_LINK, buf_slice(&link)), 0, NULL);
	store_unlock(l->store);
	buf_release(&link);
	return found;
}

int lab_pass_quietly(struct lab *l, struct slice bytes)
{
	struct cache_look found;
	int rc = lab_pass(l, bytes, &found);

	buf_release(&found.kept);
	return rc;
}
