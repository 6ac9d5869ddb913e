/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - runs the unit tests: unit [-l] [-v] [SUBSTRING]
 *
 * Each TEST() adds itself to a list before main() begins.  With SUBSTRING only the tests run whose
 * name or file contains it; -l lists them instead; -v names every test as it runs.  The last line
 * is "N passed, N failed, N skipped"; the exit status is 1 when a test failed.  A test that crashes
 * ends the program, after a line that names it. */
#include "test.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct test *first, **last = &first;
static const struct test *current;
static bool current_failed;
static const char *current_skip; /* why, or NULL */

void test_add(struct test *t)
{
	*last = t;
	last = &t->next;
}

void test_skip(const char *why)
{
	static char text[200]; /* who skips may have it on its stack */

	snprintf(text, sizeof(text), "%s", why);
	current_skip = text;
}

bool test_is_short(void)
{
	return getenv("TEST_SHORT") != NULL;
}

static void fail(const struct test_at *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void fail(const struct test_at *at, const char *fmt, ...)
{
	va_list ap;

	current_failed = true;
	printf("%s:%d: %s: ", at->file, at->line, current->name);
	if (at->label)
		printf("[%s] ", at->label);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

bool test_check(bool held, const struct test_at *at)
{
	if (!held)
		fail(at, "not so: %s", at->what);
	return held;
}

bool test_int(intmax_t got, intmax_t want, const struct test_at *at)
{
	if (got == want)
		return true;
	fail(at, "%s is %" PRIdMAX ", not %" PRIdMAX, at->what, got, want);
	return false;
}

static const char *quote(const char *s)
{
	return s ? "\"" : "";
}

bool test_str(const char *got, const char *want, const struct test_at *at)
{
	if (got == want || (got && want && strcmp(got, want) == 0))
		return true;
	fail(at, "%s is %s%s%s, not %s%s%s", at->what, quote(got), got ? got : "NULL", quote(got),
	     quote(want), want ? want : "NULL", quote(want));
	return false;
}

/* One line of hex: up to 16 bytes from offset `from`. */
static void dump(const char *name, const uint8_t *p, size_t n, size_t from)
{
	printf("\t%s[%zu..]:", name, from);
	for (size_t i = from; i < n && i < from + 16; i++)
		printf(" %02x", p[i]);
	printf("%s\n", from >= n ? " (the end)" : "");
}

bool test_mem(const void *got, size_t gotn, const void *want, size_t wantn,
	      const struct test_at *at)
{
	const uint8_t *g = got, *w = want;
	size_t same = 0, from;

	while (same < gotn && same < wantn && g[same] == w[same])
		same++;
	if (same == gotn && same == wantn)
		return true;
	fail(at, "%s has %zu bytes, wanted %zu; they differ at %zu", at->what, gotn, wantn, same);
	from = same < 4 ? 0 : same - 4;
	dump(" got", g, gotn, from);
	dump("want", w, wantn, from);
	return false;
}

static void on_crash(int sig)
{
	static const char text[] = "crashed in ";

	(void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
	(void)!write(STDOUT_FILENO, current->name, strlen(current->name));
	(void)!write(STDOUT_FILENO, "\n", 1);
	raise(sig); /* SA_RESETHAND: this one ends the program */
}

/* Where a sanitizer has its own handler, its report is better than ours. */
static void name_the_test_that_crashes(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction old,
		ours = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };

	for (size_t i = 0; i < COUNT(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(signals[i], &ours, NULL);
}

int main(int argc, char **argv)
{
	bool list = false, verbose = false;
	int passed = 0, failed = 0, skipped = 0, opt;
	const char *only;

	while ((opt = getopt(argc, argv, "lv")) != -1) {
		if (opt == 'l')
			list = true;
		else if (opt == 'v')
			verbose = true;
		else
			return 2;
	}
	only = optind < argc ? argv[optind] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	name_the_test_that_crashes();
	for (current = first; current; current = current->next) {
		if (!strstr(current->name, only) && !strstr(current->file, only))
			continue;
		if (list) {
			printf("%s: %s\n", current->file, current->name);
			continue;
		}
		if (verbose)
			printf("%s\n", current->name);
		current_failed = false;
		current_skip = NULL;
		current->run();
		if (current_failed) {
			failed++;
		} else if (current_skip) {
			skipped++;
			printf("skip %s: %s\n", current->name, current_skip);
		} else {
			passed++;
		}
	}
	if (list)
		return 0;
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed > 0;
}
