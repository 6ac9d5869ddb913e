/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody made up or mixed up in a cache is not served. */
#include "cache/cache.h"

#include <stdio.h>
#include <unistd.h>

#include "cache_lab.h"
#include "test.h"

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t rotr(uint64_t x, unsigned n)
{
	return x >> n | x << (64 - n);
}

/* x * inverse(m) * m == x */
static uint64_t inverse(uint64_t m)
{
	uint64_t x = m;

	for (int i = 0; i < 6; i++)
		x *= 2 - m * x;
	return x;
}

static const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;

/* One step of hash128.c. */
static struct hash128 step(struct hash128 h, const uint8_t *p)
{
	uint64_t a = get64(p) * c1, b = get64(p + 8) * c2;

	h.a = (rotr(h.a ^ rotr(a, 33) * c2, 37) + h.b) * 5 + 0x52dce729;
	h.b = (rotr(h.b ^ rotr(b, 31) * c1, 33) + h.a) * 5 + 0x38495ab5;
	return h;
}

/* The sixteen bytes that lead from one state to the other. */
static void solve(struct hash128 from, struct hash128 to, uint8_t *p)
{
	uint64_t a = rotr((to.a - 0x52dce729) * inverse(5) - from.b, 27) ^ from.a;
	uint64_t b = rotr((to.b - 0x38495ab5) * inverse(5) - to.a, 31) ^ from.b;

	a = rotr(a * inverse(c2), 31) * inverse(c1);
	b = rotr(b * inverse(c1), 33) * inverse(c2);
	memcpy(p, &a, 8);
	memcpy(p + 8, &b, 8);
}

/* A class with 40 bytes at its end that mean nothing. */
static void make_padded(struct class_maker *m, uint8_t result)
{
	static const uint8_t none[40];

	lab_make_class(m, "a/B", result);
	maker_attr(m, &m->attrs, "Pad", (struct slice){ none, sizeof(none) });
}

/* Changes the last whole block of `bytes` so that hash128 gives what it gives of `like`. */
static void forge(struct slice like, uint8_t *bytes)
{
	struct hash128 want = { 0, 0 }, have = { 0, 0 };
	size_t at = like.n / 16 * 16;

	for (size_t i = 0; i < at; i += 16) {
		want = step(want, like.p + i);
		if (i + 16 < at)
			have = step(have, bytes + i);
	}
	solve(have, want, bytes + at - 16);
}

TEST(cache_does_not_serve_a_class_that_was_made_to_have_the_same_public_hash)
{
	struct class_maker trusted, forged;
	struct hash128 zero = { 0, 0 };
	struct slice good, evil;
	struct lab l;

	if (!lab_open(&l, "hook a.*::f\n"))
		return;
	make_padded(&trusted, 1);
	make_padded(&forged, 5);
	good = maker_bytes(&trusted);
	evil = maker_bytes(&forged);
	CHECK_INT(evil.n, good.n, NULL);
	CHECK(good.n < 512); /* in one part */
	forge(good, forged.out.p);
	CHECK(!slice_eq(good, evil));
	CHECK(hash128_eq(hash128(zero, good), hash128(zero, evil)));
	CHECK_INT(lab_pass_quietly(&l, evil), 0, "woven first");
	CHECK_INT(lab_pass_quietly(&l, evil), 1, "and kept");
	CHECK_INT(lab_pass_quietly(&l, good), 0, "another class");
	maker_release(&trusted);
	maker_release(&forged);
	lab_close(&l);
}

/* What is stored under the keys of a class is about another one. */
TEST(cache_does_not_serve_a_recipe_of_another_name_or_size)
{
	static const struct {
		const char *name;
		bool longer;
		int want;
	} cases[] = { { "a/B", false, 1 }, { "a/C", false, 0 }, { "a/B", true, 0 } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cache_query q, other;
		struct class_maker m;
		struct cache_look x, y, z;
		struct lab l;

		if (!lab_open(&l, "hook a.*::f\n"))
			return;
		lab_make_class(&m, cases[i].name, 1);
		if (cases[i].longer)
			maker_utf8(&m, "longer");
		q = (struct cache_query){
			.rules = &l.cache, .bytes = l.bytes, .name = slice_str("a/B"), .mem = &l.mem
		};
		other = q;
		other.bytes = maker_bytes(&m);
		CHECK_INT(cache_find(l.store, &q, &x), 0, NULL);
		CHECK_INT(cache_find(l.store, &other, &y), 0, NULL);
		CHECK_INT(cache_weave(&other, &y, &l.work, &y.kept), 0, NULL);
		CHECK_INT(store_lock(l.store), 0, NULL);
		CHECK_INT(store_add(l.store, x.recipe, RECORD_CLASS, buf_slice(&y.kept)), 0, NULL);
		store_unlock(l.store);
		CHECK_INT(cache_find(l.store, &q, &z), cases[i].want, cases[i].name);
		buf_release(&x.kept);
		buf_release(&y.kept);
		buf_release(&z.kept);
		maker_release(&m);
		lab_close(&l);
	}
}

TEST(cache_of_another_secret_finds_nothing)
{
	char path[100];
	struct lab l;
	struct store_options o = { .segment_bytes = 1 << 20 };
	struct fault f = { 0 };

	if (!lab_open(&l, "hook a.*::f\n"))
		return;
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 1, NULL);
	snprintf(path, sizeof(path), "%s/key", l.dir);
	CHECK_INT(unlink(path), 0, NULL);
	store_close(l.store);
	o.dir = l.dir;
	CHECK_INT(store_open(&o, &l.store, &f), 0, f.text);
	lab_set_rules(&l, "hook a.*::f\n");
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	lab_close(&l);
}
