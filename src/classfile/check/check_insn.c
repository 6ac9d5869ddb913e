/* SPDX-License-Identifier: Apache-2.0 */
/* check_insn.c - what one instruction does to the types of locals and stack (JVMS 4.10.1.9). */
#include "classfile/check/check_priv.h"

/* ---- stack and locals ---- */

/* One that is initialized. */
static int pop_object(struct check *c)
{
	return check_pop(c, ct_known(CT_OBJECT_CLASS));
}

/* Copies the top n slots below the next `under`, as the family of dup does.  Neither cut may go
 * through a long or double. */
static int dup_slots(struct check *c, uint32_t n, uint32_t under)
{
	uint32_t all = n + under;
	ctype *top = c->stack + c->depth;

	if (c->depth < all)
		return check_fail(c, "needs %u slots on the stack, finds %u", all, c->depth);
	if (ct_is_upper(top[-(int)n]) || ct_is_upper(top[-(int)all]))
		return check_fail(c, "would cut a long or double into halves");
	for (uint32_t i = 1; i <= all; i++)
		if (top[-(int)i] == CT_TOP)
			return check_bad_pop(c, "a value");
	if (c->depth + n > c->code->max_stack)
		return check_overflow(c);
	for (uint32_t i = 1; i <= all; i++)
		top[(int)n - (int)i] = top[-(int)i];
	memcpy(top - all, top, n * sizeof(*top));
	c->depth += n;
	return 0;
}

static int pop_slots(struct check *c, uint32_t n)
{
	if (c->depth < n)
		return check_bad_pop(c, "a value");
	if (ct_is_upper(c->stack[c->depth - n]))
		return check_fail(c, "would cut a long or double into halves");
	for (uint32_t i = 1; i <= n; i++)
		if (c->stack[c->depth - i] == CT_TOP)
			return check_bad_pop(c, "a value");
	c->depth -= n;
	return 0;
}

static int swap(struct check *c)
{
	ctype *top = c->stack + c->depth, t;

	if (c->depth < 2 || ct_is_upper(top[-1]) || ct_is_upper(top[-2]) || !top[-1] || !top[-2])
		return check_fail(c, "needs two values of one slot each");
	t = top[-1];
	top[-1] = top[-2];
	top[-2] = t;
	return 0;
}

static inline int local_is(struct check *c, uint32_t slot, ctype t)
{
	char want[CT_TEXT];

	if (__builtin_expect(slot >= c->n_locals || c->locals[slot] != t, 0))
		return check_bad_local(c, slot, ct_text(c->pool, t, want));
	return 0;
}

static int aload(struct check *c, uint32_t slot)
{
	if (slot >= c->n_locals || !ct_is_reference(c->locals[slot]))
		return check_bad_local(c, slot, "a reference");
	return check_push1(c, c->locals[slot]);
}

static int astore(struct check *c, uint32_t slot)
{
	ctype t;

	if (!c->depth)
		return check_bad_pop(c, "a reference");
	t = c->stack[c->depth - 1];
	if (!ct_is_reference(t) && ct_kind(t) != CT_RETURN)
		return check_bad_pop(c, "a reference");
	if (t == CT_UNINIT_THIS || ct_kind(t) == CT_UNINIT)
		c->local_uninit = true;
	c->depth--;
	return check_set_local(c, slot, t);
}

static int store(struct check *c, uint32_t slot, ctype t)
{
	int rc = check_pop_prim(c, t);

	return rc < 0 ? rc : check_set_local(c, slot, t);
}

/* iload to dload and istore to dstore, by their order: int, long, float, double. */
static const uint8_t prim_order[4] = { CT_INT, CT_LONG, CT_FLOAT, CT_DOUBLE };

static int load(struct check *c, uint32_t slot, unsigned which)
{
	ctype t = prim_order[which];
	int rc = local_is(c, slot, t);

	return rc < 0 ? rc : check_push(c, t);
}

/* ---- arrays ---- */

/* Pops an index and an array of primitives with this letter. */
static int pop_prim_array(struct check *c, char letter)
{
	int rc = check_pop_prim(c, CT_INT);
	ctype want = ct_prims(1, letter), top;
	char text[CT_TEXT];

	if (rc < 0)
		return rc;
	top = c->depth ? c->stack[c->depth - 1] : CT_TOP;
	if (top != want && top != CT_NULL && !(letter == 'B' && top == ct_prims(1, 'Z')))
		return check_bad_pop(c, ct_text(c->pool, want, text));
	c->depth--;
	return 0;
}

/* Pops an index and an array of references. */
static int pop_object_array(struct check *c, ctype *array)
{
	int rc = check_pop_prim(c, CT_INT);
	ctype top;

	if (rc < 0)
		return rc;
	top = c->depth ? c->stack[c->depth - 1] : CT_TOP;
	if (top != CT_NULL &&
	    (ct_kind(top) < CT_PRIMS || ct_dims(top) <= (ct_kind(top) == CT_PRIMS)))
		return check_bad_pop(c, "an array of references");
	c->depth--;
	*array = top;
	return 0;
}

static const char array_letter[8] = { 'I', 'J', 'F', 'D', 0, 'B', 'C', 'S' };
static const uint8_t array_slot[8] = { CT_INT, CT_LONG, CT_FLOAT, CT_DOUBLE,
				       0,      CT_INT,	CT_INT,	  CT_INT };

static int array_load(struct check *c, unsigned which)
{
	ctype array;
	int rc;

	if (!array_letter[which]) {
		rc = pop_object_array(c, &array);
		if (rc < 0)
			return rc;
		if (array != CT_NULL)
			array = ct_with_dims(array, ct_dims(array) - 1);
		return check_push1(c, array);
	}
	rc = pop_prim_array(c, array_letter[which]);
	return rc < 0 ? rc : check_push(c, array_slot[which]);
}

static int array_store(struct check *c, unsigned which)
{
	ctype array;
	int rc = array_letter[which] ? check_pop_prim(c, array_slot[which]) : pop_object(c);

	if (rc < 0)
		return rc;
	return array_letter[which] ? pop_prim_array(c, array_letter[which])
				   : pop_object_array(c, &array);
}

static int array_length(struct check *c)
{
	ctype t;
	int rc = check_pop_any(c, &t);

	if (rc < 0)
		return rc;
	if (t != CT_NULL && !ct_dims(t)) {
		c->depth++;
		return check_bad_pop(c, "an array");
	}
	return check_push1(c, CT_INT);
}

/* The class that an instruction names. */
static int named_class(struct check *c, ctype *out)
{
	*out = ct_class(c->pool, c->at->index);
	if (*out == CT_TOP)
		return check_fail(c, "constant %u is not a class", c->at->index);
	return 0;
}

static int new_array(struct check *c)
{
	static const char letters[] = "ZCFDBSIJ"; /* from 4 on */
	int rc = check_pop_prim(c, CT_INT);

	if (rc < 0)
		return rc;
	if (c->at->arg < 4 || c->at->arg > 11)
		return check_fail(c, "no such type, %d", c->at->arg);
	return check_push1(c, ct_prims(1, letters[c->at->arg - 4]));
}

static int new_object_array(struct check *c)
{
	ctype t;
	int rc = named_class(c, &t);

	if (rc == 0)
		rc = check_pop_prim(c, CT_INT);
	if (rc < 0)
		return rc;
	if (ct_dims(t) == 255)
		return check_fail(c, "array would have 256 dimensions");
	return check_push1(c, ct_with_dims(t, ct_dims(t) + 1));
}

static int new_multi_array(struct check *c)
{
	unsigned dims = (uint8_t)c->at->arg;
	ctype t;
	int rc = named_class(c, &t);

	if (rc < 0)
		return rc;
	if (!dims || ct_dims(t) < dims)
		return check_fail(c, "%u dimensions of an array that has %u", dims, ct_dims(t));
	while (dims-- && rc == 0)
		rc = check_pop_prim(c, CT_INT);
	return rc < 0 ? rc : check_push1(c, t);
}

/* ---- the rest ---- */

static int new_object(struct check *c)
{
	ctype t;
	int rc = named_class(c, &t);

	if (rc < 0)
		return rc;
	if (ct_dims(t))
		return check_fail(c, "names an array");
	return check_push1(c, ct_uninit(c->at));
}

static int cast(struct check *c)
{
	ctype t;
	int rc = named_class(c, &t);

	if (rc == 0)
		rc = pop_object(c);
	if (rc < 0)
		return rc;
	return check_push1(c, c->at->op == OP_CHECKCAST ? t : CT_INT);
}

static int ldc_dynamic(struct check *c, bool wide)
{
	struct pool_ref ref;
	size_t at = 0;
	ctype t = CT_TOP;

	if (pool_ref(c->pool, c->at->index, &ref)) /* its descriptor again, as an entry */
		t = ct_desc(c->pool, pool_second(c->pool, pool_second(c->pool, c->at->index)), &at);
	if (t == CT_TOP || at != ref.desc.n)
		return check_fail(c, "dynamic constant %u has a malformed type", c->at->index);
	if (wide != (t == CT_LONG || t == CT_DOUBLE))
		return check_fail(c, "dynamic constant %u takes %s", c->at->index,
				  wide ? "one slot" : "two slots");
	return check_push(c, t);
}

static int ldc(struct check *c)
{
	uint8_t tag = pool_tag(c->pool, c->at->index);
	uint16_t major = c->cls->major;
	bool wide = c->at->op == OP_LDC2_W;
	unsigned since = 45;
	ctype t = CT_TOP;

	switch (tag) {
	case CONST_INTEGER:
		t = CT_INT;
		break;
	case CONST_FLOAT:
		t = CT_FLOAT;
		break;
	case CONST_LONG:
		t = CT_LONG;
		break;
	case CONST_DOUBLE:
		t = CT_DOUBLE;
		break;
	case CONST_STRING:
		t = ct_known(CT_STRING);
		break;
	case CONST_CLASS:
		t = ct_known(CT_CLASS);
		since = 49;
		break;
	case CONST_METHOD_HANDLE:
		t = ct_known(CT_HANDLE);
		since = 51;
		break;
	case CONST_METHOD_TYPE:
		t = ct_known(CT_METHOD_TYPE);
		since = 51;
		break;
	case CONST_DYNAMIC:
		since = 55;
		break;
	default:
		since = UINT32_MAX;
	}
	if (major < since || (t != CT_TOP && wide != (t == CT_LONG || t == CT_DOUBLE)))
		return check_fail(c, "cannot load constant %u (tag %u) in class version %u",
				  c->at->index, tag, major);
	return tag == CONST_DYNAMIC ? ldc_dynamic(c, wide) : check_push(c, t);
}

static int return_value(struct check *c)
{
	static const uint8_t order[] = { CT_INT, CT_LONG, CT_FLOAT, CT_DOUBLE, CT_OBJECT };
	uint8_t kind = order[c->at->op - OP_IRETURN];
	unsigned wanted = ct_kind(c->return_type);
	char text[CT_TEXT];

	if (wanted == CT_PRIMS)
		wanted = CT_OBJECT;
	if (wanted != kind)
		return check_fail(c, "method returns %s",
				  c->return_type ? ct_text(c->pool, c->return_type, text) : "void");
	return check_pop(c, c->return_type);
}

static int return_void(struct check *c)
{
	char text[CT_TEXT];

	if (c->return_type != CT_TOP)
		return check_fail(c, "method returns %s", ct_text(c->pool, c->return_type, text));
	if (c->this_uninit)
		return check_fail(c, "constructor returns without a call of this() or super()");
	return 0;
}

/* Arithmetic, conversions, comparisons, constants: as the table says. */
static int by_table(struct check *c)
{
	static const uint8_t type_of[128] = {
		['I'] = CT_INT,
		['J'] = CT_LONG,
		['F'] = CT_FLOAT,
		['D'] = CT_DOUBLE,
	};
	const struct op_info *op = &op_table[c->at->op];
	const char *p = op->pops;
	int rc = 0;

	while (*p)
		p++;
	while (p > op->pops && rc == 0)
		rc = check_pop_prim(c, type_of[(uint8_t) * --p]);
	for (p = op->pushes; *p && rc == 0; p++)
		rc = check_push(c, type_of[(uint8_t)*p]);
	return rc;
}

static int pop_reference(struct check *c)
{
	ctype ignored;

	return check_pop_any(c, &ignored);
}

/* The older verifier wants these initialized. */
static int pop_identity(struct check *c)
{
	return c->infer ? pop_object(c) : pop_reference(c);
}

static int compare_references(struct check *c)
{
	int rc = pop_identity(c);

	return rc < 0 ? rc : pop_identity(c);
}

/* Below version 51 the bytes between a switch and its operands must be zero. */
static int switch_on(struct check *c)
{
	const struct insn *n = c->at;

	if (n->flags & INSN_READ && c->cls->major < 51)
		for (uint32_t i = n->old + 1u; i % 4; i++)
			if (c->code->bytes.p[i])
				return check_fail(c, "padding is not zero");
	return check_pop_prim(c, CT_INT);
}

static int subroutine(struct check *c)
{
	if (!c->infer)
		return check_fail(c, "not allowed in class version %u", c->cls->major);
	return 0; /* check_infer.c does the rest */
}

/* What only moves the top of the stack about. */
static int shuffle(struct check *c)
{
	unsigned op = c->at->op;

	if (op == OP_SWAP)
		return swap(c);
	if (op <= OP_POP2)
		return pop_slots(c, op == OP_POP ? 1 : 2);
	return op < OP_DUP2 ? dup_slots(c, 1, op - OP_DUP) : dup_slots(c, 2, op - OP_DUP2);
}

int check_insn(struct check *c)
{
	const struct insn *n = c->at;

	switch (n->op) {
	case OP_NOP:
	case OP_GOTO:
	case OP_GOTO_W:
		return 0;
	case OP_ACONST_NULL:
		return check_push1(c, CT_NULL);
	case OP_ICONST_M1 ... OP_ICONST_5:
	case OP_BIPUSH:
	case OP_SIPUSH:
		return check_push1(c, CT_INT);
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		return ldc(c);
	case OP_ILOAD ... OP_DLOAD:
		return load(c, n->index, n->op - OP_ILOAD);
	case OP_ILOAD_0 ... OP_DLOAD_3:
		return load(c, n->index, (unsigned)(n->op - OP_ILOAD_0) / 4);
	case OP_ALOAD:
	case OP_ALOAD_0 ... OP_ALOAD_3:
		return aload(c, n->index);
	case OP_IALOAD ... OP_SALOAD:
		return array_load(c, n->op - OP_IALOAD);
	case OP_ISTORE ... OP_DSTORE:
		return store(c, n->index, prim_order[n->op - OP_ISTORE]);
	case OP_ISTORE_0 ... OP_DSTORE_3:
		return store(c, n->index, prim_order[(n->op - OP_ISTORE_0) / 4]);
	case OP_ASTORE:
	case OP_ASTORE_0 ... OP_ASTORE_3:
		return astore(c, n->index);
	case OP_IASTORE ... OP_SASTORE:
		return array_store(c, n->op - OP_IASTORE);
	case OP_POP ... OP_SWAP:
		return shuffle(c);
	case OP_IINC:
		return local_is(c, n->index, CT_INT);
	case OP_IF_ACMPEQ:
	case OP_IF_ACMPNE:
		return compare_references(c);
	case OP_IFNULL:
	case OP_IFNONNULL:
		return pop_reference(c);
	case OP_MONITORENTER:
	case OP_MONITOREXIT:
		return pop_identity(c);
	case OP_JSR:
	case OP_JSR_W:
	case OP_RET:
		return subroutine(c);
	case OP_TABLESWITCH:
	case OP_LOOKUPSWITCH:
		return switch_on(c);
	case OP_IRETURN ... OP_ARETURN:
		return return_value(c);
	case OP_RETURN:
		return return_void(c);
	case OP_GETSTATIC ... OP_PUTFIELD:
		return check_field(c);
	case OP_INVOKEVIRTUAL ... OP_INVOKEDYNAMIC:
		return check_invoke(c);
	case OP_NEW:
		return new_object(c);
	case OP_NEWARRAY:
		return new_array(c);
	case OP_ANEWARRAY:
		return new_object_array(c);
	case OP_MULTIANEWARRAY:
		return new_multi_array(c);
	case OP_ARRAYLENGTH:
		return array_length(c);
	case OP_ATHROW:
		return check_pop(c, ct_known(CT_THROWABLE));
	case OP_CHECKCAST:
	case OP_INSTANCEOF:
		return cast(c);
	default:
		if (n->op >= OP_COUNT || n->op == OP_WIDE)
			return check_fail(c, "no such instruction, %u", n->op);
		return by_table(c);
	}
}

/* The constants that an instruction may name. */
static uint32_t operand_tags(const struct check *c)
{
	switch (c->at->op) {
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		return TAGS_LOADABLE;
	case OP_GETSTATIC ... OP_PUTFIELD:
		return TAGS(CONST_FIELDREF);
	case OP_INVOKEVIRTUAL ... OP_INVOKEDYNAMIC:
		return check_invoke_tags(c);
	default:
		return TAGS(CONST_CLASS);
	}
}

int check_operands(struct check *c)
{
	const struct insn *n = c->at;
	const struct op_info *op = &op_table[n->op];
	const char *type = *op->pops ? op->pops : op->pushes;
	uint32_t last = n->index;

	switch (op->format) {
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_LOCAL0:
	case OP_FORMAT_IINC:
		last += *type == 'J' || *type == 'D';
		return last < c->code->max_locals ? 0 : check_bad_local(c, last, "");
	case OP_FORMAT_NEWARRAY:
		return n->arg >= 4 && n->arg <= 11 ? 0 : check_fail(c, "no such type, %d", n->arg);
	case OP_FORMAT_POOL1:
	case OP_FORMAT_POOL2:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_INDY:
	case OP_FORMAT_MULTI:
		if (!pool_is(c->pool, n->index, operand_tags(c)))
			return check_fail(c,
					  "constant %u has the wrong tag, %u, for class version %u",
					  n->index, pool_tag(c->pool, n->index), c->cls->major);
		return 0;
	default:
		return 0;
	}
}
