/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - reads maps, and the rules of each file once. */
#include "sample/modules.h"

#include "base/mem.h"
#include "base/search.h"

/* ---- /proc/PID/maps ------------------------------------------------------------------------ */

static uint64_t take_number(struct slice *s, unsigned base)
{
	uint64_t v = 0;

	for (; s->n; s->p++, s->n--) {
		uint8_t c = *s->p;
		unsigned digit = c >= 'a' && c <= 'f' ? c - 'a' + 10u : (unsigned)c - '0';

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	return v;
}

static void skip(struct slice *s, size_t n)
{
	n = n < s->n ? n : s->n;
	*s = (struct slice){ s->p + n, s->n - n };
}

static void skip_word(struct slice *s)
{
	while (s->n && *s->p != ' ')
		skip(s, 1);
	while (s->n && *s->p == ' ')
		skip(s, 1);
}

/* "7f00-8f00 r-xp 00001000 fe:00 1234     /lib/x.so (deleted)" */
bool modules_next_mapping(struct slice *maps, struct mapping *out)
{
	const uint8_t *end = maps->n ? memchr(maps->p, '\n', maps->n) : NULL;
	struct slice line = { maps->p, end ? (size_t)(end - maps->p) : maps->n };

	if (!line.n)
		return false;
	skip(maps, line.n + 1);
	out->lo = take_number(&line, 16);
	skip(&line, 1);
	out->hi = take_number(&line, 16);
	skip(&line, 1);
	out->executable = line.n > 2 && line.p[2] == 'x';
	skip_word(&line);
	out->offset = take_number(&line, 16);
	skip_word(&line);
	skip_word(&line);
	out->inode = take_number(&line, 10);
	skip_word(&line);
	out->path = line;
	return true;
}

static bool has_code(const struct mapping *m)
{
	return m->executable && m->path.n && (m->path.p[0] == '/' || slice_is(m->path, "[vdso]"));
}

uint64_t modules_digest(struct slice maps)
{
	uint64_t h = 0;
	struct mapping m;

	while (modules_next_mapping(&maps, &m))
		if (has_code(&m))
			h = (h ^ m.lo ^ m.hi << 20 ^ m.inode << 7) * 0x9e3779b97f4a7c15u;
	return h;
}

/* ---- files --------------------------------------------------------------------------------- */

static struct module_file *find_file(const struct modules *m, const struct mapping *map)
{
	for (size_t i = 0; m && i < m->n_files; i++)
		if (m->files[i]->inode == map->inode &&
		    slice_eq(slice_str(m->files[i]->path), map->path))
			return m->files[i];
	return NULL;
}

static struct module_rules *read_rules(const struct image *image)
{
	struct module_rules *rules = mem_alloc(sizeof(*rules));

	if (!rules)
		return NULL;
	*rules = (struct module_rules){ .users = 1 };
	if (image->file.n && unwind_build(&rules->unwind, image) < 0)
		rules->unwind = (struct unwind){ 0 };
	return rules;
}

static struct module_file *new_file(struct modules *m, const struct mapping *map,
				    const struct image *image, const struct modules *before)
{
	struct module_file *old = find_file(before, map), *f = arena_zero(&m->mem, sizeof(*f));

	if (!f || !(f->path = arena_str(&m->mem, map->path)))
		return NULL;
	f->inode = map->inode;
	f->rules = old ? old->rules : read_rules(image);
	if (!f->rules)
		return NULL;
	f->rules->users += old != NULL;
	m->files[m->n_files++] = f;
	return f;
}

/* Its code, with the difference between its addresses and those of the file (which differ from its
 * offsets). */
static bool add(struct modules *m, const struct mapping *map, const struct modules_source *source,
		const struct modules *before)
{
	struct module_file *f = find_file(m, map);
	struct slice bytes = { 0 };
	struct image image = { 0 };
	uint64_t addr = map->offset;
	bool have = source->fetch(source->ctx, map, &bytes);

	if (!have || image_open(&image, bytes) < 0)
		image = (struct image){ 0 };
	else if (!image_address(&image, map->offset, &addr))
		addr = map->offset;
	if (!f)
		f = new_file(m, map, &image, before);
	if (have)
		source->drop(source->ctx, bytes);
	if (!f)
		return false;
	m->m[m->n++] = (struct module){ map->lo, map->hi, map->lo - addr, f };
	return true;
}

int modules_build(struct modules *m, struct slice maps, const struct modules_source *source,
		  const struct modules *before)
{
	struct slice rest = maps;
	struct mapping map;
	size_t n = 0;

	*m = (struct modules){ 0 };
	arena_init(&m->mem);
	while (modules_next_mapping(&rest, &map))
		n += has_code(&map);
	m->m = arena_zero(&m->mem, (n + 1) * sizeof(*m->m));
	m->files = arena_zero(&m->mem, (n + 1) * sizeof(*m->files));
	if (!m->m || !m->files)
		goto fail;
	while (modules_next_mapping(&maps, &map))
		if (has_code(&map) && !add(m, &map, source, before))
			goto fail;
	return 0;
fail:
	modules_release(m);
	return E_NO_MEMORY;
}

void modules_release(struct modules *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		struct module_rules *rules = m->files[i]->rules;

		if (--rules->users)
			continue;
		unwind_release(&rules->unwind);
		mem_free(rules);
	}
	arena_release(&m->mem);
	*m = (struct modules){ 0 };
}

const struct module *modules_find(const struct modules *m, uint64_t address)
{
	size_t low = SEARCH(m->n, i, m->m[i].lo <= address);

	return low && address < m->m[low - 1].hi ? &m->m[low - 1] : NULL;
}
