/* SPDX-License-Identifier: Apache-2.0 */
/* Names as they stand in rules, and the rules that may be kept. */
#include "rule/spell.h"

#include <string.h>

#include "base/utf8.h"
#include "rule/kept.h"
#include "rule/match.h"
#include "rule/text.h"
#include "test.h"

static struct slice with_slashes(struct slice s, uint8_t room[64])
{
	for (size_t i = 0; i < s.n; i++)
		room[i] = s.p[i] == '.' ? '/' : s.p[i];
	return (struct slice){ room, s.n };
}

TEST(spell_writes_plain_names_as_they_are_and_others_as_patterns)
{
	static const struct {
		const char *class, *method, *desc, *want;
	} cases[] = {
		{ "a.b.C", "m", "(I[La/D;J)V", "a.b.C::m(int, a.D[], long)" },
		{ "a/b/C$1", "access$000", "", "a.b.C$1::access$000" },
		{ "C", "<init>", "()V", "C::<init>()" },
		{ "C", "<clinit>", "()V", "C::<clinit>()" },
		{ "a.Gr\xc3\xb6\xc3\x9f"
		  "e",
		  "\xce\xbb", "()V",
		  "a.Gr\xc3\xb6\xc3\x9f"
		  "e::\xce\xbb()" },
		{ "a.B", "does it", "()V", "a.B::does?it()" },
		{ "a.B", "m\nskip x", "()V", "a.B::m?skip?x()" },
		{ "a.B timed\ntemplate t from \"x\"", "m", "", "a.B?timed?template?t?from??x?::m" },
		{ "a#b", "c\"d", "", "a?b::c?d" },
		{ "a*", "**", "", "a?::??" },
		{ "a.B", "new", "()V", "a.B::ne?()" },
		{ "extends", "m", "()V", "?xtends::m()" },
		{ ".a..b.", "", "", "?a.?b?::?" },
		{ "a", "b.c", "", "a::b?c" },
		{ "a", "b", "(I) timed\nskip a", "a::b" },
		{ "a", "b", "(I", "a::b" },
		{ "a", "b", "(V)V", "a::b" },
		{ "a", "b", "(Lx y;Lint;L;I)V", "a::b(*, *, *, int)" },
		{ "a", "\xed\xa0\x80\xed\xb0\x80", "", "a::??" }, /* Java's surrogates */
		{ "a", "<init> x", "", "a::?init??x" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };

		spell_target(&out, slice_str(cases[i].class), slice_str(cases[i].method),
			     slice_str(cases[i].desc));
		buf_u8(&out, 0);
		CHECK_STR((char *)out.p, cases[i].want, cases[i].class);
		buf_release(&out);
	}
}

static uint32_t draw(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

static struct slice draw_name(uint32_t *state, uint8_t room[64], bool dots)
{
	static const char some[] =
		"ab. \n\t#\"'*?:;<>()[]/-$,=!&|@\\\x01\x7f\xc3\xb6\xe2\x82\xac\xff";
	size_t n = 1 + draw(state) % 12;

	for (size_t i = 0; i < n; i++) {
		uint8_t c = (uint8_t)some[draw(state) % (sizeof(some) - 1)];

		if (!dots && (c == '.' || c == '/' || (c == '<' && !i)))
			c = 'x'; /* no method has that */
		room[i] = c;
	}
	return (struct slice){ room, n };
}

/* A class name of a JVM has no empty parts. */
static bool has_parts(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] == '.' || s.p[i] == '/') &&
		    (!i || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i - 1] == '/'))
			return false;
	return true;
}

static bool is_text(struct slice s)
{
	size_t n;

	for (size_t i = 0; i < s.n; i += n)
		if (!(n = utf8_size(s.p + i, s.p + s.n)))
			return false;
	return true;
}

TEST(spell_makes_one_rule_of_any_name_and_it_matches)
{
	uint32_t state = 4711, matched = 0;
	unsigned rounds = test_is_short() ? 2000 : 20000;

	for (unsigned i = 0; i < rounds; i++) {
		static struct rule_errors errors;
		uint8_t a[64], b[64], c[64];
		struct slice class = draw_name(&state, a, true),
			     method = draw_name(&state, b, false);
		struct rule_class cls = { .name = with_slashes(class, c) };
		struct rule_method m = { .name = method, .desc = slice_str("()V") };
		struct buf text = { 0 };
		struct rules *rules = NULL;
		struct arena mem;

		buf_text(&text, "hook ");
		spell_target(&text, class, method, slice_str("()V"));
		buf_text(&text, " timed\n");
		arena_init(&mem);
		errors.n = 0;
		if (CHECK(kept_is_good(buf_slice(&text), 1)) &&
		    CHECK_INT(rules_parse(&mem, buf_slice(&text), "t", &rules, &errors), 0, NULL) &&
		    has_parts(class) && is_text(class) && is_text(method)) {
			CHECK(rules_match_method(rules, &cls, &m) != NULL);
			matched++;
		}
		arena_release(&mem);
		buf_release(&text);
	}
	CHECK(matched > rounds / 10);
}

TEST(spell_cuts_names_that_no_rule_could_hold)
{
	struct buf name = { 0 }, text = { 0 };

	for (int i = 0; i < 3000; i++)
		buf_text(&name, "ab.");
	buf_text(&name, "C");
	buf_text(&text, "hook ");
	spell_target(&text, buf_slice(&name), slice_str("m"), slice_str("()V"));
	buf_u8(&text, '\n');
	CHECK(text.n < 600 && kept_is_good(buf_slice(&text), 1));
	buf_release(&name);
	buf_release(&text);
}

TEST(spell_line_has_no_control_characters)
{
	struct buf out = { 0 };

	spell_line(&out, (struct slice){ (const uint8_t *)"a\0b\r\n\x7f\xc3\xb6", 8 });
	CHECK_MEM(out.p, out.n, "a?b???\xc3\xb6", 8, NULL);
	CHECK(spell_is_line(slice_str("a b")) && !spell_is_line(slice_str("a\tb")));
	buf_release(&out);
}

TEST(kept_rules_are_hooks_that_only_look)
{
	static const struct {
		const char *text;
		size_t n;
		bool good;
	} cases[] = {
		{ "hook a.B::c timed\n", 1, true },
		{ "hook a.B::c template arguments timed", 1, true },
		{ "hook a.B::c inside d.E::f >> g.H::i if $1.size() > 3 timed\nhook x::y\n", 2,
		  true },
		{ "hook a.B::c timed\n", 2, false },
		{ "hook a.B::c\n timed\n", 1, false },
		{ "hook a.B::c timed\n# comment\n", 1, false },
		{ "template t from \"x\"\n", 1, false },
		{ "template t from \"x\"\nhook a.B::c template t\n", 2, false },
		{ "hook a.B::c template t\n", 1, false },
		{ "hook a.B::c if $1.run!() timed\n", 1, false },
		{ "skip a.**\n", 1, false },
		{ "capture x = $1 at a.B::c\n", 1, false },
		{ "live a.**\n", 1, false },
		{ " hook a.B::c timed\n", 1, false },
		{ "hook a.B::c timed\rskip\n", 1, false },
		{ "", 0, true },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_INT(kept_is_good(slice_str(cases[i].text), cases[i].n), cases[i].good,
			  cases[i].text);
}
