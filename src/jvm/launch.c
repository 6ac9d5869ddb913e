/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c - reads a java command line as the launcher does (JDK 17 to 26, libjli's java.c).
 *
 * An option begins with '-'.  Some take the next argument as their value, unless that begins with
 * '-', too.  Some make the launcher print something and end.  The first argument that is neither
 * is the main class, the jar (after -jar) or the source file; -m ends the options by itself.
 *
 * Lists of words are texts with NULs in them, not arrays of pointers: those would have to be
 * relocated in every process that the start library is loaded into. */
#include "jvm/launch.h"

/* Each word ends with a NUL, the list with one more. */
static const char options_with_value[] = "-cp\0-classpath\0--class-path\0-p\0--module-path\0"
					 "--upgrade-module-path\0--add-modules\0--limit-modules\0"
					 "--add-exports\0--add-opens\0--add-reads\0--patch-module\0"
					 "--enable-native-access\0--source\0";

/* Of these the launcher prints something and ends; --dry-run ends before main(). */
static const char options_that_end[] = "-help\0-h\0-?\0--help\0-version\0--version\0-X\0"
				       "--help-extra\0-fullversion\0--full-version\0"
				       "--list-modules\0--describe-module\0-d\0"
				       "--validate-modules\0--dry-run\0";

/* Beginnings of options for runs that write classes, which must be the original ones, into an
 * archive for later runs; and for JVMs of which nothing is known. */
static const char options_hands_off[] = "-Xshare:dump\0-XX:ArchiveClassesAtExit=\0"
					"-XX:+RecordDynamicDumpInfo\0-XX:DumpLoadedClassList=\0"
					"-XX:AOTMode=record\0-XX:AOTMode=create\0"
					"-XX:AOTCacheOutput=\0-minimal\0-XXaltjvm=\0";

static const char agent_library[] = "libsonde.so";

static bool is_one_of(const char *words, const char *s)
{
	for (; *words; words += strlen(words) + 1)
		if (strcmp(words, s) == 0)
			return true;
	return false;
}

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool starts_with_one_of(const char *words, const char *s)
{
	for (; *words; words += strlen(words) + 1)
		if (starts_with(s, words))
			return true;
	return false;
}

/* ---- names ---- */

static bool is_source(struct slice name)
{
	return slice_ends(name, ".java") && !slice_is(name, ".java");
}

static struct slice behind(struct slice s, size_t n)
{
	return (struct slice){ s.p + n, s.n - n };
}

static struct slice behind_last(struct slice s, char c)
{
	size_t n = s.n;

	while (n && s.p[n - 1] != (uint8_t)c)
		n--;
	return behind(s, n);
}

/* A package is not to be seen from outside, so the class is named by its file. */
static void take_source(struct launch *l, struct slice file)
{
	struct slice name = behind_last(file, '/');

	l->kind = LAUNCH_SOURCE;
	l->file = file;
	if (is_source(name))
		name.n -= strlen(".java");
	l->main = name;
}

/* "module/class", or "module". */
static void take_module(struct launch *l, struct slice s)
{
	struct slice class = behind_last(s, '/');

	l->kind = LAUNCH_MODULE;
	l->main = class.n ? class : s;
}

static void take_main(struct launch *l, enum launch_kind mode, struct slice s)
{
	if (mode == LAUNCH_JAR) {
		l->kind = LAUNCH_JAR;
		l->file = s;
	} else if (mode == LAUNCH_SOURCE || is_source(s)) {
		take_source(l, s);
	} else if (s.n) {
		l->kind = LAUNCH_CLASS;
		l->main = s;
	}
}

/* ---- a command line ---- */

/* Reads one argument after the other. */
struct option_parse {
	struct launch *out;
	enum launch_kind mode; /* what the first plain argument will be */
	bool wants_value, wants_module;
	bool over;
};

static void take_option(struct option_parse *p, const char *arg)
{
	if (strcmp(arg, "-jar") == 0) {
		p->mode = LAUNCH_JAR;
	} else if (strcmp(arg, "-m") == 0 || strcmp(arg, "--module") == 0) {
		p->wants_module = true;
	} else if (starts_with(arg, "--module=")) {
		take_module(p->out, slice_str(arg + strlen("--module=")));
		p->over = true;
	} else if (is_one_of(options_that_end, arg) || starts_with(arg, "--describe-module=")) {
		p->over = true;
	} else if (starts_with_one_of(options_hands_off, arg)) {
		p->out->hands_off = true;
	} else if (starts_with(arg, "-agent") && launch_text_has_agent(arg)) {
		p->out->has_agent = true;
	} else {
		p->wants_value = is_one_of(options_with_value, arg);
		if (starts_with(arg, "--source"))
			p->mode = LAUNCH_SOURCE;
	}
}

static void take(struct option_parse *p, const char *arg)
{
	bool option = arg[0] == '-';

	if (p->over)
		return;
	if (p->wants_module && !option) {
		take_module(p->out, slice_str(arg));
		p->over = true;
	} else if (p->wants_value && !option) {
		p->wants_value = false;
	} else if (option) {
		p->wants_value = p->wants_module = false;
		take_option(p, arg);
	} else {
		take_main(p->out, p->mode, slice_str(arg));
		p->over = true;
	}
}

static bool is_for_java(const char *arg)
{
	return arg[0] == '-' && arg[1] == 'J' && arg[2];
}

/* java COMMAND LINE is what the tool makes of it: first all of -J, then its own arguments. */
static void take_tool(struct option_parse *p, const struct launch_line *line)
{
	for (int i = 0; i < line->tool_argc; i++)
		if (line->tool_argv[i] && is_for_java(line->tool_argv[i]))
			take(p, line->tool_argv[i] + 2);
	for (int i = 1; i < line->argc; i++)
		if (line->argv[i] && is_for_java(line->argv[i]))
			take(p, line->argv[i] + 2);
	for (int i = 0; i < line->tool_argc; i++)
		if (line->tool_argv[i] && !is_for_java(line->tool_argv[i]))
			take(p, line->tool_argv[i]);
}

void launch_read(const struct launch_line *line, struct launch *out)
{
	struct option_parse p = { .out = out, .mode = LAUNCH_CLASS };

	*out = (struct launch){ 0 };
	if (line->tool_argc > 0) {
		take_tool(&p, line);
		return;
	}
	for (int i = 1; i < line->argc && line->argv[i]; i++)
		take(&p, line->argv[i]);
}

/* ---- properties ---- */

void launch_of_properties(const char *command, const char *class_path, struct launch *out)
{
	struct slice all = slice_str(command ? command : "");
	struct slice path = slice_str(class_path ? class_path : "");
	struct slice word = all;
	const uint8_t *space = all.n ? memchr(all.p, ' ', all.n) : NULL;

	*out = (struct launch){ 0 };
	if (space)
		word.n = (size_t)(space - all.p);
	if (!word.n)
		return;
	/* With -jar the class path is the jar, and the command begins with it, spaces and all. */
	if (path.n && slice_starts(all, path) && (all.n == path.n || all.p[path.n] == ' ')) {
		take_main(out, LAUNCH_JAR, path);
		return;
	}
	if (!memchr(word.p, '/', word.n)) {
		take_main(out, LAUNCH_CLASS, word);
		return;
	}
	take_module(out, word);
	if (space && (slice_is(out->main, "com.sun.tools.javac.launcher.Main") ||
		      slice_is(out->main, "com.sun.tools.javac.launcher.SourceLauncher"))) {
		struct slice file = behind(all, word.n + 1);

		space = memchr(file.p, ' ', file.n);
		if (space)
			file.n = (size_t)(space - file.p);
		take_source(out, file);
	}
}

/* ---- texts of options ---- */

bool launch_text_hands_off(const char *text)
{
	if (!text)
		return false;
	for (const char *w = options_hands_off; *w; w += strlen(w) + 1)
		if (strstr(text, w))
			return true;
	return false;
}

bool launch_text_has_agent(const char *text)
{
	return text && (strstr(text, agent_library) || strstr(text, "-agentlib:sonde"));
}

size_t launch_encode(const char *value, char *out, size_t cap)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (; *value; value++) {
		uint8_t c = (uint8_t)*value;

		if (n + 4 > cap)
			return 0;
		if (c > ' ' && c < 0x7f && c != ',' && c != '%') {
			out[n++] = (char)c;
		} else {
			out[n++] = '%';
			out[n++] = digits[c >> 4];
			out[n++] = digits[c & 15];
		}
	}
	if (n < cap)
		out[n] = '\0';
	return n;
}
