/* SPDX-License-Identifier: Apache-2.0 */
/* dig_child.c - the child has a connection of its own to the agent: when it ends, also by being
 * killed, its hooks go. */
#include "manager/fleet/dig_child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT_MAX = 4 << 20 };

struct dig_command {
	char pid[16], for_ms[24], budget[32];
	char *argv[16];
	int n;
};

static void add(struct dig_command *c, const char *arg)
{
	c->argv[c->n++] = (char *)(uintptr_t)arg;
	c->argv[c->n] = NULL;
}

static void make_command(struct dig_command *c, const struct dig_child *d,
			 const struct dig_order *w)
{
	*c = (struct dig_command){ 0 };
	snprintf(c->pid, sizeof(c->pid), "%d", (int)w->of);
	snprintf(c->for_ms, sizeof(c->for_ms), "--for=%llums", (unsigned long long)w->for_ms);
	snprintf(c->budget, sizeof(c->budget), "--budget=%g%%", w->budget * 100);
	add(c, w->sonde);
	add(c, "dig");
	add(c, "--json");
	add(c, "--aloud");
	add(c, "--save");
	add(c, d->rules_path);
	if (w->for_ms)
		add(c, c->for_ms);
	if (w->budget > 0)
		add(c, c->budget);
	add(c, "--");
	add(c, c->pid);
	if (w->method[0])
		add(c, w->method);
}

static int spawn(struct dig_child *d, struct dig_command *c)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, rc = E_IO;
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
		posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&files, out[1], 1);
		posix_spawn_file_actions_adddup2(&files, err[1], 2);
		rc = posix_spawn(&d->pid, c->argv[0], &files, NULL, c->argv, environ) == 0 ? 0
											   : E_IO;
	}
	posix_spawn_file_actions_destroy(&files);
	close(out[1]);
	close(err[1]);
	if (rc < 0) {
		close(out[0]);
		close(err[0]);
		return rc;
	}
	d->out = out[0];
	d->err = err[0];
	fcntl(d->out, F_SETFL, O_NONBLOCK);
	fcntl(d->err, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Its directory is ours alone, so that nobody puts a link there. */
static bool make_place(struct dig_child *d)
{
	snprintf(d->rules_path, sizeof(d->rules_path), "/tmp/sonded-dig.XXXXXX");
	if (!mkdtemp(d->rules_path)) {
		d->rules_path[0] = '\0';
		return false;
	}
	strcat(d->rules_path, "/rules");
	return true;
}

static void remove_place(struct dig_child *d)
{
	char *slash = strrchr(d->rules_path, '/');

	if (!slash)
		return;
	unlink(d->rules_path);
	*slash = '\0';
	rmdir(d->rules_path);
	d->rules_path[0] = '\0';
}

int dig_child_start(struct dig_child *c, const struct dig_order *o)
{
	struct dig_command command;

	*c = (struct dig_child){ .out = -1, .err = -1 };
	if (!make_place(c))
		return E_NO_MEMORY;
	make_command(&command, c, o);
	if (spawn(c, &command) >= 0)
		return 0;
	c->pid = 0;
	remove_place(c);
	return E_IO;
}

void dig_child_release(struct dig_child *c)
{
	if (c->out >= 0)
		close(c->out);
	if (c->err >= 0)
		close(c->err);
	remove_place(c);
	*c = (struct dig_child){ .out = -1, .err = -1 };
}

bool dig_child_drain(int *fd, struct buf *to)
{
	size_t before = to->n;

	while (*fd >= 0) {
		uint8_t *at = to->n < TEXT_MAX ? buf_room(to, 4096) : NULL;
		ssize_t n = at ? read(*fd, at, 4096) : 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			break;
		}
		to->n += (size_t)n;
	}
	return to->n != before;
}

void dig_child_rules(struct dig_child *d, struct buf *rules)
{
	FILE *file = fopen(d->rules_path, "re");
	char line[16384];

	while (file && fgets(line, sizeof(line), file))
		if (line[0] != '#' && line[0] != '\n')
			buf_text(rules, line);
	if (file)
		fclose(file);
	remove_place(d);
}
