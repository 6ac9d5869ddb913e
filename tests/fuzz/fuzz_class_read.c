/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_class_read.c - any bytes as a class: it is read, or there is a fault that says where;
 * nothing else.
 *
 * What is read is checked, shown, elevated and lowered.  Lowering what was just elevated must give
 * back the same bytes; only frames may be written in a shorter form, and then a second time must
 * change nothing more. */
#include <stdlib.h>

#include "classfile/check/check.h"
#include "classfile/show/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

__attribute__((noinline)) static void must(bool held)
{
	if (!held)
		abort();
}

/* A failure, and only that, leaves a fault with a place in the file and a text. */
static void check_fault(int rc, const struct fault *f, size_t size)
{
	must(rc >= 0 ? f->code == 0 : f->code == rc && f->text[0]);
	must(rc >= 0 || (f->at >= -1 && f->at <= (long)size));
	must(rc != E_NO_MEMORY);
}

static bool has_frames(const struct code *code)
{
	for (uint32_t i = 0; i < code->n_tables; i++)
		if (code->tables[i].attr.kind == ATTR_STACK_MAP_TABLE)
			return true;
	return false;
}

/* Runs instead of single instructions must make no difference, nor telling them apart later. */
static void coarsely(struct class *cls, struct member *m, struct slice want)
{
	struct code *code;

	for (int expand = 0; expand < 2; expand++) {
		must(code_elevate_coarse(cls, m, &code, NULL) == 0);
		must(!expand || code_expand(code) == 0);
		must(code_lower(code, NULL) == 0);
		must(slice_eq(m->lowered, want));
	}
}

/* Elevates and lowers one method; 1: that changed it. */
static int through(struct class *cls, struct member *m)
{
	struct fault f = { 0 };
	struct code *code;
	int rc = code_elevate(cls, m, &code, &f);

	check_fault(rc, &f, cls->bytes.n);
	if (rc < 0)
		return 0;
	rc = code_check(code, &f);
	check_fault(rc, &f, cls->bytes.n);
	f = (struct fault){ 0 };
	rc = code_lower(code, &f);
	check_fault(rc, &f, cls->bytes.n);
	if (rc < 0)
		return 0;
	must(has_frames(code) ? m->lowered.n <= m->code.n : slice_eq(m->lowered, m->code));
	coarsely(cls, m, m->lowered);
	return !slice_eq(m->lowered, m->code);
}

static int all_through(struct class *cls)
{
	int changed = 0;

	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (cls->methods[i].code.p)
			changed += through(cls, &cls->methods[i]);
	return changed;
}

static void show(struct class *cls)
{
	struct show_options all = { .code = true, .pool = true, .hex = true };
	struct buf out = { 0 };
	struct json j = json_to(&out);

	show_class(cls, &all, &out);
	must(out.err == 0);
	for (size_t i = 0; i < out.n; i++)
		must(out.p[i] >= 0x20 || out.p[i] == '\n' || out.p[i] == '\t');
	buf_clear(&out);
	show_class_json(cls, &all, &j);
	must(out.err == 0);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { data, size };
	struct buf once = { 0 }, twice = { 0 };
	struct class *cls, *again;
	struct fault f = { 0 };
	struct arena mem;
	int rc;

	arena_init(&mem);
	rc = class_read(&mem, bytes, &cls, &f);
	check_fault(rc, &f, size);
	if (rc < 0)
		goto done;
	rc = class_check(cls, &f);
	check_fault(rc, &f, size);
	if (size % 8 == 0) /* takes longer than all the rest */
		show(cls);
	must(class_write(cls, &once) == 0 && slice_eq(buf_slice(&once), bytes));
	buf_clear(&once);
	if (all_through(cls)) {
		must(class_write(cls, &once) == 0);
		must(class_read(&mem, buf_slice(&once), &again, NULL) == 0);
		must(all_through(again) == 0);
		must(class_write(again, &twice) == 0);
		must(slice_eq(buf_slice(&once), buf_slice(&twice)));
		class_release(again);
	}
	class_release(cls);
done:
	buf_release(&once);
	buf_release(&twice);
	arena_release(&mem);
	return 0;
}
