/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_parse.c - right rules: what is read, and the one form they are printed in. */
#include "right_rules.h"
#include "test.h"

#include <locale.h>
#include <string.h>

#include "rule/print.h"

static void check_printed(const char *text, const char *want)
{
	struct buf out = { 0 };
	struct arena mem;
	struct rules *rules = right_rules(&mem, text);

	if (rules) {
		rules_print(rules, &out);
		buf_u8(&out, 0);
		CHECK_STR((const char *)out.p, want, text);
	}
	buf_release(&out);
	arena_release(&mem);
}

static const struct {
	const char *text, *printed;
} forms[] = {
	{ "", "" },
	{ "\n\n# only a comment", "" },
	{ "hook a.B::c", "hook a.B::c timed\n" },
	{ "hook a/b/C::d", "hook a.b.C::d timed\n" },
	{ "hook a.B::c # comment\n", "hook a.B::c timed\n" },
	{ "hook a.B::c\r\nskip d.E\r\n", "hook a.B::c timed\nskip d.E\n" },
	{ "hook a.B::c\n\n  # why\n\n\tlight\n\n", "hook a.B::c light\n" },
	{ "hook\n  a.B\n  ::\n  c\n  (\n  int\n  )\n  timed\n  1/2",
	  "hook a.B::c(int) timed 1/2\n" },
	{ "hook com.shop.**::* light", "hook com.shop.**::* light\n" },
	{ "hook implements a.B::c template web full",
	  "hook implements a.B::c template web full\n" },
	{ "hook extends java.sql.Statement::execute* template database",
	  "hook extends java.sql.Statement::execute* template database timed\n" },
	{ "hook annotated @org.example.Timed::*", "hook annotated org.example.Timed::* timed\n" },
	{ "hook a.** implements b.C extends d.E annotated f.G::h light",
	  "hook a.** implements b.C extends d.E annotated f.G::h light\n" },
	{ "hook a.B::new", "hook a.B::<init> timed\n" },
	{ "hook a.B::<init>(int)", "hook a.B::<init>(int) timed\n" },
	{ "hook a.B::<clinit>", "hook a.B::<clinit> timed\n" },
	{ "hook a.B::newer", "hook a.B::newer timed\n" },
	{ "hook a.B::c()", "hook a.B::c() timed\n" },
	{ "hook a.B::c(..)", "hook a.B::c(..) timed\n" },
	{ "hook a.B::c(int,String...,*,..)", "hook a.B::c(int, String[], *, ..) timed\n" },
	{ "hook a.B::c returns void", "hook a.B::c returns void timed\n" },
	{ "hook a.B::c only not static public", "hook a.B::c only public not static timed\n" },
	{ "hook a.B::c timed 1/1", "hook a.B::c timed 1/1\n" },
	{ "hook a.B::c timed 1/007", "hook a.B::c timed 1/7\n" },
	{ "hook a.B::c for 60s", "hook a.B::c timed for 1m\n" },
	{ "hook a.B::c across threads inside a.B::d light",
	  "hook a.B::c inside a.B::d light across threads\n" },
	{ "hook a.B::c metered timed 1/10 slow 1s", "hook a.B::c timed 1/10 metered slow 1s\n" },
	{ "hook a.B::c for 1500ms slow 1000us good 120m calls 5",
	  "hook a.B::c timed slow 1ms for 1500ms good 2h calls 5\n" },
	{ "hook a.B::c inside d.E::f", "hook a.B::c inside d.E::f timed\n" },
	{ "hook a.B::c inside d.E::f>g.H::i>>j.K::l",
	  "hook a.B::c inside d.E::f > g.H::i >> j.K::l timed\n" },
	{ "hook a.B::c inside d.E::<init>>g.H::new > i.J::k",
	  "hook a.B::c inside d.E::<init> > g.H::<init> > i.J::k timed\n" },
	{ "hook a.B::c light directly inside d.E::f inside implements g.H::i(int) only public",
	  "hook a.B::c directly inside d.E::f inside implements g.H::i(int) only public light\n" },
	{ "hook a.B::c if $1", "hook a.B::c if $1 timed\n" },
	{ "hook a.B::c if ((($1)))", "hook a.B::c if $1 timed\n" },
	{ "hook a.B::c if not($1==2)", "hook a.B::c if not $1 == 2 timed\n" },
	{ "hook a.B::c if not not $1", "hook a.B::c if not not $1 timed\n" },
	{ "hook a.B::c if $1 or $2 and $3", "hook a.B::c if $1 or $2 and $3 timed\n" },
	{ "hook a.B::c if ($1 or $2) and $3", "hook a.B::c if ($1 or $2) and $3 timed\n" },
	{ "hook a.B::c if $1 or ($2 and $3)", "hook a.B::c if $1 or $2 and $3 timed\n" },
	{ "hook a.B::c if $1 and ($2 and $3)", "hook a.B::c if $1 and ($2 and $3) timed\n" },
	{ "hook a.B::c if not ($1 and $2)", "hook a.B::c if not ($1 and $2) timed\n" },
	{ "hook a.B::c if $1.type == \"GIFT\" and $this.stock < 10 timed",
	  "hook a.B::c if $1.type == \"GIFT\" and $this.stock < 10 timed\n" },
	{ "hook a.B::c if $1.f!().g !(1) > 3", "hook a.B::c if $1.f!().g!(1) > 3 timed\n" },
	{ "hook a.B::c if $1.f().g(1, \"x\", 'y', null, true)[2][\"k\"].length != 0",
	  "hook a.B::c if $1.f().g(1, \"x\", 'y', null, true)[2][\"k\"].length != 0 timed\n" },
	{ "hook a.B::c if 3<=$1 and $2>=-4", "hook a.B::c if 3 <= $1 and $2 >= -4 timed\n" },
	{ "hook a.B::c if $1 == 0x1F or $1 == 5l or $1 == 3000000000",
	  "hook a.B::c if $1 == 31 or $1 == 5L or $1 == 3000000000L timed\n" },
	{ "hook a.B::c if $1 == -9223372036854775808 or $1 == 1.50e-3",
	  "hook a.B::c if $1 == -9223372036854775808L or $1 == 1.50e-3 timed\n" },
	{ "hook a.B::c if $1 == \"\\u0041\\\"\\\\\\n\\t\\u0001\xc3\xa4\"",
	  "hook a.B::c if $1 == \"A\\\"\\\\\\n\\t\\u0001\xc3\xa4\" timed\n" },
	{ "hook a.B::c if $1 == '\\'' or $1 == '\"' or $1 == '\xe6\x97\xa5'",
	  "hook a.B::c if $1 == '\\'' or $1 == '\"' or $1 == '\xe6\x97\xa5' timed\n" },
	{ "hook a.B::c if $1 contains 3 and $1 startsWith $2 and $1 endsWith \"x\"",
	  "hook a.B::c if $1 contains 3 and $1 startsWith $2 and $1 endsWith \"x\" timed\n" },
	{ "hook a.B::c if $1 matches \"a.*\" and $1 in (1,2) and $1 instanceof x/Y$Z",
	  "hook a.B::c if $1 matches \"a.*\" and $1 in (1, 2) and $1 instanceof x.Y$Z timed\n" },
	{ "hook a.B::c if $return > 5 light", "hook a.B::c if $return > 5 light\n" },
	{ "hook a.B::c if $u.x\ncapture u = $1 at d.E::f",
	  "hook a.B::c if $u.x timed\ncapture u = $1 at d.E::f\n" },
	{ "skip a.**", "skip a.**\n" },
	{ "skip a.B::c(int) returns int only synthetic",
	  "skip a.B::c(int) returns int only synthetic\n" },
	{ "skip a.** only bridge", "skip a.** only bridge\n" },
	{ "skip implements a.B", "skip implements a.B\n" },
	{ "ahead a.**\nat-load b.**\nlive c.** extends d.E",
	  "ahead a.**\nat-load b.**\nlive c.** extends d.E\n" },
	{ "template my-own from \"a b.class\"\nhook a.B::c template my-own",
	  "template my-own from \"a b.class\"\nhook a.B::c template my-own timed\n" },
	{ "template t from \"x\" method m", "template t from \"x\" method m\n" },
	{ "capture user = $1.getHeader(\"X-User\") at com.shop.Web::handle",
	  "capture user = $1.getHeader(\"X-User\") at com.shop.Web::handle\n" },
	{ "hook if::for light\nskip hook::skip", "hook if::for light\nskip hook::skip\n" },
};

TEST(rules_are_printed_in_one_form_that_reads_back)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		check_printed(forms[i].text, forms[i].printed);
		check_printed(forms[i].printed, forms[i].printed);
	}
}

TEST(a_hook_has_all_its_parts)
{
	struct arena mem;
	struct rules *rules =
		right_rules(&mem, "# first\n"
				  "hook com.shop.Inventory::adjust(int, java.lang.String)\n"
				  "  inside com.shop.Cart::checkout > com.shop.Payment::reserve\n"
				  "  if $1.type == \"GIFT\" and $this.stock < 10\n"
				  "  timed 1/100  for 10m  calls 5000  slow 200ms  good 5m\n");
	const struct rule_hook *h;
	const struct cond *c;

	if (!CHECK(rules) || !CHECK_INT(rules->n, 1, NULL))
		return;
	h = &rules->all[0]->hook;
	CHECK_INT(rules->all[0]->kind, RULE_HOOK, NULL);
	CHECK_INT(rules->all[0]->at.line, 2, NULL);
	CHECK_STR(rules->all[0]->source->origin, "in", NULL);
	CHECK_INT(rules->all[0]->target.params.n, 2, NULL);
	CHECK_INT(h->context_count, 1, NULL);
	CHECK_INT(h->contexts[0].n, 2, NULL);
	CHECK(h->contexts[0].steps[0].direct);
	CHECK(!h->contexts[0].steps[1].direct);
	CHECK_INT(h->level, LEVEL_TIMED, NULL);
	CHECK_INT(h->one_in, 100, NULL);
	CHECK_INT(h->for_ns, 600000000000, NULL);
	CHECK_INT(h->good_ns, 300000000000, NULL);
	CHECK_INT(h->slow_ns, 200000000, NULL);
	CHECK_INT(h->calls, 5000, NULL);
	c = h->condition;
	CHECK_INT(c->op, COND_AND, NULL);
	CHECK_INT(c->at.line, 4, "position of 'and'");
	CHECK_INT(c->at.column, 24, "position of 'and'");
	CHECK_INT(c->children->op, COND_EQ, NULL);
	CHECK_INT(c->children->left->root, ROOT_ARGUMENT, NULL);
	CHECK_INT(c->children->left->number, 1, NULL);
	CHECK(slice_is(c->children->left->steps->name, "type"));
	CHECK(slice_is(c->children->right->text, "GIFT"));
	CHECK_INT(c->children->next->op, COND_LT, NULL);
	CHECK_INT(c->children->next->left->root, ROOT_THIS, NULL);
	CHECK_INT(c->children->next->right->number, 10, NULL);
	CHECK(!c->children->next->next);
	arena_release(&mem);
}

static const struct {
	const char *text;
	enum value_kind kind;
	int64_t number;
	double real;
} literals[] = {
	{ "0", VALUE_INT, 0, 0 },
	{ "-2147483648", VALUE_INT, INT32_MIN, 0 },
	{ "2147483648", VALUE_LONG, 2147483648, 0 },
	{ "7L", VALUE_LONG, 7, 0 },
	{ "-0x10", VALUE_INT, -16, 0 },
	{ "0xFFFFFFFFFFL", VALUE_LONG, 0xFFFFFFFFFF, 0 },
	{ "0xe", VALUE_INT, 14, 0 },
	{ "9223372036854775807", VALUE_LONG, INT64_MAX, 0 },
	{ "-9223372036854775808", VALUE_LONG, INT64_MIN, 0 },
	{ "1.5", VALUE_DOUBLE, 0, 1.5 },
	{ "-1e3", VALUE_DOUBLE, 0, -1000 },
	{ "25E-2", VALUE_DOUBLE, 0, 0.25 },
	{ "true", VALUE_BOOL, 1, 0 },
	{ "false", VALUE_BOOL, 0, 0 },
	{ "null", VALUE_NULL, 0, 0 },
	{ "'a'", VALUE_CHAR, 'a', 0 },
	{ "'\\u0000'", VALUE_CHAR, 0, 0 },
	{ "'\xc3\xa4'", VALUE_CHAR, 0xe4, 0 },
	{ "'\\uffff'", VALUE_CHAR, 0xffff, 0 },
};

static void check_literals(void)
{
	for (size_t i = 0; i < COUNT(literals); i++) {
		char text[100] = "hook a.B::c if $1 == ";
		struct arena mem;
		struct rules *rules = right_rules(&mem, strcat(text, literals[i].text));
		const struct value *v = rules ? rules->all[0]->hook.condition->right : NULL;

		if (CHECK(v)) {
			CHECK_INT(v->kind, literals[i].kind, text);
			CHECK_INT(v->number, literals[i].number, text);
			CHECK(v->real == literals[i].real);
		}
		arena_release(&mem);
	}
}

TEST(literals_have_their_java_values)
{
	check_literals();
}

TEST(numbers_do_not_depend_on_the_locale)
{
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
		SKIP("no locale with a decimal comma here");
	check_literals();
	setlocale(LC_NUMERIC, "C");
}

TEST(texts_add_up_to_one_set)
{
	static struct rule_errors errors;
	struct buf out = { 0 };
	struct rules *rules;
	struct arena mem;

	arena_init(&mem);
	rules = rules_new(&mem);
	CHECK_INT(rules_add(rules, slice_str("hook a.B::c template t if $u"), "one", &errors), 0,
		  NULL);
	CHECK_INT(rules_add(rules, slice_str("skip d.E\nhok"), "two", &errors), E_SYNTAX, NULL);
	CHECK_INT(rules->n, 1, "of a wrong text nothing is kept");
	CHECK_INT(rules_add(rules, slice_str("template t from \"x\""), "three", &errors), 0, NULL);
	CHECK_INT(rules_add(rules, slice_str("capture u = $1 at f.G::h"), "four", &errors), 0,
		  NULL);
	CHECK_INT(errors.n, 1, NULL);
	CHECK_STR(errors.list[0].origin, "two", NULL);
	CHECK_INT(rules_seal(rules, &errors), 0, "names are found in later texts");
	CHECK(rules->all[0]->hook.template_rule == rules->all[1]);
	CHECK(rules->all[0]->captures->capture == rules->all[2]);
	CHECK_STR(rules->all[2]->source->origin, "four", NULL);
	CHECK_INT(rules_add(rules, slice_str("skip d.E"), "late", &errors), E_USAGE, NULL);
	CHECK_INT(rules_seal(rules, &errors), E_USAGE, NULL);
	rules_print(rules, &out);
	CHECK(out.err == 0 && out.n > 0);
	buf_release(&out);
	arena_release(&mem);
}

TEST(rules_do_not_need_their_text_any_more)
{
	static struct rule_errors errors;
	char text[] = "hook a.B::c if $1 == \"x\" and $2 > 1.5 template web";
	struct rules *rules = NULL;
	struct buf out = { 0 };
	struct arena mem;

	arena_init(&mem);
	CHECK_INT(rules_parse(&mem, slice_str(text), "in", &rules, &errors), 0, NULL);
	memset(text, '?', sizeof(text));
	rules_print(rules, &out);
	buf_u8(&out, 0);
	CHECK_STR((const char *)out.p,
		  "hook a.B::c if $1 == \"x\" and $2 > 1.5 template web timed\n", NULL);
	buf_release(&out);
	arena_release(&mem);
}
