// SPDX-License-Identifier: Apache-2.0

import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;

/** Fields, methods and attributes that a reader must refuse (JVMS 4.3, 4.5 - 4.8). */
final class InvalidMembers implements Opcodes {
	private final Zoo zoo;

	private InvalidMembers(Zoo zoo) {
		this.zoo = zoo;
	}

	static void write(Zoo zoo) {
		InvalidMembers m = new InvalidMembers(zoo);
		m.descriptors();
		m.flags();
		m.fieldAttributes();
		m.codeAttributes();
		m.classAttributes();
		m.newAttributes();
	}

	private void bad(String file, Consumer<RawClass> spoil) {
		bad(file, 52, spoil);
	}

	private void bad(String file, int version, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").version(version).constructor();
		spoil.accept(c);
		zoo.invalid("format", file, c.build());
	}

	private static byte[] nothing(RawClass c) {
		return c.code(1, 1, Bytes.of(RETURN));
	}

	private void descriptors() {
		String[][] fields = {{"void", "V"}, {"method", "()V"}, {"empty", ""}, {"unclosed",
				"Ljava/lang/String"},
			{"two", "II"}, {"unknown_letter", "X"}, {"array_of_nothing", "["},
			{"array_of_void", "[V"},
			{"empty_class", "L;"}, {"dotted", "Ljava.lang.String;"}, {"dimensions_256",
			"[".repeat(256) + "I"}};
		for (String[] d : fields)
			bad("field_descriptor_" + d[0], c -> c.field(0, "f", d[1]));
		String[][] methods = {{"field", "I"}, {"empty", ""}, {"no_return", "()"},
				{"unclosed_arguments", "(I"},
			{"void_argument", "(V)V"}, {"unclosed_class", "(Ljava/lang/String)V"},
			{"two_returns", "()II"},
			{"no_opening", ")V"}, {"lower_case", "(i)V"}, {"array_of_void", "()[V"},
			{"256_arguments", "(" + "I".repeat(256) + ")V"}, {"128_longs", "("
			+ "J".repeat(128) + ")V"}};
		for (String[] d : methods)
			bad(d[0].equals("empty") ? "bad_descriptor" : "method_descriptor_" + d[0],
					c ->
					c.method(9, "m", d[1], nothing(c)));
		bad("method_descriptor_this_and_255_arguments", c -> c.method(ACC_ABSTRACT, "m",
				"(" + "I".repeat(255) + ")V"));
		String[][] names = {{"dot", "a.b"}, {"semicolon", "a;b"}, {"bracket", "a[b"},
				{"slash", "a/b"}};
		for (String[] n : names) {
			bad("field_name_with_" + n[0], c -> c.field(0, n[1], "I"));
			bad("method_name_with_" + n[0], c -> c.method(9, n[1], "()V", nothing(c)));
		}
		bad("field_name_empty", c -> c.field(0, "", "I"));
		bad("method_name_empty", c -> c.method(9, "", "()V", nothing(c)));
		bad("method_name_in_angle_brackets", c -> c.method(9, "<foo>", "()V", nothing(c)));
		bad("method_name_index_zero", c -> c.methods.add(RawClass.member(9, 0,
				c.utf8("()V"), nothing(c))));
		bad("method_name_is_class", c -> c.methods.add(RawClass.member(9, c.thisClass,
				c.utf8("()V"), nothing(c))));
		bad("field_descriptor_index_past_pool", c -> c.fields
				.add(RawClass.member(0, c.utf8("f"), 5000)));
		bad("field_twice", c -> c.field(0, "f", "I").field(8, "f", "I"));
		bad("method_twice", c -> c.method(9, "m", "()V", nothing(c)).method(9, "m", "()V",
				nothing(c)));
	}

	private void flags() {
		bad("field_public_and_private", c -> c.field(ACC_PUBLIC | ACC_PRIVATE, "f", "I"));
		bad("field_final_and_volatile", c -> c.field(ACC_FINAL | ACC_VOLATILE, "f", "I"));
		bad("method_public_and_protected", c -> c.method(ACC_PUBLIC | ACC_PROTECTED, "m",
				"()V", nothing(c)));
		bad("method_abstract_and_final", c -> c.method(ACC_ABSTRACT | ACC_FINAL, "m",
				"()V"));
		bad("method_abstract_and_static", c -> c.method(ACC_ABSTRACT | ACC_STATIC, "m",
				"()V"));
		bad("method_abstract_and_native", c -> c.method(ACC_ABSTRACT | ACC_NATIVE, "m",
				"()V"));
		bad("method_abstract_with_code", c -> {
			c.access |= ACC_ABSTRACT;
			c.method(ACC_ABSTRACT, "m", "()V", nothing(c));
		});
		bad("method_native_with_code", c -> c.method(ACC_NATIVE, "m", "()V", nothing(c)));
		bad("method_without_code", c -> c.method(0, "m", "()V"));
		bad("init_static", c -> c.method(ACC_STATIC, "<init>", "(I)V", nothing(c)));
		bad("init_final", c -> c.method(ACC_FINAL, "<init>", "(I)V", nothing(c)));
		bad("init_synchronized", c -> c.method(ACC_SYNCHRONIZED, "<init>", "(I)V",
				nothing(c)));
		bad("init_returns_value", c -> c.method(0, "<init>", "()I", c.code(1, 1,
				Bytes.of(ICONST_0, IRETURN))));
		bad("init_in_interface", c -> c.access = ACC_INTERFACE | ACC_ABSTRACT);
		bad("clinit_with_argument", c -> c.method(ACC_STATIC, "<clinit>", "(I)V",
				nothing(c)));
		bad("clinit_not_static", c -> c.method(0, "<clinit>", "()V", nothing(c)));
		Consumer<RawClass> itf = c -> {
			c.access = ACC_INTERFACE | ACC_ABSTRACT;
			c.methods.clear();
		};
		bad("interface_field_not_final", itf.andThen(c -> c.field(ACC_PUBLIC | ACC_STATIC,
				"f", "I")));
		bad("interface_field_not_static", itf.andThen(c -> c.field(ACC_PUBLIC | ACC_FINAL,
				"f", "I")));
		bad("interface_method_protected", itf.andThen(c ->
				c.method(ACC_PROTECTED | ACC_ABSTRACT, "m", "()V")));
		bad("interface_method_final", itf.andThen(c -> c.method(ACC_PUBLIC | ACC_FINAL, "m",
				"()V", nothing(c))));
		bad("interface_method_package_private", itf.andThen(c -> c.method(ACC_ABSTRACT, "m",
				"()V")));
		bad("interface_method_with_code_in_51", 51, itf.andThen(c -> c.method(ACC_PUBLIC,
				"m", "()V", nothing(c))));
	}

	private void fieldAttributes() {
		bad("constant_value_wrong_type", c -> c.field(8, "f", "I", c.attr("ConstantValue",
				new Bytes().u2(c.longs(1)))));
		bad("constant_value_string_for_int", c -> c.field(8, "f", "I",
				c.attr("ConstantValue",
				new Bytes().u2(c.string("x")))));
		bad("constant_value_for_object", c -> c.field(8, "f", "Ljava/lang/Object;",
				c.attr("ConstantValue",
				new Bytes().u2(c.string("x")))));
		bad("constant_value_is_class", c -> c.field(8, "f", "Ljava/lang/Class;",
				c.attr("ConstantValue",
				new Bytes().u2(c.thisClass))));
		bad("constant_value_index_zero", c -> c.field(8, "f", "I", c.attr("ConstantValue",
				new Bytes().u2(0))));
		bad("constant_value_length_3", c -> c.field(8, "f", "I", c.attr("ConstantValue",
				Bytes.of(0, 1, 2))));
		bad("constant_value_twice", c -> {
			byte[] v = c.attr("ConstantValue", new Bytes().u2(c.integer(1)));
			c.field(8, "f", "I", v, v);
		});
		bad("synthetic_with_content", c -> c.field(0, "f", "I", c.attr("Synthetic",
				Bytes.of(1))));
		bad("deprecated_with_content", c -> c.field(0, "f", "I", c.attr("Deprecated",
				Bytes.of(1))));
		bad("signature_length_1", c -> c.field(0, "f", "I", c.attr("Signature",
				Bytes.of(1))));
		bad("signature_not_utf8", c -> c.field(0, "f", "I", c.attr("Signature", new Bytes()
				.u2(c.thisClass))));
		bad("signature_twice", c -> {
			byte[] s = c.attr("Signature", new Bytes().u2(c.utf8("TT;")));
			c.field(0, "f", "I", s, s);
		});
	}

	private void code(String file, byte[] body) {
		bad(file, c -> c.method(9, "m", "()V", c.attr("Code", body)));
	}

	private void codeAttributes() {
		byte[] good = new Bytes().u2(0, 0).u4(1).u1(RETURN).u2(0, 0).done();
		bad("code_twice", c -> c.method(9, "m", "()V", c.attr("Code", good), c.attr("Code",
				good)));
		code("code_attribute_empty", new byte[0]);
		code("code_length_zero", new Bytes().u2(0, 0).u4(0).u2(0, 0).done());
		code("code_length_past_attribute", new Bytes().u2(0, 0).u4(100).u1(RETURN)
				.u2(0, 0).done());
		code("code_length_negative", new Bytes().u2(0, 0).u4(-1).u1(RETURN)
				.u2(0, 0).done());
		code("code_length_65536", new Bytes().u2(0, 0).u4(65536).times(65535, NOP)
				.u1(RETURN).u2(0, 0).done());
		code("code_attribute_too_long", new Bytes().add(good).u1(0).done());
		code("code_attribute_too_short", new Bytes().u2(0, 0).u4(1).u1(RETURN)
				.u2(0).done());
		code("exception_table_past_attribute", new Bytes().u2(0, 0).u4(1).u1(RETURN)
				.u2(500, 0).done());
		bad("arguments_exceed_max_locals", c -> c.method(9, "m", "(IJ)V", c.code(0, 2,
				Bytes.of(RETURN))));
		Object[][] rows = {{"handler_range_inverted", 2, 1, 0, 0}, {"handler_range_empty",
				1, 1, 0, 0},
			{"handler_start_past_code", 9, 10, 0, 0}, {"handler_end_past_code", 0, 4, 0,
			0},
			{"handler_pc_past_code", 0, 1, 3, 0}, {"handler_catch_type_past_pool", 0, 1,
			1, 999},
			{"handler_catch_type_is_utf8", 0, 1, 1, -1}};
		for (Object[] r : rows)
			bad((String) r[0], c -> c.method(9, "m", "()V", c.code(1, 0, Bytes.of(NOP,
					NOP, RETURN), new int[] {
				(int) r[1], (int) r[2], (int) r[3], (int) r[4] == -1 ? c.utf8("x")
						: (int) r[4]})));
		bad("line_number_past_code", c -> inCode(c, "LineNumberTable", new Bytes()
				.u2(1, 1, 5)));
		bad("line_number_table_too_short", c -> inCode(c, "LineNumberTable", new Bytes()
				.u2(2, 0, 5)));
		bad("line_number_table_too_long", c -> inCode(c, "LineNumberTable", new Bytes()
				.u2(0, 0, 5)));
		bad("local_variable_starts_at_code_end", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 1, 0, c.utf8("x"), c.utf8("I"), 0)));
		bad("local_variable_runs_past_code", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 2, c.utf8("x"), c.utf8("I"), 0)));
		bad("local_variable_beyond_max_locals", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 1, c.utf8("x"), c.utf8("I"), 2)));
		bad("local_variable_long_beyond_max_locals", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 1, c.utf8("x"), c.utf8("J"), 1)));
		bad("local_variable_bad_descriptor", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 1, c.utf8("x"), c.utf8("Q"), 0)));
		bad("local_variable_bad_name", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 1, c.utf8("a.b"), c.utf8("I"), 0)));
		bad("local_variable_name_index_zero", c -> inCode(c, "LocalVariableTable",
				new Bytes().u2(1, 0, 1, 0, c.utf8("I"), 0)));
		bad("local_variable_twice", c -> inCode(c, "LocalVariableTable", new Bytes().u2(2)
				.u2(0, 1, c.utf8("x"),
				c.utf8("I"), 0).u2(0, 1, c.utf8("x"), c.utf8("I"), 0)));
		bad("stack_map_table_twice", c -> {
			byte[] f = c.frames();
			c.method(9, "m", "()V", c.code(0, 0, Bytes.of(RETURN), f, f));
		});
	}

	/** A method with two locals and the given attribute in its Code. */
	private static void inCode(RawClass c, String name, Bytes body) {
		c.method(9, "m", "()V", c.code(0, 2, Bytes.of(RETURN), c.attr(name, body)));
	}

	private void classAttributes() {
		bad("source_file_length_3", c -> c.attribute(c.attr("SourceFile", Bytes.of(0, 1,
				2))));
		bad("source_file_not_utf8", c -> c.attribute(c.attr("SourceFile", new Bytes()
				.u2(c.thisClass))));
		bad("source_file_twice", c -> {
			byte[] s = c.attr("SourceFile", new Bytes().u2(c.utf8("A.java")));
			c.attribute(s).attribute(s);
		});
		bad("exceptions_too_short", c -> c.method(9, "m", "()V", nothing(c),
				c.attr("Exceptions", new Bytes().u2(2, c.thisClass))));
		bad("exceptions_index_zero", c -> c.method(9, "m", "()V", nothing(c),
				c.attr("Exceptions", new Bytes().u2(1, 0))));
		bad("exceptions_not_class", c -> c.method(9, "m", "()V", nothing(c),
				c.attr("Exceptions",
				new Bytes().u2(1, c.utf8("x")))));
		bad("method_parameters_too_short", c -> c.method(9, "m", "()V", nothing(c),
				c.attr("MethodParameters",
				Bytes.of(2).u2(0, 0))));
		bad("inner_classes_too_short", c -> c.attribute(c.attr("InnerClasses", new Bytes()
				.u2(2, c.thisClass, 0, 0, 0))));
		bad("inner_classes_index_zero", c -> c.attribute(c.attr("InnerClasses", new Bytes()
				.u2(1, 0, 0, 0, 0))));
		bad("inner_classes_outer_is_utf8", c -> c.attribute(c.attr("InnerClasses",
				new Bytes().u2(1, c.thisClass,
				c.utf8("x"), 0, 0))));
		bad("inner_classes_name_is_class", c -> c.attribute(c.attr("InnerClasses",
				new Bytes().u2(1, c.thisClass, 0,
				c.thisClass, 0))));
		bad("inner_class_is_its_own_outer", c -> c.attribute(c.attr("InnerClasses",
				new Bytes().u2(1, c.thisClass,
				c.thisClass, c.utf8("Bad"), 0))));
		bad("inner_classes_duplicate_row", c -> c.attribute(c.attr("InnerClasses",
				new Bytes().u2(2)
				.u2(c.thisClass, 0, c.utf8("B"), 0).u2(c.thisClass, 0, c.utf8("B"),
				0))));
		bad("enclosing_method_length_2", c -> c.attribute(c.attr("EnclosingMethod",
				new Bytes().u2(c.thisClass))));
		bad("enclosing_method_class_zero", c -> c.attribute(c.attr("EnclosingMethod",
				new Bytes().u2(0, 0))));
		bad("enclosing_method_not_name_and_type", c -> c.attribute(c.attr("EnclosingMethod",
				new Bytes().u2(c.thisClass, c.thisClass))));
	}

	private void newAttributes() {
		bad("nest_host_length_4", 55, c -> c.attribute(c.attr("NestHost", new Bytes()
				.u2(c.thisClass, 0))));
		bad("nest_host_not_class", 55, c -> c.attribute(c.attr("NestHost", new Bytes()
				.u2(c.utf8("x")))));
		bad("nest_host_twice", 55, c -> {
			byte[] n = c.attr("NestHost", new Bytes().u2(c.thisClass));
			c.attribute(n).attribute(n);
		});
		bad("nest_host_and_nest_members", 55, c -> c.attribute(c.attr("NestHost",
				new Bytes().u2(c.thisClass)))
				.attribute(c.attr("NestMembers", new Bytes().u2(1, c.thisClass))));
		bad("nest_members_too_short", 55, c -> c.attribute(c.attr("NestMembers", new Bytes()
				.u2(4, c.thisClass))));
		bad("permitted_subclasses_on_final_class", 61, c -> {
			c.access |= ACC_FINAL;
			c.attribute(c.attr("PermittedSubclasses", new Bytes().u2(1, c.thisClass)));
		});
		bad("permitted_subclasses_index_zero", 61, c ->
				c.attribute(c.attr("PermittedSubclasses", new Bytes().u2(1, 0))));
		bad("permitted_subclasses_too_short", 61, c ->
				c.attribute(c.attr("PermittedSubclasses", new Bytes().u2(2, 2))));
		Consumer<RawClass> record = c -> {
			c.access |= ACC_FINAL;
			c.superClass = c.cls("java/lang/Record");
			c.methods.clear();
		};
		bad("record_too_short", 61, record.andThen(c -> c.attribute(c.attr("Record",
				new Bytes().u2(1, 2)))));
		bad("record_component_bad_descriptor", 61, record.andThen(c ->
				c.attribute(c.attr("Record",
				new Bytes().u2(1, c.utf8("c"), c.utf8("Q"), 0)))));
		bad("record_component_bad_name", 61, record.andThen(c ->
				c.attribute(c.attr("Record",
				new Bytes().u2(1, c.utf8("a;b"), c.utf8("I"), 0)))));
		bad("record_component_name_zero", 61, record.andThen(c ->
				c.attribute(c.attr("Record",
				new Bytes().u2(1, 0, c.utf8("I"), 0)))));
		bad("record_twice", 61, record.andThen(c -> c.attribute(c.attr("Record", new Bytes()
				.u2(0)))
				.attribute(c.attr("Record", new Bytes().u2(0)))));
	}
}
