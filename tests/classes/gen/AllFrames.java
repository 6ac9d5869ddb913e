// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Every kind of StackMapTable frame and of verification type (JVMS 4.7.4), written out by hand: the
 * comment on each visitFrame is what ASM makes of it.
 */
final class AllFrames implements Opcodes {
	private static final int[][] ARGS = {{0}, {1}, {7}};
	private static final Object[] NONE = {};

	static void write(Zoo zoo) {
		for (int v : new int[] {50, 51, 52, 55, 61, 65, 69}) {
			Program p = new Program("zoo/gen/AllFrames", v, false);
			plain(p);
			appendAndChop(p);
			fullFrames(p);
			uninitialized(p);
			constructors(p);
			zoo.program(p.name, p.build());
		}
		// The CLDC attribute of the same name: ASM writes "StackMap" below version 50.
		Program old = new Program("zoo/gen/CldcStackMap", 47, true);
		old.test("abs", "(I)I", m -> {
			Label positive = new Label();
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFGE, positive);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(INEG);
			m.visitInsn(IRETURN);
			m.visitLabel(positive);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
		}, new int[][] {{-3}, {4}});
		old.test("text", "(I)Ljava/lang/Object;", m -> {
			Label other = new Label(), join = new Label();
			m.visitTypeInsn(NEW, "java/lang/StringBuffer");
			m.visitInsn(DUP);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, other);
			m.visitLdcInsn("nonzero");
			m.visitJumpInsn(GOTO, join);
			m.visitLabel(other);
			m.visitLdcInsn("zero");
			m.visitLabel(join);
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuffer", "<init>",
					"(Ljava/lang/String;)V", false);
			m.visitInsn(ARETURN);
		}, ARGS);
		zoo.program(old.name, old.build());
	}

	private static void nops(MethodVisitor m, int n) {
		for (int i = 0; i < n; i++)
			m.visitInsn(NOP);
	}

	private static void plain(Program p) {
		for (int far : new int[] {0, 50, 61, 62, 63, 64, 300})
			p.test("same" + far, "(I)I", m -> {
				Label zero = new Label();
				m.visitVarInsn(ILOAD, 0);
				m.visitJumpInsn(IFEQ, zero);
				nops(m, far);
				m.visitVarInsn(ILOAD, 0);
				m.visitInsn(IRETURN);
				m.visitLabel(zero);
				// same, or same_frame_extended
				m.visitFrame(F_SAME, 0, null, 0, null);
				m.visitIntInsn(BIPUSH, 50);
				m.visitInsn(IRETURN);
			}, ARGS);
		for (int far : new int[] {0, 57, 58, 59, 300}) {
			same1(p, "int" + far, far, INTEGER, ICONST_5, ICONST_3, m ->
					m.visitInsn(NOP));
			same1(p, "long" + far, far, LONG, LCONST_1, LCONST_0, m ->
					m.visitInsn(L2I));
		}
		same1(p, "float", 0, FLOAT, FCONST_1, FCONST_2, m -> m.visitInsn(F2I));
		same1(p, "double", 0, DOUBLE, DCONST_0, DCONST_1, m -> m.visitInsn(D2I));
		same1(p, "null", 0, NULL, ACONST_NULL, ACONST_NULL, AllFrames::identity);
		same1(p, "object", 0, "java/lang/String", ACONST_NULL, ACONST_NULL,
				AllFrames::identity);
		same1(p, "array", 0, "[[I", ACONST_NULL, ACONST_NULL, AllFrames::identity);
		// the first instruction is a target: same, delta 0
		p.test("branchToFirst", "(I)I", m -> {
			Label first = new Label();
			m.visitLabel(first);
			m.visitFrame(F_SAME, 0, null, 0, null);
			m.visitIincInsn(0, 1);
			m.visitVarInsn(ILOAD, 0);
			m.visitIntInsn(BIPUSH, 20);
			m.visitJumpInsn(IF_ICMPLT, first);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
		}, ARGS);
		p.test("everyInstruction", "(I)I", m -> {	// frames where nobody needs them
			m.visitVarInsn(ILOAD, 0);
			m.visitFrame(F_SAME1, 0, null, 1, new Object[] {INTEGER});
			m.visitInsn(INEG);
			m.visitFrame(F_SAME1, 0, null, 1, new Object[] {INTEGER});
			m.visitInsn(ICONST_2);
			m.visitFrame(F_FULL, 1, new Object[] {INTEGER}, 2, new Object[] {INTEGER,
					INTEGER});
			m.visitInsn(IMUL);
			m.visitFrame(F_FULL, 0, NONE, 1, new Object[] {INTEGER});
			m.visitInsn(IRETURN);
		}, ARGS);
	}

	private static void identity(MethodVisitor m) {
		m.visitMethodInsn(INVOKESTATIC, "java/lang/System", "identityHashCode",
				"(Ljava/lang/Object;)I", false);
	}

	private static void same1(Program p, String name, int far, Object type, int a, int b,
			Program.Body toInt) {
		p.test("same1_" + name, "(I)I", m -> {
			Label other = new Label(), join = new Label();
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, other);
			m.visitInsn(a);
			m.visitJumpInsn(GOTO, join);
			m.visitLabel(other);
			m.visitFrame(F_SAME, 0, null, 0, null);
			nops(m, far);
			m.visitInsn(b);
			m.visitLabel(join);
			// extended when far >= 59
			m.visitFrame(F_SAME1, 0, null, 1, new Object[] {type});
			toInt.emit(m);
			m.visitInsn(IRETURN);
		}, ARGS);
	}

	/** Locals come one, two and three at a time, and go so too. */
	private static void appendAndChop(Program p) {
		p.test("appendChop", "(I)D", m -> {
			Label[] l = new Label[9];
			for (int i = 0; i < l.length; i++)
				l[i] = new Label();
			m.visitInsn(LCONST_1);
			m.visitVarInsn(LSTORE, 1);
			at(m, l[0]);
			m.visitFrame(F_APPEND, 1, new Object[] {LONG}, 0, null);
			m.visitInsn(FCONST_2);
			m.visitVarInsn(FSTORE, 3);
			m.visitInsn(DCONST_1);
			m.visitVarInsn(DSTORE, 4);
			at(m, l[1]);
			m.visitFrame(F_APPEND, 2, new Object[] {FLOAT, DOUBLE}, 0, null);
			m.visitInsn(ACONST_NULL);
			m.visitVarInsn(ASTORE, 6);
			m.visitLdcInsn("string");
			m.visitVarInsn(ASTORE, 7);
			m.visitVarInsn(ILOAD, 0);
			m.visitVarInsn(ISTORE, 8);
			at(m, l[2]);
			m.visitFrame(F_APPEND, 3, new Object[] {NULL, "java/lang/String", INTEGER},
					0, null);
			at(m, l[3]);
			m.visitFrame(F_CHOP, 1, null, 0, null);
			at(m, l[4]);
			m.visitFrame(F_CHOP, 2, null, 0, null);
			at(m, l[5]);
			m.visitFrame(F_APPEND, 2, new Object[] {TOP, TOP}, 0, null);
			at(m, l[6]);
			m.visitFrame(F_CHOP, 3, null, 0, null);
			m.visitVarInsn(FLOAD, 3);
			m.visitInsn(F2D);
			m.visitVarInsn(LLOAD, 1);
			m.visitInsn(L2D);
			m.visitInsn(DADD);
			m.visitInsn(DRETURN);
		}, ARGS);
	}

	/** Makes the next instruction a branch target. */
	private static void at(MethodVisitor m, Label l) {
		m.visitVarInsn(ILOAD, 0);
		m.visitJumpInsn(IFEQ, l);
		m.visitLabel(l);
	}

	private static void fullFrames(Program p) {
		p.test("full", "(I)J", m -> {
			Label other = new Label(), join = new Label();
			m.visitLdcInsn(100L);
			m.visitInsn(DCONST_1);
			m.visitInsn(FCONST_2);
			m.visitLdcInsn("on the stack");
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, other);
			m.visitInsn(ICONST_1);
			m.visitJumpInsn(GOTO, join);
			m.visitLabel(other);
			Object[] stack = {LONG, DOUBLE, FLOAT, "java/lang/String", INTEGER};
			m.visitFrame(F_FULL, 1, new Object[] {INTEGER}, 4, stack);
			m.visitInsn(ICONST_2);
			m.visitLabel(join);
			// an interface: anything may pass for it
			stack[3] = "java/lang/Comparable";
			m.visitFrame(F_FULL, 0, NONE, 5, stack);
			m.visitInsn(SWAP);
			m.visitInsn(POP);
			m.visitInsn(I2F);
			m.visitInsn(FADD);
			m.visitInsn(F2D);
			m.visitInsn(DADD);
			m.visitInsn(D2L);
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
		}, ARGS);
		// the long's slots are given up and partly reused
		p.test("topHoles", "(I)J", m -> {
			Label l = new Label();
			m.visitInsn(LCONST_1);
			m.visitVarInsn(LSTORE, 1);
			m.visitVarInsn(ILOAD, 0);
			m.visitVarInsn(ISTORE, 2);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, l);
			m.visitIincInsn(2, 5);
			m.visitLabel(l);
			m.visitFrame(F_FULL, 3, new Object[] {INTEGER, TOP, INTEGER}, 0, NONE);
			m.visitVarInsn(ILOAD, 2);
			m.visitInsn(I2L);
			m.visitInsn(LRETURN);
		}, ARGS);
	}

	/** `new` without its constructor call yet, across branches, in locals and on the stack. */
	private static void uninitialized(Program p) {
		p.test("uninitOnStack", "(I)Ljava/lang/Object;", m -> {
			Label made = new Label(), other = new Label(), join = new Label();
			m.visitLabel(made);
			m.visitTypeInsn(NEW, "java/lang/String");
			m.visitInsn(DUP);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, other);
			m.visitLdcInsn("nonzero");
			m.visitJumpInsn(GOTO, join);
			m.visitLabel(other);
			m.visitFrame(F_FULL, 1, new Object[] {INTEGER}, 2, new Object[] {made,
					made});
			m.visitLdcInsn("zero");
			m.visitLabel(join);
			m.visitFrame(F_FULL, 1, new Object[] {INTEGER}, 3, new Object[] {made, made,
					"java/lang/String"});
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/String", "<init>",
					"(Ljava/lang/String;)V", false);
			m.visitInsn(ARETURN);
		}, ARGS);
		p.test("uninitInLocals", "(I)Ljava/lang/Object;", m -> {
			Label first = new Label(), second = new Label(), l = new Label();
			m.visitLabel(first);
			m.visitTypeInsn(NEW, "java/lang/StringBuilder");
			m.visitVarInsn(ASTORE, 1);
			m.visitLabel(second);
			m.visitTypeInsn(NEW, "java/lang/Object");
			m.visitInsn(DUP);
			m.visitVarInsn(ASTORE, 2);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, l);
			m.visitIincInsn(0, 1);
			m.visitLabel(l);
			m.visitFrame(F_FULL, 3, new Object[] {INTEGER, first, second}, 1,
					new Object[] {second});
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V",
					false);
			m.visitVarInsn(ALOAD, 1);
			m.visitVarInsn(ILOAD, 0);
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>",
					"(I)V", false);
			m.visitVarInsn(ALOAD, 1);
			m.visitVarInsn(ILOAD, 0);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/StringBuilder", "append",
					"(I)Ljava/lang/StringBuilder;", false);
			m.visitInsn(ARETURN);
		}, ARGS);
		// the same `new` again and again
		p.test("uninitLoop", "(I)Ljava/lang/Object;", m -> {
			Label loop = new Label(), made = new Label();
			m.visitLabel(loop);
			m.visitFrame(F_SAME, 0, null, 0, null);
			m.visitLabel(made);
			m.visitTypeInsn(NEW, "java/lang/StringBuilder");
			m.visitInsn(DUP);
			m.visitVarInsn(ILOAD, 0);
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>",
					"(I)V", false);
			m.visitIincInsn(0, -1);
			m.visitVarInsn(ILOAD, 0);
			Label done = new Label();
			m.visitJumpInsn(IFLT, done);
			m.visitInsn(POP);
			m.visitJumpInsn(GOTO, loop);
			m.visitLabel(done);
			m.visitFrame(F_SAME1, 0, null, 1, new Object[] {"java/lang/StringBuilder"});
			m.visitInsn(ARETURN);
		}, ARGS);
	}

	/** UninitializedThis in locals and on the stack: super(cond ? a : b) and worse. */
	private static void constructors(Program p) {
		p.cw.visitField(ACC_FINAL, "early", "I", null, null);
		p.method(ACC_PUBLIC, "<init>", "(I)V", m -> {
			Label other = new Label(), join = new Label(), after = new Label();
			Object[] locals = {UNINITIALIZED_THIS, INTEGER};
			m.visitVarInsn(ALOAD, 0);
			m.visitInsn(DUP);
			m.visitVarInsn(ILOAD, 1);
			m.visitJumpInsn(IFEQ, other);
			m.visitVarInsn(ILOAD, 1);
			m.visitJumpInsn(GOTO, join);
			m.visitLabel(other);
			m.visitFrame(F_FULL, 2, locals, 2, new Object[] {UNINITIALIZED_THIS,
					UNINITIALIZED_THIS});
			m.visitIntInsn(BIPUSH, 99);
			m.visitLabel(join);
			m.visitFrame(F_FULL, 2, locals, 3, new Object[] {UNINITIALIZED_THIS,
					UNINITIALIZED_THIS, INTEGER});
			// before super(), JVMS 4.10.1.9
			m.visitFieldInsn(PUTFIELD, p.name, "early", "I");
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V",
					false);
			m.visitVarInsn(ILOAD, 1);
			m.visitJumpInsn(IFGE, after);
			m.visitInsn(RETURN);
			m.visitLabel(after);
			m.visitFrame(F_FULL, 2, new Object[] {p.name, INTEGER}, 0, NONE);
			m.visitInsn(RETURN);
		});
		// a loop before super(), this copied to a local
		p.method(ACC_PUBLIC, "<init>", "(IJ)V", m -> {
			Label loop = new Label(), done = new Label();
			m.visitVarInsn(ALOAD, 0);
			m.visitVarInsn(ASTORE, 4);
			m.visitLabel(loop);
			m.visitFrame(F_APPEND, 1, new Object[] {UNINITIALIZED_THIS}, 0, null);
			m.visitIincInsn(1, -1);
			m.visitVarInsn(ILOAD, 1);
			m.visitJumpInsn(IFGT, loop);
			m.visitVarInsn(ALOAD, 4);
			m.visitVarInsn(ILOAD, 1);
			m.visitMethodInsn(INVOKESPECIAL, p.name, "<init>", "(I)V", false);
			m.visitVarInsn(ALOAD, 4);
			m.visitJumpInsn(IFNULL, done);
			m.visitLabel(done);
			m.visitFrame(F_FULL, 4, new Object[] {p.name, INTEGER, LONG, p.name}, 0,
					NONE);
			m.visitInsn(RETURN);
		});
		// ends by throwing, this never initialised
		p.method(ACC_PUBLIC, "<init>", "(II)V", m -> {
			Label ok = new Label();
			m.visitVarInsn(ILOAD, 1);
			m.visitJumpInsn(IFNE, ok);
			m.visitTypeInsn(NEW, "java/lang/IllegalArgumentException");
			m.visitInsn(DUP);
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/IllegalArgumentException",
					"<init>", "()V", false);
			m.visitInsn(ATHROW);
			m.visitLabel(ok);
			m.visitFrame(F_SAME, 0, null, 0, null);
			m.visitVarInsn(ALOAD, 0);
			m.visitVarInsn(ILOAD, 2);
			m.visitInsn(I2L);
			m.visitVarInsn(ILOAD, 1);
			m.visitVarInsn(ISTORE, 2);
			m.visitVarInsn(LSTORE, 3);
			m.visitVarInsn(ILOAD, 2);
			m.visitVarInsn(LLOAD, 3);
			m.visitMethodInsn(INVOKESPECIAL, p.name, "<init>", "(IJ)V", false);
			m.visitInsn(RETURN);
		});
		p.test("construct", "(I)I", m -> {
			m.visitTypeInsn(NEW, p.name);
			m.visitInsn(DUP);
			m.visitInsn(ICONST_3);
			m.visitVarInsn(ILOAD, 0);
			m.visitMethodInsn(INVOKESPECIAL, p.name, "<init>", "(II)V", false);
			m.visitFieldInsn(GETFIELD, p.name, "early", "I");
			m.visitInsn(IRETURN);
		}, ARGS);
	}
}
