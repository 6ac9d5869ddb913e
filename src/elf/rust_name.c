/* SPDX-License-Identifier: Apache-2.0 */
/* rust_name.c - a recursive descent through the grammar of RFC 2603, with the letters that it uses.
 *
 * References lead back to what stands before, and may make much of little, or read much again that is not
 * shown: the text is bounded, and so are the depth and all that is read. */
#include "elf/rust_name.h"

enum { DEPTH = 200, LETTERS = 256, WORK = 1 << 17 };

struct rust {
	struct slice in; /* behind _R */
	size_t at;
	struct buf *out;
	size_t end;			 /* of out, at most */
	unsigned depth, lifetimes, work; /* work: letters and parts that were read */
	bool silent;			 /* is read, but not shown */
	bool failed;
};

static void put_path(struct rust *r, bool in_value);
static void put_type(struct rust *r);
static void put_const(struct rust *r);

/* ---- text ---------------------------------------------------------------------------------- */

static void put(struct rust *r, const char *text)
{
	if (!r->silent && !r->failed && r->out->n < r->end)
		buf_text(r->out, text);
}

static void put_number(struct rust *r, uint64_t n)
{
	if (!r->silent && !r->failed && r->out->n < r->end)
		buf_printf(r->out, "%llu", (unsigned long long)n);
}

/* True: go on; to be followed by leave(). */
static bool enter(struct rust *r)
{
	if (r->depth >= DEPTH || ++r->work > WORK || r->out->err)
		r->failed = true;
	if (r->failed || (!r->silent && r->out->n >= r->end))
		return false;
	r->depth++;
	return true;
}

static void leave(struct rust *r)
{
	r->depth--;
}

/* ---- letters and numbers ------------------------------------------------------------------- */

static char peek(const struct rust *r)
{
	return r->at < r->in.n ? (char)r->in.p[r->at] : '\0';
}

static char next(struct rust *r)
{
	char c = peek(r);

	if (c && ++r->work <= WORK)
		r->at++;
	else
		r->failed = true;
	return c;
}

static bool eat(struct rust *r, char c)
{
	if (peek(r) != c || !c)
		return false;
	r->at++;
	return true;
}

static int digit62(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'z' ? c - 'a' + 10
	       : c >= 'A' && c <= 'Z' ? c - 'A' + 36
				      : -1;
}

/* "_" is 0, "0_" 1, "1_" 2 ... */
static uint64_t base62(struct rust *r)
{
	uint64_t v = 0;

	if (eat(r, '_'))
		return 0;
	while (!r->failed && !eat(r, '_')) {
		int d = digit62(next(r));

		if (d < 0 || v > UINT64_MAX / 64)
			r->failed = true;
		v = v * 62 + (uint64_t)(d < 0 ? 0 : d);
	}
	return v + 1;
}

/* A letter and a number, if they are there: 0 if not, else one more than the number. */
static uint64_t maybe62(struct rust *r, char letter)
{
	return eat(r, letter) ? base62(r) + 1 : 0;
}

static uint64_t decimal(struct rust *r)
{
	uint64_t v = 0;

	if (peek(r) < '0' || peek(r) > '9')
		r->failed = true;
	if (eat(r, '0'))
		return 0;
	while (peek(r) >= '0' && peek(r) <= '9') {
		v = v * 10 + (uint64_t)(next(r) - '0');
		if (v > RUST_NAME_MAX * 16)
			r->failed = true;
	}
	return r->failed ? 0 : v;
}

/* ---- identifiers --------------------------------------------------------------------------- */

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, FIRST_CHAR = 0x80, CHARS = 256 };

struct letters {
	uint32_t v[CHARS];
	size_t n;
};

static uint64_t adapt(uint64_t delta, size_t n, bool first)
{
	uint64_t k = 0;

	delta /= first ? DAMP : 2;
	delta += delta / n;
	for (; delta > ((BASE - T_MIN) * T_MAX) / 2; k += BASE)
		delta /= BASE - T_MIN;
	return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* One number of RFC 3492: digits, the least significant first. */
static bool delta_of(struct slice *in, uint64_t bias, uint64_t *i)
{
	uint64_t weight = 1;

	for (uint64_t k = BASE; in->n; k += BASE) {
		uint8_t c = *in->p++;
		uint64_t t = k <= bias + T_MIN ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias, d;

		in->n--;
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9'))
			return false;
		d = (uint64_t)(c >= 'a' ? c - 'a' : c - '0' + 26);
		*i += d * weight;
		if (*i > UINT32_MAX || weight > UINT32_MAX)
			return false;
		if (d < t)
			return true;
		weight *= BASE - t;
	}
	return false;
}

/* What is behind the last "_" says which letters stand between those before it. */
static bool from_punycode(struct slice id, struct letters *l)
{
	size_t plain = id.n;
	uint64_t i = 0, bias = 72, c = FIRST_CHAR;

	while (plain && id.p[plain - 1] != '_')
		plain--;
	for (size_t k = 0; plain && k < plain - 1 && l->n < CHARS; k++)
		l->v[l->n++] = id.p[k];
	id = (struct slice){ id.p + plain, id.n - plain };
	while (id.n) {
		uint64_t before = i;

		if (l->n == CHARS || !delta_of(&id, bias, &i))
			return false;
		bias = adapt(i - before, l->n + 1, before == 0);
		c += i / (l->n + 1);
		i %= l->n + 1;
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			return false;
		memmove(&l->v[i + 1], &l->v[i], (l->n - i) * sizeof(l->v[0]));
		l->v[i++] = (uint32_t)c;
		l->n++;
	}
	return true;
}

static void put_letter(struct rust *r, uint32_t c)
{
	char text[5] = { 0 };

	if (c < 0x80) {
		text[0] = (char)c;
	} else if (c < 0x800) {
		text[0] = (char)(0xc0 | c >> 6);
		text[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		text[0] = (char)(0xe0 | c >> 12);
		text[1] = (char)(0x80 | (c >> 6 & 0x3f));
		text[2] = (char)(0x80 | (c & 0x3f));
	} else {
		text[0] = (char)(0xf0 | c >> 18);
		text[1] = (char)(0x80 | (c >> 12 & 0x3f));
		text[2] = (char)(0x80 | (c >> 6 & 0x3f));
		text[3] = (char)(0x80 | (c & 0x3f));
	}
	put(r, text);
}

struct identifier {
	struct slice bytes;
	bool punycode;
	uint64_t number; /* that tells it from others of its name */
};

static struct identifier identifier(struct rust *r)
{
	struct identifier id = { .number = maybe62(r, 's') };
	uint64_t n;

	id.punycode = eat(r, 'u');
	n = decimal(r);
	(void)eat(r, '_');
	if (n > r->in.n - r->at)
		r->failed = true;
	if (r->failed)
		return id;
	id.bytes = (struct slice){ r->in.p + r->at, (size_t)n };
	r->at += (size_t)n;
	return id;
}

static void put_identifier(struct rust *r, const struct identifier *id)
{
	struct letters l = { .n = 0 };

	if (r->silent || r->failed)
		return;
	if (!id->punycode) {
		for (size_t i = 0; i < id->bytes.n; i++)
			put_letter(r, id->bytes.p[i]);
	} else if (from_punycode(id->bytes, &l)) {
		for (size_t i = 0; i < l.n; i++)
			put_letter(r, l.v[i]);
	} else {
		r->failed = true;
	}
}

/* ---- lists and references ------------------------------------------------------------------ */

static size_t put_list(struct rust *r, void (*one)(struct rust *), const char *between)
{
	size_t n = 0;

	while (!r->failed && !eat(r, 'E')) {
		put(r, n++ ? between : "");
		one(r);
		if (!r->silent && r->out->n >= r->end)
			break;
	}
	return n;
}

/* Reads again what stands at an earlier place. */
static void put_again(struct rust *r, void (*one)(struct rust *))
{
	size_t here = r->at - 1;
	uint64_t to = base62(r);
	size_t behind = r->at;

	if (to >= here)
		r->failed = true;
	if (r->failed || r->silent)
		return;
	r->at = (size_t)to;
	one(r);
	r->at = behind;
}

static void put_lifetime(struct rust *r, uint64_t n)
{
	char text[3] = "'_";

	if (n && n <= r->lifetimes && r->lifetimes - n < 26)
		text[1] = (char)('a' + (r->lifetimes - n));
	else if (n)
		r->failed = true;
	put(r, text);
}

/* for<'a, 'b> */
static unsigned put_binder(struct rust *r)
{
	uint64_t n = maybe62(r, 'G');

	if (n > 26 - (r->lifetimes < 26 ? r->lifetimes : 26)) {
		r->failed = true;
		return 0;
	}
	put(r, n ? "for<" : "");
	for (uint64_t i = 0; i < n; i++) {
		put(r, i ? ", " : "");
		r->lifetimes++;
		put_lifetime(r, 1);
	}
	put(r, n ? "> " : "");
	return (unsigned)n;
}

/* ---- types --------------------------------------------------------------------------------- */

static const char *basic(char c)
{
	static const char *const names[LETTERS] = {
		['a'] = "i8",  ['b'] = "bool", ['c'] = "char",	['d'] = "f64",	 ['e'] = "str",
		['f'] = "f32", ['h'] = "u8",   ['i'] = "isize", ['j'] = "usize", ['l'] = "i32",
		['m'] = "u32", ['n'] = "i128", ['o'] = "u128",	['s'] = "i16",	 ['t'] = "u16",
		['u'] = "()",  ['v'] = "...",  ['x'] = "i64",	['y'] = "u64",	 ['z'] = "!",
		['p'] = "_",
	};

	return names[(uint8_t)c];
}

static void put_argument(struct rust *r)
{
	if (eat(r, 'L'))
		put_lifetime(r, base62(r));
	else if (eat(r, 'K'))
		put_const(r);
	else
		put_type(r);
}

/* unsafe extern "C" fn(u8) -> u8 */
static void put_function(struct rust *r)
{
	unsigned bound = put_binder(r);

	put(r, eat(r, 'U') ? "unsafe " : "");
	if (eat(r, 'K')) {
		struct identifier abi = { .bytes = slice_str("C") };

		if (!eat(r, 'C'))
			abi = identifier(r);
		put(r, "extern \"");
		put_identifier(r, &abi);
		put(r, "\" ");
	}
	put(r, "fn(");
	(void)put_list(r, put_type, ", ");
	put(r, ")");
	if (!eat(r, 'u')) {
		put(r, " -> ");
		put_type(r);
	}
	r->lifetimes -= bound;
}

/* A trait with its arguments, left open; true: there were some. */
static bool put_open_trait(struct rust *r)
{
	bool open = false;

	if (!enter(r))
		return false;
	if (eat(r, 'B')) {
		size_t behind, here = r->at - 1;
		uint64_t to = base62(r);

		behind = r->at;
		if (to >= here)
			r->failed = true;
		if (!r->failed && !r->silent) {
			r->at = (size_t)to;
			open = put_open_trait(r);
			r->at = behind;
		}
	} else if (eat(r, 'I')) {
		put_path(r, false);
		put(r, "<");
		(void)put_list(r, put_argument, ", ");
		open = true;
	} else {
		put_path(r, false);
	}
	leave(r);
	return open;
}

static void put_bound(struct rust *r)
{
	bool open = put_open_trait(r);

	while (!r->failed && eat(r, 'p')) {
		struct identifier id;

		put(r, open ? ", " : "<");
		open = true;
		id = identifier(r);
		put_identifier(r, &id);
		put(r, " = ");
		put_type(r);
	}
	put(r, open ? ">" : "");
}

static void put_dyn(struct rust *r)
{
	unsigned bound;
	uint64_t lifetime;

	put(r, "dyn ");
	bound = put_binder(r);
	(void)put_list(r, put_bound, " + ");
	r->lifetimes -= bound;
	if (!eat(r, 'L')) {
		r->failed = true;
		return;
	}
	lifetime = base62(r);
	if (lifetime) {
		put(r, " + ");
		put_lifetime(r, lifetime);
	}
}

static void put_reference(struct rust *r, const char *what)
{
	put(r, "&");
	if (eat(r, 'L')) {
		uint64_t n = base62(r);

		if (n) {
			put_lifetime(r, n);
			put(r, " ");
		}
	}
	put(r, what);
	put_type(r);
}

static void put_array(struct rust *r, bool sized)
{
	put(r, "[");
	put_type(r);
	if (sized) {
		put(r, "; ");
		put_const(r);
	}
	put(r, "]");
}

static void put_tuple(struct rust *r)
{
	put(r, "(");
	put(r, put_list(r, put_type, ", ") == 1 ? ",)" : ")");
}

static void put_other_type(struct rust *r, char c)
{
	switch (c) {
	case 'A':
	case 'S':
		put_array(r, c == 'A');
		break;
	case 'T':
		put_tuple(r);
		break;
	case 'R':
	case 'Q':
		put_reference(r, c == 'Q' ? "mut " : "");
		break;
	case 'P':
	case 'O':
		put(r, c == 'P' ? "*const " : "*mut ");
		put_type(r);
		break;
	case 'F':
		put_function(r);
		break;
	case 'D':
		put_dyn(r);
		break;
	case 'B':
		put_again(r, put_type);
		break;
	default:
		r->at--;
		put_path(r, false);
	}
}

static void put_type(struct rust *r)
{
	char c;

	if (!enter(r))
		return;
	c = next(r);
	if (basic(c))
		put(r, basic(c));
	else if (!r->failed)
		put_other_type(r, c);
	leave(r);
}

/* ---- constants ----------------------------------------------------------------------------- */

static void put_digits(struct rust *r, char type)
{
	bool negative = eat(r, 'n');
	size_t from = r->at;
	uint64_t v = 0;

	while (!r->failed && !eat(r, '_')) {
		int d = digit62(next(r));

		if (d < 0 || d > 15)
			r->failed = true;
		v = v << 4 | (uint64_t)(d & 15);
	}
	put(r, negative ? "-" : "");
	if (type == 'b') {
		put(r, v ? "true" : "false");
	} else if (type == 'c') {
		put(r, "'");
		put_letter(r, v < 0x110000 && v >= 0x20 ? (uint32_t)v : '?');
		put(r, "'");
	} else if (r->at - from > 17) {
		put(r, "0x");
		for (size_t i = from; i + 1 < r->at; i++)
			put_letter(r, r->in.p[i]);
	} else {
		put_number(r, v);
	}
}

static void put_const(struct rust *r)
{
	char c;

	if (!enter(r))
		return;
	c = next(r);
	if (c == 'B')
		put_again(r, put_const);
	else if (c == 'p')
		put(r, "_");
	else if (basic(c))
		put_digits(r, c);
	else
		r->failed = true;
	leave(r);
}

/* ---- paths --------------------------------------------------------------------------------- */

/* ::name, ::{closure#1} or ::{shim:name#0} */
static void put_nested(struct rust *r, bool in_value)
{
	char space = next(r);
	struct identifier id;

	put_path(r, in_value);
	id = identifier(r);
	if (space >= 'A' && space <= 'Z') {
		const char kind[2] = { space, '\0' };

		put(r, "::{");
		put(r, space == 'C' ? "closure" : space == 'S' ? "shim" : kind);
		put(r, id.bytes.n ? ":" : "");
		put_identifier(r, &id);
		put(r, "#");
		put_number(r, id.number);
		put(r, "}");
	} else if (id.bytes.n) {
		put(r, "::");
		put_identifier(r, &id);
	}
}

/* The path of an impl only says where it stands. */
static void skip_impl(struct rust *r)
{
	bool silent = r->silent;

	(void)maybe62(r, 's');
	r->silent = true;
	put_path(r, false);
	r->silent = silent;
}

static void put_impl(struct rust *r, char c)
{
	if (c != 'Y')
		skip_impl(r);
	put(r, "<");
	put_type(r);
	if (c != 'M') {
		put(r, " as ");
		put_path(r, false);
	}
	put(r, ">");
}

static void put_type_path(struct rust *r)
{
	put_path(r, false);
}

static void put_value_path(struct rust *r)
{
	put_path(r, true);
}

static void put_path(struct rust *r, bool in_value)
{
	struct identifier id;
	char c;

	if (!enter(r))
		return;
	c = next(r);
	if (c == 'C') {
		id = identifier(r);
		put_identifier(r, &id);
	} else if (c == 'N') {
		put_nested(r, in_value);
	} else if (c == 'M' || c == 'X' || c == 'Y') {
		put_impl(r, c);
	} else if (c == 'I') {
		put_path(r, in_value);
		put(r, in_value ? "::<" : "<");
		(void)put_list(r, put_argument, ", ");
		put(r, ">");
	} else if (c == 'B') {
		put_again(r, in_value ? put_value_path : put_type_path);
	} else {
		r->failed = true;
	}
	leave(r);
}

bool rust_name_put(struct buf *out, struct slice symbol)
{
	size_t before = out->n;
	struct rust r = { .in = { symbol.p + 2, symbol.n < 2 ? 0 : symbol.n - 2 },
			  .out = out,
			  .end = before + RUST_NAME_MAX };

	if (!slice_starts(symbol, slice_str("_R")) || (peek(&r) >= '0' && peek(&r) <= '9'))
		return false;
	put_path(&r, true);
	if (out->n >= r.end) { /* what is behind was not read */
		buf_text(out, "...");
		return true;
	}
	if (r.failed || out->err)
		out->n = before;
	return !r.failed && !out->err;
}
