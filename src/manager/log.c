/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - lines on stderr, each written in one piece. */
#include "manager/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/visible.h"

enum { LINE_MAX_BYTES = 2000 };

static const struct {
	const char *word;
	char priority; /* of syslog */
} levels[] = { { "error", '3' }, { "warn", '4' }, { "info", '6' }, { "debug", '7' } };

static enum log_level loudest = LOG_INFO;

void log_set(enum log_level most)
{
	loudest = most;
}

bool log_level_of(const char *word, enum log_level *out)
{
	for (size_t i = 0; i < COUNT(levels); i++) {
		if (strcmp(word, levels[i].word) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static void put_head(struct buf *line, enum log_level level)
{
	time_t now = time(NULL);
	char text[32];
	struct tm tm;

	if (getenv("JOURNAL_STREAM")) {
		buf_printf(line, "<%c>", levels[level].priority);
		return;
	}
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&now, &tm));
	buf_printf(line, "%s %s: ", text, levels[level].word);
}

void log_put(enum log_level level, const char *fmt, ...)
{
	char text[LINE_MAX_BYTES];
	struct buf line = { 0 };
	va_list args;

	if (level > loudest)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_head(&line, level);
	visible_put(&line, slice_str(text), VISIBLE_LINE);
	buf_u8(&line, '\n');
	if (!line.err)
		fwrite(line.p, 1, line.n, stderr); /* not buffered: one write */
	buf_release(&line);
}
