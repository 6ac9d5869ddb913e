// SPDX-License-Identifier: Apache-2.0

import java.util.Arrays;
import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;

/** Class files that a reader must refuse: file structure, constant pool, header (JVMS 4.1, 4.4). */
final class InvalidFormat implements Opcodes {
	private final Zoo zoo;

	private InvalidFormat(Zoo zoo) {
		this.zoo = zoo;
	}

	static void write(Zoo zoo) {
		InvalidFormat f = new InvalidFormat(zoo);
		f.file();
		f.pool();
		f.strings();
		f.dynamic();
		f.header();
	}

	private void raw(String file, byte[] b) {
		zoo.invalid("format", file, b);
	}

	/** A class that is fine but for what `spoil` does to it. */
	private void bad(String file, Consumer<RawClass> spoil) {
		bad(file, 52, spoil);
	}

	private void bad(String file, int version, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").version(version).constructor();
		spoil.accept(c);
		raw(file, c.build());
	}

	/** Nothing wrong with the file, but with what the JVM knows: its version, other classes. */
	private void inContext(String file, int version, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").version(version).constructor();
		spoil.accept(c);
		zoo.invalid("context", file, c.build());
	}

	private void file() {
		byte[] good = new RawClass("Bad").constructor().build();
		raw("empty_file", new byte[0]);
		raw("only_magic", Arrays.copyOf(good, 4));
		raw("truncated_version", Arrays.copyOf(good, 6));
		raw("truncated_pool_count", Arrays.copyOf(good, 9));
		raw("truncated_pool", Arrays.copyOf(good, 15));
		RawClass header = new RawClass("Bad");
		byte[] bare = header.build();
		raw("truncated_header", Arrays.copyOf(bare, bare.length - 10));
		raw("truncated_last_byte", Arrays.copyOf(good, good.length - 1));
		raw("truncated_code", Arrays.copyOf(good, good.length - 8));
		raw("trailing_bytes", Arrays.copyOf(good, good.length + 1));
		byte[] magic = good.clone();
		magic[0] = 0x4c;
		raw("bad_magic", magic);
		byte[] count = good.clone();
		count[8] = count[9] = 0;
		raw("pool_count_zero", count);
		count = good.clone();
		count[9]++;
		raw("pool_count_one_too_many", count);
		count = good.clone();
		count[9]--;
		raw("pool_count_one_too_few", count);
		bad("attribute_longer_than_file", c -> c.attribute(new Bytes().u2(c.utf8("Odd"))
				.u4(1000).done()));
		bad("attribute_of_four_gigabytes", c -> c.attribute(new Bytes().u2(c.utf8("Odd"))
				.u4(-1).done()));
		bad("attribute_name_zero", c -> c.attribute(new Bytes().u2(0).u4(0).done()));
		bad("attribute_name_not_utf8", c -> c.attribute(new Bytes().u2(c.thisClass)
				.u4(0).done()));
		bad("attribute_name_past_pool", c -> c.attribute(new Bytes().u2(9999)
				.u4(0).done()));
		bad("version_44", 44, c -> { });
		inContext("version_300", 300, c -> { });
		inContext("version_200_preview", 200, c -> c.minor = 65535);
		bad("version_61_minor_1", 61, c -> c.minor = 1);
	}

	private void pool() {
		for (int tag : new int[] {0, 2, 13, 14, 21, 255})
			bad("pool_tag_" + tag, c -> c.entry(1, Bytes.of(tag, 0, 1)));
		bad("pool_class_points_at_itself", c -> c.entry(1, Bytes.of(7).u2(c.poolCount())));
		bad("pool_class_points_at_zero", c -> c.pair(7, 0));
		bad("pool_class_points_past_end", c -> c.pair(7, 60000));
		bad("pool_class_points_at_string", c -> c.pair(7, c.string("x")));
		bad("pool_string_points_at_class", c -> c.pair(8, c.thisClass));
		bad("pool_string_points_at_zero", c -> c.pair(8, 0));
		bad("pool_name_and_type_without_name", c -> c.pair(12, 0, c.utf8("I")));
		bad("pool_name_and_type_points_at_class", c -> c.pair(12, c.thisClass,
				c.utf8("I")));
		bad("pool_name_and_type_bad_descriptor", c -> c.field("Bad", "f", "Q"));
		bad("pool_methodref_class_is_utf8", c -> c.pair(10, c.utf8("Bad"), c.nameType("m",
				"()V")));
		bad("pool_methodref_type_is_class", c -> c.pair(10, c.thisClass, c.thisClass));
		bad("pool_methodref_with_field_descriptor", c -> c.method("Bad", "m", "I"));
		bad("pool_fieldref_with_method_descriptor", c -> c.field("Bad", "f", "()V"));
		bad("pool_methodref_calls_clinit", c -> c.method("Bad", "<clinit>", "()V"));
		bad("pool_methodref_init_returns_value", c -> c.method("Bad", "<init>", "()I"));
		bad("pool_methodref_name_with_brackets", c -> c.method("Bad", "<other>", "()V"));
		bad("pool_fieldref_name_with_slash", c -> c.field("Bad", "a/b", "I"));
		bad("pool_long_in_last_slot", c -> c.entry(1, Bytes.of(5).u4(0, 1)));
		bad("pool_double_in_last_slot", c -> c.entry(1, Bytes.of(6).u4(0, 1)));
		bad("pool_index_into_second_half_of_long", c -> c.pair(7, c.longs(5L) + 1));
		bad("pool_class_name_with_dot", c -> c.cls("java.lang.String"));
		bad("pool_class_name_with_semicolon", c -> c.cls("java/lang/String;"));
		bad("pool_class_name_empty", c -> c.cls(""));
		bad("pool_class_name_double_slash", c -> c.cls("java//String"));
		bad("pool_class_name_leading_slash", c -> c.cls("/String"));
		bad("pool_class_name_trailing_slash", c -> c.cls("java/"));
		bad("pool_class_array_unclosed", c -> c.cls("[Ljava/lang/String"));
		bad("pool_class_array_of_void", c -> c.cls("[V"));
		bad("pool_class_array_of_256_dimensions", c -> c.cls("[".repeat(256) + "I"));
		bad("pool_class_array_of_nothing", c -> c.cls("["));
		bad("pool_module_in_class", 61, c -> c.pair(19, c.utf8("java.base")));
		bad("pool_package_in_class", 61, c -> c.pair(20, c.utf8("java/lang")));
	}

	private void strings() {
		bad("utf8_bad_byte", c -> c.utf8Bytes('a', 0xff));
		bad("utf8_four_byte_form", c -> c.utf8Bytes(0xf0, 0x9f, 0x98, 0x80));
		bad("utf8_raw_nul", c -> c.utf8Bytes('a', 0, 'b'));
		bad("utf8_lone_continuation", c -> c.utf8Bytes(0x80));
		bad("utf8_cut_two_byte_form", c -> c.utf8Bytes('a', 0xc3));
		bad("utf8_cut_three_byte_form", c -> c.utf8Bytes(0xe2, 0x82));
		bad("utf8_bad_continuation", c -> c.utf8Bytes(0xc3, 0x28));
		bad("utf8_length_past_end", c -> {
			c.attributes.clear();
			c.methods.clear();
			c.entry(1, Bytes.of(1).u2(65535).u1('x'));
		});
	}

	private void dynamic() {
		bad("method_handle_kind_0", c -> c.handle(0, c.field("Bad", "f", "I")));
		bad("method_handle_kind_10", c -> c.handle(10, c.field("Bad", "f", "I")));
		bad("method_handle_get_field_of_method", c -> c.handle(1, c.method("Bad", "m",
				"()V")));
		bad("method_handle_invoke_of_field", c -> c.handle(5, c.field("Bad", "f", "I")));
		bad("method_handle_new_without_init", c -> c.handle(8, c.method("Bad", "m",
				"()V")));
		bad("method_handle_invoke_virtual_of_init", c -> c.handle(5, c.method("Bad",
				"<init>", "()V")));
		bad("method_handle_interface_kind_on_class", c -> c.handle(9, c.method("Bad", "m",
				"()V")));
		bad("method_handle_points_at_zero", c -> c.handle(6, 0));
		bad("method_handle_static_interface_in_51", 51, c -> c.handle(6,
				c.interfaceMethod("java/util/List", "of", "()V")));
		bad("method_handle_in_version_50", 50, c -> c.handle(2, c.field("Bad", "f", "I")));
		bad("method_type_bad_descriptor", c -> c.pair(16, c.utf8("I")));
		bad("method_type_points_at_class", c -> c.pair(16, c.thisClass));
		bad("method_type_in_version_50", 50, c -> c.pair(16, c.utf8("()V")));
		bad("invokedynamic_without_bootstrap_methods", c -> c.pair(18, 0, c.nameType("m",
				"()V")));
		bad("invokedynamic_bootstrap_past_table", c -> {
			c.pair(18, 1, c.nameType("m", "()V"));
			c.attribute(c.attr("BootstrapMethods", new Bytes()
					.u2(1, c.handle(6, c.method("Bad", "b", "()V")), 0)));
		});
		bad("invokedynamic_with_field_descriptor", c -> {
			c.pair(18, 0, c.nameType("m", "I"));
			c.attribute(c.attr("BootstrapMethods", new Bytes()
					.u2(1, c.handle(6, c.method("Bad", "b", "()V")), 0)));
		});
		bad("invokedynamic_in_version_50", 50, c -> c.pair(18, 0, c.nameType("m", "()V")));
		bad("dynamic_in_version_54", 54, c -> c.pair(17, 0, c.nameType("m", "I")));
		bad("dynamic_with_method_descriptor", 55, c -> {
			c.pair(17, 0, c.nameType("m", "()I"));
			c.attribute(c.attr("BootstrapMethods", new Bytes()
					.u2(1, c.handle(6, c.method("Bad", "b", "()V")), 0)));
		});
		bad("bootstrap_method_is_not_a_handle", c -> {
			c.pair(18, 0, c.nameType("m", "()V"));
			c.attribute(c.attr("BootstrapMethods", new Bytes().u2(1, c.thisClass, 0)));
		});
		bad("bootstrap_argument_is_utf8", c -> {
			c.pair(18, 0, c.nameType("m", "()V"));
			c.attribute(c.attr("BootstrapMethods", new Bytes()
					.u2(1, c.handle(6, c.method("Bad", "b", "()V")), 1,
					c.utf8("x"))));
		});
		bad("bootstrap_methods_too_short", c -> {
			c.pair(18, 0, c.nameType("m", "()V"));
			c.attribute(c.attr("BootstrapMethods", new Bytes()
					.u2(3, c.handle(6, c.method("Bad", "b", "()V")), 0)));
		});
		bad("bootstrap_methods_twice", c -> {
			c.pair(18, 0, c.nameType("m", "()V"));
			for (int i = 0; i < 2; i++)
				c.attribute(c.attr("BootstrapMethods", new Bytes().u2(1,
						c.handle(6, c.method("Bad", "b", "()V")), 0)));
		});
	}

	private void header() {
		bad("pool_index_zero", c -> c.thisClass = 0);
		bad("this_class_past_pool", c -> c.thisClass = 9999);
		bad("this_class_is_utf8", c -> c.thisClass = c.utf8("Bad"));
		bad("this_class_is_array", c -> c.thisClass = c.cls("[I"));
		bad("super_class_zero", c -> c.superClass = 0);
		bad("super_class_is_utf8", c -> c.superClass = c.utf8("java/lang/Object"));
		bad("super_class_is_array", c -> c.superClass = c.cls("[Ljava/lang/Object;"));
		inContext("super_class_is_final", 52, c ->
				c.superClass = c.cls("java/lang/String"));
		inContext("super_class_is_interface", 52, c ->
				c.superClass = c.cls("java/lang/Runnable"));
		bad("super_class_is_itself", c -> c.superClass = c.thisClass);
		bad("interface_index_zero", c -> c.interfaces.u2(0));
		bad("interface_is_utf8", c -> c.interfaces.u2(c.utf8("java/lang/Runnable")));
		bad("interface_is_array", c -> c.interfaces.u2(c.cls("[I")));
		inContext("interface_is_class", 52, c -> c.interfaces
				.u2(c.cls("java/lang/Object")));
		bad("interface_twice", c -> c.interfaces.u2(c.cls("java/lang/Runnable"),
				c.cls("java/lang/Runnable")));
		bad("access_final_and_abstract", c ->
				c.access = ACC_FINAL | ACC_ABSTRACT | ACC_SUPER);
		bad("access_interface_not_abstract", c -> c.access = ACC_INTERFACE);
		bad("access_interface_final", c ->
				c.access = ACC_INTERFACE | ACC_ABSTRACT | ACC_FINAL);
		bad("access_annotation_not_interface", c -> c.access = ACC_ANNOTATION);
		bad("access_interface_enum", c ->
				c.access = ACC_INTERFACE | ACC_ABSTRACT | ACC_ENUM);
		bad("access_module_on_class", 61, c -> c.access = 0x8021);
		bad("interface_extends_number", c -> {
			c.methods.clear();
			c.access = ACC_INTERFACE | ACC_ABSTRACT;
			c.superClass = c.cls("java/lang/Number");
		});
		inContext("final_method_of_object_overridden", 52, c ->
				c.method(1, "notify", "()V", c.code(0, 1, Bytes.of(RETURN))));
	}
}
