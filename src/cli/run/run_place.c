/* SPDX-License-Identifier: Apache-2.0 */
/* run_place.c - a private directory for the rules that go to the agents and the figures that
 * come back from them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "rule/print.h"

int run_read_file(const char *path, size_t max, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	size_t start = out->n;
	ssize_t got = 1;

	if (fd < 0)
		return E_IO;
	while (got && rc == 0) {
		uint8_t *to = buf_room(out, 64 << 10);

		got = to ? read(fd, to, 64 << 10) : 0;
		if (!to)
			rc = E_NO_MEMORY;
		else if (got > 0)
			out->n += (size_t)got;
		else if (got < 0 && errno != EINTR)
			rc = E_IO;
		if (out->n - start > max)
			rc = E_LIMIT;
	}
	got = errno;
	close(fd);
	errno = (int)got;
	return rc;
}

static bool usable(const char *dir)
{
	return dir && dir[0] == '/' && strlen(dir) < 150 && access(dir, W_OK | X_OK) == 0;
}

int run_place_make(struct run_place *place)
{
	const char *above = getenv("XDG_RUNTIME_DIR");

	*place = (struct run_place){ 0 };
	if (!usable(above))
		above = "/tmp";
	snprintf(place->dir, sizeof(place->dir), "%s/sonde-run.XXXXXX", above);
	if (!mkdtemp(place->dir)) { /* 0700 */
		int why = errno;

		place->dir[0] = '\0';
		return cli_cannot("%s: no directory can be made there: %s", above, strerror(why));
	}
	snprintf(place->report, sizeof(place->report), "%s/report", place->dir);
	return CLI_DONE;
}

/* Templates lie beside the rule file that names them, and ours will lie elsewhere. */
static int make_absolute(struct arena *mem, struct rule *rule)
{
	struct slice name = rule->template.path;
	const char *origin = rule->source->origin, *slash = strrchr(origin, '/');
	char dir[PATH_MAX] = ".", full[PATH_MAX];
	struct buf text = { 0 };
	int rc;

	if (name.n && name.p[0] == '/')
		return 0;
	if (slash)
		snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - origin), origin);
	if (!realpath(dir, full))
		return E_IO;
	buf_printf(&text, "%s/%.*s", full, SLICE_FMT(name));
	rc = text.err;
	if (rc == 0) {
		rule->template.path = arena_dup(mem, buf_slice(&text));
		rc = rule->template.path.p ? 0 : E_NO_MEMORY;
	}
	buf_release(&text);
	return rc;
}

static int write_all(const char *path, const struct buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t at = 0;
	ssize_t n = 0;

	if (fd < 0)
		return E_IO;
	while (at < text->n && n >= 0) {
		n = write(fd, text->p + at, text->n - at);
		at += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	return close(fd) == 0 && n >= 0 ? 0 : E_IO;
}

int run_place_rules(struct run_place *place, struct rules *rules)
{
	struct buf text = { 0 };
	int rc = 0;

	for (size_t i = 0; i < rules->n && rc == 0; i++)
		if (rules->all[i]->kind == RULE_TEMPLATE)
			rc = make_absolute(rules->mem, rules->all[i]);
	rules_print(rules, &text);
	if (rc == 0)
		rc = text.err;
	snprintf(place->rules, sizeof(place->rules), "%s/rules", place->dir);
	if (rc == 0)
		rc = write_all(place->rules, &text);
	buf_release(&text);
	return rc < 0 ? cli_cannot("%s: cannot be written: %s", place->rules, err_text(rc))
		      : CLI_DONE;
}

void run_place_remove(struct run_place *place)
{
	DIR *dir = place->dir[0] ? opendir(place->dir) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	if (place->dir[0])
		rmdir(place->dir);
	place->dir[0] = '\0';
}
