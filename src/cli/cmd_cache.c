/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cache.c - "sonde cache": what lies in the cache of woven classes, and whether it is sound. */
#include "cli/cmd_cache.h"

#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cache/place.h"
#include "classfile/check.h"
#include "cli/outdir.h"

int cmd_cache(int argc, char **argv);

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

int cache_cmd_begin(struct cache_cmd *c, int argc, char **argv, bool write)
{
	static const struct option options[] = {
		{ "cache", required_argument, NULL, 'C' }, { "json", no_argument, NULL, 'j' },
		{ "all", no_argument, NULL, 'a' },	   { "to", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },	   { 0 },
	};
	struct store_options o = { .read_only = !write };
	struct fault f = { 0 };
	int opt;

	c->name = argv[0];
	c->size = UINT64_MAX;
	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(c->help, stdout), -1;
		if (opt == '?')
			return CLI_USAGE;
		if (opt == 'C')
			c->dir = optarg;
		if (opt == 't' && !parse_size(optarg, &c->size))
			return cli_usage(c->name, "--to wants a size such as 100m, not '%s'",
					 optarg);
		c->json |= opt == 'j';
		c->all |= opt == 'a';
	}
	if (!c->dir && !cache_usual_place(c->place, sizeof(c->place)))
		return cli_cannot(
			"there is no usual place for the cache without HOME: use --cache DIR");
	if (!c->dir)
		c->dir = c->place;
	o.dir = c->dir;
	return store_open(&o, &c->store, &f) < 0 ? cli_cannot("%s", f.text) : CLI_DONE;
}

int cache_cmd_end(struct cache_cmd *c, int status)
{
	store_close(c->store);
	return status < 0 ? CLI_DONE : status;
}

bool cache_cmd_means(const char *wanted, const struct recipe *r, struct hash128 key)
{
	char name[PATH_MAX], pattern[PATH_MAX], text[HASH_TEXT];

	if (!wanted)
		return true;
	hash128_text(key, text);
	if (strlen(wanted) >= 8 && strncmp(text, wanted, strlen(wanted)) == 0)
		return true;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(r->name));
	snprintf(pattern, sizeof(pattern), "%s", wanted);
	for (char *p = pattern; *p; p++)
		*p = *p == '.' ? '/' : *p;
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
	json_key(&l->j, "key");
	json_text(&l->j, key);
	json_key(&l->j, "class");
	json_str(&l->j, rec->name);
	cli_json_count(&l->j, "original_bytes", rec->original);
	cli_json_count(&l->j, "woven_bytes", rec->woven.n);
	cli_json_count(&l->j, "woven", woven);
	cli_json_count(&l->j, "left", left);
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
	    !cache_cmd_means(l->wanted, &rec, r->key))
		return 0;
	l->classes++;
	list_one(l, r, &rec);
	return l->c.json || cli_print(&l->out) ? 0 : E_IO;
}

int cache_ls_main(int argc, char **argv)
{
	static const char help[] =
		"usage: sonde cache ls [--cache DIR] [--json] [CLASS]\n"
		"\n"
		"Lists the classes in the cache: key, bytes before and after, methods woven and left alone,\n"
		"name.  CLASS picks some: a.b.C, with * and ?.\n"
		"\n"
		"Exit status: 0 done, 1 there is no such class, 3 there is no cache.\n";
	struct listing l = { .c.help = help };
	int rc, status = cache_cmd_begin(&l.c, argc, argv, false);
	uint64_t damaged;

	if (status != CLI_DONE)
		return cache_cmd_end(&l.c, status);
	l.wanted = argv[optind];
	l.j = json_to(&l.out);
	if (l.c.json)
		json_open(&l.j, '[');
	rc = store_walk(l.c.store, list_record, &l, &damaged);
	if (l.c.json) {
		json_close(&l.j, ']');
		buf_u8(&l.out, '\n');
	} else if (!l.wanted) {
		buf_printf(&l.out, "%llu classes, %llu links, %.1f MB in %s\n",
			   (unsigned long long)l.classes, (unsigned long long)l.links,
			   (double)l.bytes / 1e6, l.c.dir);
	}
	status = rc < 0 || !cli_print(&l.out) ? CLI_CANNOT
		 : l.classes || !l.wanted     ? CLI_DONE
					      : CLI_NO;
	if (damaged)
		fprintf(stderr,
			"sonde: %llu damaged places were passed over; see `sonde cache verify`\n",
			(unsigned long long)damaged);
	buf_release(&l.out);
	return cache_cmd_end(&l.c, status);
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

int cache_verify_main(int argc, char **argv)
{
	static const char help[] =
		"usage: sonde cache verify [--cache DIR] [--json]\n"
		"\n"
		"Reads the whole cache: every checksum, every recipe, every woven class.  What is damaged is\n"
		"never used; `sonde cache prune --all` removes it with the rest.\n"
		"\n"
		"Exit status: 0 all is sound, 1 something is damaged, 3 there is no cache.\n";
	struct cache_cmd c = { .help = help };
	struct verifying v = { 0 };
	struct store_segment s[STORE_SEGMENTS_MAX];
	struct buf out = { 0 };
	uint64_t damaged = 0;
	size_t files;
	int status = cache_cmd_begin(&c, argc, argv, false);

	if (status != CLI_DONE)
		return cache_cmd_end(&c, status);
	store_walk(c.store, verify_record, &v, &damaged);
	files = store_segments(c.store, s, COUNT(s));
	damaged += v.bad;
	if (c.json) {
		struct json j = json_to(&out);

		json_open(&j, '{');
		cli_json_count(&j, "files", files);
		cli_json_count(&j, "classes", v.classes);
		cli_json_count(&j, "links", v.links);
		cli_json_count(&j, "out_of_use", v.dead);
		cli_json_count(&j, "bytes", v.bytes);
		cli_json_count(&j, "damaged", damaged);
		json_close(&j, '}');
		buf_u8(&out, '\n');
	} else {
		buf_printf(&out, "%s: %zu files, %llu classes, %llu links, %.1f MB; %s", c.dir,
			   files, (unsigned long long)v.classes, (unsigned long long)v.links,
			   (double)v.bytes / 1e6, damaged ? "" : "all is sound\n");
		if (damaged)
			buf_printf(&out, "%llu damaged places, which are not used\n",
				   (unsigned long long)damaged);
	}
	status = !cli_print(&out) ? CLI_CANNOT : damaged ? CLI_NO : CLI_DONE;
	buf_release(&out);
	arena_release(&v.mem);
	return cache_cmd_end(&c, status);
}

/* ---- prune ---- */

int cache_prune_main(int argc, char **argv)
{
	static const char help[] =
		"usage: sonde cache prune [--cache DIR] --all | --to SIZE\n"
		"\n"
		"Removes the oldest files of the cache until it takes at most SIZE (100m, 1g), or all of it.\n"
		"JVMs that have it open go on with what they have.\n"
		"\n"
		"Exit status: 0 done, 2 usage, 3 it could not be done: there is no cache, or a JVM writes just now.\n";
	struct cache_cmd c = { .help = help };
	int gone, status = cache_cmd_begin(&c, argc, argv, true);

	if (status == CLI_DONE && !c.all && c.size == UINT64_MAX)
		status = cli_usage(c.name, "how much? --to SIZE or --all");
	if (status != CLI_DONE)
		return cache_cmd_end(&c, status);
	gone = store_prune(c.store, c.all ? 0 : c.size);
	if (gone < 0)
		status = cli_cannot("%s: another process writes just now; try again", c.dir);
	else
		printf("%d files removed from %s\n", gone, c.dir);
	return cache_cmd_end(&c, status);
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
	    rec.kind != RECIPE_WOVEN || !cache_cmd_means(e->wanted, &rec, r->key))
		return 0;
	hash128_text(r->key, group);
	group[12] = '\0';
	snprintf(name, sizeof(name), "%.*s.class", SLICE_FMT(rec.name));
	rc = outdir_write(e->to, group, name, rec.woven, &e->failed);
	e->written += rc >= 0;
	return rc;
}

int cache_export_main(int argc, char **argv)
{
	static const char help[] =
		"usage: sonde cache export [--cache DIR] OUT [CLASS]\n"
		"\n"
		"Writes woven classes as files below the directory OUT, each in a folder named by its key.  They\n"
		"do not hold the numbers that a JVM gives to methods: they are to be looked at, not to be run.\n"
		"\n"
		"Exit status: 0 done, 1 there is no such class, 2 usage, 3 it could not be done.\n";
	struct cache_cmd c = { .help = help };
	struct exporting e = { 0 };
	uint64_t damaged;
	int status = cache_cmd_begin(&c, argc, argv, false);

	if (status == CLI_DONE && optind == argc)
		status = cli_usage(c.name, "where to?");
	if (status != CLI_DONE)
		return cache_cmd_end(&c, status);
	e.to = argv[optind];
	e.wanted = argv[optind + 1];
	if (store_walk(c.store, export_record, &e, &damaged) < 0)
		status = cli_cannot("%s", e.failed.text);
	else
		printf("%llu classes written\n", (unsigned long long)e.written);
	if (status == CLI_DONE && !e.written)
		status = CLI_NO;
	return cache_cmd_end(&c, status);
}

/* ---- the table ---- */

static const struct command commands[] = {
	{ "ls", "list the classes in it", cache_ls_main },
	{ "show", "show a woven class, with what was merged into it marked", cache_show_main },
	{ "diff", "compare an original class with its woven form", cache_diff_main },
	{ "verify", "read all of it, and say what is damaged", cache_verify_main },
	{ "prune", "remove the oldest, or all", cache_prune_main },
	{ "export", "write woven classes as files", cache_export_main },
};

static const struct command_table table = {
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

int cmd_cache(int argc, char **argv)
{
	return command_run(&table, argc, argv);
}
