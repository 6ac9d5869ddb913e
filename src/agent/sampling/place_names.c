/* SPDX-License-Identifier: Apache-2.0 */
/* place_names.c - reads Method, ConstMethod, ConstantPool and Symbols through the kernel: a class may be
 * unloaded at any moment. */
#include "agent/sampling/place_names.h"

#include <stdio.h>

#include "agent/sampling/labels.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/scopes.h"
#include "sample/spot.h"
#include "wire/wire.h"

enum {
	NAME_MAX = 1 << 10, /* of one symbol; longer ones are cut off */
	ROUNDS_GOOD = 10,   /* so long a name is taken from memory */
};

void place_names_init(struct place_names *n, const struct vm_layout *layout)
{
	*n = (struct place_names){ .layout = layout };
	arena_init(&n->mem);
}

void place_names_release(struct place_names *n)
{
	map_release(&n->places);
	map_release(&n->methods);
	spot_cache_clear(&n->spots);
	arena_release(&n->mem);
}

void place_names_next_round(struct place_names *n, const struct modules *modules)
{
	n->round++;
	if (n->modules != modules)
		spot_cache_clear(&n->spots);
	n->modules = modules;
}

/* ---- methods ------------------------------------------------------------------------------- */

static bool put_symbol(const struct place_names *n, uint64_t symbol, bool is_class, struct buf *out)
{
	uint16_t length;
	uint8_t *p;

	if (!symbol || !peek(symbol + n->layout->name.symbol_length, &length, sizeof(length)))
		return false;
	length = length < NAME_MAX ? length : NAME_MAX;
	p = buf_room(out, length);
	if (!p || !length || !peek(symbol + n->layout->name.symbol_body, p, length))
		return false;
	for (unsigned i = 0; is_class && i < length; i++)
		p[i] = p[i] == '/' ? '.' : p[i];
	out->n += length;
	return true;
}

static uint64_t pool_entry(const struct place_names *n, uint64_t pool, uint64_t index_at)
{
	uint16_t index;

	if (!peek(index_at, &index, sizeof(index)) || !index)
		return 0;
	return peek_word(pool + n->layout->name.pool_size + 8 * (uint64_t)index);
}

/* "pkg.Class.name(desc)" */
static bool read_name(const struct place_names *n, uint64_t method, struct buf *out)
{
	const struct vm_layout *l = n->layout;
	uint64_t m = peek_word(method + l->name.const_method);
	uint64_t pool = m ? peek_word(m + l->name.constants) : 0;
	uint64_t klass = pool ? peek_word(pool + l->name.holder) : 0;

	if (!klass || !put_symbol(n, peek_word(klass + l->name.klass_name), true, out))
		return false;
	buf_u8(out, '.');
	return put_symbol(n, pool_entry(n, pool, m + l->name.name), false, out) &&
	       put_symbol(n, pool_entry(n, pool, m + l->name.signature), false, out) && !out->err;
}

struct method {
	uint64_t at;
	uint32_t round;
	struct slice name;
};

static struct slice name_of(struct place_names *n, uint64_t method)
{
	struct method *m;
	struct buf text = { 0 };
	uintptr_t *place = map_get(&n->methods, (struct slice){ (const uint8_t *)&method, 8 });

	m = place ? (struct method *)*place : arena_zero(&n->mem, sizeof(*m));
	if (!m)
		return (struct slice){ 0 };
	if (place && n->round - m->round < ROUNDS_GOOD)
		return m->name;
	m->at = method;
	m->round = n->round;
	if (!read_name(n, method, &text))
		m->name = (struct slice){ 0 };
	else if (!slice_eq(m->name, buf_slice(&text)))
		m->name = arena_dup(&n->mem, buf_slice(&text));
	buf_release(&text);
	place = place ? place : map_put(&n->methods, (struct slice){ (uint8_t *)&m->at, 8 }, NULL);
	if (place)
		*place = (uintptr_t)m;
	return m->name;
}

/* ---- places -------------------------------------------------------------------------------- */

/* The number of a place; 0: there are too many. */
static uint32_t number_of(struct place_names *n, const struct wire_stack_place *what,
			  struct buf *rows)
{
	struct wire_stack_place row = *what;
	struct buf key = { 0 };
	uint32_t number = 0;
	uintptr_t *place;
	struct slice kept;

	buf_u8(&key, what->kind);
	buf_put(&key, what->name);
	buf_bytes(&key, &what->address, sizeof(what->address));
	place = key.err ? NULL : map_get(&n->places, buf_slice(&key));
	if (place) {
		number = (uint32_t)*place;
	} else if (n->n < PLACES_MAX && (kept = arena_dup(&n->mem, buf_slice(&key))).p &&
		   (place = map_put(&n->places, kept, NULL))) {
		number = ++n->n;
		*place = number;
		row.id = number;
		wire_put_stack_place(rows, &row);
	}
	buf_release(&key);
	return number;
}

static void put(struct place_names *n, unsigned kind, struct slice name, uint64_t address,
		struct buf *numbers, struct buf *rows)
{
	const struct wire_stack_place row = { .kind = (uint8_t)kind,
					      .name = name,
					      .address = address };

	buf_u32(numbers, number_of(n, &row, rows));
}

static void put_method(struct place_names *n, unsigned kind, uint64_t method, struct buf *numbers,
		       struct buf *rows)
{
	struct slice name = name_of(n, method);

	if (name.n)
		put(n, kind, name, 0, numbers, rows);
	else
		put(n, PLACE_UNKNOWN, slice_str("method of an unloaded class"), 0, numbers, rows);
}

static unsigned kind_of_compiled(const struct place_names *n, const struct blob *blob)
{
	uint8_t level = 0;

	(void)peek(blob->at + n->layout->code.level, &level, sizeof(level));
	return level == 4 ? PLACE_C2 : PLACE_C1;
}

static void put_compiled(struct place_names *n, const struct blob *blob, uint64_t spot,
			 bool is_native, struct buf *numbers, struct buf *rows)
{
	struct scope scopes[SCOPES_MAX];
	size_t many;
	unsigned kind = is_native ? PLACE_JNI : kind_of_compiled(n, blob);

	many = is_native ? 0
			 : scopes_at(n->layout, blob, spot_address(spot),
				     spot_kind(spot) == SPOT_RETURN, scopes);
	for (size_t i = 0; i < many; i++)
		put_method(n, i + 1 < many ? PLACE_INLINED : kind, scopes[i].method, numbers, rows);
	if (!many)
		put_method(n, kind, peek_word(blob->at + n->layout->code.method), numbers, rows);
}

enum { BLOB_NAME = 80 };

/* What the JVM calls a piece of generated code.  PLACE_STUB; of a method PLACE_JNI, or PLACE_UNKNOWN: its
 * compiler is to be looked up. */
static unsigned read_blob_name(const struct place_names *n, const struct blob *blob,
			       char name[BLOB_NAME])
{
	uint64_t text = peek_word(blob->at + n->layout->code.name);

	memset(name, 0, BLOB_NAME);
	if (text && !peek(text, name, BLOB_NAME - 1)) /* it ends where a page does */
		for (size_t i = 0; i < BLOB_NAME - 1; i++)
			if (!peek(text + i, &name[i], 1) || !name[i])
				break;
	if (!name[0])
		snprintf(name, BLOB_NAME, "a stub of the JVM");
	return strcmp(name, "nmethod") == 0	     ? PLACE_UNKNOWN
	       : strcmp(name, "native nmethod") == 0 ? PLACE_JNI
						     : PLACE_STUB;
}

/* Code that the JVM has generated: of a method, or a stub, which has a name. */
static void put_generated(struct place_names *n, const struct blob *blob, uint64_t spot,
			  struct buf *numbers, struct buf *rows)
{
	char name[BLOB_NAME];
	unsigned kind = read_blob_name(n, blob, name);

	if (kind == PLACE_STUB)
		put(n, PLACE_STUB, slice_str(name), 0, numbers, rows);
	else
		put_compiled(n, blob, spot, kind == PLACE_JNI, numbers, rows);
}

unsigned place_names_code(struct place_names *n, const struct blob *blob, struct buf *out)
{
	char name[BLOB_NAME];
	unsigned kind = read_blob_name(n, blob, name);
	struct slice method = { 0 };

	if (kind == PLACE_STUB) {
		buf_text(out, name);
		return kind;
	}
	method = name_of(n, peek_word(blob->at + n->layout->code.method));
	if (method.n)
		buf_put(out, method);
	else
		buf_text(out, "method of an unloaded class");
	return kind == PLACE_JNI ? kind : kind_of_compiled(n, blob);
}

static void put_native(struct place_names *n, uint64_t spot, struct buf *numbers, struct buf *rows)
{
	uint64_t pc = spot_address(spot) - (spot_kind(spot) == SPOT_RETURN);
	const struct module *m = modules_find(n->modules, pc);

	if (m)
		put(n, PLACE_NATIVE, slice_str(m->file->path), pc - m->bias, numbers, rows);
	else
		put(n, PLACE_UNKNOWN, slice_str("unknown code"), 0, numbers, rows);
}

/* ---- code ---------------------------------------------------------------------------------- */

static bool is_interpreter(const struct place_names *n, uint64_t at)
{
	return at >= n->layout->heaps.interpreter && at < n->layout->heaps.interpreter_end;
}

static uint64_t method_of(const struct place_names *n, const struct blob *blob)
{
	return peek_word(blob->at + n->layout->code.method);
}

/* Is there still what was there?  Native code is, until the list of modules changes; of generated code
 * another piece may have come in the meantime. */
static bool holds(const struct place_names *n, struct spot_known *k)
{
	struct blob blob;

	if (k->checked == n->round || !k->blob.at)
		return true;
	k->checked = n->round;
	return n->round - k->round < ROUNDS_GOOD &&
	       heaps_find(&n->layout->heaps, spot_address(k->spot), &blob) &&
	       blob.at == k->blob.at && blob.code == k->blob.code && blob.end == k->blob.end &&
	       method_of(n, &blob) == k->method;
}

/* False: it is not worth keeping, since the code was replaced meanwhile. */
static bool put_code(struct place_names *n, struct spot_known *k, struct buf *numbers,
		     struct buf *rows)
{
	const struct heaps *h = &n->layout->heaps;
	uint64_t at = spot_address(k->spot);

	if (is_interpreter(n, at)) {
		put(n, PLACE_STUB, slice_str("interpreter"), 0, numbers, rows);
	} else if (heaps_find(h, at, &k->blob)) {
		k->method = method_of(n, &k->blob);
		put_generated(n, &k->blob, k->spot, numbers, rows);
	} else if (heaps_contain(h, at)) {
		put(n, PLACE_UNKNOWN, slice_str("code that is gone"), 0, numbers, rows);
		return false;
	} else {
		put_native(n, k->spot, numbers, rows);
	}
	return true;
}

static void put_known(struct place_names *n, uint64_t spot, struct buf *numbers, struct buf *rows)
{
	struct spot_known *known = spot_cache_get(&n->spots, spot);
	struct spot_known new = { .spot = spot, .round = n->round, .checked = n->round };
	size_t before = numbers->n;

	if (known && holds(n, known)) {
		buf_bytes(numbers, known->numbers, known->n);
		return;
	}
	if (!put_code(n, &new, numbers, rows) || numbers->err)
		return;
	new.numbers = numbers->p + before;
	new.n = (uint32_t)(numbers->n - before);
	spot_cache_put(&n->spots, &new);
}

void place_names_put(struct place_names *n, uint64_t spot, struct buf *numbers, struct buf *rows)
{
	uint64_t at = spot_address(spot);

	if (spot_kind(spot) == SPOT_LABEL)
		put(n, PLACE_CLASS, labels_name((uint32_t)at), 0, numbers, rows);
	else if (spot_kind(spot) == SPOT_METHOD)
		put_method(n, PLACE_INTERPRETED, at, numbers, rows);
	else
		put_known(n, spot, numbers, rows);
}
