/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - how the manager was started: flags, and a file with the same names. */
#ifndef MANAGER_SETTINGS_H
#define MANAGER_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "manager/log.h"

enum { SETTINGS_NAMES = 8, SETTINGS_TOKEN = 128 };

struct settings {
	char address[64]; /* of --listen */
	uint16_t port;
	bool is_loopback;
	bool plain; /* --plain: no TLS though it is not loopback */
	char store[PATH_MAX];
	char cert[PATH_MAX], key[PATH_MAX];
	char operate[SETTINGS_TOKEN], view[SETTINGS_TOKEN]; /* tokens; "": none */
	char names[SETTINGS_NAMES][256];		    /* other names of this host */
	unsigned n_names;
	char apps[SETTINGS_NAMES][256]; /* --only these applications; none: all */
	unsigned n_apps;
	unsigned interval_ms; /* between two looks at an agent */
	unsigned keep_days;
	uint64_t keep_bytes;
	char sonde[PATH_MAX]; /* the command line, for digs */
	enum log_level level;
};

/* How the program goes on: SETTINGS_GO, or the exit status after help or a message. */
enum { SETTINGS_GO = -1 };
int settings_read(struct settings *c, int argc, char **argv);

#endif
