/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - compiles name patterns and matches names against them.
 *
 * Most patterns are a plain name, or a plain beginning with `*` or `**` at the end; those
 * are compared directly.  All others become a program of one op for each character or
 * wildcard and run as a set of states (Thompson's way): no backtracking, so that no name,
 * however long or strange, makes the matching slow.
 *
 * `**` followed by a dot stands for any number of whole segments, also none: `**.Cart` finds
 * Cart in every package.  It takes two ops, so that "nothing at all" and "up to and with
 * a slash" stay apart. */
#include "rule/pattern.h"

#include "base/utf8.h"

enum {
	OP_ONE = 256, /* first byte of one character that is no slash */
	OP_REST,      /* the further bytes of that character */
	OP_STAR,      /* any bytes but a slash */
	OP_ANY,	      /* any bytes */
	OP_DEEP,      /* nothing: go to both ops behind */
	OP_RUN,	      /* any bytes, the last of them a slash */
};

enum { OPS_MAX = 2 * PATTERN_MAX };

static int fail(struct pattern_trouble *t, size_t offset, const char *text, const char *hint)
{
	*t = (struct pattern_trouble){ text, hint, offset };
	return E_SYNTAX;
}

static bool is_separator(uint8_t c)
{
	return c == '.' || c == '/';
}

static int check_class(struct slice s, struct pattern_trouble *t)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '[' || s.p[i] == ']')
			return fail(t, i, "a class name has no brackets", NULL);
		if (s.p[i] == '<')
			return fail(t, i, "a class name has no '<'", NULL);
		if (!is_separator(s.p[i]))
			continue;
		if (i == 0)
			return fail(t, i, "a class name does not start with a dot", NULL);
		if (i + 1 == s.n)
			return fail(t, i, "a class name does not end with a dot",
				    "for everything below a package, write '.**'");
		if (is_separator(s.p[i + 1]))
			return fail(t, i + 1, "two dots in a row", NULL);
	}
	return 0;
}

static int check_method(struct slice s, struct pattern_trouble *t)
{
	for (size_t i = 0; i < s.n; i++)
		if (memchr("./[]", s.p[i], 4))
			return fail(t, i, "a method name has no dots, slashes or brackets",
				    "parameters are written in parentheses");
	return 0;
}

static int check(struct slice s, enum pattern_kind kind, struct pattern_trouble *t)
{
	if (s.n == 0)
		return fail(t, 0, "the name is empty", NULL);
	if (s.n > PATTERN_MAX)
		return fail(t, 0, "the name is longer than 512 bytes", NULL);
	for (size_t i = 0; i + 2 < s.n; i++)
		if (memcmp(s.p + i, "***", 3) == 0)
			return fail(t, i, "three stars in a row",
				    "'*' stays within a segment, '**' goes over all");
	return kind == PATTERN_CLASS ? check_class(s, t) : check_method(s, t);
}

/* One op per byte; '?' and '**.' are two. */
static size_t translate(struct slice s, enum pattern_kind kind, uint16_t *ops)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool two = i + 1 < s.n && s.p[i] == '*' && s.p[i + 1] == '*';
		bool starts = i == 0 || is_separator(s.p[i - 1]);

		if (two && kind == PATTERN_CLASS && starts && i + 2 < s.n &&
		    is_separator(s.p[i + 2])) {
			ops[n++] = OP_DEEP;
			ops[n++] = OP_RUN;
			i += 2;
		} else if (two) {
			ops[n++] = OP_ANY;
			i++;
		} else if (s.p[i] == '*') {
			ops[n++] = OP_STAR;
		} else if (s.p[i] == '?') {
			ops[n++] = OP_ONE;
			ops[n++] = OP_REST;
		} else {
			ops[n++] = is_separator(s.p[i]) ? '/' : s.p[i];
		}
	}
	return n;
}

/* The literal ends of the program, and whether it is one of the simple shapes. */
static int shape(struct arena *mem, const uint16_t *ops, size_t n, struct pattern *out)
{
	uint8_t *bytes = arena_alloc(mem, n);
	size_t head = 0, tail = n;

	if (!bytes)
		return E_NO_MEMORY;
	while (head < n && ops[head] < OP_ONE)
		head++;
	while (tail > head && ops[tail - 1] < OP_ONE)
		tail--;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)ops[i]; /* those of wildcards are never looked at */
	out->literal = (struct slice){ bytes, head };
	out->tail = (struct slice){ bytes + tail, n - tail };
	out->exact = head == n;
	out->open = head + 1 == n && (ops[head] == OP_STAR || ops[head] == OP_ANY);
	out->deep = out->open && ops[head] == OP_ANY;
	if (out->exact || out->open)
		return 0;
	out->op_count = n;
	out->ops = arena_copy(mem, ops, n * sizeof(*ops));
	return out->ops ? 0 : E_NO_MEMORY;
}

int pattern_compile(struct arena *mem, struct slice text, enum pattern_kind kind,
		    struct pattern *out, struct pattern_trouble *trouble)
{
	struct pattern made = { 0 };
	uint16_t ops[OPS_MAX];
	uint8_t *shown;
	int rc;

	if (kind == PATTERN_METHOD && slice_is(text, "new"))
		text = slice_str("<init>");
	rc = check(text, kind, trouble);
	if (rc < 0)
		return rc;
	shown = arena_copy(mem, text.p, text.n);
	if (!shown)
		return E_NO_MEMORY;
	bytes_replace(shown, text.n, '/', '.');
	made.text = (struct slice){ shown, text.n };
	rc = shape(mem, ops, translate(text, kind, ops), &made);
	if (rc == 0)
		*out = made;
	return rc;
}

/* Which op takes byte c and stays, which one takes it and goes on. */
static bool stays(uint16_t op, uint8_t c)
{
	switch (op) {
	case OP_ANY:
	case OP_RUN:
		return true;
	case OP_STAR:
		return c != '/';
	case OP_REST:
		return utf8_is_inner(c);
	default:
		return false;
	}
}

static bool goes_on(uint16_t op, uint8_t c)
{
	switch (op) {
	case OP_ONE:
		return c != '/' && !utf8_is_inner(c);
	case OP_RUN:
		return c == '/';
	default:
		return op == c;
	}
}

/* Marks what can be reached from the marked states without reading anything. */
static void close_states(const struct pattern *p, uint8_t *on)
{
	for (size_t i = 0; i < p->op_count; i++) {
		uint16_t op = p->ops[i];

		if (!on[i])
			continue;
		if (op == OP_STAR || op == OP_ANY || op == OP_REST || op == OP_DEEP)
			on[i + 1] = 1;
		if (op == OP_DEEP)
			on[i + 2] = 1;
	}
}

static bool run(const struct pattern *p, struct slice name)
{
	uint8_t sets[2][OPS_MAX + 1];
	uint8_t *on = sets[0], *next = sets[1], *swap;
	bool alive = true;

	memset(on, 0, p->op_count + 1);
	on[0] = 1;
	close_states(p, on);
	for (size_t i = 0; i < name.n && alive; i++) {
		alive = false;
		memset(next, 0, p->op_count + 1);
		for (size_t s = 0; s < p->op_count; s++) {
			if (!on[s])
				continue;
			next[s] |= stays(p->ops[s], name.p[i]);
			next[s + 1] |= goes_on(p->ops[s], name.p[i]);
			alive |= next[s] | next[s + 1];
		}
		close_states(p, next);
		swap = on;
		on = next;
		next = swap;
	}
	return alive && on[p->op_count];
}

static bool ends_with(struct slice name, struct slice tail)
{
	return !tail.n ||
	       (name.n >= tail.n && memcmp(name.p + name.n - tail.n, tail.p, tail.n) == 0);
}

bool pattern_match(const struct pattern *p, struct slice name)
{
	size_t head = p->literal.n;

	if (name.n < head || (head && memcmp(name.p, p->literal.p, head) != 0))
		return false;
	if (p->exact)
		return name.n == head;
	if (p->open)
		return p->deep || name.n == head || !memchr(name.p + head, '/', name.n - head);
	return ends_with(name, p->tail) && run(p, name);
}

struct slice pattern_key(const struct pattern *p)
{
	struct slice key = p->literal;

	if (p->exact)
		return key;
	while (key.n && key.p[key.n - 1] != '/')
		key.n--;
	return key;
}
