/* SPDX-License-Identifier: Apache-2.0 */
/* cache_show.c - "sonde cache show" and "sonde cache diff".
 *
 * What is the template's in a woven method follows from the map of offsets that the recipe keeps:
 * an instruction that no offset of the original leads to was merged in. */
#include "cli/classtools/cache_show.h"

#include <getopt.h>
#include <stdio.h>

#include "classfile/show/show.h"
#include "cli/classtools/diff_class.h"
#include "cli/classtools/source.h"
#include "cli/screen/verb.h"

struct showing {
	struct cache_cmd c;
	const char *wanted;
	char *source; /* of diff */
	struct arena mem, work;
	struct buf out;
	uint64_t shown, differ;
	int status;
};

/* ---- show ---- */

/* Pairs of old and new offset where the distance changes; before the first it is 0. */
struct offsets {
	struct slice map;
	uint32_t code_n;
};

/* A return that became a branch to the epilog, or fell into it, is the last byte of its piece. */
static bool is_original(const struct offsets *o, uint32_t pc, uint8_t op)
{
	uint32_t old = 0, new = 0, n = o->map.n >= 2 ? get_u16(o->map.p) : 0;

	for (uint32_t i = 0; i <= n; i++) {
		bool last = i == n || 2 + 4 * (size_t)i + 4 > o->map.n;
		uint32_t next = last ? o->code_n : get_u16(o->map.p + 2 + 4 * (size_t)i);

		if (pc >= new &&next >= old && pc - new < next - old)
			return pc - new + 1 < next - old || op_is_return(op) || op == OP_ATHROW;
		if (last)
			break;
		old = next;
		new = get_u16(o->map.p + 4 + 4 * (size_t)i);
	}
	return false;
}

static void show_code(struct showing *s, struct class *cls, struct member *m,
		      const struct offsets *o)
{
	struct show_labels labels = { 0 };
	struct code *code;
	uint32_t pc = 0;

	if (code_elevate(cls, m, &code, NULL) < 0 || show_labels_make(&labels, code) < 0)
		return;
	for (const struct insn *n = code->start; n; n = n->next) {
		if (n->op == OP_LABEL)
			continue;
		pc = n->old;
		buf_printf(&s->out, "  %c %5u  ", is_original(o, pc, n->op) ? ' ' : '+', pc);
		show_insn(&s->out, code, n, &labels);
		buf_u8(&s->out, '\n');
	}
}

static struct member *find_method(struct class *cls, const struct recipe_method *r)
{
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (slice_eq(member_name(cls, &cls->methods[i]), r->name) &&
		    slice_eq(member_desc(cls, &cls->methods[i]), r->desc))
			return &cls->methods[i];
	return NULL;
}

static void show_method(struct showing *s, struct class *cls, const struct recipe_method *m)
{
	struct offsets o = { m->map, m->code_n };
	struct member *member = cls ? find_method(cls, m) : NULL;

	buf_u8(&s->out, '\n');
	show_name(&s->out, m->name);
	show_name(&s->out, m->desc);
	if (m->rc < 0) {
		buf_text(&s->out, "\n  left alone: ");
		show_name(&s->out, m->why.n ? m->why : slice_str(err_text(m->rc)));
		buf_u8(&s->out, '\n');
		return;
	}
	buf_printf(&s->out, "\n  woven with %.*s%s%.*s\n", SLICE_FMT(m->template),
		   m->category.n ? ", for " : "", SLICE_FMT(m->category));
	if (member)
		show_code(s, cls, member, &o);
}

static int show_record(void *ctx, const struct store_record *r)
{
	struct showing *s = ctx;
	struct recipe_method m;
	struct class *cls = NULL;
	struct recipe rec;
	char key[HASH_TEXT];

	if (!r->live || r->kind != RECORD_CLASS || recipe_get(r->contents, &rec) < 0 ||
	    !cmd_cache_means(s->wanted, &rec, r->key))
		return 0;
	arena_reset(&s->mem);
	hash128_text(r->key, key);
	if (s->shown++)
		buf_u8(&s->out, '\n');
	buf_text(&s->out, "class ");
	show_name(&s->out, rec.name);
	buf_printf(&s->out, "\nkey   %s, in file %08x at %llu\nbytes %u, woven %zu\n", key,
		   r->segment, (unsigned long long)r->at, rec.original, rec.woven.n);
	if (rec.rc < 0)
		buf_printf(&s->out, "refused: %.*s\n", SLICE_FMT(rec.why));
	if (rec.woven.n && class_read(&s->mem, rec.woven, &cls, NULL) < 0)
		cls = NULL;
	for (size_t at = 0; recipe_next(&rec, &at, &m);)
		show_method(s, cls, &m);
	class_release(cls);
	return cli_print(&s->out) ? 0 : E_IO;
}

static int finish(struct showing *s, int status)
{
	arena_release(&s->mem);
	arena_release(&s->work);
	buf_release(&s->out);
	return cmd_cache_end(&s->c, status);
}

const struct verb verb_cache_show = {
	.usage = "[OPTION]... CLASS|KEY",
	.about = "Shows what the cache holds of a class (a.b.C, with * and ?, or the first "
		 "digits of a key): which methods are woven, with which template, which were "
		 "left alone and why, and the woven code. Instructions that were merged in have "
		 "a + before them.",
	.options = &cache_option_dir,
	.n = 1,
	.status = "0 done, 1 there is no such class, 2 usage, 3 there is no cache.",
	.run = cache_show_main,
};

int cache_show_main(int argc, char **argv)
{
	struct showing s = { .c.verb = &verb_cache_show };
	uint64_t damaged;
	int status = cmd_cache_begin(&s.c, argc, argv, false);

	if (status == CLI_DONE && optind + 1 != argc)
		status = cli_usage(s.c.name, "which class?");
	if (status != CLI_DONE)
		return finish(&s, status);
	s.wanted = argv[optind];
	if (store_walk(s.c.store, show_record, &s, &damaged) < 0)
		status = CLI_CANNOT;
	else if (!s.shown) {
		fprintf(stderr, "sonde: %s: not in %s\n", s.wanted, s.c.dir);
		status = CLI_NO;
	}
	return finish(&s, status);
}

/* ---- diff ---- */

static void on_part(void *ctx, struct slice name)
{
	struct showing *s = ctx;

	buf_printf(&s->out, "@@ %.*s\n", SLICE_FMT(name));
}

static void on_line(void *ctx, char mark, struct slice text)
{
	struct showing *s = ctx;

	if (mark == '.')
		buf_text(&s->out, "   ...\n");
	else
		buf_printf(&s->out, "%c  %.*s\n", mark, SLICE_FMT(text));
}

static int diff_with(struct showing *s, const struct source_class *src, const struct recipe *rec)
{
	struct diff_sink sink = { s, on_part, on_line };
	struct class *a = NULL, *b = NULL;
	struct arena mem;
	int rc;

	arena_init(&mem);
	arena_reset(&s->mem);
	rc = class_read(&s->mem, src->bytes, &a, NULL);
	if (rc >= 0)
		rc = class_read(&s->mem, rec->woven, &b, NULL);
	if (rc >= 0) {
		buf_printf(&s->out, "--- %s\n+++ woven\n", src->shown);
		rc = diff_class(a, b, &mem, &sink);
		s->differ += rc > 0;
	}
	class_release(a);
	class_release(b);
	arena_release(&mem);
	s->shown++;
	return rc;
}

static int diff_record(void *ctx, const struct store_record *r)
{
	struct showing *s = ctx;
	struct source_class src;
	struct source *source;
	struct recipe rec;
	struct fault f;
	char name[4096];
	int rc = 0;

	if (!r->live || r->kind != RECORD_CLASS || recipe_get(r->contents, &rec) < 0 ||
	    rec.kind != RECIPE_WOVEN || !cmd_cache_means(s->wanted, &rec, r->key))
		return 0;
	source = source_open(&s->source, 1);
	if (!source)
		return E_NO_MEMORY;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(rec.name));
	source_want(source, name);
	while (rc >= 0 && (rc = source_next(source, &src, &f)) != 0) {
		if (rc == SOURCE_EMPTY)
			continue;
		if (rc < 0)
			cli_cannot("%s", f.text);
		else if (src.bytes.n ==
			 rec.original) /* another version of it is not what was woven */
			rc = diff_with(s, &src, &rec);
	}
	source_close(source);
	return rc < 0 || !cli_print(&s->out) ? E_IO : 0;
}

const struct verb verb_cache_diff = {
	.usage = "[OPTION]... CLASS|KEY SOURCE",
	.about = "Compares a class of SOURCE (a jar, a directory, @jdk17 ...) with its woven "
		 "form in the cache, method by method.",
	.options = &cache_option_dir,
	.n = 1,
	.status = "0 nothing differs, 1 something does, 2 usage, 3 there is no such class or no "
		  "cache.",
	.run = cache_diff_main,
};

int cache_diff_main(int argc, char **argv)
{
	struct showing s = { .c.verb = &verb_cache_diff };
	uint64_t damaged;
	int status = cmd_cache_begin(&s.c, argc, argv, false);

	if (status == CLI_DONE && optind + 2 != argc)
		status = cli_usage(s.c.name, "which class, and where is the original?");
	if (status != CLI_DONE)
		return finish(&s, status);
	s.wanted = argv[optind];
	s.source = argv[optind + 1];
	if (store_walk(s.c.store, diff_record, &s, &damaged) < 0)
		status = CLI_CANNOT;
	else if (!s.shown)
		status = cli_cannot("%s: not woven in %s, or not in %s", s.wanted, s.c.dir,
				    s.source);
	else
		status = s.differ ? CLI_NO : CLI_DONE;
	return finish(&s, status);
}
