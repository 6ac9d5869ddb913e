/* SPDX-License-Identifier: Apache-2.0 */
/* source_text.c - looks where sources usually lie: NAME-sources.jar beside NAME.jar (that is how
 * ~/.m2 has them, too), and for class files in a directory below it, or in the source directories of
 * Maven and Gradle beside it. */
#include "cli/look/source_text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "cli/client/client.h"

enum { TEXT_MAX = 4 << 20, BEFORE = 3, PATH_MAX_BYTES = 4096 };

int source_text_open(const struct inside *in, const char *path)
{
	int fd = inside_file(in, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool read_zip(const struct inside *in, const char *jar, const char *name, struct buf *text)
{
	int fd = source_text_open(in, jar);
	zip_t *zip = fd >= 0 ? zip_fdopen(fd, 0, NULL) : NULL;
	zip_file_t *f = zip ? zip_fopen(zip, name, 0) : NULL;
	uint8_t *to;
	zip_int64_t n = 0;

	if (fd >= 0 && !zip)
		close(fd);
	while (f && text->n < TEXT_MAX && (to = buf_room(text, 65536)) &&
	       (n = zip_fread(f, to, 65536)) > 0)
		text->n += (size_t)n;
	if (f)
		zip_fclose(f);
	if (zip)
		zip_discard(zip);
	return f && n >= 0 && !text->err;
}

static bool read_file(const struct inside *in, const char *path, struct buf *text)
{
	int fd = source_text_open(in, path);
	uint8_t *to;
	ssize_t n;

	if (fd < 0)
		return false;
	while (text->n < TEXT_MAX && (to = buf_room(text, 65536)) && (n = read(fd, to, 65536)) > 0)
		text->n += (size_t)n;
	close(fd);
	return !text->err && text->n;
}

/* "a/b/C.java": the file of a class lies where its package says. */
static void name_of(const char *class, const char *file, char name[PATH_MAX_BYTES])
{
	const char *slash = strrchr(class, '/');
	int package = slash ? (int)(slash - class) + 1 : 0;

	snprintf(name, PATH_MAX_BYTES, "%.*s%s", package, class, file);
}

static bool try_jar(const struct inside *in, const char *jar, const char *name, struct buf *text,
		    struct buf *where)
{
	if (!read_zip(in, jar, name, text))
		return false;
	buf_printf(where, "%s!/%s", jar, name);
	return true;
}

static bool beside_jar(const struct inside *in, const char *jar, const char *name, struct buf *text,
		       struct buf *where)
{
	char path[PATH_MAX_BYTES];
	int n = (int)strlen(jar) - 4;

	if (n < 1 || strcmp(jar + n, ".jar") != 0)
		return false;
	snprintf(path, sizeof(path), "%.*s-sources.jar", n, jar);
	return try_jar(in, path, name, text, where) || try_jar(in, jar, name, text, where);
}

static bool below_directory(const struct inside *in, const char *dir, const char *name,
			    struct buf *text, struct buf *where)
{
	static const char *const places[] = { "",
					      "../src/",
					      "../src/main/java/",
					      "../../src/main/java/",
					      "../../../../src/main/java/",
					      "../../src/test/java/" };
	char path[PATH_MAX_BYTES];

	for (size_t i = 0; i < COUNT(places); i++) {
		int n = snprintf(path, sizeof(path), "%s/%s%s", dir, places[i], name);

		if (n > 0 && (size_t)n < sizeof(path) && read_file(in, path, text)) {
			buf_text(where, path);
			return true;
		}
	}
	return false;
}

bool source_text_find(const struct inside *in, const char *place, const char *class,
		      const char *file, struct buf *text, struct buf *where)
{
	char name[PATH_MAX_BYTES];

	if (!*file || strchr(file, '/') || strstr(class, ".."))
		return false;
	name_of(class, file, name);
	return beside_jar(in, place, name, text, where) ||
	       below_directory(in, place, name, text, where);
}

void source_text_lines(struct slice text, unsigned first, unsigned last, struct buf *out)
{
	unsigned line = 1, from = first > BEFORE ? first - BEFORE : 1;
	size_t begin = 0;

	for (size_t i = 0; i <= text.n && line <= last + 1; i++) {
		if (i < text.n && text.p[i] != '\n')
			continue;
		if (line >= from && i > begin) {
			buf_printf(out, "%6u  ", line);
			client_show(out, (struct slice){ text.p + begin, i - begin });
			buf_u8(out, '\n');
		} else if (line >= from && i < text.n) {
			buf_printf(out, "%6u\n", line);
		}
		begin = i + 1;
		line++;
	}
}
