/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "classfile/name.h"

static const struct {
	const char *text;
	size_t n;
	uint16_t major;
	bool good;
} texts[] = {
	{ "", 0, 52, true },
	{ "plain ASCII \x01 \x7f", 15, 52, true },
	{ "a\0b", 3, 52, false }, /* a NUL is C0 80 */
	{ "longer than eight bytes\0", 24, 52, false },
	{ "\xc0\x80", 2, 52, true },
	{ "\xc3\xa9\xe2\x82\xac", 5, 52, true },
	{ "\xed\xa0\xbd\xed\xb8\x80", 6, 52, true }, /* a pair of surrogates */
	{ "\xed\xa0\xbd", 3, 52, true },	     /* half of one */
	{ "\xf0\x9f\x98\x80", 4, 52, false },	     /* plain UTF-8 has that, not ours */
	{ "\xc1\x81", 2, 52, false },		     /* longer than necessary ... */
	{ "\xe0\x81\x81", 3, 52, false },
	{ "\xc1\x81", 2, 47, true }, /* ... which was allowed once */
	{ "\xe0\x81\x81", 3, 47, true },
	{ "\xc1\x81", 2, 48, false },
	{ "\x80", 1, 52, false },
	{ "\xc3", 1, 52, false },
	{ "\xc3(", 2, 52, false },
	{ "\xe2\x82", 2, 52, false },
	{ "\xe2(\x82", 3, 52, false },
	{ "\xe2\x82(", 3, 52, false },
	{ "12345678\xc3", 9, 52, false },
	{ "1234567\xc3\xa9", 9, 52, true }, /* across words */
	{ "\xff", 1, 52, false },
};

TEST(name_knows_modified_utf8)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct slice s = { (const uint8_t *)texts[i].text, texts[i].n };

		CHECK_INT(name_is_utf8(s, texts[i].major), texts[i].good, texts[i].text);
	}
}

TEST(name_finds_a_bad_byte_in_every_place_of_a_text)
{
	uint8_t text[40];

	for (size_t n = 1; n <= sizeof(text); n++)
		for (size_t bad = 0; bad < n; bad++) {
			memset(text, 'a', n);
			CHECK(name_is_utf8((struct slice){ text, n }, 52));
			text[bad] = 0;
			CHECK(!name_is_utf8((struct slice){ text, n }, 52));
			text[bad] = 0xff;
			CHECK(!name_is_utf8((struct slice){ text, n }, 52));
			text[bad] = ';';
			CHECK(!name_is((struct slice){ text, n }, NAME_FIELD, 52));
			text[bad] = '/';
			CHECK(!name_is((struct slice){ text, n }, NAME_FIELD, 52));
			CHECK_INT(name_is((struct slice){ text, n }, NAME_CLASS, 52),
				  bad > 0 && bad + 1 < n, NULL);
			text[bad] = '>';
			CHECK(!name_is((struct slice){ text, n }, NAME_METHOD, 52));
			CHECK(name_is((struct slice){ text, n }, NAME_CLASS, 52));
		}
}

static const struct {
	const char *name;
	unsigned now, once; /* the kinds it is from version 49 on, and before */
} names[] = {
	{ "a", NAME_CLASS | NAME_FIELD | NAME_METHOD, NAME_CLASS | NAME_FIELD | NAME_METHOD },
	{ "a/b/C$d", NAME_CLASS, NAME_CLASS },
	{ "", 0, 0 },
	{ "/", 0, 0 },
	{ "/a", 0, NAME_CLASS }, /* HotSpot does not look */
	{ "a/", 0, 0 },
	{ "a//b", 0, 0 },
	{ "a.b", 0, 0 },
	{ "a;b", 0, 0 },
	{ "a[b", 0, 0 },
	{ "package-info", NAME_CLASS | NAME_FIELD | NAME_METHOD, 0 },
	{ "a b", NAME_CLASS | NAME_FIELD | NAME_METHOD, 0 },
	{ "1a", NAME_CLASS | NAME_FIELD | NAME_METHOD, 0 },
	{ "a/1", NAME_CLASS, NAME_CLASS },
	{ "<init>", NAME_CLASS | NAME_FIELD | NAME_METHOD, NAME_METHOD },
	{ "<clinit>", NAME_CLASS | NAME_FIELD | NAME_METHOD, NAME_METHOD },
	{ "<other>", NAME_CLASS | NAME_FIELD, 0 },
	{ "a<b>", NAME_CLASS | NAME_FIELD, 0 },
	{ "\xc3\xa9t\xc3\xa9", NAME_CLASS | NAME_FIELD | NAME_METHOD,
	  NAME_CLASS | NAME_FIELD | NAME_METHOD },
	{ "[I", NAME_CLASS | NAME_FIELD_DESC, NAME_CLASS | NAME_FIELD_DESC },
	{ "[La/B;", NAME_CLASS | NAME_FIELD_DESC, NAME_CLASS | NAME_FIELD_DESC },
	{ "[La-b;", NAME_CLASS | NAME_FIELD_DESC, 0 },
	{ "[a", 0, 0 },
	{ "[V", 0, 0 },
	{ "La-b;", NAME_FIELD_DESC, 0 },
	{ "(La/B;I)[La/B;", NAME_METHOD_DESC, NAME_METHOD_DESC },
	{ "(La-b;)V", NAME_METHOD_DESC, 0 },
	{ "()La-b;", NAME_METHOD_DESC, 0 },
	{ "(V)V", NAME_CLASS | NAME_FIELD | NAME_METHOD, 0 },
};

TEST(name_knows_names_of_both_ages)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		struct slice s = slice_str(names[i].name);
		unsigned now = 0, once = 0;

		for (unsigned kind = NAME_CLASS; kind <= NAME_METHOD_DESC; kind *= 2) {
			now |= name_is(s, kind, 49) ? kind : 0;
			once |= name_is(s, kind, 48) ? kind : 0;
		}
		CHECK_INT(now, names[i].now, names[i].name);
		CHECK_INT(once, names[i].once, names[i].name);
	}
}

static const struct {
	const char *name;
	bool good;
} modules[] = {
	{ "java.base", true },	{ "", false },	    { "a\\:b", true },	  { "a:b", false },
	{ "a\\\\\\@b", true },	{ "a@b", false },   { "a\\", false },	  { "a\\b", false },
	{ "with space", true }, { "tab\t", false }, { "\xc3\xa9", true },
};

TEST(name_knows_module_names)
{
	for (size_t i = 0; i < COUNT(modules); i++)
		CHECK_INT(name_is(slice_str(modules[i].name), NAME_MODULE, 53), modules[i].good,
			  modules[i].name);
}
