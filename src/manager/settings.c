/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - reads flags and the file of --config, which has a flag without its dashes on each line.
 *
 * The file is read where its flag stands, so flags behind it overrule it. */
#include "manager/settings_priv.h"

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
#include "manager/net/dial.h"
#include "manager/net/post.h"

enum { USAGE = SETTINGS_USAGE, CANNOT = 3, LINE = 4096 };

static const struct option options[] = {
#define S(id, name, argument, help) { name, required_argument, NULL, OPT_##id },
#define F(id, name, help) { name, no_argument, NULL, OPT_##id },
#include "manager/settings.def"
#undef S
#undef F
	{ 0 },
};

static const struct {
	const char *name, *argument, *help;
} texts[] = {
#define S(id, name, argument, help) { name, argument, help },
#define F(id, name, help) { name, NULL, help },
#include "manager/settings.def"
#undef S
#undef F
};

static void print_option(const char *name, const char *argument, const char *help)
{
	char left[48];

	snprintf(left, sizeof(left), "--%s%s%s", name, argument ? " " : "",
		 argument ? argument : "");
	printf("  %-22s ", left);
	for (; *help; help++) {
		putchar(*help);
		if (*help == '\n')
			printf("%25s", "");
	}
	putchar('\n');
}

static int print_help(void)
{
	fputs("usage: sonded [OPTION]...\n"
	      "\n"
	      "The manager: finds the JVMs of this machine that have Sonde's agent, collects their figures and\n"
	      "transactions, keeps plans of what is to be hooked, and serves pages and an API.  With --relay: finds\n"
	      "them for a manager on another machine.\n"
	      "\n",
	      stdout);
	for (size_t i = 0; i < COUNT(texts); i++)
		print_option(texts[i].name, texts[i].argument, texts[i].help);
	fputs("\n"
	      "Exit status: 0 ended by SIGTERM or SIGINT, 2 wrong usage, 3 could not.\n",
	      stdout);
	return 0;
}

int settings_wrong(const char *what, const char *value)
{
	fprintf(stderr, "sonded: %s, not '%s'; see sonded --help\n", what, value);
	return USAGE;
}

int settings_text(char *to, size_t room, const char *value)
{
	if (strlen(value) >= room)
		return settings_wrong("a value is too long", value);
	strcpy(to, value);
	return SETTINGS_GO;
}

int settings_number(double low, double high, const char *name, const char *value, double *out)
{
	char *end, what[120];

	*out = strtod(value, &end);
	if (end != value && !*end && *out >= low && *out <= high)
		return SETTINGS_GO;
	snprintf(what, sizeof(what), "--%s wants a number from %g to %g", name, low, high);
	return settings_wrong(what, value);
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
		return settings_wrong(what, value);
	n = (size_t)(colon - value) - (bracket ? 2 : 0);
	port = strtol(colon + 1, &end, 10);
	if (n >= sizeof(c->address) || end == colon + 1 || *end || port < 0 || port > 65535)
		return settings_wrong(what, value);
	memcpy(c->address, value + (bracket ? 1 : 0), n);
	c->address[n] = '\0';
	if (inet_pton(bracket ? AF_INET6 : AF_INET, c->address, raw) != 1)
		return settings_wrong(what, value);
	c->port = (uint16_t)port;
	c->is_loopback = is_loopback(c->address);
	return SETTINGS_GO;
}

/* The first line of a file that is its owner's alone. */
static int set_token(char *to, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[SETTINGS_TOKEN + 2] = "";
	struct stat st;

	to[0] = '\0';
	if (!f || fstat(fileno(f), &st) < 0 || !fgets(line, sizeof(line), f)) {
		fprintf(stderr, "sonded: %s: there is no token in it: %s\n", path, strerror(errno));
		if (f)
			fclose(f);
		return CANNOT;
	}
	fclose(f);
	line[strcspn(line, "\r\n")] = '\0';
	if (strlen(line) >= SETTINGS_TOKEN) {
		fprintf(stderr, "sonded: %s: a token has at most %d characters\n", path,
			SETTINGS_TOKEN - 1);
		return CANNOT;
	}
	strcpy(to, line);
	if (st.st_mode & 077) {
		fprintf(stderr, "sonded: %s: others may read the token; chmod 600 it\n", path);
		return CANNOT;
	}
	if (strlen(to) >= 16)
		return SETTINGS_GO;
	fprintf(stderr, "sonded: %s: a token has at least 16 characters\n", path);
	return CANNOT;
}

static int set_relay(struct settings *c, int id, const char *value)
{
	switch (id) {
	case OPT_RELAY:
		if (!post_is_url(value))
			return settings_wrong("--relay wants an http or https URL", value);
		return settings_text(c->relay, sizeof(c->relay), value);
	case OPT_CA:
		return settings_text(c->ca, sizeof(c->ca), value);
	case OPT_NAME:
		return settings_text(c->name, sizeof(c->name), value);
	case OPT_RELAY_TOKEN:
		return set_token(c->relay_token, value);
	default:
		return settings_alerts(c, id, value);
	}
}

/* Its host and bucket become parts of subjects. */
static int set_bus(struct settings *c, const char *value)
{
	const char *rest = strstr(value, "://"), *bucket = rest ? strchr(rest + 3, '/') : NULL;
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	if ((strncmp(value, "nats://", 7) != 0 && strncmp(value, "tls://", 6) != 0) || !rest[3] ||
	    rest[3] == '/' ||
	    (bucket && (bucket[1 + strspn(bucket + 1, plain)] || strlen(bucket) > 60)))
		return settings_wrong("--bus wants nats://HOST:PORT[,...][/BUCKET] or tls://...",
				      value);
	return settings_text(c->bus, sizeof(c->bus), value);
}

static int read_file(struct settings *c, const char *path);

static int set_more(struct settings *c, int id, const char *value)
{
	double n;
	int rc;

	switch (id) {
	case OPT_INTERVAL:
		rc = settings_number(0.1, 3600, "interval", value, &n);
		c->interval_ms = rc == SETTINGS_GO ? (unsigned)(n * 1000) : 0;
		return rc;
	case OPT_DAYS:
		rc = settings_number(1, 10000, "keep-days", value, &n);
		c->keep_days = rc == SETTINGS_GO ? (unsigned)n : 0;
		return rc;
	case OPT_SIZE:
		rc = settings_number(1, 1e9, "keep-size", value, &n);
		c->keep_bytes = rc == SETTINGS_GO ? (uint64_t)n << 20 : 0;
		return rc;
	case OPT_LOG:
		return log_level_of(value, &c->level)
			       ? SETTINGS_GO
			       : settings_wrong("--log wants error, warn, info or debug", value);
	case OPT_HOST:
		if (c->n_names == SETTINGS_NAMES)
			return settings_wrong("--host was given too often", value);
		return settings_text(c->names[c->n_names++], sizeof(c->names[0]), value);
	case OPT_ONLY:
		if (c->n_apps == SETTINGS_NAMES)
			return settings_wrong("--only was given too often", value);
		return settings_text(c->apps[c->n_apps++], sizeof(c->apps[0]), value);
	case OPT_RELAYS_ONLY:
		c->relays_only = true;
		return SETTINGS_GO;
	default:
		return set_relay(c, id, value);
	}
}

static int set_one(struct settings *c, int id, const char *value)
{
	switch (id) {
	case OPT_LISTEN:
		return set_listen(c, value);
	case OPT_STORE:
		return settings_text(c->store, sizeof(c->store), value);
	case OPT_SPOOL:
		return settings_text(c->spool, sizeof(c->spool), value);
	case OPT_BUS:
		return set_bus(c, value);
	case OPT_TOKEN:
		return set_token(c->operate, value);
	case OPT_VIEW:
		return set_token(c->view, value);
	case OPT_CERT:
		return settings_text(c->cert, sizeof(c->cert), value);
	case OPT_KEY:
		return settings_text(c->key, sizeof(c->key), value);
	case OPT_PLAIN:
		c->plain = true;
		return SETTINGS_GO;
	case OPT_SONDE:
		return settings_text(c->sonde, sizeof(c->sonde), value);
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

static void set_usual_store(char to[PATH_MAX], const char *below)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (geteuid() == 0)
		snprintf(to, PATH_MAX, "/var/lib/sonde%s", below);
	else if (state && state[0] == '/')
		snprintf(to, PATH_MAX, "%s/sonde/manager%s", state, below);
	else
		snprintf(to, PATH_MAX, "%s/.local/state/sonde/manager%s", home ? home : "", below);
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

static int check_relay(const struct settings *c)
{
	if (!c->operate[0]) {
		fputs("sonded: --relay needs --token-file, with the token of the manager's --relay-token-file\n",
		      stderr);
		return USAGE;
	}
	if (!dial_is_tls(c->relay) && !dial_is_loopback(c->relay) && !c->plain) {
		fprintf(stderr,
			"sonded: %s is another machine, and without TLS everybody between can read the token; "
			"use https://, or --plain\n",
			c->relay);
		return USAGE;
	}
	return SETTINGS_GO;
}

/* What does not go together. */
static int check(const struct settings *c)
{
	if (c->relay[0])
		return check_relay(c);
	if (c->bus[0] && strncmp(c->store, "clickhouse://", 13) != 0) {
		fputs("sonded: --bus is for managers that share a store: it needs --store clickhouse://...\n",
		      stderr);
		return USAGE;
	}
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
				.level = LOG_INFO,
				.watch = WATCH_DIG,
				.watch_window_ms = 60000,
				.watch_learn_ms = 3600000,
				.watch_factor = 2,
				.otlp_interval_ms = 60000,
				.sendmail = "/usr/sbin/sendmail" };
	set_usual_sonde(c);
	gethostname(c->name, sizeof(c->name) - 1);
	while (rc == SETTINGS_GO && (id = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (id == OPT_HELP || id == 'h')
			return print_help();
		if (id == OPT_VERSION)
			return puts("sonded " SONDE_VERSION), 0;
		rc = id == '?' ? USAGE : set_one(c, id, optarg);
	}
	if (rc == SETTINGS_GO && optind < argc)
		rc = settings_wrong("it takes options alone", argv[optind]);
	if (rc == SETTINGS_GO && !c->store[0])
		set_usual_store(c->store, "");
	if (rc == SETTINGS_GO && !c->spool[0])
		set_usual_store(c->spool, "/spool");
	return rc == SETTINGS_GO ? check(c) : rc;
}
