/* SPDX-License-Identifier: Apache-2.0 */
/* jdk.c - finds the JDKs of this machine.  A JDK is a directory with lib/modules; its version
 * stands in the file "release". */
#include "cli/attach/jdk.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/attach/jvms.h"
#include "cli/screen/trusted.h"
#include "jvm/proc.h"

/* JAVA_VERSION="17.0.15" -> 17; 0 when there is none. */
static unsigned version_of(const char *home)
{
	static const char key[] = "JAVA_VERSION=\"";
	char path[PATH_MAX + 16], line[512];
	unsigned version = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/release", home);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!version && fgets(line, sizeof(line), file))
		if (strncmp(line, key, sizeof(key) - 1) == 0)
			version = (unsigned)strtoul(line + sizeof(key) - 1, NULL, 10);
	fclose(file);
	return version;
}

bool jdk_at(const char *home, struct jdk *out)
{
	char path[PATH_MAX + 16];

	if (strlen(home) >= sizeof(out->home))
		return false;
	snprintf(path, sizeof(path), "%s/lib/modules", home);
	if (access(path, R_OK) != 0)
		return false;
	snprintf(out->home, sizeof(out->home), "%s", home);
	out->version = version_of(home);
	return true;
}

/* PATH's java is a link into a JDK's bin. */
static bool jdk_of_path(struct jdk *out)
{
	const char *path = getenv("PATH");
	char java[PATH_MAX], real[PATH_MAX];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(java, sizeof(java), "%.*s/java", (int)n, path);
		if (access(java, X_OK) == 0 && realpath(java, real)) {
			char *slash;

			for (int up = 0; up < 2 && (slash = strrchr(real, '/')); up++)
				*slash = '\0';
			return jdk_at(real, out);
		}
		path += n + (path[n] == ':');
	}
	return false;
}

/* version 0: the newest. */
static bool jdk_installed(unsigned version, struct jdk *out)
{
	glob_t found;
	bool any = false;
	struct jdk one;

	if (glob("/usr/lib/jvm/*", 0, NULL, &found) != 0)
		found.gl_pathc = 0;
	else
		(void)glob("/opt/*jdk*", GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (!jdk_at(found.gl_pathv[i], &one))
			continue;
		if (version ? one.version == version && !any : !any || one.version > out->version) {
			*out = one;
			any = true;
		}
	}
	if (found.gl_pathc)
		globfree(&found);
	return any;
}

int jdk_find(unsigned version, struct jdk *out, struct fault *f)
{
	const char *home = getenv("JAVA_HOME");

	if (home && *home && jdk_at(home, out) && (!version || out->version == version))
		return 0;
	if (jdk_of_path(out) && (!version || out->version == version))
		return 0;
	if (jdk_installed(version, out))
		return 0;
	if (version)
		return fault_set(f, E_NOT_FOUND, -1,
				 "no JDK %u in JAVA_HOME, PATH, /usr/lib/jvm or /opt", version);
	return fault_set(f, E_NOT_FOUND, -1, "no JDK in JAVA_HOME, PATH, /usr/lib/jvm or /opt");
}

int jdk_of_process(pid_t pid, char home[PATH_MAX], struct fault *f)
{
	char real[PATH_MAX], java[PATH_MAX + 16];
	struct arena mem;
	struct jvm jvm;
	int rc;

	arena_init(&mem);
	if (jvm_read(pid, &mem, &jvm) < 0 || !jvm.java_home)
		rc = fault_set(f, E_NOT_FOUND, -1, "where the JDK of %d is could not be found",
			       (int)pid);
	else if (!proc_same_root(pid))
		rc = fault_set(f, E_IO, -1,
			       "%d runs in a container, and its JDK is no file of this system",
			       (int)pid);
	else
		rc = trusted_tree(jvm.java_home, real, f);
	arena_release(&mem);
	if (rc < 0)
		return rc;
	snprintf(java, sizeof(java), "%s/bin/java", real);
	if (access(java, X_OK) != 0)
		return fault_set(f, E_NOT_FOUND, -1, "%.150s: no java there", real);
	snprintf(home, PATH_MAX, "%s", real);
	return 0;
}
