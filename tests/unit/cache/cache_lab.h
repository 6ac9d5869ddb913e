/* SPDX-License-Identifier: Apache-2.0 */
/* cache_lab.h - a cache in a folder of its own, rules and a class, for tests. */
#ifndef TESTS_UNIT_CACHE_LAB_H
#define TESTS_UNIT_CACHE_LAB_H

#include "cache/cache.h"
#include "classes.h"

struct lab {
	char dir[64];
	struct store *store;
	struct arena mem, work;
	struct rules *rules;
	struct weaver weaver;
	struct cache_rules cache;
	struct class_maker maker;
	struct slice bytes;
};

/* With the class a.B.  False after a failed check. */
bool lab_open(struct lab *l, const char *rules);
void lab_close(struct lab *l);
void lab_set_rules(struct lab *l, const char *text);

/* static int f() { return `result`; }  static int g() { return 2; } */
void lab_make_class(struct class_maker *m, const char *name, uint8_t result);

int lab_look(struct lab *l, struct slice bytes, struct cache_look *out);

/* Looks, and weaves and stores where nothing is found; 1: it was there. */
int lab_pass(struct lab *l, struct slice bytes, struct cache_look *out);
int lab_pass_quietly(struct lab *l, struct slice bytes);

#endif
