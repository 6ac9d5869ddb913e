/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_memory.c - every allocation is made to fail once. */
#include "test.h"

#include <string.h>

#include "base/mem.h"
#include "rule/rules_explain.h"
#include "rule/match.h"
#include "rule/print.h"

static const char text[] =
	"template audit from \"path/Audit.class\" method around\n"
	"capture user = $1.getHeader(\"X-User\")[3].name at com.shop.Web::handle\n"
	"hook com.shop.** implements a.B extends c.D annotated e.F::x?y(int, String[], **) full\n"
	"  inside a.B::c > d.E::f >> g.H::i directly inside j.K::l\n"
	"  if $user == \"x\" and not ($1.a(1, 2).b > 1.5 or $this.c in (1, 'c', null))\n"
	"  and $1 instanceof java.util.List template audit\n"
	"skip com.shop.gen.**\n"
	"live com.**\n";

/* A set large enough that its arena needs many chunks. */
static struct slice long_text(struct buf *b)
{
	buf_text(b, text);
	for (int i = 0; i < 400; i++)
		buf_printf(b, "hook com.shop.p%d.**::m%d(int, long) inside a.B%d::c if $1 == %d\n",
			   i, i, i, i);
	return buf_slice(b);
}

TEST(parsing_survives_every_failed_allocation)
{
	static struct rule_errors errors;
	struct buf b = { 0 };
	struct slice all = long_text(&b);
	long n = 0;

	for (;; n++) {
		struct rules *rules = NULL;
		struct arena mem;
		int rc;

		errors.n = 0;
		arena_init(&mem);
		mem_fail_at(n);
		rc = rules_parse(&mem, all, "in", &rules, &errors);
		mem_fail_at(-1);
		CHECK_INT(errors.n, 0, NULL);
		if (rc < 0) {
			CHECK_INT(rc, E_NO_MEMORY, NULL);
			CHECK(!rules);
		}
		arena_release(&mem);
		if (rc >= 0)
			break;
	}
	CHECK(n > 5);
	buf_release(&b);
}

/* The arena asks the heap rarely; this takes its chunks away so that each piece asks. */
TEST(parsing_survives_every_failed_piece_of_the_arena)
{
	static struct rule_errors errors;
	size_t failed = 0;

	for (size_t left = 0; left < 40000; left += test_is_short() ? 88 : 8) {
		struct rules *rules = NULL;
		struct arena mem;
		int rc;

		errors.n = 0;
		arena_init(&mem);
		arena_alloc(&mem, 65536); /* one chunk of that size; all but `left` is given out */
		mem.at = mem.end - left;
		mem_fail_at(0);
		rc = rules_parse(&mem, slice_str(text), "in", &rules, &errors);
		mem_fail_at(-1);
		if (rc < 0) {
			CHECK_INT(rc, E_NO_MEMORY, NULL);
			CHECK_INT(errors.n, 0, NULL);
			failed++;
		}
		arena_release(&mem);
	}
	CHECK(failed > (test_is_short() ? 45 : 500));
}

TEST(printing_and_explaining_survive_every_failed_allocation)
{
	static struct rule_errors errors;
	struct rule_class cls = { .name = slice_str("com/shop/Cart") };
	struct rule_method m = { .name = slice_str("xay"), .desc = slice_str("(I)V") };
	struct rules *rules = NULL;
	struct arena mem;
	int err;

	arena_init(&mem);
	CHECK_INT(rules_parse(&mem, slice_str(text), "in", &rules, &errors), 0, NULL);
	for (long n = 0;; n++) {
		struct buf out = { 0 };

		mem_fail_at(n);
		rules_print(rules, &out);
		rules_explain(rules, NULL, &cls, &m, &out);
		rules_digest_text(rules, &cls, &out);
		rules_weave_text(rules, &cls, &out);
		mem_fail_at(-1);
		err = out.err;
		buf_release(&out);
		if (!err)
			break;
		CHECK_INT(err, E_NO_MEMORY, NULL);
	}
	arena_release(&mem);
}
