/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - checking texts, eight bytes at a time.
 *
 * A class file is to a third names, so this is where format checking spends its time.  Nearly all
 * of it is ASCII without any special character: words of eight bytes are tested for having a byte
 * of interest at all, and only those that have one are looked at more closely. */
#include "classfile/name.h"

#include "classfile/desc.h"

enum { JAVA_4 = 48, JAVA_5 = 49 };

static const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

/* Eight bytes of s that hold all of those from i on, or the next eight.  Bytes before i may be
 * among them, and letters x. */
static inline uint64_t word_at(struct slice s, size_t i)
{
	uint64_t word;
	uint32_t first, last;

	if (s.n >= 8) {
		memcpy(&word, s.p + (s.n - i >= 8 ? i : s.n - 8), 8);
		return word;
	}
	if (s.n >= 4) {
		memcpy(&first, s.p, 4);
		memcpy(&last, s.p + s.n - 4, 4);
		return (uint64_t)first << 32 | last;
	}
	word = (ones * 'x') << 24;
	return s.n ? word | s.p[0] | (uint64_t)s.p[s.n / 2] << 8 | (uint64_t)s.p[s.n - 1] << 16
		   : word;
}

/* Has the word a byte of this value?  Not zero: yes. */
static inline uint64_t with_byte(uint64_t word, uint8_t byte)
{
	uint64_t zero = word ^ (ones * byte);

	return (zero - ones) & ~zero & tops;
}

/* Length of the character at p, which is not plain ASCII; 0: malformed.  A NUL is two bytes long,
 * and surrogates stand alone.  Up to version 47 longer forms than necessary were accepted. */
static size_t long_char(const uint8_t *p, size_t left, bool longer_ok)
{
	uint32_t ch;

	if (p[0] >> 5 == 6 && left >= 2 && p[1] >> 6 == 2) {
		ch = (p[0] & 0x1fu) << 6 | (p[1] & 0x3f);
		return longer_ok || ch == 0 || ch >= 0x80 ? 2 : 0;
	}
	if (p[0] >> 4 == 14 && left >= 3 && p[1] >> 6 == 2 && p[2] >> 6 == 2) {
		ch = (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3f);
		return longer_ok || ch >= 0x800 ? 3 : 0;
	}
	return 0;
}

bool name_is_utf8(struct slice s, uint16_t major)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		uint64_t word = word_at(s, i);

		if (!((word | (word - ones)) & tops)) /* no byte is 0 or above 127 */
			n = 8;
		else if ((uint8_t)(s.p[i] - 1) < 0x7f)
			n = 1;
		else
			n = long_char(s.p + i, s.n - i, major < JAVA_4);
		if (!n)
			return false;
	}
	return true;
}

/* None of . ; [ and, but for classes, none of / (JVMS 4.2.2); methods neither < nor >. */
static bool unqualified(struct slice s, unsigned kind)
{
	for (size_t i = 0; i < s.n; i += 8) {
		uint64_t word = word_at(s, i);
		uint64_t bad = with_byte(word, '.') | with_byte(word, ';') | with_byte(word, '[');

		if (kind != NAME_CLASS)
			bad |= with_byte(word, '/');
		if (kind == NAME_METHOD)
			bad |= with_byte(word, '<') | with_byte(word, '>');
		if (bad)
			return false;
	}
	return s.n > 0;
}

/* Slashes stand between names that are not empty. */
static bool slashes_part(struct slice s)
{
	const uint8_t *p = s.p, *end = slice_end(s);

	if (!s.n || end[-1] == '/')
		return false;
	for (; p && p < end; p++) {
		if (*p == '/')
			return false;
		p = memchr(p, '/', (size_t)(end - p));
		if (!p)
			break;
	}
	return true;
}

static bool is_letter(uint8_t ch)
{
	return (uint8_t)((ch | 0x20) - 'a') < 26 || ch == '_' || ch == '$' || ch >= 0x80;
}

/* The old rules.  HotSpot lets a class name begin with a slash.  It asks java.lang.Character about
 * characters beyond ASCII; here all of those are letters. */
static bool identifier(struct slice s, bool slashes)
{
	uint8_t prev = 0;

	for (size_t i = 0; i < s.n; i++) {
		uint8_t ch = s.p[i];
		bool digit = ch >= '0' && ch <= '9' && i > 0;

		if (!is_letter(ch) && !digit && !(ch == '/' && slashes && prev != '/'))
			return false;
		prev = ch;
	}
	return s.n && prev != '/';
}

static bool old_type(struct slice type)
{
	while (type.n && type.p[0] == '[') {
		type.p++;
		type.n--;
	}
	return !type.n || type.p[0] != 'L' ||
	       identifier((struct slice){ type.p + 1, type.n - 2 }, true);
}

static bool field_desc(struct slice s, bool old)
{
	return desc_is_field(s) && (!old || old_type(s));
}

static bool method_desc(struct slice s, bool old)
{
	struct desc_iter it = desc_args(s);

	while (desc_next(&it))
		if (old && !old_type(it.type))
			return false;
	return !it.err && (!old || old_type(it.type));
}

/* JVMS 4.2.3: no control characters; @ : \ only behind a \. */
static bool module_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\') {
			i++;
			if (i == s.n || (s.p[i] != '\\' && s.p[i] != ':' && s.p[i] != '@'))
				return false;
		} else if (s.p[i] < 0x20 || s.p[i] == ':' || s.p[i] == '@') {
			return false;
		}
	}
	return s.n > 0;
}

bool name_is(struct slice s, unsigned kind, uint16_t major)
{
	bool old = major < JAVA_5;

	switch (kind) {
	case NAME_CLASS:
		if (s.n && s.p[0] == '[')
			return field_desc(s, old);
		return old ? identifier(s, true) : unqualified(s, kind) && slashes_part(s);
	case NAME_METHOD:
		if (s.n && s.p[0] == '<')
			return slice_is(s, "<init>") || slice_is(s, "<clinit>");
		return old ? identifier(s, false) : unqualified(s, kind);
	case NAME_FIELD:
		return old ? identifier(s, false) : unqualified(s, kind);
	case NAME_FIELD_DESC:
		return field_desc(s, old);
	case NAME_METHOD_DESC:
		return method_desc(s, old);
	case NAME_MODULE:
		return module_name(s);
	default:
		return unqualified(s, NAME_CLASS) && slashes_part(s);
	}
}
