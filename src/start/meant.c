/* SPDX-License-Identifier: Apache-2.0 */
/* meant.c - brings the file of applications together with what this process is.
 *
 * It also runs in the start library, in programs that are not Sonde's, hence: few and old
 * functions of libc only, no stdio, and "no" to every doubt. */
#include "start/meant.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/apps.h"

#pragma weak secure_getenv /* of glibc 2.17 */

enum { PASSWD_CAP = 16 << 10 };

const char *meant_said(const char *name)
{
	return secure_getenv ? secure_getenv(name) : NULL;
}

/* Also for users of other than /etc/passwd; the JVM asks the same when it starts. */
static bool is_user(void *ctx, struct slice user)
{
	struct passwd entry, *found = NULL;
	uint64_t number = 0;
	bool digits = user.n > 0 && user.n < 11;
	char *text;
	bool is = false;

	(void)ctx;
	for (size_t i = 0; i < user.n && digits; i++) {
		digits = user.p[i] >= '0' && user.p[i] <= '9';
		number = number * 10 + (uint64_t)(user.p[i] - '0');
	}
	if (digits)
		return number == geteuid();
	text = mem_alloc(PASSWD_CAP);
	if (text && getpwuid_r(geteuid(), &entry, text, PASSWD_CAP, &found) == 0 && found)
		is = slice_eq(user, slice_str(found->pw_name));
	mem_free(text);
	return is;
}

/* The whole file, for mem_free().  NULL: it cannot be read, or is too large. */
static uint8_t *read_all(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not stop us */
	uint8_t *text = fd >= 0 ? mem_alloc(APPS_TEXT_MAX + 1) : NULL;
	ssize_t got = -1;

	*n = 0;
	while (text && *n <= APPS_TEXT_MAX &&
	       ((got = read(fd, text + *n, APPS_TEXT_MAX + 1 - *n)) > 0 ||
		(got < 0 && errno == EINTR)))
		*n += got > 0 ? (size_t)got : 0;
	if (fd >= 0)
		close(fd);
	if (got == 0)
		return text;
	mem_free(text);
	return NULL;
}

static bool decide(const char *apps, const struct launch *launch, char rules[MEANT_PATH])
{
	struct apps_program program = { .launch = launch, .is_user = is_user };
	char dir[MEANT_PATH];
	struct slice file;
	bool meant = false;
	size_t n;
	uint8_t *text = read_all(apps, &n);

	program.dir = slice_str(getcwd(dir, sizeof(dir)) ? dir : "");
	if (text && apps_mean((struct slice){ text, n }, &program, &file) && file.n < MEANT_PATH) {
		meant = true;
		memcpy(rules, file.p ? file.p : (const uint8_t *)"", file.n);
		rules[file.n] = '\0';
	}
	mem_free(text);
	return meant;
}

bool meant_here(const struct launch *launch, char rules[MEANT_PATH])
{
	const char *apps = meant_said("SONDE_APPS");
	int saved = errno;
	bool meant;

	rules[0] = '\0';
	if (!apps || !*apps)
		return true;
	meant = decide(apps, launch, rules);
	errno = saved;
	return meant;
}

bool meant_agent(const char *command, const char *class_path, char rules[MEANT_PATH])
{
	struct launch launch;

	rules[0] = '\0';
	if (!launch_text_has_agent(getenv("JAVA_TOOL_OPTIONS")) &&
	    !launch_text_has_agent(getenv("JDK_JAVA_OPTIONS")) &&
	    !launch_text_has_agent(getenv("_JAVA_OPTIONS")))
		return true;
	launch_of_properties(command, class_path, &launch);
	return meant_here(&launch, rules);
}
