// SPDX-License-Identifier: Apache-2.0

import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;

/** Forbidden by the JVMS, yet HotSpot (17 and 25) links them. */
final class InvalidLenient implements Opcodes {
	private final Zoo zoo;

	private InvalidLenient(Zoo zoo) {
		this.zoo = zoo;
	}

	static void write(Zoo zoo) {
		InvalidLenient l = new InvalidLenient(zoo);
		l.neverParsed();
	}

	private void bad(String file, Consumer<RawClass> spoil) {
		bad(file, 61, spoil);
	}

	private void bad(String file, int version, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").version(version).constructor();
		spoil.accept(c);
		zoo.invalid("lenient", file, c.build());
	}

	/** Attributes that HotSpot keeps as bytes until reflection asks for them. */
	private void neverParsed() {
		bad("signature_is_nonsense", c -> c.attribute(c.attr("Signature", new Bytes()
				.u2(c.utf8("<<nonsense")))));
		bad("annotations_are_nonsense", c -> c.attribute(c.attr("RuntimeVisibleAnnotations",
				Bytes.of(9, 9, 9))));
		bad("annotations_have_trailing_bytes", c ->
				c.attribute(c.attr("RuntimeVisibleAnnotations", Bytes.of(0, 0,
				1))));
		bad("annotation_value_tag_unknown", c -> c.field(0, "f", "I",
				c.attr("RuntimeVisibleAnnotations",
				new Bytes().u2(1, c.utf8("LA;"), 1, c.utf8("v")).u1('!', 0, 0))));
		bad("type_annotation_target_unknown", c ->
				c.attribute(c.attr("RuntimeVisibleTypeAnnotations",
				new Bytes().u2(1).u1(0x77, 0).u2(c.utf8("LA;"), 0))));
		bad("annotation_default_empty", c -> c.method(0x101, "m", "()I",
				c.attr("AnnotationDefault",
				new Bytes())));
		bad("parameter_annotations_cut", c -> c.method(0x101, "m", "(I)V",
				c.attr("RuntimeVisibleParameterAnnotations",
				Bytes.of(4))));
		bad("enclosing_method_names_a_field", c -> c.attribute(c.attr("EnclosingMethod",
				new Bytes().u2(c.thisClass,
				c.nameType("f", "I")))));
		bad("method_parameters_name_not_utf8", c -> c.method(0x101, "m", "(I)V",
				c.attr("MethodParameters",
				Bytes.of(1).u2(c.thisClass, 0))));
		bad("frame_attribute_empty", c -> c.method(9, "m", "()V", c.code(0, 0,
				Bytes.of(RETURN),
				c.attr("StackMapTable", new Bytes()))));
		bad("source_debug_extension_bad_utf8", c ->
				c.attribute(c.attr("SourceDebugExtension", Bytes.of(0xff, 0xfe))));
	}
}
