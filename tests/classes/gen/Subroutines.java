// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** jsr and ret as compilers before Java 6 used them; versions 45 to 49, so without frames. */
final class Subroutines implements Opcodes {
	private static final String PRINT = "(Ljava/lang/String;)V";

	static void write(Zoo zoo) {
		for (int v : new int[] {V1_1, 46, 47, 48, 49}) {
			Program p = new Program("zoo/gen/Subroutines", v, false);
			emit(p);
			zoo.program(p.name, p.build());
		}
		severalRets(zoo);
		deadCode(zoo);
	}

	private static void emit(Program p) {
		int[][] args = {{0}, {1}, {5}};
		p.test("tryFinally", "(I)I", Subroutines::tryFinally, args);
		p.test("nestedFinally", "(I)I", Subroutines::nestedFinally, args);
		p.test("twoCallers", "(I)I", m -> {
			Label sub = new Label(), skip = new Label();
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, skip);
			m.visitJumpInsn(JSR, sub);
			m.visitLabel(skip);
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 1);
			m.visitIincInsn(0, 3);
			m.visitVarInsn(RET, 1);
		}, args);
		p.test("nested", "(I)I", m -> {
			Label outer = new Label(), inner = new Label();
			m.visitJumpInsn(JSR, outer);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(outer);
			m.visitVarInsn(ASTORE, 1);
			m.visitIincInsn(0, 1);
			m.visitJumpInsn(JSR, inner);
			m.visitIincInsn(0, 100);
			m.visitVarInsn(RET, 1);
			m.visitLabel(inner);
			m.visitVarInsn(ASTORE, 2);
			m.visitIincInsn(0, 10);
			m.visitVarInsn(RET, 2);
		}, args);
		p.test("returnsTwoLevels", "(I)I", m -> {	// the inner one returns for both
			Label outer = new Label(), inner = new Label();
			m.visitJumpInsn(JSR, outer);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(outer);
			m.visitVarInsn(ASTORE, 1);
			m.visitJumpInsn(JSR, inner);
			m.visitLabel(inner);
			m.visitVarInsn(ASTORE, 2);
			m.visitIincInsn(0, 10);
			m.visitVarInsn(RET, 1);
		}, args);
		p.test("wideRet", "(I)I", m -> {
			Label sub = new Label();
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 256);
			m.visitIincInsn(0, 1000);
			m.visitVarInsn(RET, 256);
		}, args);
		// values stay on the stack below the return address
		p.test("withOperands", "(I)J", m -> {
			Label sub = new Label();
			m.visitLdcInsn(1L << 33);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(JSR, sub);
			m.visitInsn(I2L);
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 1);
			m.visitInsn(ICONST_2);
			m.visitInsn(IMUL);
			m.visitVarInsn(RET, 1);
		}, args);
		// a subroutine left by a return; its address is dropped
		p.test("neverReturns", "(I)I", m -> {
			Label sub = new Label();
			m.visitJumpInsn(JSR, sub);
			m.visitLabel(sub);
			m.visitInsn(POP);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
		}, args);
		// a local the subroutine does not touch differs by caller
		p.test("differentTypes", "(I)I", m -> {
			Label sub = new Label(), wide = new Label();
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, wide);
			m.visitLdcInsn("one slot");
			m.visitVarInsn(ASTORE, 2);
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(ALOAD, 2);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "length", "()I",
					false);
			m.visitInsn(IRETURN);
			m.visitLabel(wide);
			m.visitLdcInsn(77L);
			m.visitVarInsn(LSTORE, 2);
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(LLOAD, 2);
			m.visitInsn(L2I);
			m.visitInsn(IRETURN);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 1);
			m.visitIincInsn(0, 1);
			m.visitVarInsn(RET, 1);
		}, args);
		p.test("insideLoop", "(I)I", m -> {
			Label sub = new Label(), loop = new Label(), done = new Label();
			m.visitInsn(ICONST_0);
			m.visitVarInsn(ISTORE, 2);
			m.visitLabel(loop);
			m.visitJumpInsn(JSR, sub);
			m.visitIincInsn(0, -1);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFGT, loop);
			m.visitJumpInsn(GOTO, done);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 3);
			m.visitVarInsn(ILOAD, 2);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IADD);
			m.visitVarInsn(ISTORE, 2);
			m.visitVarInsn(RET, 3);
			m.visitLabel(done);
			m.visitVarInsn(ILOAD, 2);
			m.visitInsn(IRETURN);
		}, args);
	}

	/** Legal by JVMS 4.10.2.5; HotSpot wants one ret for each jsr. */
	private static void severalRets(Zoo zoo) {
		Program p = new Program("zoo/gen/SeveralRets", 49, false);
		p.method(ACC_STATIC, "severalRets", "(I)I", m -> {
			Label sub = new Label(), other = new Label(), third = new Label();
			m.visitJumpInsn(JSR, sub);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(sub);
			m.visitVarInsn(ASTORE, 1);
			m.visitVarInsn(ILOAD, 0);
			m.visitJumpInsn(IFEQ, other);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(ICONST_1);
			m.visitJumpInsn(IF_ICMPEQ, third);
			m.visitVarInsn(RET, 1);
			m.visitLabel(other);
			m.visitIincInsn(0, 10);
			m.visitVarInsn(RET, 1);
			m.visitLabel(third);
			m.visitIincInsn(0, 20);
			m.visitVarInsn(RET, 1);
		});
		zoo.roundtripOnly("subroutine_with_several_rets", p.build());

		// Nor does it take a subroutine that is called from two levels.
		Program q = new Program("zoo/gen/TwoLevels", 49, false);
		q.method(ACC_STATIC, "twoLevels", "(I)V", m -> {
			Label outer = new Label(), inner = new Label();
			m.visitJumpInsn(JSR, outer);
			m.visitJumpInsn(JSR, inner);
			m.visitInsn(RETURN);
			m.visitLabel(outer);
			m.visitVarInsn(ASTORE, 1);
			m.visitJumpInsn(JSR, inner);
			m.visitVarInsn(RET, 1);
			m.visitLabel(inner);
			m.visitVarInsn(ASTORE, 2);
			m.visitVarInsn(RET, 2);
		});
		zoo.roundtripOnly("subroutine_called_from_two_levels", q.build());
	}

	/** try { return 10 / n } catch (ArithmeticException e) { return -1 } finally { print } */
	private static void tryFinally(MethodVisitor m) {
		Label start = new Label(), end = new Label(), handler = new Label(),
				handlerEnd = new Label(),
				any = new Label(), anyEnd = new Label(), sub = new Label();
		m.visitTryCatchBlock(start, end, handler, "java/lang/ArithmeticException");
		m.visitTryCatchBlock(start, handlerEnd, any, null);
		m.visitTryCatchBlock(any, anyEnd, any, null);
		m.visitLabel(start);
		m.visitIntInsn(BIPUSH, 10);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IDIV);
		m.visitVarInsn(ISTORE, 1);
		m.visitJumpInsn(JSR, sub);
		m.visitLabel(end);
		m.visitVarInsn(ILOAD, 1);
		m.visitInsn(IRETURN);
		m.visitLabel(handler);
		m.visitVarInsn(ASTORE, 2);
		m.visitInsn(ICONST_M1);
		m.visitVarInsn(ISTORE, 1);
		m.visitJumpInsn(JSR, sub);
		m.visitLabel(handlerEnd);
		m.visitVarInsn(ILOAD, 1);
		m.visitInsn(IRETURN);
		m.visitLabel(any);
		m.visitVarInsn(ASTORE, 3);
		m.visitJumpInsn(JSR, sub);
		m.visitLabel(anyEnd);
		m.visitVarInsn(ALOAD, 3);
		m.visitInsn(ATHROW);
		m.visitLabel(sub);
		m.visitVarInsn(ASTORE, 4);
		print(m, "finally ");
		m.visitVarInsn(RET, 4);
	}

	private static void nestedFinally(MethodVisitor m) {
		Label start = new Label(), end = new Label(), any = new Label(), sub = new Label(),
				in = new Label(),
				inEnd = new Label(), inAny = new Label(), inSub = new Label(),
				leave = new Label();
		m.visitTryCatchBlock(in, inEnd, inAny, null);
		m.visitTryCatchBlock(start, end, any, "java/lang/RuntimeException");
		m.visitLabel(start);
		m.visitLabel(in);
		m.visitIntInsn(BIPUSH, 100);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IDIV);
		m.visitVarInsn(ISTORE, 0);
		m.visitLabel(inEnd);
		m.visitJumpInsn(JSR, inSub);
		m.visitJumpInsn(GOTO, leave);
		m.visitLabel(inAny);
		m.visitVarInsn(ASTORE, 2);
		m.visitJumpInsn(JSR, inSub);
		m.visitVarInsn(ALOAD, 2);
		m.visitInsn(ATHROW);
		m.visitLabel(end);			// the subroutines are not covered
		m.visitLabel(inSub);
		m.visitVarInsn(ASTORE, 3);
		print(m, "inner ");
		m.visitVarInsn(RET, 3);
		m.visitLabel(any);
		m.visitInsn(POP);
		m.visitJumpInsn(JSR, sub);
		m.visitInsn(ICONST_M1);
		m.visitInsn(IRETURN);
		m.visitLabel(sub);
		m.visitVarInsn(ASTORE, 4);
		print(m, "outer ");
		m.visitVarInsn(RET, 4);
		m.visitLabel(leave);
		m.visitJumpInsn(JSR, sub);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	static void print(MethodVisitor m, String text) {
		m.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
		m.visitLdcInsn(text);
		m.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "print", PRINT, false);
	}

	/** Code nobody reaches needs no types before version 50. */
	private static void deadCode(Zoo zoo) {
		Program p = new Program("zoo/gen/DeadCode", 49, false);
		int[][] args = {{3}};
		p.test("afterReturn", "(I)I", m -> {
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitInsn(POP2);		// from an empty stack
			m.visitInsn(LADD);
			m.visitVarInsn(ALOAD, 0);
			m.visitInsn(ATHROW);
		}, args);
		p.test("deadLoop", "(I)I", m -> {
			Label loop = new Label(), live = new Label();
			m.visitJumpInsn(GOTO, live);
			m.visitLabel(loop);
			m.visitIincInsn(0, 1);
			m.visitJumpInsn(GOTO, loop);
			m.visitLabel(live);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
		}, args);
		p.test("deadHandler", "(I)I", m -> {
			Label start = new Label(), end = new Label(), handler = new Label(),
					live = new Label();
			m.visitTryCatchBlock(start, end, handler, null);
			m.visitJumpInsn(GOTO, live);
			m.visitLabel(start);
			m.visitInsn(NOP);
			m.visitInsn(NOP);
			m.visitLabel(end);
			m.visitLabel(live);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
			m.visitLabel(handler);
			m.visitInsn(ATHROW);
		}, args);
		zoo.program(p.name, p.build());
	}
}
