/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - libsonde-native.so comes into a process, and the process ends.
 *
 * By LD_PRELOAD before main(), with SONDE_NATIVE_RULES and SONDE_NATIVE_REPORT naming files; those of
 * the environment go again, so that programs which this one starts are not observed unasked.  Or into
 * one that runs, by dlopen: then nothing happens before it is called (come_go.c). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "native/load/come_go.h"
#include "native/serve.h"

static bool is_ours(const char *path, size_t n)
{
	static const char name[] = "libsonde-native.so";
	const size_t name_n = sizeof(name) - 1;

	return n >= name_n && memcmp(path + n - name_n, name, name_n) == 0;
}

static bool is_preloaded(void)
{
	const char *all = getenv("LD_PRELOAD");

	while (all && *all) {
		size_t one = strcspn(all, ": ");

		if (is_ours(all, one))
			return true;
		all += one + (all[one] != '\0');
	}
	return false;
}

/* Takes this library out of LD_PRELOAD; the others there are the program's. */
static void leave_preload(void)
{
	const char *all = getenv("LD_PRELOAD");
	char *kept = all ? mem_alloc(strlen(all) + 1) : NULL;
	size_t n = 0;

	while (kept && *all) {
		size_t one = strcspn(all, ": ");

		if (one && !is_ours(all, one)) {
			if (n)
				kept[n++] = ':';
			memcpy(kept + n, all, one);
			n += one;
		}
		all += one + (all[one] != '\0');
	}
	if (n) {
		kept[n] = '\0';
		(void)setenv("LD_PRELOAD", kept, 1);
	} else {
		unsetenv("LD_PRELOAD");
	}
	mem_free(kept);
}

__attribute__((constructor)) static void load(void)
{
	const char *rules = secure_getenv("SONDE_NATIVE_RULES");
	const char *report = secure_getenv("SONDE_NATIVE_REPORT");

	if (!is_preloaded()) {
		come_go_opened();
		return;
	}
	(void)serve_start(rules, report);
	unsetenv("SONDE_NATIVE_RULES");
	unsetenv("SONDE_NATIVE_REPORT");
	leave_preload();
}

__attribute__((destructor)) static void end(void)
{
	serve_end();
}
