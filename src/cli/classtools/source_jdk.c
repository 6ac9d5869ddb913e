/* SPDX-License-Identifier: Apache-2.0 */
/* source_jdk.c - the layer for the classes of a JDK, in the order in which they lie in its module
 * image. */
#include "cli/classtools/source_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/attach/jdk.h"
#include "cli/classtools/jimage.h"

struct image_layer {
	struct layer layer;
	struct jimage image;
	struct place {
		uint64_t offset;
		uint32_t slot;
	} * places;
};

static int by_offset(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static int image_next(struct source *s, struct layer *l, struct source_class *out, struct fault *f)
{
	struct image_layer *img = (struct image_layer *)l;
	struct jimage_entry e;
	char name[PATH_MAX], module[256];
	int rc, n;

	if (l->at == l->n)
		return 0;
	jimage_entry(&img->image, img->places[l->at++].slot, &e); /* was good when opened */
	n = snprintf(name, sizeof(name), "%.*s%s%.*s.class", SLICE_FMT(e.parent),
		     e.parent.n ? "/" : "", SLICE_FMT(e.base));
	if (n < 0 || (size_t)n >= sizeof(name) || e.module.n >= sizeof(module))
		return fault_set(f, E_LIMIT, -1, "%s: a name is too long", l->shown);
	if (!source_wants(s, name))
		return LAYER_AGAIN;
	snprintf(module, sizeof(module), "%.*s", SLICE_FMT(e.module));
	rc = source_name(s, l, module, name, out);
	if (rc < 0)
		return fault_set(f, rc, -1, "out of memory");
	if (e.size > SOURCE_CLASS_MAX)
		return fault_set(f, E_LIMIT, -1, "%s: larger than %d MiB", out->shown,
				 SOURCE_CLASS_MAX >> 20);
	rc = jimage_bytes(&img->image, &e, &out->bytes, NULL);
	if (rc == E_UNSUPPORTED) {
		l->at = l->n; /* the others are no better */
		return fault_set(f, rc, -1,
				 "%s: compressed in the module image (jlink --compress), "
				 "which is not supported",
				 out->shown);
	}
	if (rc < 0)
		return fault_set(f, rc, -1, "%s: %s", out->shown,
				 "reaches past the end of the image");
	return 1;
}

static void image_close(struct layer *l)
{
	struct image_layer *img = (struct image_layer *)l;

	jimage_close(&img->image);
	mem_free(img->places);
}

static int collect(struct image_layer *img, const char *module, struct fault *f)
{
	struct jimage_entry e;
	size_t damaged = 0;

	img->places = mem_alloc((img->image.n ? img->image.n : 1) * sizeof(*img->places));
	if (!img->places)
		return fault_no_memory(f);
	for (uint32_t i = 0; i < img->image.n; i++) {
		int rc = jimage_entry(&img->image, i, &e);

		damaged += rc < 0;
		if (rc <= 0 || !slice_is(e.extension, "class") ||
		    (module && !slice_is(e.module, module)))
			continue;
		img->places[img->layer.n++] = (struct place){ e.offset, i };
	}
	if (damaged)
		return fault_set(f, E_TRUNCATED, -1, "%s: %zu damaged entr%s in the module image",
				 img->layer.shown, damaged, damaged == 1 ? "y" : "ies");
	if (!img->layer.n && module)
		return fault_set(f, E_NOT_FOUND, -1, "%s: no module %s", img->layer.shown, module);
	qsort(img->places, img->layer.n, sizeof(*img->places), by_offset);
	return 0;
}

int source_push_image(struct source *s, const char *path, const char *shown, const char *module,
		      struct fault *f)
{
	struct image_layer *img = arena_zero(&s->mem, sizeof(*img));
	int rc;

	if (!img || !shown)
		return fault_no_memory(f);
	img->layer.shown = shown;
	img->layer.group = "";
	img->layer.next = image_next;
	img->layer.close = image_close;
	rc = jimage_open(&img->image, path, f);
	if (rc < 0)
		return rc;
	rc = collect(img, module, f);
	if (rc < 0)
		image_close(&img->layer);
	else
		layer_push(s, &img->layer);
	return rc;
}

/* Splits "java.base/java/lang/String.class" behind the JDK's place. */
static int push_home(struct source *s, const struct jdk *jdk, const char *shown, const char *rest,
		     struct fault *f)
{
	const char *path = source_join(s, jdk->home, "/lib/modules", NULL), *module = NULL, *slash;

	while (*rest == '/')
		rest++;
	slash = strchr(rest, '/');
	if (*rest) {
		size_t n = slash ? (size_t)(slash - rest) : strlen(rest);

		module = arena_str(&s->mem, (struct slice){ (const uint8_t *)rest, n });
		if (!module)
			return fault_no_memory(f);
	}
	if (slash && slash[1]) {
		char *want = arena_str(&s->mem, slice_str(slash + 1));
		size_t n = strlen(slash + 1);

		if (want && n > 6 && strcmp(want + n - 6, ".class") == 0)
			want[n - 6] = '\0';
		s->want_here = want;
	}
	if (!path)
		return fault_no_memory(f);
	return source_push_image(s, path, shown, module, f);
}

int source_push_jdk(struct source *s, const char *spec, struct fault *f)
{
	struct jdk jdk;
	char *path, *slash;
	int rc;

	if (strncmp(spec, "jdk", 3) == 0) {
		char *end = (char *)(uintptr_t)spec + 3;
		unsigned version = isdigit((unsigned char)*end) ? (unsigned)strtoul(end, &end, 10)
								: 0;

		if (*end == '\0' || *end == '/') {
			char shown[32];

			rc = jdk_find(version, &jdk, f);
			snprintf(shown, sizeof(shown), version ? "@jdk%u/" : "@jdk/", version);
			return rc < 0 ? rc
				      : push_home(s, &jdk, source_join(s, shown, NULL), end, f);
		}
	}
	path = arena_str(&s->mem, slice_str(spec));
	while (path && *path) {
		size_t n = strlen(path);

		if (n > 1 && path[n - 1] == '/') {
			path[n - 1] = '\0';
			continue;
		}
		if (jdk_at(path, &jdk))
			return push_home(s, &jdk, source_join(s, "@", path, "/", NULL),
					 spec + strlen(path), f);
		slash = strrchr(path, '/');
		*(slash ? slash : path) = '\0';
	}
	return fault_set(f, E_NOT_FOUND, -1, "@%s: no JDK there (no lib/modules)", spec);
}
