/* SPDX-License-Identifier: Apache-2.0 */
/* Each table takes a good class, spoils it in one way and says what class_check answers. */
#include "test.h"

#include <stdio.h>

#include "base/mem.h"
#include "classes.h"

enum {
	STA = ACC_STATIC,
	FIN = ACC_FINAL,
	NAT = ACC_NATIVE,
	INT = ACC_INTERFACE,
	ABS = ACC_ABSTRACT,
};

static const struct maker_code just_return = { .code = STATIC_BYTES(OP_RETURN) };

/* ---- members ---- */

static const struct {
	uint16_t major;
	const char *name, *desc;
	bool code;
	uint16_t max_locals;
	int rc;
} methods[] = {
	{ 52, "m", "(I)V", true, 2, 0 },
	{ 52, "m", "(I)V", true, 1, E_ATTRIBUTE }, /* this and an int need two */
	{ 52, "m", "(JD)V", true, 5, 0 },
	{ 52, "m", "(JD)V", true, 4, E_ATTRIBUTE },
	{ 52, "m", "([J[[D)V", true, 3, 0 },
	{ 52, "m", "I", true, 9, E_DESCRIPTOR },
	{ 52, "m", "(V)V", true, 9, E_DESCRIPTOR },
	{ 52, "m.n", "()V", true, 9, E_NAME },
	{ 52, "<m>", "()V", true, 9, E_NAME },
	{ 52, "", "()V", true, 9, E_NAME },
	{ 52, "<init>", "()I", true, 9, E_DESCRIPTOR },
	{ 52, "<clinit>", "()V", true, 9, E_ACCESS }, /* not static */
	{ 50, "<clinit>", "(I)V", true, 1, 0 },	      /* nobody looked */
	{ 50, "<clinit>", "()I", true, 1, E_DESCRIPTOR },
	{ 52, "m", "()V", false, 9, E_CODE_MISSING },
	{ 48, "m-n", "()V", true, 9, E_NAME },
	{ 48, "m", "(La-b;)V", true, 9, E_DESCRIPTOR },
};

TEST(format_checks_methods)
{
	for (size_t i = 0; i < COUNT(methods); i++) {
		struct class_maker m;
		struct maker_code code = just_return;

		code.max_stack = 1;
		code.max_locals = methods[i].max_locals;
		maker_init(&m, "A", methods[i].major);
		if (methods[i].code)
			maker_code(&m, 0, methods[i].name, methods[i].desc, code);
		else
			maker_method(&m, 0, methods[i].name, methods[i].desc, NULL);
		CHECK_INT(maker_check(&m, methods[i].name), methods[i].rc, methods[i].desc);
	}
}

TEST(format_allows_255_slots_of_arguments)
{
	for (int n = 253; n <= 256; n++)
		for (int is_static = 0; is_static < 2; is_static++) {
			uint16_t access = NAT | (is_static ? STA : 0);
			struct class_maker m;
			char desc[300] = "(";

			memset(desc + 1, 'I', (size_t)n);
			strcpy(desc + 1 + n, ")V");
			maker_init(&m, "A", 52);
			maker_method(&m, access, "m", desc, NULL);
			CHECK_INT(maker_check(&m, NULL), n + !is_static > 255 ? E_DESCRIPTOR : 0,
				  NULL);
		}
}

TEST(format_wants_no_code_in_abstract_and_native_methods)
{
	static const uint16_t access[] = { ABS, NAT };

	for (size_t i = 0; i < COUNT(access); i++) {
		struct class_maker m;

		maker_init(&m, "A", 52);
		maker_code(&m, access[i], "m", "()V", just_return);
		CHECK_INT(maker_check(&m, NULL), E_CODE_MISSING, NULL);
	}
}

TEST(format_finds_duplicates_by_text_not_by_index)
{
	static const int sizes[] = { 2, 3, 32, 33, 1000 }; /* few are compared, many are hashed */

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int twin = 0; twin < 2; twin++)
			for (int method = 0; method < 2; method++) {
				int want = twin ? E_DUPLICATE : 0;
				struct class_maker m;
				char name[20];

				maker_init(&m, "A", 52);
				for (int k = 0; k < sizes[i]; k++) {
					snprintf(name, sizeof(name), "member%d",
						 twin && k == sizes[i] - 1 ? 0 : k);
					if (method)
						maker_method(&m, NAT, name, "()V", NULL);
					else
						maker_field(&m, 0, name, "I", NULL);
				}
				CHECK_INT(maker_check(&m, NULL), want, method ? "method" : "field");
			}
}

TEST(format_lets_members_differ_in_descriptor_alone)
{
	struct class_maker m;

	maker_init(&m, "A", 52);
	maker_field(&m, 0, "x", "I", NULL);
	maker_field(&m, 0, "x", "J", NULL);
	maker_method(&m, NAT, "x", "()I", NULL);
	maker_method(&m, NAT, "x", "()J", NULL);
	CHECK_INT(maker_check(&m, NULL), 0, NULL);
}

TEST(format_finds_an_interface_named_twice)
{
	static const int sizes[] = { 2, 32, 100 };

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (int twin = 0; twin < 2; twin++) {
			struct class_maker m;
			char name[20];

			maker_init(&m, "A", 52);
			for (int k = 0; k < sizes[i]; k++) {
				snprintf(name, sizeof(name), "I%d", twin && k == 1 ? 0 : k);
				maker_interface(&m, name);
			}
			CHECK_INT(maker_check(&m, NULL), twin ? E_DUPLICATE : 0, NULL);
		}
}

/* ---- the class, the pool and attributes: one function each ---- */

#define ATTR(name, ...) maker_attr(m, &m->attrs, name, BYTES(__VA_ARGS__))

static void add_nothing(struct class_maker *m)
{
	(void)m;
}

static void add_no_super(struct class_maker *m)
{
	m->super_class = 0;
}

static void add_object(struct class_maker *m)
{
	m->this_class = m->super_class;
	m->super_class = 0;
}

static void add_object_with_interface(struct class_maker *m)
{
	add_object(m);
	maker_interface(m, "I");
}

static void add_interface_with_super(struct class_maker *m)
{
	m->access = INT | ABS;
	m->super_class = maker_name(m, CONST_CLASS, "B");
}

static void add_array_name(struct class_maker *m)
{
	m->this_class = maker_name(m, CONST_CLASS, "[I");
}

static void add_array_super(struct class_maker *m)
{
	m->super_class = maker_name(m, CONST_CLASS, "[I");
}

static void add_own_super(struct class_maker *m)
{
	m->super_class = maker_name(m, CONST_CLASS, "A");
}

static void add_own_interface(struct class_maker *m)
{
	maker_interface(m, "A");
}

static void add_array_interface(struct class_maker *m)
{
	maker_interface(m, "[I");
}

static void add_minor(struct class_maker *m)
{
	m->minor = 3;
}

static void add_preview(struct class_maker *m)
{
	m->minor = 65535;
}

static void add_bad_text(struct class_maker *m)
{
	maker_utf8(m, "\xff");
}

static void add_bad_class(struct class_maker *m)
{
	maker_name(m, CONST_CLASS, "a.B");
}

static void add_empty_class(struct class_maker *m)
{
	maker_name(m, CONST_CLASS, "");
}

static void add_array_class(struct class_maker *m)
{
	maker_name(m, CONST_CLASS, "[[Ljava/lang/String;");
}

static void add_bad_field_name(struct class_maker *m)
{
	maker_name_and_type(m, "a/b", "I");
}

static void add_bad_method_name(struct class_maker *m)
{
	maker_name_and_type(m, "<a>", "()V");
}

static void add_empty_name(struct class_maker *m)
{
	maker_name_and_type(m, "", "I");
}

static void add_empty_desc(struct class_maker *m)
{
	maker_name_and_type(m, "a", "");
}

static void add_bad_desc(struct class_maker *m)
{
	maker_name_and_type(m, "a", "(I");
}

static void add_field_as_method(struct class_maker *m)
{
	maker_ref(m, CONST_METHODREF, "B", "f", "I");
}

static void add_method_as_field(struct class_maker *m)
{
	maker_ref(m, CONST_FIELDREF, "B", "f", "()V");
}

static void add_init_ref(struct class_maker *m)
{
	maker_ref(m, CONST_METHODREF, "B", "<init>", "(I)V");
}

static void add_init_with_result(struct class_maker *m)
{
	maker_ref(m, CONST_METHODREF, "B", "<init>", "()I");
}

static void add_clinit_ref(struct class_maker *m)
{
	maker_ref(m, CONST_METHODREF, "B", "<clinit>", "()V");
}

static void add_clinit_interface_ref(struct class_maker *m)
{
	maker_ref(m, CONST_INTERFACE_METHODREF, "B", "<clinit>", "()V"); /* HotSpot does not look */
}

static void add_method_type(struct class_maker *m)
{
	maker_name(m, CONST_METHOD_TYPE, "()V");
}

static void add_bad_method_type(struct class_maker *m)
{
	maker_name(m, CONST_METHOD_TYPE, "I");
}

static void add_handle(struct class_maker *m)
{
	maker_handle(m, 5, maker_ref(m, CONST_METHODREF, "B", "m", "()V"));
}

static void add_init_handle(struct class_maker *m)
{
	maker_handle(m, 8, maker_ref(m, CONST_METHODREF, "B", "<init>", "()V"));
}

static void add_init_as_method_handle(struct class_maker *m)
{
	maker_handle(m, 7, maker_ref(m, CONST_METHODREF, "B", "<init>", "()V"));
}

static void add_method_as_init_handle(struct class_maker *m)
{
	maker_handle(m, 8, maker_ref(m, CONST_METHODREF, "B", "m", "()V"));
}

static void add_interface_handle(struct class_maker *m)
{
	maker_handle(m, 6, maker_ref(m, CONST_INTERFACE_METHODREF, "B", "m", "()V"));
}

static void add_dynamic(struct class_maker *m)
{
	uint16_t h = maker_handle(m, 6, maker_ref(m, CONST_METHODREF, "B", "b", "()V"));

	maker_pair(m, CONST_DYNAMIC, 0, maker_name_and_type(m, "c", "I"));
	ATTR("BootstrapMethods", 0, 1, U2(h), 0, 0);
}

static void add_dynamic_of_method_type(struct class_maker *m)
{
	maker_pair(m, CONST_DYNAMIC, 0, maker_name_and_type(m, "c", "()V"));
}

static void add_indy(struct class_maker *m)
{
	uint16_t h = maker_handle(m, 6, maker_ref(m, CONST_METHODREF, "B", "b", "()V"));

	maker_pair(m, CONST_INVOKE_DYNAMIC, 0, maker_name_and_type(m, "c", "()V"));
	ATTR("BootstrapMethods", 0, 1, U2(h), 0, 0);
}

static void add_indy_alone(struct class_maker *m)
{
	maker_pair(m, CONST_INVOKE_DYNAMIC, 0, maker_name_and_type(m, "c", "()V"));
}

static void add_indy_out_of_range(struct class_maker *m)
{
	add_indy(m);
	maker_pair(m, CONST_INVOKE_DYNAMIC, 1, maker_name_and_type(m, "c", "()V"));
}

static void add_module_constant(struct class_maker *m)
{
	maker_name(m, CONST_MODULE, "java.base");
}

static void add_two_source_files(struct class_maker *m)
{
	ATTR("SourceFile", 0, 1);
	ATTR("SourceFile", 0, 1);
}

static void add_two_markers(struct class_maker *m)
{
	maker_attr(m, &m->attrs, "Deprecated", (struct slice){ NULL, 0 });
	maker_attr(m, &m->attrs, "Deprecated", (struct slice){ NULL, 0 });
}

static void add_bad_signature(struct class_maker *m)
{
	ATTR("Signature", 0, 2); /* a Class entry */
}

static void add_misplaced(struct class_maker *m)
{
	ATTR("LineNumberTable", 1, 2, 3); /* means nothing on a class */
	ATTR("Code", 1);
	ATTR("Module", 1);
}

static void add_unknown(struct class_maker *m)
{
	ATTR("Unknown", 1, 2, 3);
	ATTR("Unknown", 1, 2, 3);
}

static void add_nest_host(struct class_maker *m)
{
	ATTR("NestHost", 0, 4);
}

static void add_bad_nest_host(struct class_maker *m)
{
	ATTR("NestHost", 0, 1);
}

static void add_nest_both(struct class_maker *m)
{
	add_nest_host(m);
	ATTR("NestMembers", 0, 1, 0, 4);
}

static void add_permitted(struct class_maker *m)
{
	ATTR("PermittedSubclasses", 0, 1, 0, 4);
}

static void add_permitted_final(struct class_maker *m)
{
	m->access |= FIN;
	add_permitted(m);
}

static void add_record(struct class_maker *m)
{
	uint16_t n = maker_utf8(m, "x"), d = maker_utf8(m, "I"), s = maker_utf8(m, "Signature");

	ATTR("Record", 0, 1, U2(n), U2(d), 0, 1, U2(s), 0, 0, 0, 2, U2(d));
}

static void add_record_two_signatures(struct class_maker *m)
{
	uint16_t n = maker_utf8(m, "x"), d = maker_utf8(m, "I"), s = maker_utf8(m, "Signature");

	ATTR("Record", 0, 1, U2(n), U2(d), 0, 2, U2(s), 0, 0, 0, 2, U2(d), U2(s), 0, 0, 0, 2,
	     U2(d));
}

static void add_record_bad_name(struct class_maker *m)
{
	uint16_t n = maker_utf8(m, "x.y"), d = maker_utf8(m, "I");

	ATTR("Record", 0, 1, U2(n), U2(d), 0, 0);
}

static void add_record_bad_desc(struct class_maker *m)
{
	uint16_t n = maker_utf8(m, "x"), d = maker_utf8(m, "V");

	ATTR("Record", 0, 1, U2(n), U2(d), 0, 0);
}

static void add_record_cut_off(struct class_maker *m)
{
	uint16_t d = maker_utf8(m, "I");

	ATTR("Record", 0, 2, U2(d), U2(d), 0, 0);
}

static void add_record_too_long(struct class_maker *m)
{
	ATTR("Record", 0, 0, 0);
}

static void add_record_no_text(struct class_maker *m)
{
	ATTR("Record", 0, 1, 0, 2, 0, 2, 0, 0);
}

static void add_nonsense_annotations(struct class_maker *m)
{
	ATTR("RuntimeVisibleAnnotations", 1, 2, 3); /* only reflection reads them */
}

static void add_two_annotations(struct class_maker *m)
{
	ATTR("RuntimeVisibleAnnotations", 0, 0);
	ATTR("RuntimeVisibleAnnotations", 0, 0);
}

static void add_parameters(struct class_maker *m)
{
	struct maker_list attrs = { 0 };

	maker_attr(m, &attrs, "MethodParameters", BYTES(1, 0, 99, 0, 0)); /* nobody reads 99 */
	maker_method(m, NAT, "p", "(I)V", &attrs);
}

static void add_parameters_cut_off(struct class_maker *m)
{
	struct maker_list attrs = { 0 };

	maker_attr(m, &attrs, "MethodParameters", BYTES(2, 0, 0, 0, 0));
	maker_method(m, NAT, "p", "(I)V", &attrs);
}

static void add_inner(struct class_maker *m)
{
	ATTR("InnerClasses", 0, 2, 0, 2, 0, 4, 0, 1, 0, 9, 0, 4, 0, 2, 0, 1, 0, 9);
}

static void add_inner_too_long(struct class_maker *m)
{
	ATTR("InnerClasses", 0, 1, 0, 2, 0, 4, 0, 1, 0, 9, 99);
}

static void add_inner_in_itself(struct class_maker *m)
{
	ATTR("InnerClasses", 0, 1, 0, 2, 0, 2, 0, 1, 0, 9);
}

static void add_inner_in_array(struct class_maker *m)
{
	uint16_t array = maker_name(m, CONST_CLASS, "[I");

	ATTR("InnerClasses", 0, 1, 0, 2, U2(array), 0, 1, 0, 9);
}

static void add_inner_bad_flags(struct class_maker *m)
{
	ATTR("InnerClasses", 0, 1, 0, 2, 0, 4, 0, 1, U2(INT));
}

static void add_inner_twice(struct class_maker *m)
{
	ATTR("InnerClasses", 0, 2, 0, 2, 0, 4, 0, 1, 0, 9, 0, 2, 0, 4, 0, 1, 0, 9);
}

static void add_enclosing_zero(struct class_maker *m)
{
	ATTR("EnclosingMethod", 0, 0, 0, 0);
}

static void add_module_info(struct class_maker *m)
{
	uint16_t name = maker_name(m, CONST_MODULE, "m");

	m->access = ACC_MODULE;
	m->this_class = maker_name(m, CONST_CLASS, "module-info");
	m->super_class = 0;
	ATTR("Module", U2(name), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void add_module_with_super(struct class_maker *m)
{
	add_module_info(m);
	m->super_class = 4;
}

static void add_module_other_name(struct class_maker *m)
{
	add_module_info(m);
	m->this_class = 2;
}

static void add_module_with_field(struct class_maker *m)
{
	add_module_info(m);
	maker_field(m, 0, "f", "I", NULL);
}

static void add_module_bad_name(struct class_maker *m)
{
	add_module_info(m);
	maker_name(m, CONST_MODULE, "a:b");
}

static void add_module_bad_package(struct class_maker *m)
{
	add_module_info(m);
	maker_name(m, CONST_PACKAGE, "a.b");
}

static void add_module_without_attribute(struct class_maker *m)
{
	add_module_info(m);
	m->attrs.n = 0;
	buf_clear(&m->attrs.bytes);
}

static const struct {
	const char *what;
	uint16_t major;
	void (*add)(struct class_maker *m);
	int rc;
} changes[] = {
	{ "nothing", 52, add_nothing, 0 },
	{ "no superclass", 52, add_no_super, E_SUPER },
	{ "Object", 52, add_object, 0 },
	{ "Object with an interface", 52, add_object_with_interface, E_SUPER },
	{ "an interface's superclass", 52, add_interface_with_super, E_SUPER },
	{ "name of an array", 52, add_array_name, E_NAME },
	{ "super is an array", 52, add_array_super, E_SUPER },
	{ "interface is an array", 52, add_array_interface, E_SUPER },
	{ "its own superclass", 52, add_own_super, E_SUPER },
	{ "its own interface", 52, add_own_interface, E_SUPER },
	{ "minor before 56", 55, add_minor, 0 },
	{ "minor from 56", 56, add_minor, E_VERSION },
	{ "preview", 56, add_preview, 0 },
	{ "text", 52, add_bad_text, E_UTF8 },
	{ "class with a dot", 52, add_bad_class, E_NAME },
	{ "class without a name", 52, add_empty_class, E_NAME },
	{ "array class", 52, add_array_class, 0 },
	{ "field name", 52, add_bad_field_name, E_NAME },
	{ "method name", 52, add_bad_method_name, E_NAME },
	{ "empty name", 52, add_empty_name, E_NAME },
	{ "empty descriptor", 52, add_empty_desc, E_DESCRIPTOR },
	{ "bad descriptor", 52, add_bad_desc, E_DESCRIPTOR },
	{ "field as a method", 52, add_field_as_method, E_DESCRIPTOR },
	{ "method as a field", 52, add_method_as_field, E_DESCRIPTOR },
	{ "<init>", 52, add_init_ref, 0 },
	{ "<init> with a result", 52, add_init_with_result, E_DESCRIPTOR },
	{ "<clinit> is called", 52, add_clinit_ref, E_NAME },
	{ "<clinit> of an interface", 52, add_clinit_interface_ref, 0 },
	{ "method type", 51, add_method_type, 0 },
	{ "method type too early", 50, add_method_type, E_POOL_TAG },
	{ "bad method type", 52, add_bad_method_type, E_DESCRIPTOR },
	{ "handle", 51, add_handle, 0 },
	{ "handle too early", 50, add_handle, E_POOL_TAG },
	{ "<init> handle", 51, add_init_handle, 0 },
	{ "<init> in another handle", 52, add_init_as_method_handle, E_NAME },
	{ "method in an <init> handle", 52, add_method_as_init_handle, E_NAME },
	{ "interface handle", 52, add_interface_handle, 0 },
	{ "interface handle too early", 51, add_interface_handle, E_POOL_INDEX },
	{ "dynamic constant", 55, add_dynamic, 0 },
	{ "dynamic constant too early", 54, add_dynamic, E_POOL_TAG },
	{ "dynamic constant of method type", 55, add_dynamic_of_method_type, E_DESCRIPTOR },
	{ "invokedynamic", 51, add_indy, 0 },
	{ "invokedynamic too early", 50, add_indy, E_POOL_TAG },
	{ "no BootstrapMethods", 52, add_indy_alone, E_ATTRIBUTE },
	{ "bootstrap index", 52, add_indy_out_of_range, E_ATTRIBUTE },
	{ "module constant in a class", 53, add_module_constant, E_POOL_TAG },
	{ "module constant too early", 52, add_module_constant, E_POOL_TAG },
	{ "two SourceFiles", 52, add_two_source_files, E_DUPLICATE },
	{ "two markers", 52, add_two_markers, 0 },
	{ "bad Signature", 49, add_bad_signature, E_ATTRIBUTE },
	{ "Signature before its time", 48, add_bad_signature, 0 },
	{ "misplaced attributes", 52, add_misplaced, 0 },
	{ "unknown attributes", 52, add_unknown, 0 },
	{ "NestHost", 55, add_nest_host, 0 },
	{ "bad NestHost", 55, add_bad_nest_host, E_ATTRIBUTE },
	{ "bad NestHost before its time", 54, add_bad_nest_host, 0 },
	{ "NestHost and NestMembers", 55, add_nest_both, E_ATTRIBUTE },
	{ "NestHost and NestMembers before", 54, add_nest_both, 0 },
	{ "PermittedSubclasses", 61, add_permitted, 0 },
	{ "PermittedSubclasses of a final class", 61, add_permitted_final, E_ATTRIBUTE },
	{ "the same before its time", 60, add_permitted_final, 0 },
	{ "Record", 60, add_record, 0 },
	{ "component with two Signatures", 60, add_record_two_signatures, E_DUPLICATE },
	{ "component's name", 60, add_record_bad_name, E_NAME },
	{ "component's name before its time", 59, add_record_bad_name, 0 },
	{ "component's descriptor", 60, add_record_bad_desc, E_DESCRIPTOR },
	{ "Record cut off", 60, add_record_cut_off, E_ATTRIBUTE },
	{ "Record too long", 60, add_record_too_long, E_ATTRIBUTE },
	{ "component's name is no text", 60, add_record_no_text, E_ATTRIBUTE },
	{ "nonsense for annotations", 52, add_nonsense_annotations, 0 },
	{ "annotations twice", 49, add_two_annotations, E_DUPLICATE },
	{ "annotations twice, too early", 48, add_two_annotations, 0 },
	{ "MethodParameters", 52, add_parameters, 0 },
	{ "MethodParameters cut off", 52, add_parameters_cut_off, E_ATTRIBUTE },
	{ "InnerClasses", 52, add_inner, 0 },
	{ "InnerClasses too long", 52, add_inner_too_long, E_ATTRIBUTE },
	{ "InnerClasses too long, once", 48, add_inner_too_long, 0 },
	{ "class in itself", 52, add_inner_in_itself, E_ATTRIBUTE },
	{ "class in an array", 52, add_inner_in_array, E_ATTRIBUTE },
	{ "inner class's flags", 52, add_inner_bad_flags, E_ACCESS },
	{ "inner class twice", 52, add_inner_twice, E_DUPLICATE },
	{ "inner class twice, once", 48, add_inner_twice, 0 },
	{ "EnclosingMethod of nothing", 52, add_enclosing_zero, E_ATTRIBUTE },
	{ "module-info", 53, add_module_info, 0 },
	{ "module-info with a superclass", 53, add_module_with_super, E_SUPER },
	{ "module of another name", 53, add_module_other_name, E_NAME },
	{ "module with a field", 53, add_module_with_field, E_ATTRIBUTE },
	{ "module's name", 53, add_module_bad_name, E_NAME },
	{ "package's name", 53, add_module_bad_package, E_NAME },
	{ "module-info without Module", 53, add_module_without_attribute, E_ATTRIBUTE },
};

TEST(format_finds_each_change_of_a_good_class)
{
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct class_maker m;

		maker_init(&m, "A", changes[i].major);
		changes[i].add(&m);
		CHECK_INT(maker_check(&m, changes[i].what), changes[i].rc, changes[i].what);
	}
}

/* ---- ConstantValue ---- */

static const struct {
	const char *desc;
	uint8_t tag;
	uint16_t access;
	int rc;
} values[] = {
	{ "I", CONST_INTEGER, STA, 0 },
	{ "Z", CONST_INTEGER, STA, 0 },
	{ "B", CONST_INTEGER, STA, 0 },
	{ "C", CONST_INTEGER, STA, 0 },
	{ "S", CONST_INTEGER, STA, 0 },
	{ "J", CONST_LONG, STA, 0 },
	{ "F", CONST_FLOAT, STA, 0 },
	{ "D", CONST_DOUBLE, STA, 0 },
	{ "Ljava/lang/String;", CONST_STRING, STA, 0 },
	{ "J", CONST_INTEGER, STA, E_ATTRIBUTE },
	{ "I", CONST_FLOAT, STA, E_ATTRIBUTE },
	{ "I", CONST_STRING, STA, E_ATTRIBUTE },
	{ "Ljava/lang/Object;", CONST_STRING, STA, E_ATTRIBUTE },
	{ "[I", CONST_INTEGER, STA, E_ATTRIBUTE },
	{ "J", CONST_INTEGER, 0, 0 }, /* of an instance: ignored */
};

TEST(format_compares_constant_values_with_the_type_of_the_field)
{
	for (size_t i = 0; i < COUNT(values); i++) {
		struct maker_list attrs = { 0 };
		struct class_maker m;
		uint16_t value;

		maker_init(&m, "A", 52);
		value = values[i].tag == CONST_STRING ? maker_name(&m, CONST_STRING, "s")
						      : maker_number(&m, values[i].tag, 1);
		maker_attr(&m, &attrs, "ConstantValue", BYTES(U2(value)));
		maker_field(&m, values[i].access, "f", values[i].desc, &attrs);
		CHECK_INT(maker_check(&m, values[i].desc), values[i].rc, values[i].desc);
	}
}

TEST(format_survives_every_failed_allocation)
{
	struct class_maker m;
	struct class *cls;
	struct arena mem;
	char name[20];
	int rc = -1;

	arena_init(&mem);
	maker_init(&m, "A", 52);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		maker_interface(&m, name);
		maker_method(&m, NAT, name, "()V", NULL);
	}
	add_inner(&m);
	if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, NULL))
		for (long n = 0; rc < 0 && n < 1000; n++) {
			mem_fail_at(n);
			rc = class_check(cls, NULL);
			mem_fail_at(-1);
			if (rc < 0)
				CHECK_INT(rc, E_NO_MEMORY, NULL);
		}
	CHECK_INT(rc, 0, NULL);
	class_release(cls);
	maker_release(&m);
	arena_release(&mem);
}
