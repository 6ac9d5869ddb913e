/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - puts the agent into java programs as they start, and into nothing else.
 *
 * Every java launcher (java, javac, jshell ...) consists of a main() that expands argument files
 * and JDK_JAVA_OPTIONS, and then calls JLI_Launch() in libjli.so.  This library is loaded before
 * libjli.so, so its function of that name is called instead.  It looks at the arguments, and calls
 * the real one; if this application is meant, with "-agentpath:libsonde.so=..." before them.  So
 * there is no second exec, ps shows the command as it was typed, and in processes that are not java
 * not one instruction of this library is run: it has no constructor, and is kept small and flat
 * (the Makefile has the flags) because it is mapped there all the same.
 *
 * Nothing here may print or fail.  Every doubt means: start the program as if we were not there.
 *
 * Symbols of libc are bound in their oldest versions, and those that older systems have in
 * libdl.so.2 are weak: a program that has not loaded libdl must start, too.  libjli.so calls
 * dlsym() itself, so where JLI_Launch() is called, it is there. */
#include "start/start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "glibc_arch.h"
#include "jvm/launch.h"
#include "start/meant.h"

#pragma weak dlsym
#pragma weak dlopen
#pragma weak dladdr
__asm__(".symver dlsym, dlsym@" GLIBC_OLDEST);
__asm__(".symver dlopen, dlopen@" GLIBC_OLDEST);
__asm__(".symver dladdr, dladdr@" GLIBC_OLDEST);

enum { JAVA_OLDEST = 17, OPTIONS_MAX = 64 << 10, OPTION_CAP = OPTIONS_MAX + 4 * PATH_MAX };

static const char here[] = "an address in this library";

/* By the system call: glibc's stat functions have new versions since 2.33. */
static bool stat_of(const char *path, struct stat *st)
{
	return syscall(SYS_newfstatat, AT_FDCWD, path, st, 0) == 0;
}

/* Joins the texts into out; false when they do not fit. */
static bool join(char *out, size_t cap, const char *const *texts, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(texts[i]);

		if (len >= cap - at)
			return false;
		memcpy(out + at, texts[i], len + 1);
		at += len;
	}
	return true;
}

/* "/usr/lib/jvm/x/bin/java" has a JVM that knows agents when there is /usr/lib/jvm/x/lib/server;
 * lib/minimal/libjvm.so would refuse to start. */
static bool has_server_jvm(void)
{
	/* The first must be there.  The others are OpenJ9's, which has that, too. */
	static const char tails[][32] = { "/lib/server/libjvm.so", "/lib/default/libj9vm29.so",
					  "/lib/compressedrefs", "/lib/j9vm" };
	char path[PATH_MAX + sizeof(tails[0])];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	int parts = 2;

	while (n > 0 && parts > 0)
		parts -= path[--n] == '/';
	for (size_t i = 0; n > 0 && i < sizeof(tails) / sizeof(tails[0]); i++) {
		memcpy(path + n, tails[i], sizeof(tails[i]));
		if ((access(path, F_OK) == 0) != (i == 0))
			return false;
	}
	return n > 0;
}

/* Belongs to root, to us, or to whom this library belongs, and others may not write to it. */
static bool is_safe(const char *path, const char *start)
{
	struct stat st, self;

	return stat_of(path, &st) && S_ISREG(st.st_mode) && !(st.st_mode & S_IWOTH) &&
	       (st.st_uid == 0 || st.st_uid == geteuid() ||
		(stat_of(start, &self) && st.st_uid == self.st_uid));
}

/* The agent's library: of SONDE_LIB, or beside this one.  It is loaded here, since a JVM that
 * cannot load its agent does not start; the JVM finds it loaded. */
static bool find_library(char path[PATH_MAX])
{
	const char *named = meant_said("SONDE_LIB");
	static const char name[] = "/libsonde.so";
	const char *from;
	size_t n;
	void *library;
	Dl_info info;

	if (!dladdr || !dladdr(here, &info) || !info.dli_fname)
		return false;
	from = named && *named ? named : info.dli_fname;
	n = strlen(from);
	if (n + sizeof(name) > PATH_MAX)
		return false;
	memcpy(path, from, n + 1);
	if (from != named) {
		while (n && path[n - 1] != '/')
			n--;
		memcpy(path + (n ? n - 1 : 0), name, sizeof(name));
	}
	/* The JVM takes the first '=' for the end of the path. */
	if (path[0] != '/' || strchr(path, '=') || !is_safe(path, info.dli_fname))
		return false;
	library = dlopen ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	return library && dlsym(library, "Agent_OnLoad");
}

/* "-agentpath:/usr/lib/sonde/libsonde.so=rules=/etc/sonde/shop.rules" */
static char *make_option(bool tool, const char *library, const char *rules)
{
	const char *options = meant_said("SONDE_AGENT");
	bool some = options && *options;
	char encoded[3 * MEANT_PATH + 4] = "";
	char *option;

	if (*rules && !launch_encode(rules, encoded, sizeof(encoded)))
		return NULL;
	option = mem_alloc(OPTION_CAP);
	if (!option || !join(option, OPTION_CAP,
			     (const char *const[]){ tool ? "-J-agentpath:" : "-agentpath:", library,
						    some || *rules ? "=" : "", some ? options : "",
						    some && *rules ? "," : "",
						    *rules ? "rules=" : "", encoded },
			     7)) {
		mem_free(option);
		return NULL;
	}
	return option;
}

static bool environment_allows(void)
{
	const char *agent = meant_said("SONDE_AGENT"), *apps = meant_said("SONDE_APPS");
	const char *tool = getenv("JAVA_TOOL_OPTIONS"), *last = getenv("_JAVA_OPTIONS");

	return (agent || apps) && !getenv("JDK_ALTERNATE_VM") && !launch_text_has_agent(tool) &&
	       !launch_text_has_agent(last) && !launch_text_hands_off(tool) &&
	       !launch_text_hands_off(last);
}

/* The arguments with the agent among them.  NULL: this one is not meant, or there is a doubt. */
static char **with_agent(const struct launch_line *line, const char *version)
{
	char library[PATH_MAX], rules[MEANT_PATH];
	size_t n = line->argc > 0 ? (size_t)line->argc : 0;
	struct launch launch;
	char **argv, *option;

	if (!n || !environment_allows() || !version || atoi(version) < JAVA_OLDEST)
		return NULL;
	launch_read(line, &launch);
	if (launch.kind == LAUNCH_NOTHING || launch.hands_off || launch.has_agent)
		return NULL;
	if (!meant_here(&launch, rules) || !has_server_jvm() || !find_library(library))
		return NULL;
	option = make_option(line->tool_argc > 0, library, rules);
	argv = option ? mem_alloc((n + 2) * sizeof(*argv)) : NULL;
	if (!argv) {
		mem_free(option);
		return NULL;
	}
	argv[0] = line->argv[0];
	argv[1] = option;
	memcpy(argv + 2, line->argv + 1, n * sizeof(*argv)); /* and the NULL at the end */
	argv[n + 1] = NULL;
	return argv;
}

typedef int launch_function(int argc, char **argv, int tool_argc, const char **tool_argv,
			    int class_argc, const char **class_argv, const char *version,
			    const char *dot_version, const char *program, const char *launcher,
			    unsigned char tool, unsigned char wildcards, unsigned char windowed,
			    int ergonomics);

__attribute__((visibility("default"))) int JLI_Launch(int argc, char **argv, int tool_argc,
						      const char **tool_argv, int class_argc,
						      const char **class_argv, const char *version,
						      const char *dot_version, const char *program,
						      const char *launcher, unsigned char tool,
						      unsigned char wildcards,
						      unsigned char windowed, int ergonomics)
{
	launch_function *real = dlsym ? (launch_function *)dlsym(RTLD_NEXT, "JLI_Launch") : NULL;
	struct launch_line line = { argc, argv, tool ? tool_argc : 0, tool_argv };
	char **changed;

	if (!real)
		return 1; /* somebody else's caller, and no libjli.so: there is nothing to start */
	changed = with_agent(&line, version);
	if (changed) {
		argc++;
		argv = changed;
	}
	return real(argc, argv, tool_argc, tool_argv, class_argc, class_argv, version, dot_version,
		    program, launcher, tool, wildcards, windowed, ergonomics);
}
