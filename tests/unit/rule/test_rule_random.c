/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_random.c - rules made up at random: printing what was parsed gives the same text.
 *
 * The generator writes the canonical form, so nothing may change on the way through the
 * parser and the printer; a part that either loses shows at once. */
#include "test.h"

#include <inttypes.h>

#include "rule/match.h"
#include "rule/print.h"

struct dice {
	uint64_t seed;
	struct buf out;
};

static unsigned roll(struct dice *d, unsigned n)
{
	d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(d->seed >> 33) % n;
}

static void say(struct dice *d, const char *text)
{
	buf_text(&d->out, text);
}

static const char *one_of(struct dice *d, const char *const *list, unsigned n)
{
	return list[roll(d, n)];
}
#define ONE_OF(d, ...)                                  \
	one_of(d, (const char *const[]){ __VA_ARGS__ }, \
	       (unsigned)COUNT(((const char *[]){ __VA_ARGS__ })))

static void make_class(struct dice *d)
{
	say(d, ONE_OF(d, "com.shop.Cart", "com.shop.**", "**.Cart", "a.*.B?", "X", "**", "a.B$C*",
		      "p.package-info", "\xc3\xa4.\xe6\x97\xa5"));
}

static void make_type(struct dice *d)
{
	say(d,
	    ONE_OF(d, "int", "String", "java.lang.String", "java.**", "*", "boolean[]", "X[][]"));
}

static void make_target(struct dice *d, bool method)
{
	unsigned kins = roll(d, 3);

	if (!kins || roll(d, 2)) {
		make_class(d);
		say(d, kins ? " " : "");
	}
	for (unsigned i = 0; i < kins; i++) {
		say(d, ONE_OF(d, "implements ", "extends ", "annotated "));
		make_class(d);
		say(d, i + 1 < kins ? " " : "");
	}
	if (!method)
		return;
	say(d, "::");
	say(d, ONE_OF(d, "*", "get*", "<init>", "<clinit>", "run", "a?b", "light", "x-y"));
	if (roll(d, 3) == 0) {
		unsigned n = roll(d, 6), open = roll(d, 2);

		say(d, "(");
		for (unsigned i = 0; i < n; i++) {
			make_type(d);
			say(d, i + 1 < n || open ? ", " : "");
		}
		say(d, open ? "..)" : ")");
	}
	if (roll(d, 5) == 0) {
		say(d, " returns ");
		make_type(d);
	}
	if (roll(d, 5) == 0)
		say(d, ONE_OF(d, " only public", " only not static", " only public not static",
			      " only private final not bridge not synthetic"));
}

static void make_literal(struct dice *d)
{
	switch (roll(d, 4)) {
	case 0:
		buf_printf(&d->out, "%d", (int)roll(d, 2000) - 1000);
		break;
	case 1:
		buf_printf(&d->out, "%" PRId64 "L", (int64_t)d->seed);
		break;
	default:
		say(d, ONE_OF(d, "\"\"", "\"a b\"", "\"\\\"\\\\\\n\\t\\r\\u0001\"", "'x'", "'\\''",
			      "true", "false", "null", "1.5", "-2e-7", "\"\xe6\x97\xa5 # ( $\"",
			      "'\"'"));
	}
}

static void make_path(struct dice *d)
{
	say(d, ONE_OF(d, "$1", "$255", "$this", "$return", "$user", "$tenant_2"));
	for (unsigned i = roll(d, 4); i > 0; i--) {
		switch (roll(d, 4)) {
		case 0:
			say(d, ".name");
			break;
		case 1:
			say(d, ".getX()");
			break;
		case 2:
			say(d, ".of(");
			make_literal(d);
			say(d, ", ");
			make_literal(d);
			say(d, ")");
			break;
		default:
			say(d, "[");
			make_literal(d);
			say(d, "]");
		}
	}
}

static void make_test(struct dice *d)
{
	make_path(d);
	switch (roll(d, 6)) {
	case 0:
		break;
	case 1:
		say(d, ONE_OF(d, " < ", " <= ", " > ", " >= "));
		say(d, ONE_OF(d, "5", "1.5", "'x'", "$2.size"));
		break;
	case 2:
		say(d, " in (");
		make_literal(d);
		say(d, ", ");
		make_literal(d);
		say(d, ")");
		break;
	case 3:
		say(d, ONE_OF(d, " startsWith \"x\"", " endsWith $1", " matches \"a+\"",
			      " instanceof java.util.List"));
		break;
	default:
		say(d, ONE_OF(d, " == ", " != ", " contains "));
		make_literal(d);
	}
}

enum { IN_OR, IN_AND, IN_NOT };

/* Parentheses exactly where the printer puts them. */
static void make_cond(struct dice *d, int inside, int depth)
{
	unsigned kind = depth > 4 ? 3 : roll(d, 5);
	bool wrap = kind == 0 ? depth > 0 : kind == 1 && inside != IN_OR;

	if (kind > 2) {
		make_test(d);
		return;
	}
	say(d, wrap ? "(" : "");
	if (kind == 2) {
		say(d, "not ");
		make_cond(d, IN_NOT, depth + 1);
	}
	for (unsigned i = 0, n = 2 + roll(d, 2); kind < 2 && i < n; i++) {
		say(d, !i ? "" : kind == 0 ? " or " : " and ");
		make_cond(d, kind == 0 ? IN_OR : IN_AND, depth + 1);
	}
	say(d, wrap ? ")" : "");
}

static void make_clauses(struct dice *d)
{
	unsigned inside = roll(d, 3);

	for (unsigned i = inside; i > 0; i--) {
		say(d, ONE_OF(d, " inside ", " directly inside "));
		make_target(d, true);
		for (unsigned k = roll(d, 3); k > 0; k--) {
			say(d, ONE_OF(d, " > ", " >> "));
			make_target(d, true);
		}
	}
	if (roll(d, 2)) {
		say(d, " if ");
		make_cond(d, IN_OR, 0);
	}
	say(d, ONE_OF(d, "", "", " template web", " template catch-all", " template audit"));
	say(d, ONE_OF(d, " light", " timed", " full", " timed 1/2", " timed 1/1000000"));
	say(d, inside ? ONE_OF(d, "", "", " across threads") : "");
	say(d, ONE_OF(d, "", "", " metered"));
	say(d, ONE_OF(d, "", " slow 200ms", " slow 1us", " slow 7ns"));
	say(d, ONE_OF(d, "", " for 10m", " for 8784h", " for 61s"));
	say(d, ONE_OF(d, "", "", " good 5m"));
	say(d, ONE_OF(d, "", " calls 1", " calls 999999999999999999"));
}

static void make_rule(struct dice *d)
{
	switch (roll(d, 8)) {
	case 0:
		say(d, "skip ");
		make_target(d, roll(d, 2));
		break;
	case 1:
		say(d, ONE_OF(d, "ahead ", "at-load ", "live "));
		make_target(d, false);
		break;
	case 2:
		say(d, ONE_OF(d, "capture user = $1", "capture tenant_2 = $this.a[\"b\"].c()"));
		say(d, " at ");
		say(d, ONE_OF(d, "a.B::c", "implements x.Y::z", "a.B::c(int, ..)"));
		break;
	default:
		say(d, "hook ");
		make_target(d, true);
		make_clauses(d);
	}
	say(d, "\n");
}

/* $this in a rule `only static`, $2 of one parameter: wrong for reasons of their own. */
static bool is_refused_by_design(const struct rule_errors *errors)
{
	for (size_t i = 0; i < errors->n; i++)
		if (!slice_starts(slice_str(errors->list[i].text), slice_str("there is no '$")))
			return false;
	return errors->n > 0 && !errors->more;
}

static const char fixed[] = "template audit from \"Audit.class\" method around\n"
			    "capture user = $1 at a.B::c\n"
			    "capture tenant_2 = $1 at a.B::c\n";

TEST(random_rules_survive_parsing_and_printing_unchanged)
{
	static struct rule_errors errors;
	struct dice d = { .seed = 7 };
	struct buf printed = { 0 };
	size_t refused = 0;
	struct arena mem;

	arena_init(&mem);
	for (int round = 0; round < (test_is_short() ? 400 : 4000); round++) {
		struct rules *rules = NULL;
		int rc;

		buf_clear(&d.out);
		buf_clear(&printed);
		arena_reset(&mem);
		errors.n = errors.more = 0;
		say(&d, fixed);
		for (unsigned i = 1 + roll(&d, 4); i > 0; i--)
			make_rule(&d);
		rc = rules_parse(&mem, buf_slice(&d.out), "random", &rules, &errors);
		if (rc < 0 && is_refused_by_design(&errors)) {
			refused++;
			continue;
		}
		buf_u8(&d.out, 0);
		if (!CHECK_STR(rc < 0 ? errors.list[0].text : "", "", (const char *)d.out.p))
			break;
		rules_print(rules, &printed);
		buf_u8(&printed, 0);
		if (!CHECK_STR((const char *)printed.p, (const char *)d.out.p, NULL))
			break;
	}
	CHECK(refused < 2000);
	buf_release(&d.out);
	buf_release(&printed);
	arena_release(&mem);
}
