/* SPDX-License-Identifier: Apache-2.0 */
/* Which category a method is given, and which template that comes to. */
#include "weave/fit.h"

#include <stdio.h>

#include "classes.h"
#include "rule/error.h"
#include "rule/rules.h"
#include "test.h"
#include "weave/class_facts.h"
#include "weave/glob.h"
#include "weave/weave.h"

TEST(glob_matches_names_and_descriptors)
{
	static const struct {
		const char *list, *name, *desc;
		bool matches;
	} cases[] = {
		{ "", "anything", "()V", true },
		{ "send", "send", "()V", true },
		{ "send", "sendAll", "()V", false },
		{ "send*", "sendAll", "()V", true },
		{ "publish send", "send", "()V", true },
		{ "publish send", "publishsend", "()V", false },
		{ "read([B*)I", "read", "([BII)I", true },
		{ "read([B*)I", "read", "([BII)J", false },
		{ "read([B*)I", "reads", "([BII)I", false },
		{ "*(La/B;*", "f", "(La/B;)V", true },
		{ "*(La/B;*", "f", "(ILa/B;)V", false },
		{ "*a*ab", "aaab", "()V", true }, /* has to go back */
		{ "*", "", "", true },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_INT(glob_method(cases[i].list, slice_str(cases[i].name),
				      slice_str(cases[i].desc)),
			  cases[i].matches, cases[i].list);
}

struct class_call {
	const char *owner, *name, *desc;
};

struct method_case {
	const char *category; /* NULL: none */
	const char *class_name, *super, *interface;
	const char *on_class, *on_method; /* annotations */
	const char *name, *desc;
	struct class_call calls[2];
	bool odd; /* code that is hard to step over stands before the calls */
};

static void put_annotation(struct class_maker *m, struct maker_list *to, const char *type)
{
	if (type)
		maker_attr(m, to, "RuntimeVisibleAnnotations",
			   BYTES(U2(1), U2(maker_utf8(m, type)), U2(0)));
}

/* Switches whose operands look like calls, and a wide iinc. */
static void put_odd_code(struct buf *code)
{
	static const uint8_t lookup[] = { OP_ICONST_0, OP_LOOKUPSWITCH, 0,     0, U4(27),
					  U4(1),       U4(0xb8b8b8b8),	U4(27) };
	static const uint8_t table[] = { OP_ICONST_0, OP_TABLESWITCH, 0,      0,     U4(23),
					 U4(-1),      U4(0),	      U4(23), U4(23) };
	static const uint8_t wide[] = { OP_WIDE, OP_IINC,  U2(1),   U2(0xb8b8),
					OP_WIDE, OP_ILOAD, U2(0xb8) };

	buf_bytes(code, lookup, sizeof(lookup));
	buf_bytes(code, table, sizeof(table));
	buf_bytes(code, wide, sizeof(wide));
}

static void put_method(struct class_maker *m, const struct method_case *c)
{
	struct maker_list attrs = { 0 };
	struct buf code = { 0 }, body = { 0 };

	if (c->odd)
		put_odd_code(&code);
	for (size_t i = 0; i < COUNT(c->calls) && c->calls[i].owner; i++) {
		buf_u8(&code, OP_INVOKESTATIC);
		buf_u16(&code, maker_ref(m, CONST_METHODREF, c->calls[i].owner, c->calls[i].name,
					 c->calls[i].desc));
	}
	buf_u8(&code, OP_RETURN);
	buf_u16(&body, 10);
	buf_u16(&body, 10);
	buf_u32(&body, (uint32_t)code.n);
	buf_put(&body, buf_slice(&code));
	buf_u32(&body, 0);
	maker_attr(m, &attrs, "Code", buf_slice(&body));
	put_annotation(m, &attrs, c->on_method);
	maker_method(m, ACC_PUBLIC, c->name, c->desc ? c->desc : "()V", &attrs);
	buf_release(&code);
	buf_release(&body);
}

/* Of all other classes one is known: a/Base, which is a servlet. */
static bool find_base(void *ctx, struct slice name, struct rule_class *out)
{
	static struct slice interface;

	(void)ctx;
	interface = slice_str("jakarta/servlet/Servlet");
	if (!slice_is(name, "a/Base"))
		return false;
	*out = (struct rule_class){ .name = name, .interfaces = &interface, .interface_count = 1 };
	return true;
}

static const char *category(const struct method_case *c)
{
	static const struct rule_resolver resolver = { NULL, find_base, NULL };
	struct class_maker m = { 0 };
	struct rule_class facts = { 0 };
	struct rule_method method;
	struct class *cls;
	struct fit fit = { 0 };
	struct arena mem;
	const char *got = "";

	arena_init(&mem);
	maker_init(&m, c->class_name ? c->class_name : "a/Any", 52);
	if (c->super)
		m.super_class = maker_name(&m, CONST_CLASS, c->super);
	if (c->interface)
		maker_interface(&m, c->interface);
	put_annotation(&m, &m.attrs, c->on_class);
	put_method(&m, c);
	if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, c->name)) {
		facts.resolver = &resolver;
		CHECK_INT(class_facts_of_class(cls, &mem, &facts), 0, c->name);
		CHECK_INT(class_facts_of_method(cls, &cls->methods[0], &mem, &method), 0, c->name);
		CHECK_INT(fit_init(&fit, &facts, cls, &mem), 0, c->name);
		got = fit_category(&fit, &cls->methods[0], &method);
		class_release(cls);
	}
	arena_release(&mem);
	maker_release(&m);
	return got;
}

TEST(fit_finds_the_category_of_a_method)
{
	static const struct method_case cases[] = {
		/* by ancestors */
		{ "database", .interface = "java/sql/PreparedStatement", .name = "executeQuery" },
		{ NULL, .interface = "java/sql/Statement", .name = "getMaxRows" },
		{ "database", .interface = "java/sql/Statement", .name = "executeQuery" },
		{ "web", .super = "a/Base", .name = "service" }, /* of a class found by asking */
		{ NULL, .super = "a/Unknown", .name = "service" },
		{ "web", .interface = "javax/servlet/Filter", .name = "doFilter" },
		{ "messaging", .interface = "javax/jms/MessageListener", .name = "onMessage" },
		{ "messaging", .interface = "jakarta/jms/MessageProducer", .name = "send" },
		{ "socket", .class_name = "java/net/Socket", .name = "connect" },
		{ "socket", .super = "java/net/Socket", .name = "connect" },
		{ "socket", .class_name = "java/net/Socket$SocketInputStream", .name = "read" },
		{ "socket", .super = "java/nio/channels/SocketChannel", .name = "write" },
		{ "file", .class_name = "java/io/FileInputStream", .name = "<init>" },
		{ "file", .class_name = "java/nio/file/Files", .name = "readAllBytes" },
		{ NULL, .class_name = "java/nio/file/Files", .name = "isSameFile" },
		/* by annotations */
		{ "web", .on_method = "Ljakarta/ws/rs/GET;", .name = "list" },
		{ "web", .on_method = "Ljavax/ws/rs/POST;", .name = "add" },
		{ "web", .on_method = "Lorg/springframework/web/bind/annotation/GetMapping;",
		  .name = "list" },
		{ "web", .on_method = "Lorg/springframework/web/bind/annotation/RequestMapping;",
		  .name = "list" },
		{ NULL, .on_method = "Lorg/springframework/web/bind/annotation/ResponseBody;",
		  .name = "list" },
		{ "messaging", .on_class = "Ljakarta/ejb/MessageDriven;", .name = "onMessage" },
		{ NULL, .on_class = "Ljakarta/ejb/MessageDriven;", .name = "toString" },
		{ NULL, .on_class = "Ljakarta/ws/rs/GET;", .name = "list" }, /* not on classes */
		/* by arguments */
		{ "web", .name = "handle",
		  .desc = "(Ljakarta/servlet/http/HttpServletRequest;"
			  "Ljakarta/servlet/http/HttpServletResponse;)V" },
		/* by what the code calls */
		{ "database", .name = "load",
		  .calls = { { "java/sql/Connection", "prepareStatement", "()V" } } },
		{ NULL, .name = "load", .calls = { { "java/sql/ResultSet", "next", "()V" } } },
		{ "file", .name = "load", .calls = { { "java/io/FileReader", "<init>", "()V" } } },
		{ "socket", .name = "ask", .calls = { { "java/net/Socket", "<init>", "()V" } } },
		{ "web", .name = "ask",
		  .calls = { { "java/net/http/HttpClient", "send", "()V" } } },
		{ "messaging", .name = "tell",
		  .calls = { { "javax/jms/MessageProducer", "send", "()V" } } },
		{ "database", .name = "both", /* the row that comes first decides */
		  .calls = { { "java/io/FileReader", "<init>", "()V" },
			     { "java/sql/Statement", "execute", "()V" } } },
		{ "file", .name = "far", .odd = true,
		  .calls = { { "java/io/FileReader", "<init>", "()V" } } },
		{ NULL, .name = "near", .odd = true },
		{ NULL, .name = "plain", .calls = { { "java/util/List", "of", "()V" } } },
		/* what a class is goes before what its methods do */
		{ "messaging", .interface = "javax/jms/MessageListener", .name = "onMessage",
		  .calls = { { "java/sql/Statement", "execute", "()V" } } },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *got = category(&cases[i]);
		const char *want = cases[i].category;

		CHECK_STR(got ? got : "none", want ? want : "none", cases[i].name);
	}
}

/* Truncated and malformed code ends the search, no more. */
TEST(fit_reads_no_further_than_the_code)
{
	static const uint8_t ends[][3] = {
		{ OP_INVOKESTATIC },	  { OP_INVOKESTATIC, 0 },	   { OP_WIDE },
		{ OP_TABLESWITCH, 0, 0 }, { OP_LOOKUPSWITCH, 0xff, 0xff }, { 0xfe, 0, 1 },
	};

	for (size_t i = 0; i < COUNT(ends); i++) {
		struct class_maker m = { 0 };
		struct rule_class facts = { 0 };
		struct rule_method method;
		struct class *cls;
		struct fit fit = { 0 };
		struct arena mem;

		arena_init(&mem);
		maker_init(&m, "a/Any", 52);
		maker_ref(&m, CONST_METHODREF, "java/sql/Statement", "execute", "()V");
		maker_code(&m, ACC_PUBLIC, "f", "()V",
			   (struct maker_code){ .code = { ends[i], sizeof(ends[i]) } });
		if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, NULL)) {
			CHECK_INT(class_facts_of_class(cls, &mem, &facts), 0, NULL);
			CHECK_INT(class_facts_of_method(cls, &cls->methods[0], &mem, &method), 0,
				  NULL);
			CHECK_INT(fit_init(&fit, &facts, cls, &mem), 0, NULL);
			CHECK(!fit_category(&fit, &cls->methods[0], &method));
			class_release(cls);
		}
		arena_release(&mem);
		maker_release(&m);
	}
}

struct woven {
	char template[64], category[16];
	int rc;
};

static void take_outcome(struct woven *out, const struct weave_job *job)
{
	const struct weave_outcome *o = job->outcomes;

	*out = (struct woven){ .rc = 1 }; /* no outcome */
	if (!job->n_outcomes)
		return;
	out->rc = o->rc;
	if (o->template)
		snprintf(out->template, sizeof(out->template), "%.*s",
			 SLICE_FMT(o->template->name));
	if (o->category)
		snprintf(out->category, sizeof(out->category), "%s", o->category);
}

/* Weaves one class by one rule; what became of its first method. */
static struct woven weave(const char *rule, struct slice bytes)
{
	static struct rule_errors errors;
	struct weave_job job = { 0 };
	struct woven got = { .rc = 2 };
	struct weaver weaver;
	struct rules *rules;
	struct arena mem, work;
	struct buf out = { 0 };

	arena_init(&mem);
	arena_init(&work);
	job.mem = &mem;
	job.work = &work;
	if (CHECK_INT(rules_parse(&mem, slice_str(rule), "test", &rules, &errors), 0, rule) &&
	    CHECK_INT(weaver_init(&weaver, &mem, rules, NULL, NULL, NULL), 0, rule)) {
		CHECK_INT(weave_class(&weaver, &job, bytes, &out, NULL), 0, rule);
		take_outcome(&got, &job);
		if (job.cls)
			class_release(job.cls);
		weaver_release(&weaver);
	}
	buf_release(&out);
	arena_release(&work);
	arena_release(&mem);
	return got;
}

/* From the rule, the class and the method to the template. */
TEST(weave_takes_the_variant_that_is_for_the_method)
{
	const struct {
		const char *template, *category, *rule, *class_name, *interface, *name, *desc;
		struct slice code;
		bool is_static;
	} cases[] = {
		{ "sonde/template/Database", "database", "hook **::* full", "a/Any",
		  "java/sql/Statement", "execute", "(Ljava/lang/String;)V", BYTES(OP_RETURN),
		  false },
		{ "sonde/template/Full", "database", "hook **::* full", "a/Any",
		  "java/sql/Statement", "executeOdd", "(I)V", BYTES(OP_RETURN), false },
		{ "sonde/template/Timed", "database", "hook **::* template database", "a/Any", NULL,
		  "other", "()V", BYTES(OP_RETURN), false },
		{ "sonde/template/Light", "database", "hook **::* light template database", "a/Any",
		  NULL, "other", "()V", BYTES(OP_RETURN), false },
		{ "sonde/template/Timed", "", "hook **::* timed", "a/Any", "java/sql/Statement",
		  "execute", "()V", BYTES(OP_RETURN), false },
		{ "sonde/template/Full", "", "hook **::* full template catch-all", "a/Any",
		  "java/sql/Statement", "execute", "()V", BYTES(OP_RETURN), false },
		{ "sonde/template/Arguments", "arguments", "hook **::* template arguments timed",
		  "a/Any", NULL, "f", "(I)I", BYTES(OP_ICONST_0, OP_ICONST_0, OP_IRETURN), false },
		{ "sonde/template/Arguments", "arguments", "hook **::* template arguments full",
		  "a/Any", NULL, "f", "(I)V", BYTES(OP_RETURN), false },
		{ "sonde/template/WebJakarta", "web", "hook **::* template web", "a/Any", NULL, "f",
		  "(Ljakarta/servlet/http/HttpServletRequest;"
		  "Ljakarta/servlet/http/HttpServletResponse;)V",
		  BYTES(OP_RETURN), false },
		/* a filter that does not name HttpServletRequest: may not see it */
		{ "sonde/template/Timed", "web", "hook **::* template web", "a/Any", NULL,
		  "doFilter", "(Ljavax/servlet/ServletRequest;Ljavax/servlet/ServletResponse;)V",
		  BYTES(OP_RETURN), false },
		{ "sonde/template/Bytes", "socket", "hook **::* template socket", "a/Any", NULL,
		  "read", "()I", BYTES(OP_ICONST_0, OP_IRETURN), false },
		/* a value below the result: branches in the epilog are not possible */
		{ "sonde/template/Timed", "socket", "hook **::* template socket", "a/Any", NULL,
		  "read", "()I", BYTES(OP_ICONST_0, OP_ICONST_0, OP_IRETURN), false },
		/* to box an int here would be endless */
		{ "sonde/template/Timed", "", "hook **::* full", "java/lang/Integer", NULL,
		  "valueOf", "(I)Ljava/lang/Integer;", BYTES(OP_ACONST_NULL, OP_ARETURN), true },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct class_maker m = { 0 };
		struct woven got;

		maker_init(&m, cases[i].class_name, 52);
		if (cases[i].interface)
			maker_interface(&m, cases[i].interface);
		maker_code(&m, ACC_PUBLIC | (cases[i].is_static ? ACC_STATIC : 0), cases[i].name,
			   cases[i].desc, (struct maker_code){ .code = cases[i].code });
		got = weave(cases[i].rule, maker_bytes(&m));
		CHECK_INT(got.rc, 0, cases[i].name);
		CHECK_STR(got.template, cases[i].template, cases[i].rule);
		CHECK_STR(got.category, cases[i].category, cases[i].rule);
		maker_release(&m);
	}
}

TEST(ancestors_further_up_matter_only_to_methods_of_their_kind)
{
	static const struct {
		const char *parent, *above; /* named in the class's file, and by its parent */
		const char *name, *desc;
		bool any, meets;
	} cases[] = {
		{ "a/Pooled", "java/sql/Connection", "prepareStatement", "()V", true, true },
		{ "a/Pooled", "java/sql/Connection", "toString", "()V", true, false },
		{ "java/sql/Connection", "java/lang/AutoCloseable", "commit", "()V", false, false },
		{ "java/sql/Connection", "java/sql/Connection", "commit", "()V", false, false },
		{ "java/sql/PreparedStatement", "java/sql/Statement", "execute", "()V", false,
		  false }, /* one row has them both */
		{ "a/Proxied", "java/lang/annotation/Annotation", "value", "()I", false, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rule_lineage own = { .ready = true, .n = 1 }, all;
		struct fit_gain gain;

		own.list[0] = (struct rule_ancestor){ .name = slice_str(cases[i].parent) };
		all = own;
		all.list[all.n++] = (struct rule_ancestor){ .name = slice_str(cases[i].above) };
		fit_gain(&gain, &all, &own);
		CHECK_INT(gain.any, cases[i].any, cases[i].above);
		CHECK_INT(fit_gain_meets(&gain, slice_str(cases[i].name), slice_str(cases[i].desc)),
			  cases[i].meets, cases[i].name);
	}
}
