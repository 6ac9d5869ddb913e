/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cache.c - "sonde cache": what lies in the cache of woven classes, and whether it is sound. */
#include "base/plural.h"
#include "cli/classtools/cache_show.h"

#include <fnmatch.h>
#include <getopt.h>
#include <stddef.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache/cache_place.h"
#include "classfile/check/check.h"
#include "cli/classtools/outdir.h"
#include "cli/verbs.h"

/* ---- what all share ---- */

static bool parse_size(const char *text, uint64_t *out)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);
	int shift = *end == 'k'			 ? 10
		    : *end == 'm' || *end == 'M' ? 20
		    : *end == 'g' || *end == 'G' ? 30
						 : 0;

	if (end == text || text[0] == '-' || (shift && end[1]) || (!shift && *end) ||
	    v > UINT64_MAX >> shift)
		return false;
	*out = (uint64_t)v << shift;
	return true;
}

static int set_size(void *self, const char *name, int which, const char *value)
{
	struct cache_cmd *c = self;

	(void)which;
	if (!parse_size(value, &c->size))
		return cli_usage(name, "--to wants a size such as 100m, not '%s'", value);
	return CLI_DONE;
}

#define CACHE_OPTION                                                          \
	{                                                                     \
		"cache", "DIR", OPTION_TEXT, offsetof(struct cache_cmd, dir), \
			.help = "the cache in this directory"                 \
	}

const struct verb_option cache_option_dir = CACHE_OPTION;

static const struct verb_option options_json[] = {
	CACHE_OPTION,
	VERB_JSON(struct cache_cmd, json, "print JSON"),
};

static const struct verb_option options_prune[] = {
	CACHE_OPTION,
	{ "all", NULL, OPTION_FLAG, offsetof(struct cache_cmd, all), .help = "remove all of it" },
	{ "to", "SIZE", OPTION_OWN, 't',
	  .help = "remove the oldest files until so much is left: 100m, 1g" },
};

int cmd_cache_begin(struct cache_cmd *c, int argc, char **argv, bool write)
{
	struct store_options o = { .read_only = !write };
	struct fault f = { 0 };
	int status;

	c->name = argv[0];
	c->size = UINT64_MAX;
	status = verb_parse(c->verb, argc, argv, c);
	if (status != CLI_GO_ON)
		return status == CLI_DONE ? -1 : status;
	if (!c->dir && !cache_usual_place(c->place, sizeof(c->place)))
		return cli_cannot(
			"there is no usual place for the cache without HOME: use --cache DIR");
	if (!c->dir)
		c->dir = c->place;
	o.dir = c->dir;
	return store_open(&o, &c->store, &f) < 0 ? cli_cannot("%s", f.text) : CLI_DONE;
}

int cmd_cache_end(struct cache_cmd *c, int status)
{
	store_close(c->store);
	return status < 0 ? CLI_DONE : status;
}

bool cmd_cache_means(const char *wanted, const struct recipe *r, struct hash128 key)
{
	char name[PATH_MAX], pattern[PATH_MAX], text[HASH_TEXT];

	if (!wanted)
		return true;
	hash128_text(key, text);
	if (strlen(wanted) >= 8 && strncmp(text, wanted, strlen(wanted)) == 0)
		return true;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(r->name));
	snprintf(pattern, sizeof(pattern), "%s", wanted);
	text_replace(pattern, '.', '/');
	return fnmatch(pattern, name, 0) == 0;
}

static void count_methods(const struct recipe *r, uint64_t *woven, uint64_t *left)
{
	struct recipe_method m;

	*woven = *left = 0;
	for (size_t at = 0; recipe_next(r, &at, &m);)
		*(m.rc < 0 ? left : woven) += 1;
}

/* ---- ls ---- */

struct listing {
	struct cache_cmd c;
	const char *wanted;
	struct buf out;
	struct json j;
	uint64_t classes, links, bytes;
	bool failed;
};

static void list_one(struct listing *l, const struct store_record *r, const struct recipe *rec)
{
	uint64_t woven, left;
	char key[HASH_TEXT];

	count_methods(rec, &woven, &left);
	hash128_text(r->key, key);
	if (!l->c.json) {
		buf_printf(&l->out, "%.12s  %6u -> %6zu bytes  %4llu woven  %4llu left  %.*s\n",
			   key, rec->original, rec->woven.n ? rec->woven.n : rec->original,
			   (unsigned long long)woven, (unsigned long long)left,
			   SLICE_FMT(rec->name));
		return;
	}
	json_open(&l->j, '{');
	json_put_text(&l->j, "key", key);
	json_put_str(&l->j, "class", rec->name);
	json_put_u64(&l->j, "original_bytes", rec->original);
	json_put_u64(&l->j, "woven_bytes", rec->woven.n);
	json_put_u64(&l->j, "woven", woven);
	json_put_u64(&l->j, "left", left);
	json_close(&l->j, '}');
}

static int list_record(void *ctx, const struct store_record *r)
{
	struct listing *l = ctx;
	struct recipe rec;

	if (!r->live)
		return 0;
	l->bytes += r->contents.n;
	l->links += r->kind == RECORD_LINK;
	if (r->kind != RECORD_CLASS || recipe_get(r->contents, &rec) < 0 ||
	    !cmd_cache_means(l->wanted, &rec, r->key))
		return 0;
	l->classes++;
	list_one(l, r, &rec);
	return l->c.json || cli_print(&l->out) ? 0 : E_IO;
}

const struct verb verb_cache_ls = {
	.usage = "[OPTION]... [CLASS]",
	.about = "Lists the classes in the cache: key, bytes before and after, methods woven "
		 "and left alone, name. CLASS picks some: a.b.C, with * and ?.",
	.options = options_json,
	.n = COUNT(options_json),
	.status = "0 done, 1 there is no such class, 3 there is no cache.",
	.run = cache_ls_main,
};

int cache_ls_main(int argc, char **argv)
{
	struct listing l = { .c.verb = &verb_cache_ls };
	int rc, status = cmd_cache_begin(&l.c, argc, argv, false);
	uint64_t damaged;

	if (status != CLI_DONE)
		return cmd_cache_end(&l.c, status);
	l.wanted = argv[optind];
	l.j = json_to(&l.out);
	if (l.c.json)
		json_open(&l.j, '[');
	rc = store_walk(l.c.store, list_record, &l, &damaged);
	if (l.c.json) {
		json_close(&l.j, ']');
		buf_u8(&l.out, '\n');
	} else if (!l.wanted) {
		buf_printf(&l.out, "%llu class%s, %llu link%s, %.1f MB in %s\n",
			   (unsigned long long)l.classes, plural_es(l.classes),
			   (unsigned long long)l.links, plural(l.links), (double)l.bytes / 1e6,
			   l.c.dir);
	}
	status = rc < 0 || !cli_print(&l.out) ? CLI_CANNOT
		 : l.classes || !l.wanted     ? CLI_DONE
					      : CLI_NO;
	if (damaged)
		fprintf(stderr,
			"sonde: %llu damaged place%s passed over; see `sonde cache verify`\n",
			(unsigned long long)damaged, damaged == 1 ? " was" : "s were");
	buf_release(&l.out);
	return cmd_cache_end(&l.c, status);
}

/* ---- verify ---- */

struct verifying {
	uint64_t classes, links, dead, bad, bytes;
	struct arena mem;
};

/* The woven class, by our own checker. */
static int check_class(struct verifying *v, const struct recipe *r, struct fault *f)
{
	struct class *cls;
	int rc;

	arena_reset(&v->mem);
	rc = class_read(&v->mem, r->woven, &cls, f);
	if (rc < 0)
		return rc;
	if (!slice_eq(class_name(cls), r->name))
		rc = fault_set(f, E_DAMAGED, -1, "holds another class");
	class_release(cls);
	return rc;
}

static int verify_record(void *ctx, const struct store_record *r)
{
	struct verifying *v = ctx;
	struct hash128 key;
	struct recipe rec;
	struct fault f = { 0 };
	char text[HASH_TEXT];
	int rc;

	v->bytes += r->contents.n;
	v->dead += !r->live;
	v->classes += r->kind == RECORD_CLASS;
	v->links += r->kind == RECORD_LINK;
	if (r->kind == RECORD_LINK) {
		rc = cache_link_get(r->contents, &key);
	} else {
		rc = recipe_get(r->contents, &rec);
		if (rc >= 0 && rec.kind == RECIPE_WOVEN)
			rc = check_class(v, &rec, &f);
	}
	if (rc >= 0)
		return 0;
	v->bad++;
	hash128_text(r->key, text);
	fprintf(stderr, "sonde: %.12s: %s\n", text, f.text[0] ? f.text : err_text(rc));
	return 0;
}

const struct verb verb_cache_verify = {
	.usage = "[OPTION]...",
	.about = "Reads the whole cache: every checksum, every recipe, every woven class. What "
		 "is damaged is never used; `sonde cache prune --all` removes it with the rest.",
	.options = options_json,
	.n = COUNT(options_json),
	.status = "0 all is sound, 1 something is damaged, 3 there is no cache.",
	.run = cache_verify_main,
};

int cache_verify_main(int argc, char **argv)
{
	struct cache_cmd c = { .verb = &verb_cache_verify };
	struct verifying v = { 0 };
	struct store_segment s[STORE_SEGMENTS_MAX];
	struct buf out = { 0 };
	uint64_t damaged = 0;
	size_t files;
	int status = cmd_cache_begin(&c, argc, argv, false);

	if (status != CLI_DONE)
		return cmd_cache_end(&c, status);
	store_walk(c.store, verify_record, &v, &damaged);
	files = store_segments(c.store, s, COUNT(s));
	damaged += v.bad;
	if (c.json) {
		struct json j = json_to(&out);

		json_open(&j, '{');
		json_put_u64(&j, "files", files);
		json_put_u64(&j, "classes", v.classes);
		json_put_u64(&j, "links", v.links);
		json_put_u64(&j, "out_of_use", v.dead);
		json_put_u64(&j, "bytes", v.bytes);
		json_put_u64(&j, "damaged", damaged);
		json_close(&j, '}');
		buf_u8(&out, '\n');
	} else {
		buf_printf(&out, "%s: %zu file%s, %llu class%s, %llu link%s, %.1f MB; %s", c.dir,
			   files, plural(files), (unsigned long long)v.classes,
			   plural_es(v.classes), (unsigned long long)v.links, plural(v.links),
			   (double)v.bytes / 1e6, damaged ? "" : "all is sound\n");
		if (damaged)
			buf_printf(&out, "%llu damaged place%s not used\n",
				   (unsigned long long)damaged,
				   damaged == 1 ? ", which is" : "s, which are");
	}
	status = !cli_print(&out) ? CLI_CANNOT : damaged ? CLI_NO : CLI_DONE;
	buf_release(&out);
	arena_release(&v.mem);
	return cmd_cache_end(&c, status);
}

/* ---- prune ---- */

const struct verb verb_cache_prune = {
	.usage = "[OPTION]... --all | --to SIZE",
	.about = "Removes the oldest files of the cache until it takes at most SIZE (100m, 1g), "
		 "or all of it. JVMs that have it open go on with what they have.",
	.options = options_prune,
	.n = COUNT(options_prune),
	.status = "0 done, 2 usage, 3 it could not be done: there is no cache, or a JVM writes "
		  "just now.",
	.run = cache_prune_main,
	.set = set_size,
};

int cache_prune_main(int argc, char **argv)
{
	struct cache_cmd c = { .verb = &verb_cache_prune };
	int gone, status = cmd_cache_begin(&c, argc, argv, true);

	if (status == CLI_DONE && !c.all && c.size == UINT64_MAX)
		status = cli_usage(c.name, "how much? --to SIZE or --all");
	if (status != CLI_DONE)
		return cmd_cache_end(&c, status);
	gone = store_prune(c.store, c.all ? 0 : c.size);
	if (gone < 0)
		status = cli_cannot("%s: another process writes just now; try again", c.dir);
	else
		printf("%d file%s removed from %s\n", gone, plural((uint64_t)gone), c.dir);
	return cmd_cache_end(&c, status);
}

/* ---- export ---- */

struct exporting {
	const char *to, *wanted;
	uint64_t written;
	struct fault failed;
};

static int export_record(void *ctx, const struct store_record *r)
{
	struct exporting *e = ctx;
	struct recipe rec;
	char group[HASH_TEXT], name[PATH_MAX];
	int rc;

	if (!r->live || r->kind != RECORD_CLASS || recipe_get(r->contents, &rec) < 0 ||
	    rec.kind != RECIPE_WOVEN || !cmd_cache_means(e->wanted, &rec, r->key))
		return 0;
	hash128_text(r->key, group);
	group[12] = '\0';
	snprintf(name, sizeof(name), "%.*s.class", SLICE_FMT(rec.name));
	rc = outdir_write(e->to, group, name, rec.woven, &e->failed);
	e->written += rc >= 0;
	return rc;
}

const struct verb verb_cache_export = {
	.usage = "[OPTION]... OUT [CLASS]",
	.about = "Writes woven classes as files below the directory OUT, each in a folder named "
		 "by its key. They do not hold the numbers that a JVM gives to methods: they "
		 "are to be looked at, not to be run.",
	.options = &cache_option_dir,
	.n = 1,
	.status = "0 done, 1 there is no such class, 2 usage, 3 it could not be done.",
	.run = cache_export_main,
};

int cache_export_main(int argc, char **argv)
{
	struct cache_cmd c = { .verb = &verb_cache_export };
	struct exporting e = { 0 };
	uint64_t damaged;
	int status = cmd_cache_begin(&c, argc, argv, false);

	if (status == CLI_DONE && optind == argc)
		status = cli_usage(c.name, "where to?");
	if (status != CLI_DONE)
		return cmd_cache_end(&c, status);
	e.to = argv[optind];
	e.wanted = argv[optind + 1];
	if (store_walk(c.store, export_record, &e, &damaged) < 0)
		status = cli_cannot("%s", e.failed.text);
	else
		printf("%llu class%s written\n", (unsigned long long)e.written,
		       plural_es(e.written));
	if (status == CLI_DONE && !e.written)
		status = CLI_NO;
	return cmd_cache_end(&c, status);
}

/* ---- the table ---- */

static const struct command commands[] = {
	{ "ls", "list the classes in it", .verb = &verb_cache_ls },
	{ "show", "show a woven class, with what was merged into it marked",
	  .verb = &verb_cache_show },
	{ "diff", "compare an original class with its woven form", .verb = &verb_cache_diff },
	{ "verify", "read all of it, and say what is damaged", .verb = &verb_cache_verify },
	{ "prune", "remove the oldest, or all", .verb = &verb_cache_prune },
	{ "export", "write woven classes as files", .verb = &verb_cache_export },
};

const struct command_table group_cache = {
	.name = "sonde cache",
	.head = "sonde cache - looks into the cache of woven classes\n"
		"\n"
		"usage: sonde cache COMMAND [--cache DIR] [OPTION]...\n"
		"       sonde cache COMMAND --help\n",
	.tail = "\n"
		"The cache lies in ${XDG_CACHE_HOME:-~/.cache}/sonde/woven, unless --cache names another place.\n"
		"It is filled by programs that are started with the agent and rules, and by\n"
		"`sonde weave --into-cache`.\n",
	.commands = commands,
	.n = COUNT(commands),
};
