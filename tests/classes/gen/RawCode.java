// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Opcodes;

/** Instructions in forms that ASM and javac never choose, or that only old verifiers took. */
final class RawCode implements Opcodes {
	static void write(Zoo zoo) {
		zoo.program("zoo/gen/LongForms", longForms(49));
		zoo.program("zoo/gen/LongForms", longForms(52));
		zoo.program("zoo/gen/WideJumps", wideJumps(49));
		zoo.program("zoo/gen/WideJumps", wideJumps(52));
		zoo.program("zoo/gen/WideSubroutine", wideSubroutine());
		zoo.valid("zoo/gen/SwitchPadding", switchPadding());
		zoo.roundtripOnly("handler_at_offset_zero", handlerAtZero());
		zoo.roundtripOnly("empty_lookupswitch_at_code_end", emptySwitchAtEnd());
		zoo.valid("zoo/gen/Breakless", breakless());
		zoo.valid("zoo/gen/FullWhereSameWouldDo", verboseFrames());
		zoo.valid("zoo/gen/UninitializedAllowed", uninitializedAllowed());
		zoo.valid("zoo/gen/OldAccess", abstractAndNative());
		oldCode(zoo);
	}

	/** main(args) { println(compute(5)) } around a method `(I)I` of the given code. */
	private static byte[] program(String name, int version, int stack, int locals, Bytes code,
			RawClass c,
			byte[]... attrs) {
		int compute = c.method(name, "compute", "(I)I");
		Bytes main = Bytes.of(GETSTATIC).u2(c.field("java/lang/System", "out",
				"Ljava/io/PrintStream;"))
				.u1(ICONST_5, INVOKESTATIC).u2(compute).u1(INVOKEVIRTUAL)
				.u2(c.method("java/io/PrintStream", "println", "(I)V")).u1(RETURN);
		c.version(version);
		c.method(9, "main", "([Ljava/lang/String;)V", c.code(2, 1, main));
		c.method(9, "compute", "(I)I", c.code(stack, locals, code, attrs));
		return c.build();
	}

	/** wide where a byte would do, ldc_w below 256, iload 0 for iload_0, sipush 1. */
	private static byte[] longForms(int version) {
		RawClass c = new RawClass("zoo/gen/LongForms");
		int k = c.integer(1234567), l = c.longs(99L);
		// The float, double and reference forms, on values that take part in nothing.
		Bytes code = Bytes.of(RawClass.WIDE, ILOAD, 0, 0, ILOAD, 0, IADD, RawClass.WIDE,
				ISTORE, 0, 1)
				.u1(RawClass.WIDE, IINC, 0, 1, 0, 3, RawClass.WIDE, IINC, 0, 1,
				0xff, 0xff)
				.u1(SIPUSH, 0, 1, BIPUSH, 0, IADD, ISTORE, 0)
				.u1(FCONST_1, RawClass.WIDE, FSTORE, 0, 4, RawClass.WIDE, FLOAD, 0,
				4, FSTORE, 3, FLOAD, 3, POP)
				.u1(DCONST_1, RawClass.WIDE, DSTORE, 0, 4, RawClass.WIDE, DLOAD, 0,
				4, DSTORE, 3, DLOAD, 3, POP2)
				.u1(ACONST_NULL, RawClass.WIDE, ASTORE, 0, 4, RawClass.WIDE, ALOAD,
				0, 4, ASTORE, 3, ALOAD, 3, POP)
				.u1(LCONST_1, RawClass.WIDE, LSTORE, 0, 2, RawClass.WIDE, LLOAD, 0,
				2, POP2)
				.u1(RawClass.LDC_W).u2(k).u1(LDC, k, IADD, ILOAD, 1, IADD, ILOAD, 0,
				IADD)
				.u1(RawClass.LDC2_W).u2(l).u1(L2I, IADD, IRETURN);
		return program("zoo/gen/LongForms", version, 4, 8, code, c);
	}

	/** goto_w ahead and back: short ones, and ones beyond 32 KiB. */
	private static byte[] wideJumps(int version) {
		RawClass c = new RawClass("zoo/gen/WideJumps");
		int far = 40000;
		// 0: goto_w 13; 5: iinc 0 1; 8: goto_w far; 13: goto_w -8 (to 5)
		Bytes code = Bytes.of(RawClass.GOTO_W).u4(13).u1(IINC, 0, 1, RawClass.GOTO_W)
				.u4(far - 8)
				.u1(RawClass.GOTO_W).u4(5 - 13);
		int again = code.size();		// 18: counts down, then returns
		code.u1(IINC, 0, -1, RawClass.ILOAD_0, IFGT).u2(again - (again + 4))
		.u1(RawClass.ILOAD_0, IRETURN);
		int dead = code.size();
		code.times(far - dead, NOP);
		code.u1(IINC, 0, 10, RawClass.GOTO_W).u4(again - (far + 3));
		int[] targets = {5, 13, again, dead, far};
		Bytes[] frames = new Bytes[targets.length];
		for (int i = 0; i < targets.length; i++)
			frames[i] = RawClass.same(i == 0 ? targets[0]
					: targets[i] - targets[i - 1] - 1);
		return program("zoo/gen/WideJumps", version, 2, 1, code, c, c.frames(frames));
	}

	/** jsr_w and wide ret. */
	private static byte[] wideSubroutine() {
		RawClass c = new RawClass("zoo/gen/WideSubroutine");
		Bytes code = Bytes.of(RawClass.JSR_W).u4(7).u1(RawClass.ILOAD_0, IRETURN)
				.u1(RawClass.WIDE, ASTORE, 0, 1, IINC, 0, 37, RawClass.WIDE, RET, 0,
				1);
		return program("zoo/gen/WideSubroutine", 49, 2, 2, code, c);
	}

	/** From version 51 on a switch may be padded with anything; below, HotSpot wants zeros. */
	private static byte[] switchPadding() {
		RawClass c = new RawClass("zoo/gen/SwitchPadding");
		// to 20
		Bytes all = Bytes.of(RawClass.ILOAD_0, TABLESWITCH, 0xde, 0xad).u4(19, 0, 0, 19)
				.u1(ICONST_0, IRETURN);
		return c.method(9, "f", "(I)I", c.code(1, 1, all,
				c.frames(RawClass.same(20)))).build();
	}

	/** A switch without cases at the very end: HotSpot's length check is off by one there. */
	private static byte[] emptySwitchAtEnd() {
		RawClass c = new RawClass("zoo/gen/EmptySwitchAtEnd");
		return c.method(9, "switchForever", "(I)V", c.code(1, 1,
				Bytes.of(RawClass.ILOAD_0, LOOKUPSWITCH, 0, 0).u4(-1, 0),
				c.frames(RawClass.same(0)))).build();
	}

	/** handler_pc 0, which HotSpot refuses even where nothing can be thrown. */
	private static byte[] handlerAtZero() {
		RawClass c = new RawClass("zoo/gen/HandlerAtZero").version(49);
		// Only dead code is covered, so the two stacks at offset 0 never meet.
		Bytes code = Bytes.of(RETURN, NOP, NOP, RETURN);
		return c.method(9, "f", "()V", c.code(1, 0, code, new int[] {1, 3, 0, 0})).build();
	}

	/** Methods that end in every way a method can: loop, throw, ret-less, switch. */
	private static byte[] breakless() {
		RawClass c = new RawClass("zoo/gen/Breakless");
		c.method(9, "loop", "()V", c.code(0, 0, Bytes.of(GOTO, 0, 0),
				c.frames(RawClass.same(0))));
		c.method(9, "loopW", "()V", c.code(0, 0, Bytes.of(RawClass.GOTO_W, 0, 0, 0, 0),
				c.frames(RawClass.same(0))));
		c.method(9, "throwNull", "()V", c.code(1, 0, Bytes.of(ACONST_NULL, ATHROW)));
		c.method(9, "switchForever", "(I)V", c.code(1, 1,
				Bytes.of(RawClass.ILOAD_0, LOOKUPSWITCH, 0, 0).u4(-1, 1, 7, -1),
				c.frames(RawClass.same(0))));
		c.method(9, "nullForAnything", "()I", c.code(1, 0, Bytes.of(ACONST_NULL,
				INVOKEVIRTUAL)
				.u2(c.method("[I", "hashCode", "()I")).u1(IRETURN)));
		return c.build();
	}

	/** Frames longer than they need to be. */
	private static byte[] verboseFrames() {
		RawClass c = new RawClass("zoo/gen/FullWhereSameWouldDo");
		Bytes in = RawClass.type(RawClass.INT);
		Bytes[] locals = {in};
		Bytes code = Bytes.of(NOP, NOP, NOP, NOP, NOP, NOP, RawClass.ILOAD_0, IRETURN);
		c.method(9, "f", "(I)I", c.code(1, 2, code, c.frames(
				RawClass.full(0, locals), Bytes.of(251).u2(0), RawClass
				.append(0, RawClass.type(RawClass.TOP)),
				RawClass.chop(0, 1), RawClass.same(0), Bytes.of(251).u2(0),
				RawClass.full(1, locals, in))));
		Bytes one = Bytes.of(RawClass.ILOAD_0, NOP, IRETURN);
		c.method(9, "g", "(I)I", c.code(1, 1, one, c.frames(Bytes.of(247).u2(1).add(in),
				Bytes.of(64).add(in))));
		c.method(9, "none", "(I)I", c.code(1, 1, Bytes.of(RawClass.ILOAD_0, IRETURN),
				c.frames()));
		// A frame in code nobody reaches, which the type checker still reads.
		Bytes dead = Bytes.of(RETURN, POP, RETURN);
		c.method(9, "dead", "()V", c.code(1, 0, dead, c.frames(
				RawClass.same1(1, c.object("no/such/Type")))));
		return c.build();
	}

	/** What one may do with an object before its constructor ran (JVMS 4.10.1.9). */
	private static byte[] uninitializedAllowed() {
		RawClass c = new RawClass("zoo/gen/UninitializedAllowed");
		int init = c.method("java/lang/Object", "<init>", "()V");
		c.method(9, "compare", "()V", c.code(2, 0, Bytes.of(NEW).u2(c.thisClass)
				.u1(DUP, IF_ACMPEQ, 0, 3, RETURN),
				c.frames(RawClass.same(7))));
		c.method(9, "isNull", "()V", c.code(1, 0, Bytes.of(NEW).u2(c.thisClass)
				.u1(IFNULL, 0, 3, RETURN),
				c.frames(RawClass.same(6))));
		c.method(1, "<init>", "()V", c.code(2, 1, Bytes.of(RawClass.ALOAD_0, MONITORENTER,
				RawClass.ALOAD_0,
				MONITOREXIT, RawClass.ALOAD_0, DUP, POP, INVOKESPECIAL).u2(init)
				.u1(RETURN)));
		c.method(9, "thisInStatic", "()V", c.code(1, 0, Bytes.of(RETURN, POP, RETURN),
				c.frames(RawClass.same1(1, RawClass.type(RawClass.UNINIT_THIS)))));
		return c.build();
	}

	private static byte[] abstractAndNative() {
		RawClass c = new RawClass("zoo/gen/OldAccess").version(45);
		c.access = ACC_PUBLIC | ACC_ABSTRACT;		// no ACC_SUPER, as before JDK 1.0.2
		c.method(ACC_ABSTRACT | ACC_PUBLIC, "a", "()V");
		c.method(ACC_NATIVE | ACC_PRIVATE | ACC_STATIC | ACC_SYNCHRONIZED, "n", "(J)V");
		c.method(ACC_PROTECTED | ACC_FINAL | ACC_NATIVE, "m", "([[D)Ljava/lang/Object;");
		c.method(ACC_STATIC, "<clinit>", "()V", c.code(0, 0, Bytes.of(RETURN)));
		return c.build();
	}

	/** What only verifiers of long ago took. */
	private static void oldCode(Zoo zoo) {
		// try { super() } catch: compilers of Java 1.0 wrote it.
		RawClass c = new RawClass("zoo/gen/TryAroundSuper").version(45);
		Bytes code = Bytes.of(RawClass.ALOAD_0, INVOKESPECIAL)
				.u2(c.method("java/lang/Object", "<init>", "()V"))
				.u1(RETURN, POP, RETURN);
		c.method(1, "<init>", "()V", c.code(1, 1, code, new int[] {0, 4, 5, 0}));
		zoo.roundtripOnly("try_around_super", c.build());

		// StackMapTable where it means nothing, StackMap where nobody reads it any more.
		RawClass s = new RawClass("zoo/gen/StackMapInNewClass");
		s.method(9, "f", "()V", s.code(0, 0, Bytes.of(RETURN), s.attr("StackMap",
				new Bytes().u2(1, 0, 0, 0))));
		zoo.valid("zoo/gen/StackMapInNewClass", s.build());
		RawClass t = new RawClass("zoo/gen/StackMapTableInOldClass").version(49);
		t.method(9, "f", "()V", t.code(0, 0, Bytes.of(RETURN), t.attr("StackMapTable",
				Bytes.of(0, 9, 1, 2, 3))));
		zoo.roundtripOnly("stack_map_table_garbage_in_version_49", t.build());

		// Version 50 whose frames are wrong: the JVM falls back to inference (JVMS 4.10).
		RawClass f = new RawClass("zoo/gen/Failover").version(50);
		Bytes branch = Bytes.of(RawClass.ILOAD_0, IFEQ, 0, 4, NOP, RETURN);
		f.method(9, "f", "(I)V", f.code(1, 1, branch));
		zoo.valid("zoo/gen/Failover", f.build());
	}
}
