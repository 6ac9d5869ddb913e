// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Exception tables in every arrangement. */
final class Handlers implements Opcodes {
	private static final int[][] ARGS = {{0}, {1}, {2}};

	static void write(Zoo zoo) {
		for (int v : new int[] {V1_1, 49, 52, 61}) {
			Program p = new Program("zoo/gen/Handlers", v, v >= 50 && v < 100);
			emit(p);
			zoo.program(p.name, p.build());
		}
	}

	private static void div(MethodVisitor m) {
		m.visitIntInsn(BIPUSH, 100);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IDIV);
	}

	private static void emit(Program p) {
		// from 0 to the code's end, the handler inside its own range
		p.test("wholeMethod", "(I)I", m -> {
			Label start = new Label(), handler = new Label(), end = new Label();
			m.visitTryCatchBlock(start, end, handler, "java/lang/ArithmeticException");
			m.visitLabel(start);
			div(m);
			m.visitInsn(IRETURN);
			m.visitLabel(handler);
			m.visitInsn(POP);
			m.visitIincInsn(0, 1);
			div(m);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
		}, ARGS);
		// the handler is also reached by falling into it
		p.test("handlerEntered", "(I)I", m -> {
			Label handler = new Label(), start = new Label(), end = new Label();
			m.visitTryCatchBlock(start, end, handler, null);
			m.visitInsn(ACONST_NULL);
			m.visitInsn(NOP);
			m.visitLabel(handler);
			m.visitInsn(POP);
			m.visitIincInsn(0, 1);
			m.visitLabel(start);
			m.visitIntInsn(BIPUSH, 100);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(ICONST_1);
			m.visitInsn(ISUB);
			m.visitInsn(IDIV);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
		}, ARGS);
		p.test("nested", "(I)I", m -> {
			Label[] l = labels(6);
			Label inner = new Label(), outer = new Label(), any = new Label();
			m.visitTryCatchBlock(l[1], l[2], inner, "java/lang/NullPointerException");
			m.visitTryCatchBlock(l[1], l[2], outer, "java/lang/ArithmeticException");
			m.visitTryCatchBlock(l[0], l[3], outer, "java/lang/RuntimeException");
			m.visitTryCatchBlock(l[0], l[3], any, null);
			m.visitLabel(l[0]);
			m.visitInsn(ICONST_5);
			m.visitVarInsn(ISTORE, 1);
			m.visitLabel(l[1]);
			div(m);
			m.visitVarInsn(ISTORE, 1);
			m.visitInsn(ACONST_NULL);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "length", "()I",
					false);
			m.visitInsn(POP);
			m.visitLabel(l[2]);
			m.visitInsn(NOP);
			m.visitLabel(l[3]);
			m.visitIincInsn(0, 50);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(inner);
			m.visitInsn(POP);
			m.visitIincInsn(0, 20);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(outer);
			m.visitInsn(POP);
			m.visitIincInsn(0, 30);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(any);
			m.visitInsn(ATHROW);
		}, ARGS);
		// one range ends where the next begins, same handler
		p.test("adjacent", "(I)I", m -> {
			Label[] l = labels(4);
			Label handler = new Label();
			m.visitTryCatchBlock(l[0], l[1], handler, "java/lang/ArithmeticException");
			m.visitTryCatchBlock(l[1], l[2], handler, "java/lang/ArithmeticException");
			m.visitTryCatchBlock(l[2], l[3], handler, "java/lang/NullPointerException");
			m.visitLabel(l[0]);
			div(m);
			m.visitInsn(POP);
			m.visitLabel(l[1]);
			m.visitIntInsn(BIPUSH, 7);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(ICONST_1);
			m.visitInsn(ISUB);
			m.visitInsn(IREM);
			m.visitInsn(POP);
			m.visitLabel(l[2]);
			m.visitInsn(ACONST_NULL);
			m.visitInsn(ARRAYLENGTH);
			m.visitInsn(IRETURN);
			m.visitLabel(l[3]);
			m.visitLabel(handler);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/Object", "getClass",
					"()Ljava/lang/Class;", false);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/Class", "getName",
					"()Ljava/lang/String;", false);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "length", "()I",
					false);
			m.visitInsn(IRETURN);
		}, ARGS);
		// covers itself and throws until it no longer does
		p.test("handlerLoops", "(I)I", m -> {
			Label start = new Label(), end = new Label();
			m.visitTryCatchBlock(start, end, start, "java/lang/ArithmeticException");
			m.visitInsn(ACONST_NULL);
			m.visitLabel(start);
			m.visitInsn(POP);
			m.visitIincInsn(0, 1);
			m.visitInsn(ICONST_1);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(ICONST_4);
			m.visitInsn(IDIV);
			m.visitInsn(IDIV);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IADD);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
		}, ARGS);
		p.test("handlerBefore", "(I)I", m -> {	// the handler stands before its range
			Label start = new Label(), end = new Label(), handler = new Label();
			m.visitTryCatchBlock(start, end, handler, "java/lang/Throwable");
			m.visitJumpInsn(GOTO, start);
			m.visitLabel(handler);
			m.visitInsn(POP);
			m.visitInsn(ICONST_M1);
			m.visitInsn(IRETURN);
			m.visitLabel(start);
			div(m);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
		}, ARGS);
		p.test("duplicateRows", "(I)I", m -> {	// the second row never matters
			Label start = new Label(), end = new Label(), one = new Label(),
			two = new Label();
			m.visitTryCatchBlock(start, end, one, "java/lang/Exception");
			m.visitTryCatchBlock(start, end, two, "java/lang/Exception");
			m.visitLabel(start);
			div(m);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
			m.visitLabel(one);
			m.visitInsn(POP);
			m.visitInsn(ICONST_1);
			m.visitInsn(IRETURN);
			m.visitLabel(two);
			m.visitInsn(POP);
			m.visitInsn(ICONST_2);
			m.visitInsn(IRETURN);
		}, ARGS);
		p.test("changingLocals", "(I)I", m -> {	// a local changes its type inside the range
			Label start = new Label(), end = new Label(), handler = new Label();
			m.visitTryCatchBlock(start, end, handler, "java/lang/Exception");
			m.visitLabel(start);
			m.visitLdcInsn(5L);
			m.visitVarInsn(LSTORE, 1);
			div(m);
			m.visitVarInsn(ISTORE, 1);
			m.visitLdcInsn("text");
			m.visitVarInsn(ASTORE, 2);
			m.visitVarInsn(ILOAD, 1);
			m.visitInsn(IRETURN);
			m.visitLabel(end);
			m.visitLabel(handler);
			m.visitInsn(POP);
			m.visitInsn(ICONST_M1);
			m.visitInsn(IRETURN);
		}, ARGS);
		p.test("manyRows", "(I)I", m -> {	// a thousand rows
			Label[] l = labels(1002);
			for (int i = 0; i < 1000; i++)
				m.visitTryCatchBlock(l[i], l[i + 1], l[1001], i % 2 == 0 ? null
						: "java/lang/Throwable");
			for (int i = 0; i < 1000; i++) {
				m.visitLabel(l[i]);
				m.visitInsn(NOP);
			}
			m.visitLabel(l[1000]);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(l[1001]);
			m.visitInsn(ATHROW);
		}, ARGS);
	}

	private static Label[] labels(int n) {
		Label[] l = new Label[n];
		for (int i = 0; i < n; i++)
			l[i] = new Label();
		return l;
	}
}
