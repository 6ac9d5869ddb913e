/* SPDX-License-Identifier: Apache-2.0 */
/* check_frames.c - frames for labels that have none.
 *
 * Where an edit needs a frame at a place that had none, the code before it tells which: the state
 * of the checker, carried along from the last frame, is written down there.  Types that no Class
 * entry names yet get one. */
#include "classfile/check/check_priv.h"

#include "classfile/check/check_nodes.h"

struct derivation {
	struct check c;
	struct code *code;
	struct insn *const *wanted;
	size_t n_wanted;
	struct map classes; /* name -> Class entry; filled when first asked */
};

/* The name of a class or array type as a Class entry has it, in the arena where it must be put
 * together. */
static struct slice class_entry_name(struct derivation *d, ctype t)
{
	struct slice name = { NULL, 0 };
	unsigned dims = ct_dims(t);
	uint8_t *text;

	if (ct_kind(t) == CT_OBJECT)
		name = ct_name(d->c.pool, t);
	if (!dims)
		return name;
	text = arena_alloc(d->code->mem, dims + name.n + 2);
	if (!text)
		return (struct slice){ NULL, 0 };
	memset(text, '[', dims);
	if (ct_kind(t) == CT_PRIMS) {
		text[dims] = (uint8_t)ct_letter(t);
		return (struct slice){ text, dims + 1 };
	}
	text[dims] = 'L';
	memcpy(text + dims + 1, name.p, name.n);
	text[dims + 1 + name.n] = ';';
	return (struct slice){ text, dims + 2 + name.n };
}

/* A Class entry for the type, found or added: its index or an error. */
static int class_entry(struct derivation *d, ctype t)
{
	struct pool *pool = &d->code->cls->pool;
	struct slice name = class_entry_name(d, t);
	uintptr_t *place;
	int rc;

	if (!name.p)
		return check_no_memory(&d->c);
	for (uint32_t i = 1; !d->classes.n && i < pool->n; i++) {
		if (pool_tag(pool, i) != CONST_CLASS)
			continue;
		place = map_put(&d->classes, pool_name(pool, i), NULL);
		if (!place)
			return check_no_memory(&d->c);
		*place = i;
	}
	place = map_get(&d->classes, name);
	if (place)
		return (int)*place;
	rc = pool_add_name(pool, CONST_CLASS, name);
	return rc < 0 ? fault_set(d->c.fault, rc, -1, "%s", err_text(rc)) : rc;
}

/* The number of a `new` instruction in code->news, found or added. */
static int new_number(struct derivation *d, ctype t)
{
	struct code *code = d->code;
	struct insn *made_by = (struct insn *)(uintptr_t)ct_made_by(t), **more;

	for (uint32_t i = code->n_news; i-- > 0;)
		if (code->news[i] == made_by)
			return (int)i;
	if ((code->n_news & (code->n_news - 1)) == 0) { /* a power of two is full */
		more = arena_alloc(code->mem,
				   (code->n_news ? code->n_news * 2 : 1) * sizeof(*more));
		if (!more)
			return check_no_memory(&d->c);
		if (code->n_news)
			memcpy(more, code->news, code->n_news * sizeof(*more));
		code->news = more;
	}
	made_by->flags |= INSN_ANCHORED;
	code->news[code->n_news] = made_by;
	return (int)code->n_news++;
}

/* Slots into the types of a frame; how many those are, or an error. */
static int store_types(struct derivation *d, const ctype *slots, uint32_t n, vtype *out)
{
	static const uint8_t plain[] = {
		[CT_TOP] = VT_TOP,
		[CT_INT] = VT_INT,
		[CT_FLOAT] = VT_FLOAT,
		[CT_LONG] = VT_LONG,
		[CT_DOUBLE] = VT_DOUBLE,
		[CT_NULL] = VT_NULL,
		[CT_UNINIT_THIS] = VT_UNINIT_THIS,
	};
	int count = 0, value;

	for (uint32_t i = 0; i < n; i++) {
		ctype t = slots[i];

		if (ct_kind(t) < COUNT(plain)) {
			out[count++] = plain[ct_kind(t)];
			i += t == CT_LONG || t == CT_DOUBLE;
			continue;
		}
		value = ct_kind(t) == CT_UNINIT ? new_number(d, t) : class_entry(d, t);
		if (value < 0)
			return value;
		out[count++] = vt(ct_kind(t) == CT_UNINIT ? VT_UNINIT : VT_OBJECT, (uint32_t)value);
	}
	return count;
}

static int make_frame(struct derivation *d, struct insn *label)
{
	struct check *c = &d->c;
	struct frame *frame = arena_alloc(d->code->mem, sizeof(*frame));
	uint32_t n = c->n_locals;
	vtype *types;
	int locals, stack;

	while (n && c->locals[n - 1] == CT_TOP)
		n--;
	types = arena_alloc(d->code->mem, ((size_t)n + c->depth) * sizeof(*types));
	if (!frame || !types)
		return check_no_memory(c);
	locals = store_types(d, c->locals, n, types);
	stack = locals < 0 ? locals : store_types(d, c->stack, c->depth, types + locals);
	if (stack < 0)
		return stack;
	*frame = (struct frame){ types, types + locals, (uint16_t)locals, (uint16_t)stack };
	label->frame = frame;
	return 0;
}

static int carry_through(struct check *c, const struct insn *run)
{
	uint32_t end = (uint32_t)run->old + run->size;
	int rc = 0;

	for (uint32_t pc = run->old; pc < end && rc == 0;) {
		pc += run_insn(c->code, pc, &c->in_run);
		c->at = &c->in_run;
		rc = check_insn(c);
	}
	return rc;
}

/* Carries the state along until all labels have their frames. */
static int derive(struct derivation *d)
{
	struct check *c = &d->c;
	bool reached = true;
	size_t next = 0;
	int rc = check_load_frame(c, &c->code->first);

	for (const struct insn *n = c->code->start; n && rc == 0 && next < d->n_wanted;
	     n = n->next) {
		struct insn *label = d->wanted[next];

		c->at = n;
		if (n->op == OP_LABEL) {
			if (n->frame)
				rc = check_load_frame(c, n->frame);
			else if (n == label)
				rc = reached ? make_frame(d, label)
					     : check_fail(c,
							  "nothing tells what frame belongs here");
			reached = reached || n->frame;
			next += n == label;
			continue;
		}
		if (!reached)
			continue;
		c->work += CHECK_WORK_PER_INSN;
		rc = n->op == OP_RUN ? carry_through(c, n) : check_insn(c);
		if (rc == 0 && op_is_branch(n->op) && n->target == label && !label->frame)
			rc = make_frame(d, label);
		reached = !op_ends_block(n->op);
	}
	if (rc == 0 && next < d->n_wanted)
		return check_fail(c, "the labels are not in the order of the list");
	return rc;
}

int check_frames_at(struct code *code, struct insn *const *labels, size_t n, struct fault *f)
{
	struct derivation d;
	int rc = check_begin(&d.c, code, f);

	d.code = code;
	d.wanted = labels;
	d.n_wanted = n;
	map_init(&d.classes);
	if (rc == 0)
		rc = derive(&d);
	map_release(&d.classes);
	check_end(&d.c);
	return rc;
}
