/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - goes over the instructions; an operand that is a pool index is replaced by what lies
 * there (FNV-1a over all of it).  Where the bytes are no code, they count as they are.
 *
 * When HotSpot moves a constant behind index 255, it makes an ldc_w of each ldc of it, and moves
 * branch targets and the padding of switches.  So both count as ldc, padding not at all, and
 * offsets less the bytes that are too many: those have a bit set in `extra`. */
#include "classfile/digest.h"

#include "base/fnv.h"
#include "classfile/op.h"

enum {
	DEPTH_MAX = 5, /* MethodHandle, Methodref, NameAndType, Utf8 is the longest chain */
	CODE_MAX = 65535,
};

struct digest {
	const struct pool *pool;
	uint64_t hash;
	bool has_extra; /* else the bits are not there */
	uint64_t extra[CODE_MAX / 64 + 1];
};

static void add(struct digest *d, const uint8_t *p, size_t n)
{
	d->hash = fnv_add(d->hash, p, n);
}

static void add_constant(struct digest *d, uint32_t i, int depth)
{
	const uint8_t *e = i < d->pool->n ? d->pool->at[i] : NULL;

	if (!e || depth > DEPTH_MAX)
		return;
	add(d, e, 1);
	switch (*e) {
	case CONST_CLASS:
	case CONST_STRING:
	case CONST_METHOD_TYPE:
	case CONST_MODULE:
	case CONST_PACKAGE:
		add_constant(d, get_u16(e + 1), depth + 1);
		break;
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
	case CONST_NAME_AND_TYPE:
		add_constant(d, get_u16(e + 1), depth + 1);
		add_constant(d, get_u16(e + 3), depth + 1);
		break;
	case CONST_METHOD_HANDLE:
		add(d, e + 1, 1);
		add_constant(d, get_u16(e + 2), depth + 1);
		break;
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		add(d, e + 1, 2); /* the bootstrap method keeps its number */
		add_constant(d, get_u16(e + 3), depth + 1);
		break;
	default:
		add(d, e, pool_entry_size(e));
	}
}

static size_t switch_size(const uint8_t *p, size_t at, size_t left)
{
	size_t pad = 1 + (3 - at % 4), need = pad + 12;
	uint64_t n;

	if (left < pad + 12 - (*p == OP_LOOKUPSWITCH ? 4 : 0))
		return left;
	if (*p == OP_LOOKUPSWITCH) {
		n = get_u32(p + pad + 4);
		need = pad + 8;
		return n > left / 8 || need + 8 * n > left ? left : need + 8 * (size_t)n;
	}
	n = (uint64_t)((int64_t)(int32_t)get_u32(p + pad + 8) - (int32_t)get_u32(p + pad + 4) + 1);
	return n > left / 4 || need + 4 * n > left ? left : need + 4 * (size_t)n;
}

static size_t size_at(const uint8_t *p, size_t at, size_t left)
{
	size_t size = op_table[*p].size;

	if (op_table[*p].format == OP_FORMAT_TSWITCH || op_table[*p].format == OP_FORMAT_LSWITCH)
		size = switch_size(p, at, left);
	else if (op_table[*p].format == OP_FORMAT_WIDE && left >= 2)
		size = p[1] == OP_IINC ? 6 : 4;
	return size && size <= left ? size : left;
}

size_t code_insn_size(struct slice code, size_t at)
{
	return at < code.n ? size_at(code.p + at, at, code.n - at) : 0;
}

static bool is_switch(uint8_t op)
{
	return op_table[op].format == OP_FORMAT_TSWITCH || op_table[op].format == OP_FORMAT_LSWITCH;
}

/* Marks the bytes that another index would not need, or need more of. */
static void mark_extra(struct digest *d, struct slice code)
{
	if (code.n > CODE_MAX ||
	    (!memchr(code.p, OP_LDC_W, code.n) && !memchr(code.p, OP_TABLESWITCH, code.n) &&
	     !memchr(code.p, OP_LOOKUPSWITCH, code.n)))
		return;
	d->has_extra = true;
	memset(d->extra, 0, code.n / 8 + 8);
	for (size_t at = 0; at < code.n;) {
		size_t size = size_at(code.p + at, at, code.n - at), from = at + 1, n = 0;

		if (code.p[at] == OP_LDC_W)
			n = 1;
		else if (is_switch(code.p[at]))
			n = 3 - at % 4;
		for (; n && from < code.n; n--, from++)
			d->extra[from / 64] |= (uint64_t)1 << from % 64;
		at += size;
	}
}

/* How many bytes in [from, to) are marked. */
static int64_t marked(const struct digest *d, size_t from, size_t to)
{
	int64_t n = 0;

	while (from < to) {
		size_t room = 64 - from % 64, take = to - from < room ? to - from : room;
		uint64_t bits = d->extra[from / 64] >> from % 64;

		n += __builtin_popcountll(take < 64 ? bits & (((uint64_t)1 << take) - 1) : bits);
		from += take;
	}
	return n;
}

/* A branch of the instruction at `at`, as if there were no such bytes. */
static void add_branch(struct digest *d, size_t at, int64_t offset, size_t end)
{
	int64_t to = (int64_t)at + offset;
	uint8_t bytes[4];

	if (d->has_extra && to >= 0 && (uint64_t)to <= end)
		offset -= offset < 0 ? -marked(d, (size_t)to, at) : marked(d, at, (size_t)to);
	put_u32(bytes, (uint32_t)offset);
	add(d, bytes, 4);
}

/* A switch of that size: its offsets as branches, and what lies between them as it is. */
static void add_switch(struct digest *d, struct slice code, size_t at, size_t size)
{
	const uint8_t *p = code.p + at;
	size_t pad = 1 + (3 - at % 4), fixed = *p == OP_LOOKUPSWITCH ? 8 : 12;
	bool pairs = *p == OP_LOOKUPSWITCH;

	add(d, p, 1);
	if (size < pad + fixed) {
		add(d, p, size);
		return;
	}
	add_branch(d, at, (int32_t)get_u32(p + pad), code.n);
	add(d, p + pad + 4, fixed - 4);
	for (size_t i = pad + fixed; i + (pairs ? 8 : 4) <= size; i += pairs ? 8 : 4) {
		if (pairs)
			add(d, p + i, 4);
		add_branch(d, at, (int32_t)get_u32(p + i + (pairs ? 4 : 0)), code.n);
	}
}

uint64_t code_digest(const struct pool *p, struct slice code)
{
	struct digest d;

	d.pool = p;
	d.hash = FNV_START;
	d.has_extra = false;
	mark_extra(&d, code);
	for (size_t at = 0; at < code.n;) {
		const uint8_t *insn = code.p + at;
		size_t size = size_at(insn, at, code.n - at);
		uint8_t ldc = OP_LDC;

		switch (op_table[*insn].format) {
		case OP_FORMAT_BR2:
		case OP_FORMAT_BR4:
			add(&d, insn, 1);
			if (size == 3)
				add_branch(&d, at, (int16_t)get_u16(insn + 1), code.n);
			else if (size == 5)
				add_branch(&d, at, (int32_t)get_u32(insn + 1), code.n);
			break;
		case OP_FORMAT_TSWITCH:
		case OP_FORMAT_LSWITCH:
			add_switch(&d, code, at, size);
			break;
		case OP_FORMAT_POOL1:
			add(&d, insn, 1);
			if (size > 1)
				add_constant(&d, insn[1], 0);
			break;
		case OP_FORMAT_POOL2:
		case OP_FORMAT_IFACE:
		case OP_FORMAT_INDY:
		case OP_FORMAT_MULTI:
			add(&d, *insn == OP_LDC_W ? &ldc : insn, 1);
			if (size > 2) {
				add_constant(&d, get_u16(insn + 1), 0);
				add(&d, insn + 3, size - 3);
			}
			break;
		default:
			add(&d, insn, size);
		}
		at += size;
	}
	return d.hash | 1;
}

static bool is_member_of(const struct pool *p, uint32_t i, struct slice class)
{
	const uint8_t *e = i < p->n ? p->at[i] : NULL;
	const uint8_t *c, *name;

	if (!e ||
	    (*e != CONST_METHODREF && *e != CONST_FIELDREF && *e != CONST_INTERFACE_METHODREF))
		return false;
	c = get_u16(e + 1) < p->n ? p->at[get_u16(e + 1)] : NULL;
	name = c && *c == CONST_CLASS && get_u16(c + 1) < p->n ? p->at[get_u16(c + 1)] : NULL;
	return name && *name == CONST_UTF8 &&
	       slice_eq((struct slice){ name + 3, get_u16(name + 1) }, class);
}

bool code_uses_class(const struct pool *p, struct slice code, struct slice class)
{
	for (size_t at = 0; at < code.n;) {
		const uint8_t *insn = code.p + at;
		size_t size = size_at(insn, at, code.n - at);
		unsigned format = op_table[*insn].format;

		if ((format == OP_FORMAT_POOL2 || format == OP_FORMAT_IFACE) && size > 2 &&
		    is_member_of(p, get_u16(insn + 1), class))
			return true;
		at += size;
	}
	return false;
}
