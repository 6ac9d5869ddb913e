/* SPDX-License-Identifier: Apache-2.0 */
/* format_attr.c - format checking of attributes (JVMS 4.7).
 *
 * An attribute counts only in a place where it means something and from the version on that defines
 * it; elsewhere it is skipped like an unknown one, as in HotSpot.  Annotations are not looked into:
 * format checking leaves them to reflection (JVMS 4.8). */
#include "classfile/format.h"

#include "classfile/access.h"
#include "classfile/desc.h"

/* The version from which on HotSpot looks at it; 0: always. */
static const uint8_t since[ATTR_COUNT] = {
	[ATTR_LOCAL_VARIABLE_TYPE_TABLE] = JAVA_5,
	[ATTR_ENCLOSING_METHOD] = JAVA_5,
	[ATTR_SIGNATURE] = JAVA_5,
	[ATTR_ANNOTATION_DEFAULT] = JAVA_5,
	[ATTR_RUNTIME_VISIBLE_ANNOTATIONS] = JAVA_5,
	[ATTR_RUNTIME_INVISIBLE_ANNOTATIONS] = JAVA_5,
	[ATTR_RUNTIME_VISIBLE_PARAMETER_ANNOTATIONS] = JAVA_5,
	[ATTR_RUNTIME_INVISIBLE_PARAMETER_ANNOTATIONS] = JAVA_5,
	[ATTR_RUNTIME_VISIBLE_TYPE_ANNOTATIONS] = JAVA_5,
	[ATTR_RUNTIME_INVISIBLE_TYPE_ANNOTATIONS] = JAVA_5,
	[ATTR_STACK_MAP_TABLE] = JAVA_6,
	[ATTR_BOOTSTRAP_METHODS] = JAVA_7,
	[ATTR_NEST_HOST] = JAVA_11,
	[ATTR_NEST_MEMBERS] = JAVA_11,
	[ATTR_RECORD] = JAVA_16,
	[ATTR_PERMITTED_SUBCLASSES] = JAVA_17,
};

static bool is_module_attr(uint8_t kind)
{
	return kind >= ATTR_MODULE && kind <= ATTR_MODULE_RESOLUTION;
}

/* Does this attribute mean anything here?  place is a letter of attributes.def. */
static bool counts(const struct format *c, const struct attr *a, char place)
{
	const char *where = attr_table[a->kind].where;

	return a->kind != ATTR_UNKNOWN && (*where == place || strchr(where + 1, place)) &&
	       c->cls->major >= since[a->kind] &&
	       (!is_module_attr(a->kind) || format_is_module(c->cls)) &&
	       /* An instance field's value is ignored, whatever it is. */
	       (a->kind != ATTR_CONSTANT_VALUE || (c->member->access & ACC_STATIC));
}

/* May it stand there more than once?  HotSpot is laxer than the specification for the markers and
 * for type annotations of code. */
static bool may_repeat(uint8_t kind, char place)
{
	return kind == ATTR_SYNTHETIC || kind == ATTR_DEPRECATED ||
	       (place == 'K' && kind != ATTR_STACK_MAP_TABLE);
}

static bool is_annotation(uint8_t kind)
{
	return kind >= ATTR_RUNTIME_VISIBLE_ANNOTATIONS && kind <= ATTR_ANNOTATION_DEFAULT;
}

static int check_layout(const struct format *c, const struct attr *a)
{
	struct attr_visitor nothing = { 0 };
	struct fault inner;
	int rc;

	if (is_annotation(a->kind))
		return 0;
	inner.code = 0; /* the text need not be cleared */
	rc = attr_walk(a, c->pool, &nothing, &inner);
	return rc < 0 ? format_fail(c, a->data.p, rc, "%s", inner.text) : 0;
}

struct code_head {
	uint32_t length;
	uint16_t max_locals;
	bool has_frames;
	size_t n_vars, n_types; /* rows of LocalVariableTable and LocalVariableTypeTable */
};

static int check_lines(const struct format *c, const struct attr *a, const struct code_head *h)
{
	size_t n = a->data.n < 2 ? 0 : get_u16(a->data.p);

	if (a->data.n != 2 + 4 * n)
		return format_fail(c, a->data.p, E_LINES, "LineNumberTable has the wrong length");
	for (size_t i = 0; i < n; i++)
		if (get_u16(a->data.p + 2 + 4 * i) >= h->length)
			return format_fail(c, a->data.p + 2 + 4 * i, E_LINES,
					   "LineNumberTable names offset %u, behind the code",
					   get_u16(a->data.p + 2 + 4 * i));
	return 0;
}

static int check_var(const struct format *c, const uint8_t *row, bool types,
		     const struct code_head *h)
{
	uint16_t start = get_u16(row), length = get_u16(row + 2), name = get_u16(row + 4);
	uint16_t desc = get_u16(row + 6), slot = get_u16(row + 8);
	unsigned last = slot;

	if (start >= h->length || (uint32_t)start + length > h->length)
		return format_fail(c, row, E_VARS,
				   "a variable's range %u+%u is not inside the code", start,
				   length);
	if (!pool_is(c->pool, name, TAGS(CONST_UTF8)) || !pool_is(c->pool, desc, TAGS(CONST_UTF8)))
		return format_fail(c, row, E_VARS,
				   "a variable's name %u or type %u is not a Utf8 entry", name,
				   desc);
	if (!format_good(c, name, NAME_FIELD))
		return format_fail_entry(c, name, E_NAME, "is not a variable's name");
	if (!types) {
		if (!format_good(c, desc, NAME_FIELD_DESC))
			return format_fail_entry(c, desc, E_DESCRIPTOR,
						 "is not a variable's descriptor");
		last += desc_slots(pool_utf8(c->pool, desc)) - 1;
	}
	if (last >= h->max_locals)
		return format_fail(c, row, E_VARS,
				   "a variable in slot %u does not fit into %u locals", slot,
				   h->max_locals);
	return 0;
}

static int check_vars(const struct format *c, const struct attr *a, struct code_head *h)
{
	bool types = a->kind == ATTR_LOCAL_VARIABLE_TYPE_TABLE;
	size_t n = a->data.n < 2 ? 0 : get_u16(a->data.p);

	if (a->data.n != 2 + 10 * n)
		return format_fail(c, a->data.p, E_VARS, "%s has the wrong length",
				   attr_table[a->kind].name);
	for (size_t i = 0; i < n; i++) {
		int rc = check_var(c, a->data.p + 2 + 10 * i, types, h);

		if (rc < 0)
			return rc;
	}
	*(types ? &h->n_types : &h->n_vars) += n;
	return 0;
}

/* Start, length, name and slot of every variable in tables of this kind. */
static uint64_t *gather_vars(const struct format *c, const struct attrs *attrs, uint8_t kind,
			     uint64_t *to)
{
	struct attr a;

	for (const uint8_t *at = NULL; attrs_next(attrs, c->pool, &at, &a);) {
		if (a.kind != kind)
			continue;
		for (const uint8_t *p = a.data.p + 2; p < a.data.p + a.data.n; p += 10)
			*to++ = (get_u64(p) & ~(uint64_t)0xffff) | get_u16(p + 8);
	}
	return to;
}

/* Is each of the rows behind the first n_vars equal to one of those?  1, 0 or E_NO_MEMORY. */
static int types_have_vars(const uint64_t *rows, size_t n_vars, size_t n_types)
{
	struct map vars = { 0 };
	size_t found = 0;
	int rc = 1;

	if (n_vars + n_types <= FORMAT_FEW) {
		for (size_t i = n_vars; i < n_vars + n_types; i++)
			for (size_t j = 0; j < n_vars; j++)
				found += rows[i] == rows[j];
		return found == n_types;
	}
	for (size_t i = 0; i < n_vars && rc > 0; i++)
		if (!map_put(&vars, format_row_key(&rows[i]), NULL))
			rc = E_NO_MEMORY;
	for (size_t i = n_vars; i < n_vars + n_types && rc > 0; i++)
		rc = map_get(&vars, format_row_key(&rows[i])) != NULL;
	map_release(&vars);
	return rc;
}

/* All tables of a method count as one: no variable twice, and types only for variables in it. */
static int check_vars_differ(struct format *c, const struct attrs *attrs, const struct code_head *h)
{
	const uint8_t *at = c->member->bytes.p;
	uint64_t *types;
	int twin, match;

	if (!format_rows(c, h->n_vars + h->n_types))
		return format_no_memory(c);
	types = gather_vars(c, attrs, ATTR_LOCAL_VARIABLE_TABLE, c->rows);
	gather_vars(c, attrs, ATTR_LOCAL_VARIABLE_TYPE_TABLE, types);
	twin = format_twin(c->rows, h->n_vars);
	if (!twin)
		twin = format_twin(types, h->n_types);
	match = twin ? 1 : types_have_vars(c->rows, h->n_vars, h->n_types);
	if (twin < 0 || match < 0)
		return format_no_memory(c);
	if (twin)
		return format_fail(c, at, E_VARS, "row %d of the variable table is there twice",
				   twin);
	return match ? 0
		     : format_fail(c, at, E_VARS, "LocalVariableTypeTable has an unknown variable");
}

/* What is around the instructions.  These, the exception table and the frames are checked when the
 * code is elevated. */
static int check_code(struct format *c)
{
	struct slice code = c->member->code;
	struct reader r = rd_init(code);
	struct code_head h = { 0 };
	struct attrs attrs;
	struct attr a;
	int rc;

	rd_u16(&r); /* max_stack */
	h.max_locals = rd_u16(&r);
	h.length = rd_u32(&r);
	if (r.err || !h.length || h.length > 65535)
		return format_fail(c, code.p, E_CODE_LENGTH, "has %u bytes of code", h.length);
	if (c->slots > h.max_locals)
		return format_fail(c, code.p, E_ATTRIBUTE, "%u slots of arguments in %u locals",
				   c->slots, h.max_locals);
	rd_take(&r, h.length);
	rd_take(&r, 8 * (size_t)rd_u16(&r));
	if (r.err)
		return format_fail(c, code.p, E_TRUNCATED, "Code ends in its exception table");
	rc = attrs_read(&attrs, c->pool, &r, NULL);
	if (rc < 0 || rd_left(&r))
		return format_fail(c, r.p, rc < 0 ? rc : E_ATTRIBUTE, "Code has the wrong length");
	for (const uint8_t *at = NULL; rc >= 0 && attrs_next(&attrs, c->pool, &at, &a);) {
		if (!counts(c, &a, 'K'))
			continue;
		if (a.kind == ATTR_LINE_NUMBER_TABLE)
			rc = check_lines(c, &a, &h);
		else if (a.kind == ATTR_LOCAL_VARIABLE_TABLE ||
			 a.kind == ATTR_LOCAL_VARIABLE_TYPE_TABLE)
			rc = check_vars(c, &a, &h);
		else if (a.kind == ATTR_STACK_MAP_TABLE && h.has_frames)
			rc = format_fail(c, a.data.p, E_DUPLICATE, "has two StackMapTables");
		else
			rc = check_layout(c, &a);
		h.has_frames |= a.kind == ATTR_STACK_MAP_TABLE;
	}
	/* Types alone are not compared with anything. */
	if (rc >= 0 && h.n_vars && !(c->cls->major < JAVA_5))
		rc = check_vars_differ(c, &attrs, &h);
	return rc;
}

static int check_constant_value(const struct format *c, const struct attr *a)
{
	static const char types[] = "JFDIBCSZ";
	static const uint8_t tags[] = {
		CONST_LONG,    CONST_FLOAT,   CONST_DOUBLE,  CONST_INTEGER,
		CONST_INTEGER, CONST_INTEGER, CONST_INTEGER, CONST_INTEGER
	};
	struct slice desc = member_desc(c->cls, c->member);
	const char *type = strchr(types, desc.p[0]);
	uint8_t want = type ? tags[type - types] : 0;

	if (slice_is(desc, "Ljava/lang/String;"))
		want = CONST_STRING;
	if (a->data.n != 2)
		return format_fail(c, a->data.p, E_ATTRIBUTE, "ConstantValue is not 2 bytes long");
	if (!want || pool_tag(c->pool, get_u16(a->data.p)) != want)
		return format_fail(c, a->data.p, E_ATTRIBUTE,
				   "ConstantValue %u does not fit the field's type",
				   get_u16(a->data.p));
	return 0;
}

/* HotSpot overlooks two equal rows when, further up, two others name the same inner class. */
static int check_inner_rows_differ(struct format *c, const uint8_t *rows, uint32_t n)
{
	int twin;

	if (!format_rows(c, n))
		return format_no_memory(c);
	for (uint32_t i = 0; i < n; i++)
		c->rows[i] = get_u64(rows + 8 * (size_t)i);
	twin = format_twin(c->rows, n);
	if (twin < 0)
		return format_no_memory(c);
	return twin ? format_fail(c, rows + 8 * (size_t)twin, E_DUPLICATE,
				  "InnerClasses holds the same row twice")
		    : 0;
}

static int check_inner_classes(struct format *c, struct attr *a)
{
	unsigned modifiers = FORMAT_CLASS_FLAGS | ACC_PRIVATE | ACC_PROTECTED | ACC_STATIC;
	uint32_t n = a->data.n < 2 ? 0 : get_u16(a->data.p);
	int rc;

	if ((c->cls->major < JAVA_5) && a->data.n > 2 + 8 * (size_t)n)
		a->data.n = 2 + 8 * (size_t)n; /* bytes left over were not looked at */
	rc = check_layout(c, a);
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		const uint8_t *row = a->data.p + 2 + 8 * (size_t)i;
		uint16_t inner = get_u16(row), outer = get_u16(row + 2), flags = get_u16(row + 6);

		if (inner == outer)
			rc = format_fail(c, row, E_ATTRIBUTE,
					 "row %u of InnerClasses has a class in itself", i);
		else if (outer && format_is_array(pool_name(c->pool, outer)))
			rc = format_fail(c, row, E_ATTRIBUTE,
					 "row %u of InnerClasses has a class in an array", i);
		else if (!access_class_ok(c->cls->major, flags & modifiers) ||
			 (c->cls->major >= JAVA_9 && (flags & ACC_MODULE)))
			rc = format_fail(c, row, E_ACCESS,
					 "row %u of InnerClasses has contradictory flags 0x%04x", i,
					 flags);
	}
	return rc < 0 || n < 2 || (c->cls->major < JAVA_5)
		       ? rc
		       : check_inner_rows_differ(c, a->data.p + 2, n);
}

static int check_component(struct format *c, struct reader *r)
{
	const uint8_t *at = r->p;
	uint16_t name = rd_u16(r), desc = rd_u16(r);
	struct attrs attrs;
	uint64_t seen = 0;

	if (attrs_read(&attrs, c->pool, r, NULL) < 0)
		return format_fail(c, at, E_ATTRIBUTE, "Record ends too early");
	if (!pool_is(c->pool, name, TAGS(CONST_UTF8)) || !pool_is(c->pool, desc, TAGS(CONST_UTF8)))
		return format_fail(c, at, E_ATTRIBUTE,
				   "a record component's name %u or type %u is not a Utf8 entry",
				   name, desc);
	if (!format_good(c, name, NAME_FIELD))
		return format_fail_entry(c, name, E_NAME, "is not a record component's name");
	if (!format_good(c, desc, NAME_FIELD_DESC))
		return format_fail_entry(c, desc, E_DESCRIPTOR, "is not a field's descriptor");
	return format_attrs(c, &attrs, 'R', &seen);
}

static int check_record(struct format *c, const struct attr *a)
{
	struct reader r = rd_init(a->data);
	unsigned n = rd_u16(&r);
	int rc = 0;

	for (unsigned i = 0; i < n && rc >= 0; i++)
		rc = check_component(c, &r);
	if (rc >= 0 && (r.err || rd_left(&r)))
		return format_fail(c, a->data.p, E_ATTRIBUTE, "Record has the wrong length");
	return rc;
}

/* HotSpot leaves the names to reflection, too. */
static int check_parameters(const struct format *c, const struct attr *a)
{
	if (!a->data.n || a->data.n != 1 + 4 * (size_t)a->data.p[0])
		return format_fail(c, a->data.p, E_ATTRIBUTE,
				   "MethodParameters has the wrong length");
	return 0;
}

static int check_attr(struct format *c, struct attr *a)
{
	switch (a->kind) {
	case ATTR_CODE:
		return check_code(c);
	case ATTR_CONSTANT_VALUE:
		return check_constant_value(c, a);
	case ATTR_INNER_CLASSES:
		return check_inner_classes(c, a);
	case ATTR_RECORD:
		return check_record(c, a);
	case ATTR_METHOD_PARAMETERS:
		return check_parameters(c, a);
	case ATTR_BOOTSTRAP_METHODS:
		if (a->data.n >= 2 && get_u16(a->data.p) <= c->bootstrap_max)
			return format_fail(
				c, a->data.p, E_ATTRIBUTE,
				"BootstrapMethods has %u entries, but entry %d is asked for",
				get_u16(a->data.p), c->bootstrap_max);
		return check_layout(c, a);
	case ATTR_PERMITTED_SUBCLASSES:
		if (c->cls->access & ACC_FINAL)
			return format_fail(c, a->data.p, E_ATTRIBUTE,
					   "a final class has the attribute PermittedSubclasses");
		return check_layout(c, a);
	default:
		return check_layout(c, a);
	}
}

int format_attrs(struct format *c, const struct attrs *attrs, char place, uint64_t *seen)
{
	_Static_assert(ATTR_COUNT <= 64, "one bit for each kind");
	struct attr a;
	int rc = 0;

	for (const uint8_t *at = NULL; rc >= 0 && attrs_next(attrs, c->pool, &at, &a);) {
		uint64_t bit = (uint64_t)1 << a.kind;

		if (!counts(c, &a, place))
			continue;
		if ((*seen & bit) && !may_repeat(a.kind, place))
			return format_fail(c, a.data.p, E_DUPLICATE, "has two attributes %s",
					   attr_table[a.kind].name);
		*seen |= bit;
		rc = check_attr(c, &a);
	}
	return rc;
}
