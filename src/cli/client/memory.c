/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - the files of the memory. */
#define _GNU_SOURCE /* O_DIRECTORY */
#include "cli/client/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cache/state.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"
#include "rule/spell.h"

bool memory_place(char dir[PATH_MAX])
{
	return state_usual_place(dir);
}

/* What cannot be read, or is damaged, is as if it were not there. */
static void read_known(const char *dir, const char *app, struct known *out)
{
	struct buf text = { 0 };
	char path[PATH_MAX];

	known_init(out, slice_str(app));
	if (state_path(dir, app, "known", path) && state_read(path, &text) >= 0)
		(void)known_read(out, buf_slice(&text));
	buf_release(&text);
}

static bool is_own(pid_t pid)
{
	struct proc_status st;

	return proc_status(pid, &st) >= 0 && st.uid == geteuid() && proc_same_root(pid);
}

void memory_open(struct memory *m, struct slice app, pid_t pid)
{
	*m = (struct memory){ .when = (uint64_t)time(NULL) };
	m->foreign = app.n > 0 && !is_own(pid);
	m->usable = !m->foreign && app.n > 0 && app.n < sizeof(m->app) && spell_is_line(app) &&
		    memory_place(m->dir);
	if (!m->usable)
		return;
	snprintf(m->app, sizeof(m->app), "%.*s", SLICE_FMT(app));
	read_known(m->dir, m->app, &m->known);
}

void memory_release(struct memory *m)
{
	if (m->usable)
		known_release(&m->known);
}

/* ---- keeping ---- */

static int write_one(const struct memory *m, const char *suffix, const struct buf *text)
{
	char path[PATH_MAX];

	if (text->err)
		return E_NO_MEMORY;
	if (!state_path(m->dir, m->app, suffix, path))
		return errno = ENAMETOOLONG, E_IO;
	return state_write(path, buf_slice(text));
}

static int write_both(const struct memory *m, const struct known *k)
{
	struct buf known = { 0 }, rules = { 0 };
	int rc;

	known_print(k, &known);
	known_print_rules(k, &rules);
	rc = k->err ? k->err : write_one(m, "known", &known);
	if (rc >= 0)
		rc = write_one(m, "rules", &rules);
	buf_release(&known);
	buf_release(&rules);
	return rc;
}

static void add_runs(struct known *to, const struct known_past *p, uint64_t when)
{
	for (; p; p = p->next)
		if (p->n && p->runs[p->n - 1].when == when)
			known_set_run(to, p->method, &p->runs[p->n - 1], 0);
}

int memory_keep(struct memory *m, const struct known_finding *finding)
{
	struct known k;
	int fd, rc;

	if (!m->usable)
		return CLI_DONE;
	rc = state_make_place(m->dir);
	fd = rc < 0 ? -1 : open(m->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && m->quiet)
		return CLI_CANNOT;
	if (fd < 0)
		return cli_cannot("%s: cannot be used, so nothing is remembered: %s", m->dir,
				  strerror(errno));
	(void)flock(fd, LOCK_EX);
	read_known(m->dir, m->app, &k);
	add_runs(&k, m->known.past, m->when);
	if (finding)
		known_add_finding(&k, finding);
	rc = write_both(m, &k);
	known_release(&k);
	close(fd);
	if (rc < 0 && m->quiet)
		return CLI_CANNOT;
	return rc < 0 ? cli_cannot("%s: cannot be written: %s", m->dir,
				   rc == E_IO ? strerror(errno) : err_text(rc))
		      : CLI_DONE;
}

/* ---- all of them ---- */

static int is_known(const struct dirent *e)
{
	return e->d_name[0] != '.' && slice_ends(slice_str(e->d_name), ".known");
}

static int visit_file(const char *dir, const char *name, memory_visit *visit, void *ctx)
{
	struct buf text = { 0 };
	char path[PATH_MAX];
	struct known k;
	int rc = 0;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= PATH_MAX)
		return 0;
	if (state_read(path, &text) >= 0 && known_app_of(buf_slice(&text)).n) {
		known_init(&k, known_app_of(buf_slice(&text)));
		if (known_read(&k, buf_slice(&text)) >= 0)
			rc = visit(ctx, &k);
		known_release(&k);
	}
	buf_release(&text);
	return rc;
}

int memory_each(memory_visit *visit, void *ctx)
{
	struct dirent **all = NULL;
	char dir[PATH_MAX];
	int n = memory_place(dir) ? scandir(dir, &all, is_known, alphasort) : -1, rc = 0;

	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = visit_file(dir, all[i]->d_name, visit, ctx);
		free(all[i]);
	}
	free(all);
	return rc;
}

bool memory_forget(struct slice app)
{
	char dir[PATH_MAX], path[PATH_MAX], name[256];
	bool gone = false;

	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(app));
	if (!memory_place(dir))
		return false;
	if (state_path(dir, name, "known", path))
		gone = unlink(path) == 0;
	if (state_path(dir, name, "rules", path))
		gone = unlink(path) == 0 || gone;
	return gone;
}
