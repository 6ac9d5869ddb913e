/* SPDX-License-Identifier: Apache-2.0 */
/* show_pool.c - constants, as operands and as the list of the pool. */
#include "classfile/show/show_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const tags[] = {
	[CONST_UTF8] = "Utf8",
	[CONST_INTEGER] = "Integer",
	[CONST_FLOAT] = "Float",
	[CONST_LONG] = "Long",
	[CONST_DOUBLE] = "Double",
	[CONST_CLASS] = "Class",
	[CONST_STRING] = "String",
	[CONST_FIELDREF] = "Fieldref",
	[CONST_METHODREF] = "Methodref",
	[CONST_INTERFACE_METHODREF] = "InterfaceMethodref",
	[CONST_NAME_AND_TYPE] = "NameAndType",
	[CONST_METHOD_HANDLE] = "MethodHandle",
	[CONST_METHOD_TYPE] = "MethodType",
	[CONST_DYNAMIC] = "Dynamic",
	[CONST_INVOKE_DYNAMIC] = "InvokeDynamic",
	[CONST_MODULE] = "Module",
	[CONST_PACKAGE] = "Package",
};

const char *show_tag(uint8_t tag)
{
	return tag < COUNT(tags) && tags[tag] ? tags[tag] : "unusable";
}

/* JVMS table 4.4.8-A */
static const char *const handle_kinds[] = {
	"?",
	"getField",
	"getStatic",
	"putField",
	"putStatic",
	"invokeVirtual",
	"invokeStatic",
	"invokeSpecial",
	"newInvokeSpecial",
	"invokeInterface",
};

/* With as few digits as give the same number again. */
static void show_float(struct buf *out, double v, bool single)
{
	char text[40], suffix = single ? 'f' : 'd';

	if (isnan(v)) {
		buf_printf(out, "NaN%c", suffix);
		return;
	}
	if (isinf(v)) {
		buf_printf(out, "%sInfinity%c", v < 0 ? "-" : "", suffix);
		return;
	}
	for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v)
			break;
	}
	buf_printf(out, "%s%c", text, suffix);
}

static void show_number(struct buf *out, const uint8_t *entry)
{
	uint32_t four = get_u32(entry + 1);
	uint64_t eight;
	double d;
	float f;

	switch (entry[0]) {
	case CONST_INTEGER:
		buf_printf(out, "%d", (int32_t)four);
		return;
	case CONST_FLOAT:
		memcpy(&f, &four, 4);
		show_float(out, (double)f, true);
		return;
	case CONST_LONG:
		buf_printf(out, "%lldL", (long long)get_u64(entry + 1));
		return;
	default:
		eight = get_u64(entry + 1);
		memcpy(&d, &eight, 8);
		show_float(out, d, false);
	}
}

static void show_ref(struct buf *out, const struct pool *p, uint32_t i)
{
	struct pool_ref ref;

	pool_ref(p, i, &ref);
	if (ref.owner.n) {
		show_name(out, ref.owner);
		buf_u8(out, '.');
	}
	show_name(out, ref.name);
	if (!ref.desc.n || ref.desc.p[0] != '(')
		buf_u8(out, ' ');
	show_name(out, ref.desc);
	if (pool_is(p, i, TAGS(CONST_DYNAMIC) | TAGS(CONST_INVOKE_DYNAMIC)))
		buf_printf(out, " by bootstrap method %u", ref.bootstrap);
}

void show_const(struct buf *out, const struct pool *p, uint32_t i)
{
	switch (pool_tag(p, i)) {
	case CONST_UTF8:
		show_name(out, pool_utf8(p, i));
		break;
	case CONST_INTEGER:
	case CONST_FLOAT:
	case CONST_LONG:
	case CONST_DOUBLE:
		show_number(out, p->at[i]);
		break;
	case CONST_STRING:
		show_quoted(out, pool_name(p, i));
		break;
	case CONST_CLASS:
	case CONST_MODULE:
	case CONST_PACKAGE:
	case CONST_METHOD_TYPE:
		show_name(out, pool_name(p, i));
		break;
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		show_ref(out, p, i);
		break;
	case CONST_NAME_AND_TYPE:
		show_name(out, pool_utf8(p, pool_first(p, i)));
		buf_u8(out, ' ');
		show_name(out, pool_utf8(p, pool_second(p, i)));
		break;
	case CONST_METHOD_HANDLE:
		buf_printf(out, "%s ",
			   p->at[i][1] < COUNT(handle_kinds) ? handle_kinds[p->at[i][1]] : "?");
		show_const(out, p, get_u16(p->at[i] + 2));
		break;
	default:
		buf_printf(out, "no constant %u", i);
	}
}

/* The entries that an entry holds: "#2.#3". */
static void show_indices(struct buf *out, const struct pool *p, uint32_t i)
{
	switch (pool_tag(p, i)) {
	case CONST_CLASS:
	case CONST_STRING:
	case CONST_METHOD_TYPE:
	case CONST_MODULE:
	case CONST_PACKAGE:
		buf_printf(out, "#%u", pool_first(p, i));
		break;
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
	case CONST_NAME_AND_TYPE:
		buf_printf(out, "#%u.#%u", pool_first(p, i), pool_second(p, i));
		break;
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		buf_printf(out, "%u:#%u", pool_first(p, i), pool_second(p, i));
		break;
	case CONST_METHOD_HANDLE:
		buf_printf(out, "%u:#%u", p->at[i][1], get_u16(p->at[i] + 2));
		break;
	default:
		break;
	}
}

void show_pool(const struct show *s)
{
	const struct pool *p = &s->cls->pool;

	buf_printf(s->out, "\nconstant pool of %u:\n", p->n - 1);
	for (uint32_t i = 1; i < p->n; i++) {
		size_t start = s->out->n;

		if (!pool_tag(p, i))
			continue;
		buf_printf(s->out, "  %5u  %-18s  ", i, show_tag(pool_tag(p, i)));
		show_indices(s->out, p, i);
		while (s->out->n - start < 42 && !s->out->err)
			buf_u8(s->out, ' ');
		show_const(s->out, p, i);
		buf_u8(s->out, '\n');
	}
}
