/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites: what is called, by which opcode, from which lines; and BootstrapMethods that lie. */
#include "classfile/calls.h"

#include <stdlib.h>

#include "base/mem.h"
#include "classes.h"
#include "test.h"

#define METAFACTORY "java/lang/invoke/LambdaMetafactory"

enum { REF_GET_STATIC = 2, REF_STATIC = 6, REF_INTERFACE = 9 };

/* A class a/B with f()V and all that call sites can be about. */
struct fixture {
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct code *code;
	struct buf boot; /* entries of BootstrapMethods */
	uint16_t n_boot;
};

static void open_fixture(struct fixture *t)
{
	*t = (struct fixture){ 0 };
	maker_init(&t->m, "a/B", 61);
	arena_init(&t->mem);
}

/* A bootstrap entry for this method, with up to three arguments (0: no more); its number. */
static uint16_t boot(struct fixture *t, const char *owner, const char *name, const uint16_t args[3])
{
	uint16_t ref = maker_ref(&t->m, CONST_METHODREF, owner, name, "()V");
	unsigned n = 0;

	while (n < 3 && args[n])
		n++;
	buf_u16(&t->boot, maker_handle(&t->m, REF_STATIC, ref));
	buf_u16(&t->boot, n);
	for (unsigned i = 0; i < n; i++)
		buf_u16(&t->boot, args[i]);
	return t->n_boot++;
}

static uint16_t site(struct fixture *t, uint8_t tag, uint16_t boot_index, const char *name)
{
	const char *desc = tag == CONST_DYNAMIC ? "I" : "()V";

	return maker_pair(&t->m, tag, boot_index, maker_name_and_type(&t->m, name, desc));
}

static void add_boot_attr(struct fixture *t, size_t cut)
{
	struct buf data = { 0 };

	buf_u16(&data, t->n_boot);
	buf_put(&data, buf_slice(&t->boot));
	data.n -= cut;
	maker_attr(&t->m, &t->m.attrs, "BootstrapMethods", buf_slice(&data));
	buf_release(&data);
}

/* Adds f()V with this code and these lines, and elevates it. */
static bool finish(struct fixture *t, struct slice code, struct slice lines)
{
	struct maker_list tables = { 0 };

	if (lines.n)
		maker_attr(&t->m, &tables, "LineNumberTable", lines);
	maker_code(&t->m, ACC_STATIC, "f", "()V",
		   (struct maker_code){ .code = code, .tables = &tables });
	return CHECK_INT(class_read(&t->mem, maker_bytes(&t->m), &t->cls, NULL), 0, NULL) &&
	       CHECK_INT(code_elevate(t->cls, &t->cls->methods[t->cls->n_methods - 1], &t->code,
				      NULL),
			 0, NULL);
}

static void close_fixture(struct fixture *t)
{
	if (t->cls)
		class_release(t->cls);
	arena_release(&t->mem);
	buf_release(&t->boot);
	maker_release(&t->m);
}

static void check_call(const struct class_call *c, uint8_t kind, const char *owner,
		       const char *name)
{
	CHECK_STR(call_kind_text(c->kind), call_kind_text(kind), name);
	CHECK_MEM(c->owner.p, c->owner.n, owner, strlen(owner), name);
	CHECK_MEM(c->name.p, c->name.n, name, strlen(name), name);
}

static void open_plain(struct fixture *t)
{
	uint16_t a, b, same, iface;

	open_fixture(t);
	a = maker_ref(&t->m, CONST_METHODREF, "x/Y", "m", "()V");
	b = maker_ref(&t->m, CONST_METHODREF, "x/Y", "n", "()V");
	same = maker_ref(&t->m, CONST_METHODREF, "x/Y", "m", "()V");
	iface = maker_ref(&t->m, CONST_INTERFACE_METHODREF, "x/I", "m", "()V");
	finish(t,
	       BYTES(OP_INVOKESTATIC, U2(a), OP_INVOKESTATIC, U2(b), OP_INVOKESTATIC, U2(same),
		     OP_ACONST_NULL, OP_INVOKEVIRTUAL, U2(a), OP_ACONST_NULL, OP_INVOKEINTERFACE,
		     U2(iface), 1, 0, OP_INVOKESTATIC, U2(a), OP_RETURN),
	       BYTES(U2(3), U2(6), U2(30), U2(0), U2(20), U2(10), U2(40)));
}

TEST(calls_are_told_once_with_all_their_lines)
{
	struct calls_options opt = { 0 };
	struct fixture t;
	struct class_call *c;
	uint32_t n;

	open_plain(&t);
	if (CHECK_INT(calls_of(t.code, &opt, &c, &n, NULL), 0, NULL) && CHECK_INT(n, 4, NULL)) {
		check_call(&c[0], CALL_METHOD, "x/Y", "m");
		CHECK_INT(c[0].op, OP_INVOKESTATIC, NULL);
		CHECK_INT(c[0].sites, 3, NULL);
		CHECK_INT(c[0].n_lines, 3, NULL);
		CHECK(c[0].lines[0] == 20 && c[0].lines[1] == 30 && c[0].lines[2] == 40);
		check_call(&c[1], CALL_METHOD, "x/Y", "n");
		CHECK_INT(c[1].n_lines, 1, NULL);
		check_call(&c[2], CALL_METHOD, "x/Y", "m");
		CHECK_INT(c[2].op, OP_INVOKEVIRTUAL, NULL);
		CHECK(!c[2].interface && c[3].interface);
		check_call(&c[3], CALL_METHOD, "x/I", "m");
	}
	close_fixture(&t);
}

TEST(calls_count_by_opcode_and_by_site)
{
	static const struct {
		const char *label;
		struct calls_options opt;
		int rc;
		uint32_t n;
	} cases[] = {
		{ "static", { .mask = CALLS_STATIC }, 0, 2 },
		{ "virtual and interface", { .mask = CALLS_VIRTUAL | CALLS_INTERFACE }, 0, 2 },
		{ "special", { .mask = CALLS_SPECIAL }, 0, 0 },
		{ "all sites", { .all_sites = true }, 0, 6 },
		{ "enough room", { .max_calls = 4 }, 0, 4 },
		{ "too many", { .max_calls = 3 }, E_LIMIT, 0 },
		{ "class too large", { .max_class = 100 }, E_LIMIT, 0 },
	};
	struct fixture t;

	open_plain(&t);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fault f = { 0 };
		struct class_call *c;
		uint32_t n = 0;

		CHECK_INT(calls_of(t.code, &cases[i].opt, &c, &n, &f), cases[i].rc, cases[i].label);
		CHECK_INT(f.code, cases[i].rc, cases[i].label);
		CHECK_INT(n, cases[i].n, cases[i].label);
		for (uint32_t k = 0; k < n && cases[i].opt.all_sites; k++)
			CHECK_INT(c[k].sites, 1, cases[i].label);
	}
	close_fixture(&t);
}

/* Every kind of invokedynamic, in the order of enum call_kind. */
static void open_dynamic(struct fixture *t)
{
	uint16_t type, own, other, sites[8];

	open_fixture(t);
	type = maker_name(&t->m, CONST_METHOD_TYPE, "()V");
	own = maker_handle(&t->m, REF_STATIC,
			   maker_ref(&t->m, CONST_METHODREF, "a/B", "lambda$0", "()V"));
	other = maker_handle(&t->m, REF_INTERFACE,
			     maker_ref(&t->m, CONST_INTERFACE_METHODREF, "x/I", "m", "()V"));
	sites[0] = boot(t, METAFACTORY, "metafactory", (uint16_t[3]){ type, own, type });
	sites[1] = boot(t, METAFACTORY, "altMetafactory", (uint16_t[3]){ type, other, type });
	sites[2] =
		boot(t, "java/lang/invoke/StringConcatFactory", "makeConcat", (uint16_t[3]){ 0 });
	sites[3] = boot(t, "java/lang/runtime/SwitchBootstraps", "typeSwitch", (uint16_t[3]){ 0 });
	sites[4] = boot(t, "java/lang/runtime/ObjectMethods", "bootstrap", (uint16_t[3]){ 0 });
	sites[5] = boot(t, "java/lang/invoke/ConstantBootstraps", "invoke", (uint16_t[3]){ 0 });
	sites[6] = boot(t, "g/Indy", "bootstrap", (uint16_t[3]){ 0 });
	for (unsigned i = 0; i < 7; i++)
		sites[i] = site(t, CONST_INVOKE_DYNAMIC, sites[i], "run");
	sites[7] = site(t, CONST_DYNAMIC, 5, "constant");
	add_boot_attr(t, 0);
	maker_code(&t->m, ACC_STATIC | ACC_SYNTHETIC, "lambda$0", "()V",
		   (struct maker_code){ .code = BYTES(OP_RETURN) });
#define INDY(i) OP_INVOKEDYNAMIC, U2(sites[i]), 0, 0
	finish(t,
	       BYTES(INDY(0), INDY(1), INDY(2), INDY(3), INDY(4), INDY(5), INDY(6), OP_LDC_W,
		     U2(sites[7]), OP_POP, OP_RETURN),
	       (struct slice){ NULL, 0 });
}

TEST(calls_follow_invokedynamic_to_what_it_stands_for)
{
	struct calls_options opt = { .mask = CALLS_INVOKES | CALLS_CONSTANT };
	struct fixture t;
	struct class_call *c;
	uint32_t n;

	open_dynamic(&t);
	if (CHECK_INT(calls_of(t.code, &opt, &c, &n, NULL), 0, NULL) && CHECK_INT(n, 8, NULL)) {
		check_call(&c[0], CALL_LAMBDA, "a/B", "lambda$0");
		check_call(&c[1], CALL_REFERENCE, "x/I", "m");
		CHECK(c[1].interface);
		check_call(&c[2], CALL_CONCAT, "java/lang/invoke/StringConcatFactory",
			   "makeConcat");
		check_call(&c[3], CALL_SWITCH, "java/lang/runtime/SwitchBootstraps", "typeSwitch");
		check_call(&c[4], CALL_RECORD, "java/lang/runtime/ObjectMethods", "bootstrap");
		check_call(&c[5], CALL_CONSTANT, "java/lang/invoke/ConstantBootstraps", "invoke");
		check_call(&c[6], CALL_DYNAMIC, "g/Indy", "bootstrap");
		CHECK_MEM(c[6].site_name.p, c[6].site_name.n, "run", 3, NULL);
		check_call(&c[7], CALL_CONSTANT, "java/lang/invoke/ConstantBootstraps", "invoke");
		CHECK_INT(c[7].op, OP_LDC_W, NULL);
		CHECK_INT(c[0].n_lines, 0, "no LineNumberTable");
	}
	close_fixture(&t);
}

/* One invokedynamic whose bootstrap is not what it should be. */
static uint8_t odd_kind(unsigned which)
{
	struct calls_options opt = { 0 };
	struct fixture t;
	struct class_call *c = NULL;
	uint16_t index = 0, at, field;
	uint32_t n = 0;
	uint8_t kind = CALL_KINDS;

	open_fixture(&t);
	field = maker_handle(&t.m, REF_GET_STATIC,
			     maker_ref(&t.m, CONST_FIELDREF, "x/Y", "f", "I"));
	switch (which) {
	case 0: /* no attribute at all */
		break;
	case 1: /* no such entry */
		boot(&t, "g/Indy", "bootstrap", (uint16_t[3]){ 0 });
		index = 1;
		break;
	case 2: /* a metafactory without arguments */
		boot(&t, METAFACTORY, "metafactory", (uint16_t[3]){ 0 });
		break;
	case 3: /* whose argument is no handle */
		boot(&t, METAFACTORY, "metafactory", (uint16_t[3]){ 1, 1, 1 });
		break;
	case 4: /* or one of a field */
		boot(&t, METAFACTORY, "metafactory", (uint16_t[3]){ 1, field, 1 });
		break;
	case 5: /* or out of range */
		boot(&t, METAFACTORY, "metafactory", (uint16_t[3]){ 1, 65535, 1 });
		break;
	case 6: /* the bootstrap itself is a field */
		buf_u16(&t.boot, field);
		buf_u16(&t.boot, 0);
		t.n_boot = 1;
		break;
	case 7: /* or out of range */
		buf_u16(&t.boot, 65535);
		buf_u16(&t.boot, 0);
		t.n_boot = 1;
		break;
	case 8: /* more entries are promised than there are */
		t.n_boot = 65535;
		index = 65534;
		break;
	default: /* cut off in its arguments */
		boot(&t, METAFACTORY, "metafactory", (uint16_t[3]){ 1, 1, 1 });
	}
	if (which)
		add_boot_attr(&t, which == 9 ? 3 : 0);
	at = site(&t, CONST_INVOKE_DYNAMIC, index, "run");
	if (finish(&t, BYTES(OP_INVOKEDYNAMIC, U2(at), 0, 0, OP_RETURN),
		   (struct slice){ NULL, 0 }) &&
	    CHECK_INT(calls_of(t.code, &opt, &c, &n, NULL), 0, NULL) && CHECK_INT(n, 1, NULL))
		kind = c[0].kind;
	close_fixture(&t);
	return kind;
}

TEST(calls_survive_bootstraps_that_lie)
{
	static const struct {
		const char *label;
		uint8_t kind;
	} cases[] = {
		{ "no BootstrapMethods", CALL_UNKNOWN },
		{ "no such entry", CALL_UNKNOWN },
		{ "metafactory without arguments", CALL_DYNAMIC },
		{ "implementation is no handle", CALL_DYNAMIC },
		{ "implementation is a field", CALL_DYNAMIC },
		{ "implementation out of range", CALL_DYNAMIC },
		{ "bootstrap is a field", CALL_UNKNOWN },
		{ "bootstrap out of range", CALL_UNKNOWN },
		{ "entries that are not there", CALL_UNKNOWN },
		{ "arguments cut off", CALL_UNKNOWN },
	};

	for (unsigned i = 0; i < COUNT(cases); i++)
		CHECK_INT(odd_kind(i), cases[i].kind, cases[i].label);
}

/* Names as long as can be, each site another entry of the pool: the work is limited. */
TEST(calls_limit_the_length_of_names)
{
	struct calls_options opt = { 0 };
	struct fixture t;
	struct fault f = { 0 };
	char *name = mem_alloc(65536);
	struct buf code = { 0 };
	struct class_call *c;
	uint16_t pair, owner;
	uint32_t n;

	if (!CHECK(name))
		return;
	memset(name, 'x', 65535);
	name[65535] = '\0';
	open_fixture(&t);
	owner = maker_name(&t.m, CONST_CLASS, name);
	pair = maker_name_and_type(&t.m, name, "()V");
	for (unsigned i = 0; i < 1000; i++) {
		buf_u8(&code, OP_INVOKESTATIC);
		buf_u16(&code, maker_pair(&t.m, CONST_METHODREF, owner, pair));
	}
	buf_u8(&code, OP_RETURN);
	if (finish(&t, buf_slice(&code), (struct slice){ NULL, 0 }))
		CHECK_INT(calls_of(t.code, &opt, &c, &n, &f), E_LIMIT, NULL);
	close_fixture(&t);
	buf_release(&code);
	mem_free(name);
}

TEST(calls_survive_every_failed_allocation)
{
	struct calls_options opt = { 0 };
	struct fixture t;

	open_dynamic(&t);
	for (long i = 0;; i++) {
		struct class_call *c = NULL;
		uint32_t n = 0;
		int rc;

		class_release(t.cls);
		arena_release(&t.mem);
		t.cls = NULL;
		if (!CHECK_INT(class_read(&t.mem, maker_bytes(&t.m), &t.cls, NULL), 0, NULL))
			break;
		code_elevate(t.cls, &t.cls->methods[1], &t.code, NULL);
		t.mem.at = t.mem.end; /* so that the arena has to ask for more */
		mem_fail_at(i);
		rc = calls_of(t.code, &opt, &c, &n, NULL);
		mem_fail_at(-1);
		if (rc >= 0)
			break;
		CHECK_INT(rc, E_NO_MEMORY, NULL);
		CHECK(!c && !n);
	}
	close_fixture(&t);
}
