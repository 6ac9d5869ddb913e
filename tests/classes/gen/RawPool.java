// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Opcodes;

/** Constant pools that no compiler makes. */
final class RawPool implements Opcodes {
	static void write(Zoo zoo) {
		emptyClass(zoo);
		unusedAndDouble(zoo);
		ldcAtByteLimit(zoo);
		strings(zoo);
		fullPool(zoo);
		allTags(zoo);
		versions(zoo);
	}

	private static void emptyClass(Zoo zoo) {
		for (int v : new int[] {45, 49, 52, 61, 69})
			zoo.valid("zoo/gen/Empty",
					new RawClass("zoo/gen/Empty").version(v).build());
		RawClass itf = new RawClass("zoo/gen/EmptyInterface");
		itf.access = ACC_INTERFACE | ACC_ABSTRACT;
		zoo.valid("zoo/gen/EmptyInterface", itf.build());
	}

	private static void unusedAndDouble(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/OddPool");
		for (int i = 0; i < 3; i++) {		// the same entries three times over
			int name = c.entry(1, Bytes.of(1).u2(5).u1('a', 'g', 'a', 'i', 'n'));
			int cls = c.entry(1, Bytes.of(7).u2(name));
			int desc = c.entry(1, Bytes.of(1).u2(3).u1('(', ')', 'V'));
			int nt = c.entry(1, Bytes.of(12).u2(name, desc));
			c.entry(1, Bytes.of(10).u2(cls, nt));
			c.entry(1, Bytes.of(11).u2(cls, nt));
			c.entry(1, Bytes.of(8).u2(name));
			c.entry(1, Bytes.of(3).u4(-1));
			c.entry(2, Bytes.of(5).u4(-1, -1));
			c.entry(2, Bytes.of(6).u4(0x7ff80000, 1));	// a NaN with a payload
			c.entry(1, Bytes.of(4).u4(0x7f800001));		// a signalling NaN
		}
		// An entry may refer forwards.
		int next = c.poolCount();
		c.entry(1, Bytes.of(7).u2(next + 1));
		c.entry(1, Bytes.of(1).u2(7).u1('F', 'o', 'r', 'w', 'a', 'r', 'd'));
		zoo.valid("zoo/gen/OddPool", c.constructor().build());
	}

	/** ldc reaches index 255, ldc_w begins at 256: an edit must not shift them. */
	private static void ldcAtByteLimit(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/LdcLimit");
		int print = printer(c), valueOf = c.method("java/lang/String", "valueOf",
				"(I)Ljava/lang/String;");
		int out = c.field("java/lang/System", "out", "Ljava/io/PrintStream;");
		c.utf8("Code");
		c.utf8("main");
		c.utf8("([Ljava/lang/String;)V");
		while (c.poolCount() < 254)
			c.integer(1000 + c.poolCount());
		c.integer(-254);
		c.integer(-255);
		c.integer(-256);
		c.integer(-257);
		Bytes code = Bytes.of(LDC, 254, LDC, 255, RawClass.LDC_W, 1, 0, RawClass.LDC_W, 1,
				1, ISUB, IMUL, ISUB)
				.u1(INVOKESTATIC).u2(valueOf).u1(GETSTATIC).u2(out)
				.u1(SWAP, INVOKEVIRTUAL).u2(print).u1(RETURN);
		c.method(9, "main", "([Ljava/lang/String;)V", c.code(4, 1, code));
		zoo.program("zoo/gen/LdcLimit", c.build());
	}

	private static int printer(RawClass c) {
		return c.method("java/io/PrintStream", "println", "(Ljava/lang/String;)V");
	}

	/** Modified UTF-8: NUL as two bytes, supplementary characters as six, halves of them. */
	private static void strings(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/Strings");
		int[][] raw = {{}, {0xc0, 0x80}, {'a', 0xc0, 0x80, 'b'}, {0xed, 0xa0, 0xbd, 0xed,
				0xb8, 0x80}, {0xed, 0xa0, 0xbd},
			{0xed, 0xb8, 0x80, 0xed, 0xa0, 0xbd}, {0xef, 0xbf, 0xbf}, {0x7f},
			{0xc2, 0x80}, {0xdf, 0xbf},
			{0xe0, 0xa0, 0x80}};
		int out = c.field("java/lang/System", "out", "Ljava/io/PrintStream;");
		int hash = c.method("java/lang/String", "hashCode", "()I");
		int print = c.method("java/io/PrintStream", "println", "(I)V");
		Bytes code = new Bytes();
		for (int[] r : raw)
			code.u1(GETSTATIC).u2(out).u1(RawClass.LDC_W).u2(c.pair(8, c.utf8Bytes(r)))
				.u1(INVOKEVIRTUAL).u2(hash).u1(INVOKEVIRTUAL).u2(print);
		byte[] big = new byte[65535];
		java.util.Arrays.fill(big, (byte) 'z');
		int longest = c.pair(8, c.entry(1, Bytes.of(1).u2(65535).add(big)));
		code.u1(GETSTATIC).u2(out).u1(RawClass.LDC_W).u2(longest).u1(INVOKEVIRTUAL).u2(hash)
			.u1(INVOKEVIRTUAL).u2(print).u1(RETURN);
		c.method(9, "main", "([Ljava/lang/String;)V", c.code(2, 1, code));
		// Members may be called almost anything.
		c.method(0x109, "\u00fc\ud83d\ude00 with space", "()V");
		c.field(9, "\u0000nul", "I");
		c.field(9, "\ud83d", "I");
		c.field(9, "-", "L\u4e2d\u6587;");
		zoo.program("zoo/gen/Strings", c.build());

		// JVMS 4.4.7 has one encoding per character; HotSpot reads the longer ones too.
		RawClass over = new RawClass("zoo/gen/Overlong");
		over.pair(8, over.utf8Bytes(0xc1, 0x81));
		over.pair(8, over.utf8Bytes(0xe0, 0x80, 0x80));
		zoo.roundtripOnly("utf8_overlong", over.build());
	}

	/** constant_pool_count 65,535: nothing can be added. */
	private static void fullPool(Zoo zoo) {
		for (int room : new int[] {0, 8}) {
			String name = "zoo/gen/FullPool" + room;
			RawClass c = new RawClass(name);
			int out = c.field("java/lang/System", "out", "Ljava/io/PrintStream;");
			int print = c.method("java/io/PrintStream", "println", "(I)V");
			c.utf8("Code");
			c.utf8("main");
			c.utf8("([Ljava/lang/String;)V");
			while (c.poolCount() < 65535 - room)
				c.integer(c.poolCount());
			Bytes code = Bytes.of(GETSTATIC).u2(out).u1(RawClass.LDC_W).u2(65534 - room)
					.u1(INVOKEVIRTUAL).u2(print)
					.u1(RETURN);
			c.method(9, "main", "([Ljava/lang/String;)V", c.code(2, 1, code));
			zoo.program(name, c.build());
		}
	}

	/** Every tag of JVMS table 4.4-A that a class may hold. */
	private static void allTags(Zoo zoo) {
		RawClass c = new RawClass("zoo/gen/AllTags").version(61);
		c.integer(1);
		c.floating(1.5f);
		c.longs(1L << 40);
		c.doubles(Math.PI);
		c.string("s");
		int get = c.field("java/lang/System", "out", "Ljava/io/PrintStream;");
		int bsm = c.method("java/lang/invoke/ConstantBootstraps", "nullConstant",
				"(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;"
				+ "Ljava/lang/Class;)Ljava/lang/Object;");
		int itf = c.interfaceMethod("java/util/List", "of", "()Ljava/util/List;");
		int init = c.method("java/lang/Object", "<init>", "()V");
		int virt = c.method("java/lang/Object", "hashCode", "()I");
		int inst = c.field("zoo/gen/AllTags", "f", "I");
		int[] refs = {inst, get, inst, get, virt, bsm, virt, init,
				c.interfaceMethod("java/util/List", "size", "()I")};
		for (int kind = 1; kind <= 9; kind++)
			c.handle(kind, refs[kind - 1]);
		c.handle(6, itf);
		c.handle(7, c.interfaceMethod("java/lang/Comparable", "compareTo",
				"(Ljava/lang/Object;)I"));
		c.pair(16, c.utf8("(J)V"));
		c.pair(17, 0, c.nameType("dynamic", "Ljava/lang/Object;"));
		c.pair(18, 0, c.nameType("site", "()Ljava/lang/Runnable;"));
		c.field(0, "f", "I");
		c.attribute(c.attr("BootstrapMethods", new Bytes().u2(2).u2(c.handle(6, bsm), 0)
				.u2(c.handle(6, bsm), 2, c.string("s"), c.longs(1L << 40))));
		zoo.valid("zoo/gen/AllTags", c.build());
	}

	/** Minor versions: free up to 45, ignored up to 55, then 0 or, for previews, 65535. */
	private static void versions(Zoo zoo) {
		for (int[] v : new int[][] {{45, 0}, {45, 3}, {45, 65535}, {46, 7}, {52, 3},
				{55, 42}}) {
			RawClass c = new RawClass("zoo/gen/Minor" + v[1]).version(v[0]);
			c.minor = v[1];
			zoo.valid("zoo/gen/Minor" + v[1], c.build());
		}
		for (int major : new int[] {56, 61, 69}) {
			RawClass c = new RawClass("zoo/gen/Preview").version(major);
			c.minor = 65535;
			zoo.roundtripOnly("preview_" + major, c.constructor().build());
		}
	}
}
