/* SPDX-License-Identifier: Apache-2.0 */
/* Keys, links and recipes: the same class under the same rules is found, and nothing else is. */
#define _GNU_SOURCE
#include "cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/ids.h"
#include "cache/numbers.h"
#include "cache_lab.h"
#include "classfile/digest.h"
#include "rule/print.h"
#include "test.h"

TEST(cache_finds_what_was_woven_and_its_rules)
{
	struct lab l;
	struct cache_look x, y;
	struct recipe a, b;
	struct recipe_method m;
	size_t at = 0;

	if (!lab_open(&l, "skip z.**\nhook a.*::f timed\nhook a.*::g light\n"))
		return;
	CHECK_INT(lab_pass(&l, l.bytes, &x), 0, "woven");
	CHECK_INT(lab_pass(&l, l.bytes, &y), 1, "found");
	CHECK(y.has_link && y.has_recipe);
	CHECK_INT(y.n_touching, 2, "the skip is about others");
	CHECK_MEM(y.kept.p, y.kept.n, x.kept.p, x.kept.n, NULL);
	CHECK_INT(recipe_get(buf_slice(&x.kept), &a), 0, NULL);
	CHECK_INT(recipe_get(buf_slice(&y.kept), &b), 0, NULL);
	CHECK_INT(b.kind, RECIPE_WOVEN, NULL);
	CHECK_INT(b.n_methods, 2, NULL);
	CHECK(slice_is(b.name, "a/B"));
	CHECK(recipe_next(&b, &at, &m) && slice_is(m.name, "f") && slice_is(m.desc, "()I"));
	CHECK(y.touching[m.rule]->hook.level == LEVEL_TIMED && m.rc == 0 && m.digest != 0);
	CHECK(recipe_next(&b, &at, &m) && slice_is(m.name, "g"));
	CHECK(y.touching[m.rule]->hook.level == LEVEL_LIGHT && m.rc == 0);
	CHECK(!recipe_next(&b, &at, &m));
	buf_release(&x.kept);
	buf_release(&y.kept);
	lab_close(&l);
}

/* static int f() { return 1; }  B() {}  static int left() { return 3; }  static int g() { return 2;
 * }, and a long constant */
static void use_constructor(struct lab *l)
{
	struct class_maker *m = &l->maker;
	uint16_t init;

	maker_release(m);
	lab_make_class(m, "a/B", 1);
	init = maker_ref(m, CONST_METHODREF, "java/lang/Object", "<init>", "()V");
	maker_number(m, CONST_LONG, 5);
	maker_code(m, 0, "<init>", "()V",
		   (struct maker_code){
			   .code = BYTES(OP_ALOAD_0, OP_INVOKESPECIAL, U2(init), OP_RETURN),
			   .max_stack = 1,
			   .max_locals = 1 });
	maker_code(m, ACC_STATIC, "left", "()I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_3, OP_IRETURN), .max_stack = 1 });
	maker_code(m, ACC_STATIC, "last", "()I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_4, OP_IRETURN), .max_stack = 1 });
	l->bytes = maker_bytes(m);
}

/* The recipe's class with numbers from `first` on, by the place of each method in the class. */
static struct slice with_ids(struct lab *l, const struct recipe *r, uint32_t first)
{
	static const char *const order[] = { "f", "g", "<init>", "left", "last" };
	uint8_t *woven = arena_copy(&l->mem, r->woven.p, r->woven.n);
	struct slice out = { NULL, 0 };
	struct recipe_method m;
	struct ids ids;

	ids_begin(&ids, r, woven, &l->mem);
	for (size_t at = 0; recipe_next(r, &at, &m);)
		for (uint32_t i = 0; i < COUNT(order); i++)
			if (slice_is(m.name, order[i]) && CHECK(m.id_at != 0))
				CHECK_INT(ids_put(&ids, &m, first + i), 0, order[i]);
	CHECK_INT(ids_end(&ids, &out), 0, NULL);
	return out;
}

static void check_same_code(struct lab *l, struct slice got, struct slice wanted, const char *label)
{
	struct class *a, *b;
	struct fault f = { 0 };

	if (!CHECK_INT(class_read(&l->mem, got, &a, &f), 0, f.text) ||
	    !CHECK_INT(class_read(&l->mem, wanted, &b, &f), 0, f.text))
		return;
	CHECK_INT(a->n_methods, b->n_methods, label);
	for (uint32_t i = 0; i < a->n_methods; i++)
		CHECK_INT(code_digest(&a->pool, code_instructions(a, &a->methods[i])) ==
				  code_digest(&b->pool, code_instructions(b, &b->methods[i])),
			  1, label);
	class_release(a);
	class_release(b);
}

/* What the agent makes of a recipe is what weaving with those numbers gives, code for code. */
TEST(recipe_with_its_numbers_put_in_is_the_woven_class)
{
	static const struct {
		const char *rules;
		uint32_t first;
		bool larger; /* than the recipe's class */
	} tries[] = {
		{ "hook a.*::* timed\n", 70000, false },
		{ "hook a.*::* light\nskip a.*::left\n", 300, false },
		{ "hook a.*::* light\nskip a.*::left\n", 32763, false },
		{ "hook a.*::* light\nskip a.*::left\n", 32765, true },
		{ "hook a.*::* light\nskip a.*::left\n", 70000, true },
		{ "hook a.*::f light\nhook a.*::g timed\n", 70000, true },
	};

	for (size_t i = 0; i < COUNT(tries); i++) {
		const char *label = tries[i].rules;
		struct lab l;
		struct cache_look x;
		struct recipe r;
		struct slice got;
		struct buf direct = { 0 };
		struct fault f = { 0 };
		struct weave_job job = { .first_id = (int32_t)tries[i].first, .ahead = true };

		if (!lab_open(&l, tries[i].rules))
			return;
		use_constructor(&l);
		CHECK_INT(lab_pass(&l, l.bytes, &x), 0, label);
		CHECK_INT(recipe_get(buf_slice(&x.kept), &r), 0, label);
		got = with_ids(&l, &r, tries[i].first);
		CHECK_INT(got.n > r.woven.n, tries[i].larger, label);
		job.mem = &l.mem;
		job.work = &l.work;
		CHECK_INT(weave_class(&l.weaver, &job, l.bytes, &direct, &f), 0, f.text);
		check_same_code(&l, got, buf_slice(&direct), label);
		class_release(job.cls);
		buf_release(&direct);
		buf_release(&x.kept);
		lab_close(&l);
	}
}

TEST(class_woven_light_has_no_constant_for_each_method)
{
	struct lab l;
	struct cache_look x;
	struct recipe r;
	struct class *cls;

	if (!lab_open(&l, "hook a.*::* light\n"))
		return;
	CHECK_INT(lab_pass(&l, l.bytes, &x), 0, NULL);
	CHECK_INT(recipe_get(buf_slice(&x.kept), &r), 0, NULL);
	CHECK_INT(class_read(&l.mem, r.woven, &cls, NULL), 0, NULL);
	for (uint32_t i = 1; i < cls->pool.n; i++)
		CHECK(pool_tag(&cls->pool, i) != CONST_INTEGER);
	CHECK_INT(get_u16(cls->methods[0].code.p), 1, "nor a deeper stack");
	class_release(cls);
	buf_release(&x.kept);
	lab_close(&l);
}

TEST(cache_remembers_that_no_rule_is_about_a_class)
{
	struct lab l;
	struct cache_look x;

	if (!lab_open(&l, "hook z.*::*\n"))
		return;
	CHECK_INT(lab_pass(&l, l.bytes, &x), 1, "there is nothing to weave");
	CHECK(x.nothing && !x.has_link);
	buf_release(&x.kept);
	CHECK_INT(lab_pass(&l, l.bytes, &x), 1, NULL);
	CHECK(x.nothing && x.has_link);
	buf_release(&x.kept);
	lab_close(&l);
}

TEST(cache_misses_a_class_with_any_other_byte)
{
	struct lab l;
	uint8_t *copy;

	if (!lab_open(&l, "hook a.*::*\n"))
		return;
	copy = arena_copy(&l.mem, l.bytes.p, l.bytes.n);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	for (size_t i = 0; i < l.bytes.n; i++) {
		struct cache_look x;

		copy[i] ^= 1;
		CHECK(lab_look(&l, (struct slice){ copy, l.bytes.n }, &x) <= 0 || x.nothing);
		buf_release(&x.kept);
		copy[i] ^= 1;
	}
	CHECK_INT(lab_pass_quietly(&l, (struct slice){ copy, l.bytes.n }), 1, "the same again");
	lab_close(&l);
}

/* Each of these changes what weaving gives, or who decides; none may find what another one
 * stored. */
TEST(cache_misses_under_other_rules_that_touch_the_class)
{
	static const char *const sets[] = {
		"hook a.*::*\n",
		"hook a.*::* light\n",
		"hook a.*::* timed\n",
		"hook a.*::* full\n",
		"hook a.*::f\n",
		"hook a.B::*\n",
		"hook a.*::*\nskip a.*::g\n",
		"skip a.*::g\nhook a.*::*\n",
		"hook a.*::* template web\n",
	};
	struct lab l;

	if (!lab_open(&l, sets[0]))
		return;
	for (size_t i = 0; i < COUNT(sets); i++) {
		struct cache_look x;

		lab_set_rules(&l, sets[i]);
		if (i != 2) /* timed is what a hook is that says nothing */
			CHECK_INT(lab_pass(&l, l.bytes, &x), 0, sets[i]);
		else
			CHECK_INT(lab_pass(&l, l.bytes, &x), 1, sets[i]);
		buf_release(&x.kept);
		CHECK_INT(lab_pass_quietly(&l, l.bytes), 1, sets[i]);
	}
	lab_close(&l);
}

TEST(cache_hits_when_only_rules_about_others_change)
{
	static const char *const sets[] = {
		"hook x.*::*\nhook a.*::f timed\n",
		"hook a.*::f timed 1/7\nhook y.Z::*\n", /* 1/N does not change code */
		"hook a.*::f timed slow 5ms\nhook a.*::f timed slow 7ms\n",
	};
	struct lab l;

	if (!lab_open(&l, "hook a.*::f timed\n"))
		return;
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	for (size_t i = 0; i < COUNT(sets); i++) {
		for (int again = 0; again < 2; again++) {
			struct cache_look x;
			struct recipe r;
			struct recipe_method m;
			size_t at = 0;

			lab_set_rules(&l, sets[i]);
			CHECK_INT(lab_pass(&l, l.bytes, &x), 1, sets[i]);
			CHECK_INT(recipe_get(buf_slice(&x.kept), &r), 0, NULL);
			CHECK(recipe_next(&r, &at, &m));
			CHECK(x.touching[m.rule] ==
			      rules_match_method(l.rules, &(struct rule_class){ .name = r.name },
						 &(struct rule_method){ .name = m.name,
									.desc = m.desc,
									.access = m.access }));
			buf_release(&x.kept);
		}
	}
	lab_close(&l);
}

/* A template of the user's own, of which the class file changes while its name stays. */
static struct slice template_bytes;

static int load_template(void *ctx, struct slice path, struct slice *bytes, struct fault *f)
{
	(void)ctx, (void)path, (void)f;
	*bytes = template_bytes;
	return 0;
}

static void make_template(struct class_maker *m, uint8_t op)
{
	uint16_t body;

	maker_init(m, "t/Own", 52);
	body = maker_ref(m, CONST_METHODREF, "sonde/Here", "body", "()V");
	maker_code(m, ACC_STATIC, "own", "()V",
		   (struct maker_code){ .code = BYTES(op, OP_INVOKESTATIC, U2(body), OP_RETURN),
					.max_stack = 1 });
}

static void set_own_template(struct lab *l, struct class_maker *m, const char *text)
{
	static struct rule_errors errors;
	struct fault f = { 0 };

	weaver_release(&l->weaver);
	template_bytes = maker_bytes(m);
	CHECK_INT(rules_parse(&l->mem, slice_str(text), "test", &l->rules, &errors), 0, text);
	CHECK_INT(weaver_init(&l->weaver, &l->mem, l->rules, load_template, NULL, &f), 0, f.text);
	CHECK_INT(cache_rules_init(&l->cache, &l->weaver, store_secret(l->store), &l->mem), 0,
		  NULL);
}

TEST(cache_misses_when_a_template_changes_under_its_name)
{
	static const char text[] = "template own from \"Own.class\"\nhook a.*::f template own\n";
	static const char moved[] =
		"template own from \"/x/Own.class\"\nhook a.*::f template own\n";
	struct class_maker first, second;
	struct lab l;

	if (!lab_open(&l, "hook a.*::f\n"))
		return;
	make_template(&first, OP_NOP);
	make_template(&second, OP_NOP);
	maker_utf8(&second, "something else");
	set_own_template(&l, &first, text);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 1, NULL);
	set_own_template(&l, &second, text);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, "another template");
	set_own_template(&l, &first, moved);
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 1, "the same, elsewhere");
	maker_release(&first);
	maker_release(&second);
	lab_close(&l);
}

TEST(cache_misses_what_another_build_has_stored)
{
	struct lab l;

	if (!lab_open(&l, "hook a.*::f\n"))
		return;
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	CHECK(strlen(cache_build) == 32);
	l.cache.always.a ^= 1; /* as with another cache_build */
	l.cache.all.a ^= 1;
	CHECK_INT(lab_pass_quietly(&l, l.bytes), 0, NULL);
	lab_close(&l);
}

/* Who an ancestor is can decide, and need not be in the class file. */
static bool find_base(void *ctx, struct slice name, struct rule_class *out)
{
	if (!slice_is(name, "java/lang/Object"))
		return false;
	*out = (struct rule_class){ .name = name, .super = slice_str(ctx) };
	return true;
}

TEST(cache_tells_ancestors_apart_where_rules_ask_for_them)
{
	struct rule_resolver one = { .ctx = (char *)"x/One", .find = find_base };
	struct rule_resolver two = { .ctx = (char *)"x/Two", .find = find_base };
	struct lab l;
	const struct {
		const struct rule_resolver *r;
		int want;
	} steps[] = { { NULL, 1 }, { &one, 0 }, { &two, 1 }, { &one, 1 }, { NULL, 1 } };

	if (!lab_open(&l, "hook extends x.One::f\n"))
		return;
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct cache_query q = {
			.rules = &l.cache, .bytes = l.bytes, .resolver = steps[i].r, .mem = &l.mem
		};
		struct cache_look x;

		CHECK_INT(cache_find(l.store, &q, &x), steps[i].want, NULL);
		CHECK_INT(x.nothing, steps[i].r != &one, "x.One decides");
		if (i == 1) {
			CHECK_INT(cache_weave(&q, &x, &l.work, &x.kept), 0, NULL);
			CHECK_INT(store_lock(l.store), 0, NULL);
			CHECK_INT(store_add(l.store, x.recipe, RECORD_CLASS, buf_slice(&x.kept)), 0,
				  NULL);
			store_unlock(l.store);
		}
		buf_release(&x.kept);
	}
	lab_close(&l);
}

/* As the agent does, with a number that needs a constant. */
static void use_ids(struct lab *l, const struct recipe *r)
{
	uint8_t *woven = arena_copy(&l->work, r->woven.p, r->woven.n);
	struct recipe_method m;
	struct slice class;
	struct ids ids;

	ids_begin(&ids, r, woven, &l->work);
	for (size_t at = 0; woven && recipe_next(r, &at, &m);)
		ids_put(&ids, &m, 99999);
	if (r->woven.n)
		ids_end(&ids, &class);
	arena_reset(&l->work);
}

static void change_bytes(const char *rules)
{
	struct lab l;
	struct cache_look x;
	uint8_t *copy;

	if (!lab_open(&l, rules))
		return;
	CHECK_INT(lab_pass(&l, l.bytes, &x), 0, NULL);
	copy = arena_copy(&l.mem, x.kept.p, x.kept.n);
	for (size_t i = 0; i < x.kept.n; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct recipe r;

			copy[i] ^= (uint8_t)(1u << bit);
			if (recipe_get((struct slice){ copy, x.kept.n }, &r) >= 0)
				use_ids(&l, &r);
			copy[i] ^= (uint8_t)(1u << bit);
		}
		CHECK_INT(recipe_get((struct slice){ copy, i }, &(struct recipe){ 0 }), E_DAMAGED,
			  "cut short");
	}
	buf_release(&x.kept);
	lab_close(&l);
}

TEST(recipe_with_any_byte_changed_is_read_without_harm)
{
	change_bytes("hook a.*::*\n");
	change_bytes("hook a.*::* light\n");
}

/* ---- conditions, captures and sequences of callers ---- */

/* static int f(int, String) { return 1; }  static int g(int, String) { return 2; } */
static void use_arguments(struct lab *l)
{
	maker_release(&l->maker);
	maker_init(&l->maker, "a/B", 52);
	maker_code(&l->maker, ACC_STATIC, "f", "(ILjava/lang/String;)I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_1, OP_IRETURN),
					.max_stack = 1,
					.max_locals = 2 });
	maker_code(&l->maker, ACC_STATIC, "g", "(ILjava/lang/String;)I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_2, OP_IRETURN),
					.max_stack = 1,
					.max_locals = 2 });
	l->bytes = maker_bytes(&l->maker);
}

/* A JVM's numbers: the same for the same, too large to be anything but a constant. */
struct jvm {
	char keys[64][160];
	int32_t n;
	int32_t left; /* that it can give */
};

static int32_t jvm_number(struct jvm *j, const char *key)
{
	int32_t i = 0;

	while (i < j->n && strcmp(j->keys[i], key) != 0)
		i++;
	if (i == j->n && j->left-- <= 0)
		return E_LIMIT;
	if (i == j->n && CHECK(i < (int32_t)COUNT(j->keys)))
		snprintf(j->keys[j->n++], sizeof(j->keys[0]), "%s", key);
	return 80000 + i;
}

static int32_t jvm_site(void *ctx, const struct cond_site *site)
{
	struct buf key = { 0 };
	int32_t number;

	buf_printf(&key, "%d %d %.*s", (int)site->kind, site->trusted, SLICE_FMT(site->name));
	for (const struct value *v = site->args; v; v = v->next)
		value_print(v, &key);
	buf_u8(&key, 0);
	number = jvm_number(ctx, (const char *)key.p);
	buf_release(&key);
	return number;
}

static int32_t jvm_slot(void *ctx, struct slice name)
{
	char key[80];

	snprintf(key, sizeof(key), "$%.*s", SLICE_FMT(name));
	return jvm_number(ctx, key);
}

static const struct rule *nth(const struct cache_look *look, unsigned n)
{
	return n < look->n_touching ? look->touching[n] : NULL;
}

/* The recipe with this JVM's numbers, against what it would weave itself. */
static void check_as_woven(struct lab *l, const struct cache_look *x, struct jvm *j,
			   const char *label)
{
	struct cond_numbers give = { j, jvm_site, jvm_slot, NULL };
	struct weave_job job = {
		.mem = &l->mem, .work = &l->work, .first_id = 70000, .numbers = &give
	};
	struct buf direct = { 0 }, patched = { 0 };
	struct recipe_method m;
	struct slice class = { NULL, 0 };
	struct fault f = { 0 };
	struct recipe r;
	struct ids ids;
	uint32_t k = 0;

	CHECK_INT(weave_class(&l->weaver, &job, l->bytes, &direct, &f), 0, label);
	CHECK_INT(recipe_get(buf_slice(&x->kept), &r), 0, label);
	CHECK_INT(r.n_methods, job.n_outcomes, label);
	buf_put(&patched, r.woven);
	ids_begin(&ids, &r, patched.p, &l->mem);
	CHECK_INT(numbers_put(&r, x->touching, x->n_touching, &give, patched.p), 0, label);
	for (size_t at = 0; recipe_next(&r, &at, &m); k++) {
		const struct weave_outcome *o = &job.outcomes[k];

		CHECK_INT(m.rc, o->rc, label);
		CHECK(nth(x, m.rule) == o->rule);
		CHECK_INT(m.n_anchors, o->n_anchors, label);
		for (uint32_t i = 0; i < m.n_anchors && i < o->n_anchors; i++) {
			struct recipe_anchor a = recipe_anchor(&m, i);

			CHECK(nth(x, a.rule) == o->anchors[i].rule &&
			      a.context == o->anchors[i].context && a.step == o->anchors[i].step);
		}
		CHECK_INT(ids_put(&ids, &m, (uint32_t)o->id), 0, label);
	}
	CHECK_INT(ids_end(&ids, &class), 0, label);
	check_same_code(l, class, buf_slice(&direct), label);
	class_release(job.cls);
	buf_release(&direct);
	buf_release(&patched);
}

static const char *const data_sets[] = {
	"hook a.*::f if $1 > 2 and $2.length() == 3\n",
	"hook a.*::f if $1 > 3 and $2.length() == 3\n",
	"hook a.*::f if $1 > 2 and $2.length() == 80000\n",
	"hook a.*::* if $2 matches \"x.*\" or $2.length() == 3 and $2.isEmpty()\n",
	"hook a.*::* if $2 == \"x\"\n",
	"hook a.*::f if $return == 100000 light\n",
	"hook a.*::f if $return == 1 and $2.length() > 3\n",
	"capture user = $2.length() at a.*::f\nhook a.*::* if $user == 3\n",
	"capture name = $2.length() at a.*::f\nhook a.*::* if $name == 3\n",
	"capture user = $2 at a.*::f\nhook a.*::* if $user == 3\n",
	"capture user = $2 at a.*::f\ncapture long = $2.length() at a.*::*\nhook a.*::g timed\n",
	"capture user = $2 at a.*::*\n",
	"hook a.*::f inside a.B::g\n",
	"hook a.*::f light inside a.B::g\n",
	"hook a.*::f directly inside a.B::g light\n",
	"hook z.*::f inside a.B::g\n",
	"hook z.*::f inside a.B::g > a.B::f inside x.X::x >> a.*::*\n",
	"hook z.*::f inside a.B::f\nhook a.*::* if $1 == 0 and $2.length() == 1\n",
	"hook z.*::f inside a.B::f\nhook y.*::f inside a.B::f\nhook a.*::g full\n",
};

TEST(recipe_with_the_numbers_of_a_jvm_is_what_it_would_weave)
{
	struct jvm first = { .left = 64 }, second = { .left = 64 };
	struct cache_look x;
	struct lab l;

	if (!lab_open(&l, data_sets[0]))
		return;
	use_arguments(&l);
	jvm_slot(&second, slice_str("other"));
	for (size_t i = COUNT(data_sets); i--;) /* they are not asked in the same order */
		CHECK(jvm_number(&second, data_sets[i]) > 0);
	for (size_t i = 0; i < COUNT(data_sets); i++) {
		lab_set_rules(&l, data_sets[i]);
		CHECK_INT(lab_pass(&l, l.bytes, &x), 0, data_sets[i]);
		check_as_woven(&l, &x, &first, data_sets[i]);
		buf_release(&x.kept);
		lab_set_rules(&l, data_sets[i]);
		CHECK_INT(lab_pass(&l, l.bytes, &x), 1, data_sets[i]);
		check_as_woven(&l, &x, &second, data_sets[i]);
		buf_release(&x.kept);
	}
	lab_close(&l);
}

TEST(recipe_is_of_no_use_to_a_jvm_without_numbers)
{
	struct jvm j = { .left = 0 };
	struct cond_numbers give = { &j, jvm_site, jvm_slot, NULL };
	struct cache_look x;
	struct recipe r;
	struct lab l;
	uint8_t *copy;

	if (!lab_open(&l, data_sets[0]))
		return;
	use_arguments(&l);
	CHECK_INT(lab_pass(&l, l.bytes, &x), 0, NULL);
	CHECK_INT(recipe_get(buf_slice(&x.kept), &r), 0, NULL);
	copy = arena_copy(&l.mem, r.woven.p, r.woven.n);
	CHECK_INT(numbers_put(&r, x.touching, x.n_touching, &give, copy), E_LIMIT, NULL);
	CHECK_INT(numbers_put(&r, x.touching, 0, &give, copy), E_DAMAGED, "a rule too few");
	buf_release(&x.kept);
	lab_close(&l);
}

static unsigned draw_below(uint64_t *seed, size_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((*seed >> 33) % n);
}

/* The class with one method more. */
static void make_other(struct lab *l)
{
	maker_code(&l->maker, ACC_STATIC, "h", "()I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_3, OP_IRETURN), .max_stack = 1 });
	l->bytes = maker_bytes(&l->maker);
}

/* A set of rules as chance wants it; some touch the class, some do not. */
static void draw_rules(struct buf *out, uint64_t *seed)
{
	static const char *const targets[] = { "a.*::*", "a.B::f", "a.*::g", "z.*::*", "**::f" };
	static const char *const conditions[] = {
		"",
		"",
		" if $1 > 2",
		" if $1 > 3",
		" if $2.length() == 3",
		" if $2.length() == 3 and $2.isEmpty()",
		" if $2.isEmpty() and $2.length() == 3",
		" if $2 matches \"x\"",
		" if $2 matches \"y\"",
		" if $one == 3",
		" if $two == 3",
		" if $return == 7",
	};
	static const char *const contexts[] = { "",
						"",
						"",
						" inside a.B::g",
						" inside a.*::g",
						" directly inside a.B::g",
						" inside x.X::x > a.B::f",
						" inside x.X::x >> a.B::f" };
	static const char *const levels[] = { "", " light", " timed", " full", " timed 1/9" };
	static const char *const values[] = { "$1", "$2", "$2.length()", "$2.isEmpty()" };

#define DRAW(list) list[draw_below(seed, COUNT(list))]
	for (unsigned n = 1 + draw_below(seed, 3); n; n--) {
		switch (draw_below(seed, 8)) {
		case 0:
			buf_printf(out, "skip %s\n", DRAW(targets));
			break;
		case 1:
			buf_printf(out, "capture %s = %s at %s\n",
				   draw_below(seed, 2) ? "one" : "two", DRAW(values),
				   DRAW(targets));
			break;
		default:
			buf_printf(out, "hook %s%s%s%s\n", DRAW(targets), DRAW(contexts),
				   DRAW(conditions), DRAW(levels));
		}
	}
	buf_text(out, "capture one = $1 at q.Q::q\ncapture two = $1 at q.Q::q\n");
	buf_u8(out, 0);
#undef DRAW
}

/* Whatever was stored before, and under whichever rules: what is found is what would be woven
 * now. */
TEST(cache_never_gives_what_would_not_be_woven_now)
{
	unsigned found = 0, rounds = test_is_short() ? 600 : 3000;
	uint64_t seed = 8;
	struct lab l;

	if (!lab_open(&l, "hook a.*::*\n"))
		return;
	for (unsigned i = 0; i < rounds; i++) {
		struct cache_query q = { .rules = &l.cache, .mem = &l.mem };
		struct buf text = { 0 }, fresh = { 0 };
		struct cache_look x;

		weaver_release(&l.weaver);
		arena_reset(&l.mem);
		draw_rules(&text, &seed);
		lab_set_rules(&l, (const char *)text.p);
		use_arguments(&l);
		if (draw_below(&seed, 4) == 0)
			make_other(&l);
		q.bytes = l.bytes;
		found += lab_pass(&l, l.bytes, &x) > 0 && !x.nothing;
		if (!x.nothing) {
			CHECK_INT(cache_weave(&q, &x, &l.work, &fresh), 0, (char *)text.p);
			CHECK_MEM(x.kept.p, x.kept.n, fresh.p, fresh.n, (char *)text.p);
		}
		buf_release(&x.kept);
		buf_release(&fresh);
		buf_release(&text);
	}
	CHECK(found > (test_is_short() ? 3 : 300));
	lab_close(&l);
}

/* As set_rules, for a JVM that compiles no method of more bytes. */
static void set_limit(struct lab *l, uint32_t huge)
{
	lab_set_rules(l, "hook a.B::f timed\n");
	l->weaver.huge = huge;
	CHECK_INT(cache_rules_init(&l->cache, &l->weaver, store_secret(l->store), &l->mem), 0,
		  NULL);
}

/* What became of f. */
static int rc_of_first(const struct cache_look *look)
{
	struct recipe r;
	struct recipe_method m = { .rc = 1 };
	size_t at = 0;

	if (CHECK_INT(recipe_get(buf_slice(&look->kept), &r), 0, NULL))
		CHECK(recipe_next(&r, &at, &m));
	CHECK(m.rc < 0 || m.woven_n > m.code_n);
	return m.rc;
}

TEST(a_class_woven_for_one_size_limit_does_not_serve_another)
{
	static const struct {
		uint32_t huge;
		int found, rc;
	} cases[] = {
		{ 0, 0, 0 }, { 8, 0, E_HUGE }, { 0, 1, 0 }, { 8, 1, E_HUGE }, { 8000, 0, 0 }
	};
	struct lab l;

	if (!lab_open(&l, "hook a.B::f timed\n"))
		return;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cache_look out;

		set_limit(&l, cases[i].huge);
		CHECK_INT(lab_pass(&l, l.bytes, &out), cases[i].found, NULL);
		CHECK_INT(rc_of_first(&out), cases[i].rc, NULL);
		buf_release(&out.kept);
	}
	lab_close(&l);
}
