/* SPDX-License-Identifier: Apache-2.0 */
/* source_zip.c - the layer for archives: jar, war, ear, zip and jmod (a zip behind four bytes). */
#include "cli/classtools/source_priv.h"

#include <string.h>
#include <zip.h>

#include "base/mem.h"

struct zip_layer {
	struct layer layer;
	zip_t *zip;
	uint8_t *bytes; /* the archive, when it lies in memory */
};

/* Exactly the size that the directory of the archive states: a lie is an error, not a bomb. */
static int read_entry(struct zip_layer *z, const zip_stat_t *st, struct buf *to, struct fault *f)
{
	zip_file_t *file = zip_fopen_index(z->zip, st->index, 0);
	zip_int64_t got = 0;
	uint8_t more, *p;
	int rc = 0;

	if (!file)
		return fault_set(f, E_IO, -1, "%s%s: %s", z->layer.shown, st->name,
				 zip_strerror(z->zip));
	buf_clear(to);
	p = buf_room(to, st->size + 1);
	while (p && to->n < st->size) {
		got = zip_fread(file, to->p + to->n, st->size - to->n);
		if (got <= 0)
			break;
		to->n += (size_t)got;
	}
	if (!p)
		rc = fault_no_memory(f);
	else if (to->n < st->size || zip_fread(file, &more, 1) != 0)
		rc = fault_set(f, E_IO, -1, "%s%s: damaged in the archive", z->layer.shown,
			       st->name);
	zip_fclose(file);
	return rc;
}

static int enter_archive(struct source *s, struct zip_layer *z, const zip_stat_t *st,
			 struct fault *f)
{
	struct buf inner = { 0 };
	const char *shown, *group;
	int rc;

	if (s->depth >= LAYER_DEPTH_MAX)
		return fault_set(f, E_LIMIT, -1, "%s%s: archives nested too deep", z->layer.shown,
				 st->name);
	if (st->size > ARCHIVE_MAX)
		return fault_set(f, E_LIMIT, -1, "%s%s: larger than %d MiB", z->layer.shown,
				 st->name, ARCHIVE_MAX >> 20);
	shown = source_join(s, z->layer.shown, st->name, "!/", NULL);
	group = source_join(s, z->layer.group, "/", st->name, NULL);
	rc = read_entry(z, st, &inner, f);
	if (rc >= 0)
		rc = source_push_zip_bytes(s, &inner, shown, group, f);
	buf_release(&inner);
	return rc < 0 ? rc : LAYER_AGAIN;
}

static int zip_next(struct source *s, struct layer *l, struct source_class *out, struct fault *f)
{
	struct zip_layer *z = (struct zip_layer *)l;
	zip_stat_t st;
	int rc;

	if (l->at == l->n)
		return 0;
	if (zip_stat_index(z->zip, l->at++, 0, &st) < 0 ||
	    (st.valid & (ZIP_STAT_NAME | ZIP_STAT_SIZE)) != (ZIP_STAT_NAME | ZIP_STAT_SIZE))
		return fault_set(f, E_IO, -1, "%s: entry %zu is damaged", l->shown, l->at);
	st.index = l->at - 1;
	if (entry_kind_of(st.name) == ENTRY_ARCHIVE)
		return enter_archive(s, z, &st, f);
	if (entry_kind_of(st.name) != ENTRY_CLASS || !source_wants(s, st.name))
		return LAYER_AGAIN;
	if (st.size > SOURCE_CLASS_MAX)
		return fault_set(f, E_LIMIT, -1, "%s%s: larger than %d MiB", l->shown, st.name,
				 SOURCE_CLASS_MAX >> 20);
	rc = read_entry(z, &st, &s->bytes, f);
	if (rc < 0)
		return rc;
	out->bytes = buf_slice(&s->bytes);
	rc = source_name(s, l, l->group, st.name, out);
	return rc < 0 ? rc : 1;
}

static void zip_layer_close(struct layer *l)
{
	struct zip_layer *z = (struct zip_layer *)l;

	zip_discard(z->zip);
	mem_free(z->bytes);
}

/* Takes `from` over, also when it fails. */
static int push(struct source *s, zip_source_t *from, zip_error_t *error, struct layer names,
		struct fault *f)
{
	struct zip_layer *z = arena_zero(&s->mem, sizeof(*z));

	if (!from || !z || !names.shown || !names.group) {
		zip_source_free(from);
		return fault_no_memory(f);
	}
	z->zip = zip_open_from_source(from, ZIP_RDONLY, error);
	if (!z->zip) {
		zip_source_free(from);
		return fault_set(f, E_IO, -1, "%.*s: %s", (int)strlen(names.shown) - 2, names.shown,
				 zip_error_strerror(error));
	}
	z->layer = names;
	z->layer.n = (size_t)zip_get_num_entries(z->zip, 0);
	z->layer.next = zip_next;
	z->layer.close = zip_layer_close;
	layer_push(s, &z->layer);
	return 0;
}

int source_push_zip(struct source *s, const char *path, size_t skip, const char *shown,
		    const char *group, struct fault *f)
{
	zip_error_t error;
	int rc;

	zip_error_init(&error);
	rc = push(s, zip_source_file_create(path, skip, skip ? -1 : 0, &error), &error,
		  (struct layer){ .shown = shown, .group = group }, f);
	zip_error_fini(&error);
	return rc;
}

int source_push_zip_bytes(struct source *s, struct buf *bytes, const char *shown, const char *group,
			  struct fault *f)
{
	zip_error_t error;
	int rc;

	zip_error_init(&error);
	rc = push(s, zip_source_buffer_create(bytes->p, bytes->n, 0, &error), &error,
		  (struct layer){ .shown = shown, .group = group }, f);
	zip_error_fini(&error);
	if (rc >= 0) {
		((struct zip_layer *)s->top)->bytes = bytes->p;
		buf_init(bytes);
	}
	return rc;
}
