/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - reads flags and the file of --config, which has a flag without its dashes on each line.
 *
 * The file is read where its flag stands, so flags behind it overrule it. */
#include "manager/settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/slice.h"
#include "base/version.h"

enum { USAGE = 2, CANNOT = 3, LINE = 4096 };

static const char help[] =
	"usage: sonded [OPTION]...\n"
	"\n"
	"The manager: finds the JVMs of this machine that have Sonde's agent, collects their figures and\n"
	"transactions, keeps plans of what is to be hooked, and serves pages and an API.\n"
	"\n"
	"  --listen ADDRESS:PORT  where it listens; 127.0.0.1:7117 (port 0: any, which is printed)\n"
	"  --store DIRECTORY      where it keeps its data; /var/lib/sonde for root, else\n"
	"                         ${XDG_STATE_HOME:-~/.local/state}/sonde/manager\n"
	"  --token-file FILE      whoever knows the token in it may operate; others over loopback\n"
	"                         must be the same user\n"
	"  --view-token-file FILE whoever knows this one may look\n"
	"  --tls-cert FILE        certificate, PEM; needed unless it listens on loopback\n"
	"  --tls-key FILE         its key\n"
	"  --plain                no TLS all the same (behind a proxy that has it); everybody needs a\n"
	"                         token then\n"
	"  --host NAME            another name by which browsers reach it; may be repeated\n"
	"  --only APPLICATION     work with this one alone; may be repeated\n"
	"  --interval SECONDS     between two looks at an agent; 2\n"
	"  --keep-days DAYS       how long data is kept; 30\n"
	"  --keep-size MIB        how much of it is kept; 4096\n"
	"  --sonde FILE           the command line to dig with; that beside sonded\n"
	"  --log LEVEL            error, warn, info or debug; info\n"
	"  --config FILE          more of these, one a line, without dashes\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 ended by SIGTERM or SIGINT, 2 wrong usage, 3 could not.\n";

enum option_id {
	OPT_LISTEN = 1,
	OPT_STORE,
	OPT_TOKEN,
	OPT_VIEW,
	OPT_CERT,
	OPT_KEY,
	OPT_PLAIN,
	OPT_HOST,
	OPT_ONLY,
	OPT_INTERVAL,
	OPT_DAYS,
	OPT_SIZE,
	OPT_SONDE,
	OPT_LOG,
	OPT_CONFIG,
	OPT_VERSION,
	OPT_HELP,
};

static const struct option options[] = {
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "token-file", required_argument, NULL, OPT_TOKEN },
	{ "view-token-file", required_argument, NULL, OPT_VIEW },
	{ "tls-cert", required_argument, NULL, OPT_CERT },
	{ "tls-key", required_argument, NULL, OPT_KEY },
	{ "plain", no_argument, NULL, OPT_PLAIN },
	{ "host", required_argument, NULL, OPT_HOST },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "keep-days", required_argument, NULL, OPT_DAYS },
	{ "keep-size", required_argument, NULL, OPT_SIZE },
	{ "sonde", required_argument, NULL, OPT_SONDE },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static int wrong(const char *what, const char *value)
{
	fprintf(stderr, "sonded: %s, not '%s'; see sonded --help\n", what, value);
	return USAGE;
}

static int set_text(char *to, size_t room, const char *value)
{
	if (strlen(value) >= room)
		return wrong("a value is too long", value);
	strcpy(to, value);
	return SETTINGS_GO;
}

static int set_number(double low, double high, const char *name, const char *value, double *out)
{
	char *end, what[120];

	*out = strtod(value, &end);
	if (end != value && !*end && *out >= low && *out <= high)
		return SETTINGS_GO;
	snprintf(what, sizeof(what), "--%s wants a number from %g to %g", name, low, high);
	return wrong(what, value);
}

static bool is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* "127.0.0.1:7117", "[::1]:7117" */
static int set_listen(struct settings *c, const char *value)
{
	static const char what[] = "--listen wants an address and a port, such as 127.0.0.1:7117";
	const char *colon = strrchr(value, ':');
	bool bracket = value[0] == '[';
	unsigned char raw[16];
	char *end;
	long port;
	size_t n;

	if (!colon || (bracket && colon[-1] != ']'))
		return wrong(what, value);
	n = (size_t)(colon - value) - (bracket ? 2 : 0);
	port = strtol(colon + 1, &end, 10);
	if (n >= sizeof(c->address) || end == colon + 1 || *end || port < 0 || port > 65535)
		return wrong(what, value);
	memcpy(c->address, value + (bracket ? 1 : 0), n);
	c->address[n] = '\0';
	if (inet_pton(bracket ? AF_INET6 : AF_INET, c->address, raw) != 1)
		return wrong(what, value);
	c->port = (uint16_t)port;
	c->is_loopback = is_loopback(c->address);
	return SETTINGS_GO;
}

/* The first line of a file that is its owner's alone. */
static int set_token(char *to, const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;

	to[0] = '\0';
	if (!f || fstat(fileno(f), &st) < 0 || !fgets(to, SETTINGS_TOKEN, f)) {
		fprintf(stderr, "sonded: %s: there is no token in it: %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		return CANNOT;
	}
	fclose(f);
	to[strcspn(to, "\r\n")] = '\0';
	if (st.st_mode & 077) {
		fprintf(stderr, "sonded: %s: others may read the token; chmod 600 it\n", path);
		return CANNOT;
	}
	if (strlen(to) >= 16)
		return SETTINGS_GO;
	fprintf(stderr, "sonded: %s: a token has at least 16 characters\n", path);
	return CANNOT;
}

static int read_file(struct settings *c, const char *path);

static int set_more(struct settings *c, int id, const char *value)
{
	double n;
	int rc;

	switch (id) {
	case OPT_INTERVAL:
		rc = set_number(0.1, 3600, "interval", value, &n);
		c->interval_ms = rc == SETTINGS_GO ? (unsigned)(n * 1000) : 0;
		return rc;
	case OPT_DAYS:
		rc = set_number(1, 10000, "keep-days", value, &n);
		c->keep_days = rc == SETTINGS_GO ? (unsigned)n : 0;
		return rc;
	case OPT_SIZE:
		rc = set_number(1, 1e9, "keep-size", value, &n);
		c->keep_bytes = rc == SETTINGS_GO ? (uint64_t)n << 20 : 0;
		return rc;
	case OPT_LOG:
		return log_level_of(value, &c->level)
			       ? SETTINGS_GO
			       : wrong("--log wants error, warn, info or debug", value);
	case OPT_HOST:
		if (c->n_names == SETTINGS_NAMES)
			return wrong("--host was given too often", value);
		return set_text(c->names[c->n_names++], sizeof(c->names[0]), value);
	case OPT_ONLY:
		if (c->n_apps == SETTINGS_NAMES)
			return wrong("--only was given too often", value);
		return set_text(c->apps[c->n_apps++], sizeof(c->apps[0]), value);
	default:
		return USAGE;
	}
}

static int set_one(struct settings *c, int id, const char *value)
{
	switch (id) {
	case OPT_LISTEN:
		return set_listen(c, value);
	case OPT_STORE:
		return set_text(c->store, sizeof(c->store), value);
	case OPT_TOKEN:
		return set_token(c->operate, value);
	case OPT_VIEW:
		return set_token(c->view, value);
	case OPT_CERT:
		return set_text(c->cert, sizeof(c->cert), value);
	case OPT_KEY:
		return set_text(c->key, sizeof(c->key), value);
	case OPT_PLAIN:
		c->plain = true;
		return SETTINGS_GO;
	case OPT_SONDE:
		return set_text(c->sonde, sizeof(c->sonde), value);
	case OPT_CONFIG:
		return read_file(c, value);
	default:
		return set_more(c, id, value);
	}
}

/* "name value" or "name = value"; '#' begins a comment. */
static int read_line(struct settings *c, const char *path, unsigned number, char *line)
{
	char *name = line + strspn(line, " \t"), *value = name + strcspn(name, " \t=\r\n");
	char *end = value + strlen(value);

	if (!*name || *name == '#' || *name == '\n')
		return SETTINGS_GO;
	while (end > value && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t=");
	for (const struct option *o = options; o->name; o++) {
		bool wants = o->has_arg == required_argument;

		if (strcmp(name, o->name) == 0 && o->val < OPT_CONFIG && wants == (*value != 0))
			return set_one(c, o->val, value);
	}
	fprintf(stderr, "sonded: %s:%u: '%s' is no setting, or its value is wrong\n", path, number,
		name);
	return USAGE;
}

static int read_file(struct settings *c, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[LINE];
	int rc = SETTINGS_GO;

	if (!f) {
		fprintf(stderr, "sonded: %s: %s\n", path, strerror(errno));
		return CANNOT;
	}
	for (unsigned n = 1; rc == SETTINGS_GO && fgets(line, sizeof(line), f); n++)
		rc = read_line(c, path, n, line);
	fclose(f);
	return rc;
}

static void set_usual_store(struct settings *c)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		strcpy(c->store, "/var/lib/sonde");
	else if (state && state[0] == '/')
		snprintf(c->store, sizeof(c->store), "%s/sonde/manager", state);
	else
		snprintf(c->store, sizeof(c->store), "%s/.local/state/sonde/manager",
			 home ? home : "");
}

static void set_usual_sonde(struct settings *c)
{
	ssize_t n = readlink("/proc/self/exe", c->sonde, sizeof(c->sonde) - 1);
	char *slash;

	c->sonde[n > 0 ? n : 0] = '\0';
	slash = strrchr(c->sonde, '/');
	if (slash && (size_t)(slash - c->sonde) + 7 < sizeof(c->sonde))
		strcpy(slash + 1, "sonde");
}

/* What does not go together. */
static int check(const struct settings *c)
{
	if (!c->is_loopback && !c->operate[0]) {
		fprintf(stderr, "sonded: %s can be reached from elsewhere: it needs --token-file\n",
			c->address);
		return USAGE;
	}
	if (c->plain && !c->operate[0]) {
		fputs("sonded: with --plain nobody is known by their user: it needs --token-file\n",
		      stderr);
		return USAGE;
	}
	if (!c->cert[0] != !c->key[0]) {
		fputs("sonded: --tls-cert and --tls-key go together\n", stderr);
		return USAGE;
	}
	if (!c->is_loopback && !c->cert[0] && !c->plain) {
		fprintf(stderr,
			"sonded: %s can be reached from elsewhere: it needs --tls-cert and --tls-key, "
			"or --plain behind a proxy\n",
			c->address);
		return USAGE;
	}
	return SETTINGS_GO;
}

int settings_read(struct settings *c, int argc, char **argv)
{
	int id, rc = SETTINGS_GO;

	*c = (struct settings){ .address = "127.0.0.1",
				.port = 7117,
				.is_loopback = true,
				.interval_ms = 2000,
				.keep_days = 30,
				.keep_bytes = 4ull << 30,
				.level = LOG_INFO };
	set_usual_sonde(c);
	while (rc == SETTINGS_GO && (id = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (id == OPT_HELP || id == 'h')
			return fputs(help, stdout), 0;
		if (id == OPT_VERSION)
			return puts("sonded " SONDE_VERSION), 0;
		rc = id == '?' ? USAGE : set_one(c, id, optarg);
	}
	if (rc == SETTINGS_GO && optind < argc)
		rc = wrong("it takes options alone", argv[optind]);
	if (rc == SETTINGS_GO && !c->store[0])
		set_usual_store(c);
	return rc == SETTINGS_GO ? check(c) : rc;
}
