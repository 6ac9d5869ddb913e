/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_pattern.c - name patterns, types and descriptors. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "rule/pattern.h"
#include "rule/signature.h"

static const struct {
	const char *pattern, *name;
	bool match;
} classes[] = {
	{ "a.b.C", "a/b/C", true },
	{ "a/b/C", "a/b/C", true },
	{ "a.b.C", "a/b/CC", false },
	{ "a.b.C", "a/b", false },
	{ "a.b.C$D", "a/b/C$D", true },
	{ "a.b.C", "a/b/C$D", false },
	{ "a.b.C*", "a/b/C$D", true },
	{ "a.b.*", "a/b/C", true },
	{ "a.b.*", "a/b/c/D", false },
	{ "a.b.**", "a/b/C", true },
	{ "a.b.**", "a/b/c/D", true },
	{ "a.b.**", "a/bc/D", false },
	{ "a.b.**", "a/b", false },
	{ "**", "C", true },
	{ "**", "a/b/C", true },
	{ "*", "C", true },
	{ "*", "a/C", false },
	{ "**.Cart", "Cart", true },
	{ "**.Cart", "a/Cart", true },
	{ "**.Cart", "a/b/Cart", true },
	{ "**.Cart", "a/SCart", false },
	{ "**Cart", "a/SCart", true },
	{ "a.**.C", "a/C", true },
	{ "a.**.C", "a/b/c/C", true },
	{ "a.**.C", "aC", false },
	{ "a.**.C", "a/b/cC", false },
	{ "a.**.b.**", "a/x/b/y/C", true },
	{ "a.**.b.**", "a/b/C", true },
	{ "a.**.b.**", "a/x/bb/C", false },
	{ "a.*.C", "a/b/C", true },
	{ "a.*.C", "a/b/c/C", false },
	{ "a.*.C", "a//C", true }, /* no real class is named so; only it must be decided */
	{ "a.?.C", "a/b/C", true },
	{ "a.?.C", "a/bb/C", false },
	{ "a?C", "a/C", false },
	{ "?", "\xc3\xa4", true }, /* one character of two bytes */
	{ "?", "\xe6\x97\xa5", true },
	{ "?", "\xc3\xa4x", false },
	{ "??", "\xc3\xa4x", true },
	{ "*Service*Impl", "MyServiceFooImpl", true },
	{ "*Service*Impl", "MyServiceImpl", true },
	{ "*Service*Impl", "MyImplService", false },
	{ "a.*b*c", "a/xbybzc", true },
	{ "a.*b*c", "a/xbybzcd", false },
	{ "a.**b*c", "a/b/xb/bc", true },
	{ "a.b*", "a/b", true },
	{ "a.b**", "a/bc/D", true },
	{ "com.shop.package-info", "com/shop/package-info", true },
};

static bool class_matches(struct arena *mem, const char *pattern, struct slice name)
{
	struct pattern_trouble trouble;
	struct pattern p;

	return CHECK_INT(pattern_compile(mem, slice_str(pattern), PATTERN_CLASS, &p, &trouble), 0,
			 pattern) &&
	       pattern_match(&p, name);
}

TEST(class_patterns_match_by_segments)
{
	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(classes); i++)
		CHECK_INT(class_matches(&mem, classes[i].pattern, slice_str(classes[i].name)),
			  classes[i].match, classes[i].pattern);
	arena_release(&mem);
}

/* The plain definition, exponential and obviously right, to compare with. */
static bool naive(const char *p, const char *s)
{
	if (!*p)
		return !*s;
	if (p[0] == '*' && p[1] == '*') {
		for (;; s++) {
			if (naive(p + 2, s))
				return true;
			if (!*s)
				return false;
		}
	}
	if (*p == '*') {
		for (;; s++) {
			if (naive(p + 1, s))
				return true;
			if (!*s || *s == '/')
				return false;
		}
	}
	if (*p == '?')
		return *s && *s != '/' && naive(p + 1, s + 1);
	return *s == (*p == '.' ? '/' : *p) && naive(p + 1, s + 1);
}

/* `**.` at the start of a segment may also stand for nothing. */
static bool naive_deep(const char *p, const char *s)
{
	char cut[64];

	for (const char *at = p; (at = strstr(at, "**.")); at++) {
		if (at != p && at[-1] != '.')
			continue;
		memcpy(cut, p, (size_t)(at - p));
		strcpy(cut + (at - p), at + 3);
		if (naive_deep(cut, s))
			return true;
	}
	return naive(p, s);
}

static unsigned random_below(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % n;
}

TEST(patterns_agree_with_their_definition)
{
	uint64_t seed = 1;
	size_t tried = 0, matched = 0;
	struct arena mem;

	arena_init(&mem);
	for (int round = 0; round < 200000; round++) {
		static const char *const parts[] = { "a", "b", ".", "*", "**", "?", ".**.", "a" };
		char pattern[64] = "", name[16] = "";
		struct pattern_trouble trouble;
		struct pattern p;
		bool want;

		for (unsigned i = 1 + random_below(&seed, 6); i > 0; i--)
			strcat(pattern, parts[random_below(&seed, COUNT(parts))]);
		for (unsigned i = 0, n = 1 + random_below(&seed, 8); i < n; i++)
			name[i] = "ab/"[random_below(&seed, 3)];
		arena_reset(&mem);
		if (pattern_compile(&mem, slice_str(pattern), PATTERN_CLASS, &p, &trouble) < 0)
			continue;
		want = naive_deep(pattern, name);
		tried++;
		matched += want;
		if (pattern_match(&p, slice_str(name)) != want)
			CHECK_STR(name, want ? "should match" : "should not match", pattern);
	}
	CHECK(tried > 50000 && matched > 5000);
	arena_release(&mem);
}

TEST(a_long_name_does_not_make_a_pattern_slow)
{
	size_t n = 65535;
	uint8_t *name = malloc(n);
	struct arena mem;

	memset(name, 'a', n);
	arena_init(&mem);
	CHECK(!class_matches(&mem, "**a*a*a*a*a*a*a*a*a*a*a*b*a", (struct slice){ name, n }));
	CHECK(class_matches(&mem, "**a*a*a*a*a*a*a*a*a*a*a*a*a", (struct slice){ name, n }));
	arena_release(&mem);
	free(name);
}

static const struct {
	const char *type, *desc;
	bool match;
} types[] = {
	{ "int", "I", true },
	{ "int", "J", false },
	{ "int", "[I", false },
	{ "int[]", "[I", true },
	{ "int[][]", "[[I", true },
	{ "int...", "[I", true },
	{ "void", "V", true },
	{ "boolean", "Z", true },
	{ "java.lang.String", "Ljava/lang/String;", true },
	{ "java.lang.String[]", "[Ljava/lang/String;", true },
	{ "String", "Ljava/lang/String;", true },
	{ "String", "Lorg/other/String;", true },
	{ "String", "Lorg/other/MyString;", false },
	{ "String", "LString;", true },
	{ "*String", "Lorg/other/MyString;", true },
	{ "java.**", "Ljava/util/List;", true },
	{ "java.*", "Ljava/util/List;", false },
	{ "*", "I", true },
	{ "*", "[Ljava/lang/Object;", true },
	{ "*[]", "[Ljava/lang/Object;", true },
	{ "*[]", "[I", false },
	{ "**", "Ljava/lang/Object;", true },
	{ "**", "I", false },
	{ "String", "L", false },
	{ "int", "", false },
	{ "int[]", "[", false },
};

TEST(types_match_descriptors)
{
	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(types); i++) {
		struct pattern_trouble trouble;
		struct type_pattern t;

		CHECK_INT(signature_compile_type(&mem, slice_str(types[i].type), &t, &trouble), 0,
			  types[i].type);
		CHECK_INT(signature_match_type(&t, slice_str(types[i].desc)), types[i].match,
			  types[i].type);
	}
	arena_release(&mem);
}

static const struct {
	const char *desc, *printed, *returns;
} descs[] = {
	{ "()V", "()", "V" },
	{ "(IJ)I", "(int, long)", "I" },
	{ "([[Ljava/lang/String;Z)[B", "(java.lang.String[][], boolean)", "[B" },
	{ "(Lnever/closed", "(Lnever/closed", "" },
	{ "(I", "(I", "" },
	{ "(Q)V", "(Q)V", "" },
	{ "(I)", "(I)", "" },
	{ "I", "I", "" },
	{ "", "", "" },
	{ "([)V", "([)V", "" },
};

TEST(descriptors_are_printed_as_java_or_as_they_are)
{
	for (size_t i = 0; i < COUNT(descs); i++) {
		struct slice returns = signature_returns(slice_str(descs[i].desc));
		struct buf out = { 0 };

		signature_print(slice_str(descs[i].desc), &out);
		buf_u8(&out, 0);
		CHECK_STR((const char *)out.p, descs[i].printed, descs[i].desc);
		CHECK(slice_is(returns, descs[i].returns));
		buf_release(&out);
	}
}
