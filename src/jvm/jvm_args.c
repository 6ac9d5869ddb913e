/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_args.c - reads the command line of java as its launcher does. */
#include "jvm/jvm_args.h"

#include <ctype.h>
#include <stdio.h>

#include "jvm/proc.h"

/* Options whose value is a string of its own. */
static const char *const with_value[] = {
	"-cp",
	"-classpath",
	"--class-path",
	"-p",
	"--module-path",
	"--add-modules",
	"--add-reads",
	"--add-exports",
	"--add-opens",
	"--limit-modules",
	"--patch-module",
	"--source",
	"-d",
	"--describe-module",
	"--enable-native-access",
	"--upgrade-module-path",
};

static bool is_one_of(struct slice s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, list[i]))
			return true;
	return false;
}

static void add_word(struct buf *to, struct slice word)
{
	if (to->n)
		buf_u8(to, ' ');
	buf_put(to, word);
}

void jvm_args_split(struct slice cmdline, struct buf *options, struct slice *main,
		    struct slice *rest)
{
	static const char *const before_main[] = { "-jar", "-m", "--module" };
	static const char module[] = "--module=";
	struct slice one;

	*main = *rest = (struct slice){ cmdline.p, 0 };
	if (!proc_next_string(&cmdline, &one)) /* java itself */
		return;
	while (proc_next_string(&cmdline, &one)) {
		if (slice_starts(one, slice_str(module))) {
			*main = (struct slice){ one.p + sizeof(module) - 1,
						one.n - (sizeof(module) - 1) };
			break;
		}
		if (is_one_of(one, before_main, COUNT(before_main))) {
			proc_next_string(&cmdline, main);
			break;
		}
		if (is_one_of(one, with_value, COUNT(with_value))) {
			proc_next_string(&cmdline, &one);
		} else if (one.n && one.p[0] == '-') {
			add_word(options, one);
		} else if (one.n && one.p[0] != '@') { /* @file: more options */
			*main = one;
			break;
		}
	}
	*rest = cmdline;
	if (rest->n && rest->p[rest->n - 1] == '\0')
		rest->n--;
}

void jvm_args_environ(struct slice environ, struct buf *before, struct buf *after)
{
	const struct {
		const char *name;
		struct buf *to;
	} known[] = {
		{ "JAVA_TOOL_OPTIONS=", before },
		{ "JDK_JAVA_OPTIONS=", before },
		{ "_JAVA_OPTIONS=", after },
	};
	struct slice one;

	while (proc_next_string(&environ, &one)) {
		for (size_t i = 0; i < COUNT(known); i++) {
			struct slice name = slice_str(known[i].name);

			if (slice_starts(one, name))
				add_word(known[i].to,
					 (struct slice){ one.p + name.n, one.n - name.n });
		}
	}
}

static struct slice after_last(struct slice s, char c)
{
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == (uint8_t)c)
			return (struct slice){ s.p + i, s.n - i };
	return s;
}

static bool ends(struct slice s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p + s.n - n, with, n) == 0;
}

struct slice jvm_args_name(struct slice main, struct slice rest)
{
	struct slice first = rest;

	if (slice_starts(main, slice_str("jdk.compiler/com.sun.tools.javac.launcher."))) {
		for (first.n = 0; first.n < rest.n; first.n++) /* strings or words */
			if (rest.p[first.n] == '\0' || rest.p[first.n] == ' ')
				break;
		if (first.n)
			return after_last(first, '/');
	}
	return after_last(main, '/'); /* a path, or a module before its class */
}

int jvm_args_match(struct slice name, const char *text)
{
	struct slice wanted = slice_str(text);

	if (!wanted.n || wanted.n > name.n)
		return 0;
	if (slice_eq(name, wanted))
		return 2;
	if (ends(name, ".jar"))
		return name.n == wanted.n + 4 && slice_starts(name, wanted) ? 2 : 0;
	return ends(name, text) && name.p[name.n - wanted.n - 1] == '.';
}

bool jvm_args_word(struct slice *args, struct slice *word)
{
	while (args->n && isspace(args->p[0])) {
		args->p++;
		args->n--;
	}
	*word = (struct slice){ args->p, 0 };
	while (args->n && !isspace(args->p[0])) {
		args->p++;
		args->n--;
		word->n++;
	}
	return word->n > 0;
}

bool jvm_args_has(struct slice args, const char *text)
{
	struct slice word;
	char opposite[128];
	bool on = false;

	snprintf(opposite, sizeof(opposite), "%s", text);
	if (strncmp(text, "-XX:", 4) == 0)
		opposite[4] = text[4] == '+' ? '-' : '+';
	while (jvm_args_word(&args, &word)) {
		if (slice_is(word, text))
			on = true;
		else if (slice_is(word, opposite))
			on = false;
	}
	return on;
}
