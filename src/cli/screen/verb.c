/* SPDX-License-Identifier: Apache-2.0 */
/* verb.c - options are parsed with getopt_long(), which is given the table in its own form; what it
 * finds is put into the fields that the table names. */
#include "cli/screen/verb.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/screen/cli.h"
#include "cli/screen/config.h"
#include "cli/screen/figures.h"
#include "cli/screen/term.h"
#include "rule/text.h"

enum { OPTIONS_MAX = 40, LONG_BASE = 256, HELP_WIDTH = 100 };

/* ---- one option ---- */

struct slice verb_option_long(const struct verb_option *o)
{
	struct slice name = { (const uint8_t *)o->name, strcspn(o->name, "|") };

	return name.n > 1 ? name : (struct slice){ NULL, 0 };
}

char verb_option_letter(const struct verb_option *o)
{
	const char *bar = strchr(o->name, '|');

	return bar ? bar[1] : o->name[1] ? 0 : o->name[0];
}

bool verb_option_may_lack(const struct verb_option *o)
{
	return o->value && o->value[0] == '[';
}

struct slice verb_option_value(const struct verb_option *o)
{
	struct slice value = slice_str(o->value ? o->value : "");

	if (verb_option_may_lack(o))
		value = (struct slice){ value.p + 1, value.n - 2 };
	return value;
}

const struct verb_option *verb_option_named(const struct verb *v, struct slice name)
{
	for (size_t i = 0; i < v->n; i++) {
		char letter = verb_option_letter(&v->options[i]);

		if (name.n && (slice_eq(verb_option_long(&v->options[i]), name) ||
			       (name.n == 1 && letter && name.p[0] == (uint8_t)letter)))
			return &v->options[i];
	}
	return NULL;
}

static const char *dashes(const struct verb_option *o)
{
	return verb_option_long(o).n ? "--" : "-";
}

static struct slice shown_name(const struct verb_option *o)
{
	struct slice name = verb_option_long(o);

	return name.n ? name : (struct slice){ (const uint8_t *)o->name, 1 };
}

static int refuse(const char *name, const struct verb_option *o, const char *wants,
		  const char *value)
{
	return cli_usage(name, "%s%.*s wants %s, not '%s'", dashes(o), SLICE_FMT(shown_name(o)),
			 wants, value);
}

static int set_number(const char *name, const struct verb_option *o, const char *value,
		      uint64_t *to)
{
	char wants[80];

	if (cli_parse_number(value, o->low, o->high ? o->high : UINT64_MAX, to))
		return CLI_DONE;
	if (o->high && o->high < INT32_MAX)
		snprintf(wants, sizeof(wants), "a number from %llu to %llu",
			 (unsigned long long)o->low, (unsigned long long)o->high);
	else
		snprintf(wants, sizeof(wants), "a number%s", o->low ? " from 1 on" : "");
	return refuse(name, o, wants, value);
}

/* "30s", or "30" for as much. */
static bool parse_time(const char *value, uint64_t *ns)
{
	char *end;
	double seconds = strtod(value, &end);

	if (figure_parse_time(value, ns))
		return true;
	if (end == value || *end || !(seconds >= 0 && seconds < 1e9))
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static int set_time(const char *name, const struct verb_option *o, const char *value, uint64_t *to)
{
	char wants[96], low[FIGURE_MAX], high[FIGURE_MAX];
	uint64_t ns;

	if (parse_time(value, &ns) && ns >= o->low && (!o->high || ns <= o->high))
		return *to = ns, CLI_DONE;
	if (o->high)
		snprintf(wants, sizeof(wants), "a time from %s to %s",
			 figure_time(low, (double)o->low), figure_time(high, (double)o->high));
	else
		snprintf(wants, sizeof(wants), "a time such as 30s or 200ms");
	return refuse(name, o, wants, value);
}

int verb_set(const struct verb *v, const char *name, const struct verb_option *o, const char *value,
	     void *self)
{
	void *to = (char *)self + o->at;

	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)to = true;
		return CLI_DONE;
	case OPTION_TEXT:
		*(const char **)to = value;
		return *value ? CLI_DONE : refuse(name, o, o->value, value);
	case OPTION_NUMBER:
		return set_number(name, o, value, to);
	case OPTION_TIME:
		return set_time(name, o, value, to);
	case OPTION_SHARE:
		if (figure_parse_share(value, to))
			return CLI_DONE;
		return refuse(name, o, "percent, such as 1%", value);
	case OPTION_OWN:
		break;
	}
	return v->set(self, name, (int)o->at, value);
}

/* ---- the command line ---- */

struct forms { /* of the table, for getopt_long() */
	struct option longs[OPTIONS_MAX + 2];
	char names[OPTIONS_MAX][32];
	char shorts[3 * OPTIONS_MAX + 4];
};

static int argument_of(const struct verb_option *o)
{
	return !o->value ? no_argument : o->value[0] == '[' ? optional_argument : required_argument;
}

static void fill_forms(const struct verb *v, struct forms *f)
{
	char *s = f->shorts;
	size_t n = 0;

	if (v->first_only)
		*s++ = '+';
	*s++ = ':'; /* a value that is missing is told from a wrong option */
	*s++ = 'h';
	for (size_t i = 0; i < v->n && i < OPTIONS_MAX; i++) {
		const struct verb_option *o = &v->options[i];
		struct slice name = verb_option_long(o);
		char letter = verb_option_letter(o);

		if (name.n) {
			snprintf(f->names[n], sizeof(f->names[n]), "%.*s", SLICE_FMT(name));
			f->longs[n] = (struct option){ f->names[n], argument_of(o), NULL,
						       LONG_BASE + (int)i };
			n++;
		}
		if (letter) {
			*s++ = letter;
			for (int colons = argument_of(o); colons > 0; colons--)
				*s++ = ':';
		}
	}
	f->longs[n++] = (struct option){ "help", no_argument, NULL, 'h' };
	f->longs[n] = (struct option){ 0 };
	*s = '\0';
}

static const struct verb_option *found(const struct verb *v, int opt)
{
	char letter = (char)opt;

	if (opt >= LONG_BASE)
		return &v->options[opt - LONG_BASE];
	return verb_option_named(v, (struct slice){ (const uint8_t *)&letter, 1 });
}

/* argv[optind - 1] is none of ours, or wants no value, or is two of ours cut short. */
static int unknown(const struct verb *v, const char *name, const char *given)
{
	struct slice word = slice_str(given);
	struct text_guess guess;

	if (word.n > 2 && word.p[1] == '-')
		word = (struct slice){ word.p + 2, strcspn(given + 2, "=") };
	else
		return cli_usage(name, "no option '%s'", given);
	if (verb_option_named(v, word))
		return cli_usage(name, "--%.*s takes no value", SLICE_FMT(word));
	guess = text_guess(word);
	for (size_t i = 0; i < v->n; i++)
		if (verb_option_long(&v->options[i]).n)
			text_guess_try(&guess, verb_option_long(&v->options[i]));
	if (guess.best.p)
		return cli_usage(name, "no option '--%.*s'; did you mean '--%.*s'?",
				 SLICE_FMT(word), SLICE_FMT(guess.best));
	return cli_usage(name, "no option '--%.*s'", SLICE_FMT(word));
}

static int show_help(const struct verb *v, const char *name)
{
	unsigned width = term_columns();
	struct buf out = { 0 };
	bool good;

	verb_help(v, name, width && width < HELP_WIDTH ? width : HELP_WIDTH, &out);
	good = cli_print(&out);
	buf_release(&out);
	return good ? CLI_DONE : CLI_CANNOT;
}

static int parse_one(const struct verb *v, char **argv, int opt, void *self)
{
	const struct verb_option *o;

	if (opt == '?' && optopt >= LONG_BASE) /* --json=yes */
		return cli_usage(argv[0], "--%.*s takes no value",
				 SLICE_FMT(shown_name(found(v, optopt))));
	if (opt == '?' && optopt && optopt != 'h')
		return cli_usage(argv[0], "no option '-%c'", optopt);
	if (opt == '?')
		return unknown(v, argv[0], argv[optind - 1]);
	o = found(v, opt == ':' ? optopt : opt);
	if (opt == ':')
		return cli_usage(argv[0], "%s%.*s wants a value: %.*s", dashes(o),
				 SLICE_FMT(shown_name(o)), SLICE_FMT(verb_option_value(o)));
	return verb_set(v, argv[0], o, optarg, self);
}

/* ---- the config file ---- */

struct defaults {
	const struct verb *v;
	const char *name;
	void *self;
};

static int refuse_default(const struct config_entry *e)
{
	fprintf(stderr, "sonde: that stands in %s, line %u\n", e->path, e->line);
	return CLI_USAGE;
}

static int take_default(void *ctx, const struct config_entry *e)
{
	struct defaults *d = ctx;
	const struct verb_option *o = verb_option_named(d->v, slice_str(e->key));
	bool flag = o && !o->value;
	const char *value = flag ? NULL : e->value;

	if (!o && e->for_all)
		return CLI_DONE;
	if (!o)
		cli_usage(d->name, "no option '%s'", e->key);
	else if (!flag && !value && !verb_option_may_lack(o))
		cli_usage(d->name, "'%s' wants a value: %.*s", e->key,
			  SLICE_FMT(verb_option_value(o)));
	else if (flag && e->value && strcmp(e->value, "no") == 0)
		return CLI_DONE;
	else if (flag && e->value && strcmp(e->value, "yes") != 0)
		cli_usage(d->name, "'%s' is yes or no, not '%s'", e->key, e->value);
	else if (verb_set(d->v, d->name, o, value, d->self) == CLI_DONE)
		return CLI_DONE;
	return refuse_default(e);
}

int verb_parse(const struct verb *v, int argc, char **argv, void *self)
{
	struct defaults defaults = { v, argv[0], self };
	const char *space = strchr(argv[0], ' ');
	struct forms forms;
	int opt, status;

	fill_forms(v, &forms);
	status = config_read(space ? space + 1 : argv[0], take_default, &defaults);
	cli_begin_options();
	opterr = 0;
	while (status == CLI_DONE &&
	       (opt = getopt_long(argc, argv, forms.shorts, forms.longs, NULL)) != -1) {
		if (opt == 'h' && !verb_option_named(v, slice_str("h")))
			return show_help(v, argv[0]);
		status = parse_one(v, argv, opt, self);
	}
	return status == CLI_DONE ? CLI_GO_ON : status;
}

int verb_parse_target(const struct verb *v, int argc, char **argv, void *self, const char **target)
{
	int status = verb_parse(v, argc, argv, self);

	*target = optind < argc ? argv[optind] : NULL;
	if (status == CLI_GO_ON && argc - optind > 1)
		return cli_usage(argv[0], "one program at a time");
	return status;
}
