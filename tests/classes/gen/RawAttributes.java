// SPDX-License-Identifier: Apache-2.0

import java.util.Random;
import org.objectweb.asm.Opcodes;

/** Attributes nobody knows, and known ones in forms nobody writes. */
final class RawAttributes implements Opcodes {
	static void write(Zoo zoo) {
		unknown(zoo);
		lines(zoo);
		variables(zoo);
		classLevel(zoo);
		parameters(zoo);
		sealedFromAll(zoo);
		clinitInInterface(zoo);
	}

	private static byte[] noise(int n) {
		byte[] b = new byte[n];
		new Random(n).nextBytes(b);
		return b;
	}

	private static void unknown(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/UnknownAttributes");
		byte[] code = c.code(0, 0, Bytes.of(RETURN), c.attr("org.example.InCode",
				noise(33)),
				c.attr("org.example.InCode", noise(5)), c.attr("LineNumberTable",
				new Bytes().u2(0)));
		c.method(9, "f", "()V", c.attr("org.example.InMethod", noise(100)), code,
				c.attr("", noise(0)));
		c.field(9, "f", "I", c.attr("org.example.InField", noise(7)),
				c.attr("ConstantValue",
				new Bytes().u2(c.integer(7))));
		c.attribute(c.attr("org.example.InClass", noise(70000)));
		c.attribute(c.attr("\u00e4ttribute\u0000", noise(1)));
		// Known names in places where they mean nothing must be ignored (JVMS 4.7.1).
		c.attribute(c.attr("Code", noise(9)));
		c.attribute(c.attr("ConstantValue", noise(2)));
		c.method(9, "g", "()V", c.code(0, 0, Bytes.of(RETURN), c.attr("SourceFile",
				noise(3))),
				c.attr("LineNumberTable", noise(11)), c.attr("InnerClasses",
				noise(2)));
		zoo.valid("zoo/gen/UnknownAttributes", c.constructor().build());

		// Record, PermittedSubclasses and others in versions before them: ignored.
		RawClass old = new RawClass("zoo/gen/NewAttributesInOldClass").version(48);
		for (String name : new String[] {"Record", "PermittedSubclasses", "NestHost",
				"NestMembers",
			"BootstrapMethods", "Module", "RuntimeVisibleTypeAnnotations", "Signature"})
			old.attribute(old.attr(name, noise(12)));
		zoo.valid("zoo/gen/NewAttributesInOldClass", old.build());
	}

	/** Several lines for one pc, pcs out of order, two tables, a line for the last byte. */
	private static void lines(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/Lines");
		Bytes code = new Bytes().times(20, NOP).u1(RETURN);
		c.method(9, "f", "()V", c.code(0, 0, code,
				c.attr("LineNumberTable", new Bytes().u2(5).u2(10, 100, 0, 65535, 0,
				7, 5, 0, 0, 8)),
				c.attr("LineNumberTable", new Bytes().u2(2).u2(20, 1, 3, 2))));
		c.attribute(c.attr("SourceFile", new Bytes()
				.u2(c.utf8("no such file, \u20ac.java"))));
		c.attribute(c.attr("SourceDebugExtension", "SMAP\nx\nJSP\n*E\n".getBytes()));
		zoo.valid("zoo/gen/Lines", c.build());
	}

	/** Ranges of length 0, up to the code's end, overlapping, split over two tables. */
	private static void variables(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/Variables");
		Bytes code = Bytes.of(RawClass.ILOAD_0, RawClass.LLOAD_0 + 1, POP2, POP, RETURN);
		int i = c.utf8("I"), j = c.utf8("J"), list = c.utf8("Ljava/util/List;");
		byte[] one = c.attr("LocalVariableTable", new Bytes().u2(5).u2(0, 4, c.utf8("a"), i,
				0)
				.u2(0, 5, c.utf8("b"), j, 1).u2(4, 1, c.utf8("atEnd"), i, 0)
				.u2(2, 0, c.utf8("empty"), list, 3)
				.u2(4, 0, c.utf8("emptyAtEnd"), list, 3));
		byte[] two = c.attr("LocalVariableTable", new Bytes().u2(1).u2(1, 3, c.utf8("list"),
				list, 3));
		byte[] types = c.attr("LocalVariableTypeTable", new Bytes().u2(1)
				.u2(1, 3, c.utf8("list"),
				c.utf8("Ljava/util/List<TT;>;"), 3));
		c.method(9, "f", "(IJ)V", c.code(3, 4, code, one, types, two),
				c.attr("Signature", new Bytes()
				.u2(c.utf8("<T:Ljava/lang/Object;>(IJ)V"))));
		zoo.valid("zoo/gen/Variables", c.build());
	}

	private static void classLevel(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/Outer$1Local");
		int self = c.cls("zoo/gen/Outer$1Local"), outer = c.cls("zoo/gen/Outer");
		c.attribute(c.attr("InnerClasses", new Bytes().u2(3).u2(self, 0, c.utf8("Local"), 0)
				.u2(c.cls("zoo/gen/Outer$Member"), outer, c.utf8("Member"), 0x0009)
				.u2(c.cls("zoo/gen/Outer$1"), 0, 0, 0x4000)));
		c.attribute(c.attr("EnclosingMethod", new Bytes().u2(outer, c.nameType("m",
				"(I)V"))));
		c.attribute(c.attr("Synthetic", new Bytes()));
		c.attribute(c.attr("Deprecated", new Bytes()));
		c.attribute(c.attr("Signature", new Bytes()
				.u2(c.utf8("Ljava/lang/Object;Ljava/io/Serializable;"))));
		c.attribute(c.attr("RuntimeVisibleAnnotations", new Bytes().u2(0)));
		c.attribute(c.attr("RuntimeInvisibleAnnotations", new Bytes().u2(1)
				.u2(c.utf8("Lno/Such;"), 1,
				c.utf8("v")).u1('[').u2(2).u1('s').u2(c.utf8("x")).u1('@')
				.u2(c.utf8("Lno/Other;"), 0)));
		c.field(0x1001, "f", "J", c.attr("Synthetic", new Bytes()), c.attr("Deprecated",
				new Bytes()),
				c.attr("Signature", new Bytes().u2(c.utf8("TT;"))));
		c.method(0x101, "n", "()V", c.attr("Exceptions", new Bytes().u2(0)),
				c.attr("Synthetic", new Bytes()));
		zoo.valid("zoo/gen/Outer$1Local", c.constructor().build());
	}

	/** Sealed with nobody permitted: nothing in JVMS 4.7.31 forbids it. */
	private static void sealedFromAll(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/SealedFromAll").version(61);
		c.attribute(c.attr("PermittedSubclasses", new Bytes().u2(0)));
		zoo.valid("zoo/gen/SealedFromAll", c.constructor().build());
	}

	/** MethodParameters without names, with flags, none; annotations for fewer. */
	private static void parameters(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/Parameters");
		byte[] code = c.code(0, 4, Bytes.of(RETURN));
		c.method(9, "unnamed", "(IJ)V", code, c.attr("MethodParameters", Bytes.of(2)
				.u2(0, 0x1000, 0, 0x8010)));
		c.method(9, "none", "()V", code, c.attr("MethodParameters", Bytes.of(0)));
		c.method(9, "fewer", "(II)V", code, c.attr("RuntimeVisibleParameterAnnotations",
				Bytes.of(1).u2(0)));
		c.method(9, "typed", "(I)V", code, c.attr("RuntimeVisibleTypeAnnotations",
				new Bytes().u2(1).u1(0x16, 0, 0)
				.u2(c.utf8("Lno/Such;"), 0)));
		zoo.valid("zoo/gen/Parameters", c.build());
	}

	private static void clinitInInterface(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/InterfaceWithInit");
		c.access = ACC_PUBLIC | ACC_INTERFACE | ACC_ABSTRACT;
		int f = c.field("zoo/gen/InterfaceWithInit", "F", "I");
		c.field(ACC_PUBLIC | ACC_STATIC | ACC_FINAL, "F", "I");
		c.method(ACC_STATIC, "<clinit>", "()V", c.code(1, 0, Bytes.of(ICONST_3, PUTSTATIC)
				.u2(f).u1(RETURN)));
		c.method(ACC_PUBLIC | ACC_STATIC, "main", "([Ljava/lang/String;)V", c.code(2, 1,
				Bytes.of(GETSTATIC)
				.u2(c.field("java/lang/System", "out", "Ljava/io/PrintStream;"))
				.u1(GETSTATIC).u2(f).u1(INVOKEVIRTUAL)
				.u2(c.method("java/io/PrintStream", "println", "(I)V"))
				.u1(RETURN)));
		zoo.program("zoo/gen/InterfaceWithInit", c.build());
	}
}
