/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - reads the file of defaults line by line; what an entry means is the verb's. */
#include "cli/screen/config.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/screen/cli.h"

enum { TEXT_MAX = 64 << 10 };

static struct {
	char path[PATH_MAX];
	char text[TEXT_MAX]; /* options point into it until the process ends */
} config;

static bool find_path(void)
{
	const char *own = getenv("SONDE_CONFIG"), *base = getenv("XDG_CONFIG_HOME"),
		   *home = getenv("HOME");
	int n;

	if (own)
		n = snprintf(config.path, sizeof(config.path), "%s", own);
	else if (base && *base == '/')
		n = snprintf(config.path, sizeof(config.path), "%s/sonde/config", base);
	else if (home && *home == '/')
		n = snprintf(config.path, sizeof(config.path), "%s/.config/sonde/config", home);
	else
		return false;
	return n > 0 && (size_t)n < sizeof(config.path);
}

/* 1: config.text holds it; 0: there is none that may be used; else an exit status. */
static int load(void)
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (!find_path() || (fd = open(config.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read(fd, config.text, sizeof(config.text) - 1);
	close(fd);
	if (n < 0)
		return 0;
	config.text[n] = '\0';
	if ((st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 1;
	fprintf(stderr, "sonde: %s is not used: others than you can write it\n", config.path);
	return 0;
}

/* The text without blanks around it, and without what stands behind a '#'. */
static char *trim(char *text)
{
	char *end;

	text[strcspn(text, "#")] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static bool split(char *line, struct config_entry *e)
{
	char *equals = strchr(line, '=');

	if (equals)
		*equals = '\0';
	e->key = trim(line);
	e->value = equals ? trim(equals + 1) : NULL;
	return *e->key != '\0';
}

/* One pass: of [all], or of the section.  The text is copied, since both passes cut it up. */
static int pass(const char *section, bool for_all, char *text, config_take *take, void *ctx)
{
	struct config_entry e = { .path = config.path, .for_all = for_all };
	const char *wanted = for_all ? "all" : section;
	bool mine = false;
	int status = CLI_DONE;

	for (char *line = text, *next; line && status == CLI_DONE; line = next) {
		size_t n;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		e.line++;
		line = trim(line);
		n = strlen(line);
		if (line[0] == '[' && line[n - 1] == ']') {
			line[n - 1] = '\0';
			mine = strcmp(trim(line + 1), wanted) == 0;
		} else if (mine && split(line, &e)) {
			status = take(ctx, &e);
		}
	}
	return status;
}

int config_read(const char *section, config_take *take, void *ctx)
{
	static char copy[TEXT_MAX];
	int status;

	if (load() <= 0)
		return CLI_DONE;
	memcpy(copy, config.text, sizeof(copy));
	status = pass(section, true, copy, take, ctx);
	return status == CLI_DONE ? pass(section, false, config.text, take, ctx) : status;
}
