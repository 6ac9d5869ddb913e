/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h - how the manager was started: flags, and a file with the same names. */
#ifndef MANAGER_SETTINGS_H
#define MANAGER_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "manager/log.h"

enum { SETTINGS_NAMES = 8, SETTINGS_TOKEN = 128, SETTINGS_URL = 1024, SETTINGS_HEADERS = 4 };

enum watch_what { WATCH_OFF, WATCH_ALERT, WATCH_DIG };

struct settings {
	char address[64]; /* of --listen */
	uint16_t port;
	bool is_loopback;
	bool plain;		/* --plain: no TLS though it is not loopback */
	char store[PATH_MAX];	/* a directory, or clickhouse://... */
	char spool[PATH_MAX];	/* what waits for it */
	char bus[SETTINGS_URL]; /* "": this manager is alone */
	char cert[PATH_MAX], key[PATH_MAX];
	char operate[SETTINGS_TOKEN], view[SETTINGS_TOKEN]; /* tokens; "": none */
	char relay_token[SETTINGS_TOKEN];		    /* of relays; "": there may be none */
	bool relays_only;
	char relay[SETTINGS_URL];	 /* "": we are a manager; else a relay of the one there */
	char ca[PATH_MAX], name[64];	 /* of a relay, and of the bus */
	char names[SETTINGS_NAMES][256]; /* other names of this host */
	unsigned n_names;
	char apps[SETTINGS_NAMES][256]; /* --only these applications; none: all */
	unsigned n_apps;
	unsigned interval_ms; /* between two looks at an agent */
	unsigned keep_days;
	uint64_t keep_bytes;
	char sonde[PATH_MAX]; /* the command line, for digs */
	enum log_level level;
	enum watch_what watch; /* itself, and dig when something breaks */
	uint64_t watch_window_ms, watch_learn_ms;
	double watch_factor;			       /* that many times the usual is too much */
	double watch_budget;			       /* of its digs; 0: as usual */
	char alert_urls[SETTINGS_NAMES][SETTINGS_URL]; /* of web hooks */
	unsigned n_alert_urls;
	char alert_mails[SETTINGS_NAMES][256]; /* addresses */
	unsigned n_alert_mails;
	char sendmail[PATH_MAX];
	char otlp_url[SETTINGS_URL]; /* "": nothing is pushed */
	char otlp_headers[SETTINGS_HEADERS][SETTINGS_URL];
	unsigned n_otlp_headers;
	uint64_t otlp_interval_ms; /* of figures */
};

/* How the program goes on: SETTINGS_GO, or the exit status after help or a message. */
enum { SETTINGS_GO = -1 };
int settings_read(struct settings *c, int argc, char **argv);

#endif
