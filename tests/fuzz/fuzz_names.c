/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_names.c - any bytes as a mangled name of Rust or C++, as what lists functions (perf-PID.map, kallsyms),
 * and as what is mapped.  The first byte says which. */
#include <stdlib.h>

#include "elf/cxx_name.h"
#include "elf/rust_name.h"
#include "outside/listed.h"
#include "sample/modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool held)
{
	if (!held)
		abort();
}

static void need_inside(struct slice part, struct slice all)
{
	need(!part.n || (part.p >= all.p && part.p + part.n <= all.p + all.n));
}

static void rust(struct slice in)
{
	struct buf symbol = { 0 }, out = { 0 };

	buf_text(&symbol, "_R");
	buf_put(&symbol, in);
	buf_text(&out, "before");
	if (!rust_name_put(&out, buf_slice(&symbol)))
		need(out.n == 6);
	/* one text may go over the end, by at most an identifier or a number */
	need(out.n < 6 + RUST_NAME_MAX + (symbol.n + 16) * 2);
	(void)cxx_name_is_modest(in);
	buf_release(&symbol);
	buf_release(&out);
}

static void list(struct slice in, bool (*add)(struct listed *, struct slice))
{
	struct listed l = { 0 };

	need(add(&l, in));
	listed_sort(&l);
	for (size_t i = 0; i < l.n; i++) {
		need(i == 0 || l.f[i - 1].start <= l.f[i].start);
		need_inside(l.f[i].name, in);
		(void)listed_find(&l, l.f[i].start);
		(void)listed_find(&l, l.f[i].start + l.f[i].size);
		(void)listed_find(&l, l.f[i].start - 1);
	}
	listed_release(&l);
}

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	(void)map;
	*file = *(const struct slice *)ctx;
	return file->n > 0;
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx;
	(void)file;
}

/* Behind the first NUL is the file that is mapped everywhere. */
static void mapped(struct slice in)
{
	const uint8_t *end = memchr(in.p, 0, in.n);
	size_t n = end ? (size_t)(end - in.p) : in.n;
	struct slice maps = { in.p, n }, rest = maps,
		     file = { in.p + n + (end != NULL), in.n - n - (end != NULL) };
	const struct modules_source source = { fetch, drop, &file };
	struct modules m;
	struct mapping one;

	while (modules_next_mapping(&rest, &one))
		need_inside(one.path, maps);
	(void)modules_digest(maps);
	if (modules_build(&m, maps, &source, NULL) < 0)
		return;
	for (size_t i = 0; i < m.n; i++)
		(void)modules_find(&m, m.m[i].lo);
	modules_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };

	if (size < 2)
		return 0;
	switch (data[0] & 3) {
	case 0:
		rust(in);
		break;
	case 1:
		list(in, listed_add_map);
		break;
	case 2:
		list(in, listed_add_kernel);
		break;
	default:
		mapped(in);
		break;
	}
	return 0;
}
