/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - goes over the instructions; an operand that is a pool index is replaced by what lies
 * there (FNV-1a over all of it).  Where the bytes are no code, they count as they are. */
#include "classfile/digest.h"

#include "classfile/op.h"

enum { DEPTH_MAX = 5 }; /* MethodHandle, Methodref, NameAndType, Utf8 is the longest chain */

struct digest {
	const struct pool *pool;
	uint64_t hash;
};

static void add(struct digest *d, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d->hash = (d->hash ^ p[i]) * 0x100000001b3u;
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

uint64_t code_digest(const struct pool *p, struct slice code)
{
	struct digest d = { p, 0xcbf29ce484222325u };

	for (size_t at = 0; at < code.n;) {
		const uint8_t *insn = code.p + at;
		size_t size = size_at(insn, at, code.n - at);

		switch (op_table[*insn].format) {
		case OP_FORMAT_POOL1:
			add(&d, insn, 1);
			if (size > 1)
				add_constant(&d, insn[1], 0);
			break;
		case OP_FORMAT_POOL2:
		case OP_FORMAT_IFACE:
		case OP_FORMAT_INDY:
		case OP_FORMAT_MULTI:
			add(&d, insn, 1);
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
