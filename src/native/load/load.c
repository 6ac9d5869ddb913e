/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - libsonde-native.so comes into a process, and the process ends.
 *
 * By LD_PRELOAD before main(), with SONDE_NATIVE_RULES and SONDE_NATIVE_REPORT naming files; those of
 * the environment go again, so that programs which this one starts are not observed unasked. */
#include <stdlib.h>
#include <string.h>

#include "native/serve.h"

__attribute__((constructor)) static void load(void)
{
	const char *rules = secure_getenv("SONDE_NATIVE_RULES");
	const char *report = secure_getenv("SONDE_NATIVE_REPORT");

	(void)serve_start(rules, report);
	unsetenv("SONDE_NATIVE_RULES");
	unsetenv("SONDE_NATIVE_REPORT");
	unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
	serve_end();
}
