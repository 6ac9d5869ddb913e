// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Methods near the limits of JVMS 4.11: every branch still fits its 16 bits, but hardly any would
 * after an insertion.  Also the widest argument lists, locals, stacks and switches.
 */
final class LargeMethods implements Opcodes {
	static void write(Zoo zoo) {
		for (int v : new int[] {49, 52, 61}) {
			Program p = new Program("zoo/gen/LargeMethods", v, false);
			p.test("code65535", "(I)I", m -> exactly(p, m, 65535), new int[][] {{0},
					{4}});
			p.test("code65000", "(I)I", m -> ladder(p, m, 130, 500, 65),
					new int[][] {{0}, {3}, {300}});
			zoo.program(p.name, p.build());

			Program q = new Program("zoo/gen/FarBranches", v, false);
			q.test("code40000", "(I)I", m -> ladder(q, m, 80, 500, 65),
					new int[][] {{0}, {3}, {300}});
			q.test("ahead32767", "(I)I", m -> ahead(q, m, 32767), new int[][] {{0},
					{1}});
			q.test("back32768", "(I)I", m -> back(q, m, 32768), new int[][] {{0}, {2}});
			q.test("code33000", "(I)I", m -> ladder(q, m, 66, 500, 64),
					new int[][] {{5}});
			zoo.program(q.name, q.build());

			Program s = new Program("zoo/gen/LargeSwitches", v, false);
			for (int pad = 0; pad < 4; pad++)
				switches(s, pad);
			s.test("table8000", "(I)I", m -> table(s, m, 8000), new int[][] {{-1}, {0},
					{7999}, {8000}});
			s.test("lookup4000", "(I)I", m -> lookup(s, m, 4000), new int[][] {{0}, {7},
					{27993}, {27994}});
			zoo.program(s.name, s.build());

			Program l = new Program("zoo/gen/Limits", v, false);
			limits(l);
			zoo.program(l.name, l.build());
		}
	}

	/** The frame every label of these methods has: the arguments, nothing on the stack. */
	private static void label(Program p, MethodVisitor m, Label l) {
		m.visitLabel(l);
		if (p.needsFrames())
			m.visitFrame(F_SAME, 0, null, 0, null);
	}

	/**
	 * `rungs` blocks of `size` bytes; from rung k a conditional branch leads to rung k + reach,
	 * and one leads back by reach - 1, which counts the argument down and so ends.
	 */
	private static void ladder(Program p, MethodVisitor m, int rungs, int size, int reach) {
		Label[] l = new Label[rungs + 1];
		for (int i = 0; i <= rungs; i++)
			l[i] = new Label();
		m.visitIincInsn(0, 1);
		for (int k = 0; k < rungs; k++) {
			if (k > 0)
				label(p, m, l[k]);
			int used = 0;
			if (k + reach <= rungs) {
				m.visitVarInsn(ILOAD, 0);
				m.visitIntInsn(BIPUSH, k % 100);
				m.visitJumpInsn(IF_ICMPEQ, l[k + reach]);
				used += 6;
			}
			if (k >= reach) {
				m.visitIincInsn(0, -1);
				m.visitVarInsn(ILOAD, 0);
				m.visitIntInsn(SIPUSH, 200);
				m.visitJumpInsn(IF_ICMPGT, l[k - reach + 1]);
				used += 10;
			}
			for (; size - used >= 3; used += 3)
				m.visitIincInsn(0, used % 5 == 0 ? 1 : -1);
			for (; used < size; used++)
				m.visitInsn(NOP);
			if (k == rungs - 1)		// keep the method within its size
				break;
		}
		label(p, m, l[rungs]);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	private static void exactly(Program p, MethodVisitor m, int size) {
		Label end = new Label();
		m.visitVarInsn(ILOAD, 0);		// 1
		Label half = new Label();
		m.visitJumpInsn(IFEQ, half);		// 3
		for (int i = 0; i < 32764; i++)
			m.visitInsn(NOP);
		label(p, m, half);
		m.visitVarInsn(ILOAD, 0);		// 1
		m.visitJumpInsn(IFNE, end);		// 3
		m.visitIincInsn(0, 7);			// 3
		for (int i = 0; i < size - 32764 - 13; i++)
			m.visitInsn(NOP);
		label(p, m, end);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);			// 2 in all
	}

	/** A conditional branch over exactly `distance` bytes. */
	private static void ahead(Program p, MethodVisitor m, int distance) {
		Label l = new Label();
		m.visitVarInsn(ILOAD, 0);
		m.visitJumpInsn(IFEQ, l);
		for (int i = 0; i < (distance - 3) / 3; i++)
			m.visitIincInsn(0, 1);
		for (int i = 0; i < (distance - 3) % 3; i++)
			m.visitInsn(NOP);
		label(p, m, l);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	private static void back(Program p, MethodVisitor m, int distance) {
		Label l = new Label();
		label(p, m, l);
		m.visitIincInsn(0, -1);
		for (int i = 0; i < distance - 4; i++)
			m.visitInsn(NOP);
		m.visitVarInsn(ILOAD, 0);
		m.visitJumpInsn(IFGT, l);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	/** Both switches with `pad` bytes before them: the operands' padding takes every size. */
	private static void switches(Program p, int pad) {
		int[][] args = {{-5}, {0}, {1}, {2}, {1000000}};
		for (boolean table : new boolean[] {true, false})
			p.test((table ? "table" : "lookup") + "Pad" + pad, "(I)I", m -> {
				Label[] l = {new Label(), new Label(), new Label()};
				Label dflt = new Label();
				for (int i = 0; i < pad; i++)
					m.visitInsn(NOP);
				m.visitVarInsn(ILOAD, 0);
				if (table)
					m.visitTableSwitchInsn(0, 2, dflt, l);
				else
					m.visitLookupSwitchInsn(dflt, new int[] {-5, 1, 1000000},
							l);
				for (int i = 0; i < 3; i++) {
					label(p, m, l[i]);
					m.visitIincInsn(0, 10 * i);
				}
				label(p, m, dflt);
				m.visitVarInsn(ILOAD, 0);
				m.visitInsn(IRETURN);
			}, args);
	}

	private static void table(Program p, MethodVisitor m, int n) {
		Label[] l = new Label[n];
		Label dflt = new Label();
		for (int i = 0; i < n; i++)
			l[i] = i % 3 == 0 ? dflt : new Label();
		m.visitVarInsn(ILOAD, 0);
		m.visitTableSwitchInsn(0, n - 1, dflt, l);
		for (int i = 0; i < n; i++)
			if (l[i] != dflt) {
				label(p, m, l[i]);
				m.visitIincInsn(0, 1);
			}
		label(p, m, dflt);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	private static void lookup(Program p, MethodVisitor m, int n) {
		Label[] l = new Label[n];
		int[] keys = new int[n];
		Label dflt = new Label();
		for (int i = 0; i < n; i++) {
			l[i] = new Label();
			keys[i] = i * 7;
		}
		m.visitVarInsn(ILOAD, 0);
		m.visitLookupSwitchInsn(dflt, keys, l);
		for (int i = 0; i < n; i++) {
			label(p, m, l[i]);
			m.visitIincInsn(0, -1);
		}
		label(p, m, dflt);
		m.visitVarInsn(ILOAD, 0);
		m.visitInsn(IRETURN);
	}

	private static void limits(Program p) {
		String ints = "(" + "I".repeat(255) + ")I";
		p.method(ACC_STATIC, "args255", ints, m -> {
			m.visitVarInsn(ILOAD, 254);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(ISUB);
			m.visitInsn(IRETURN);
		});
		String longs = "(" + "J".repeat(127) + "I)J";
		p.method(ACC_STATIC, "longs127", longs, m -> {
			m.visitVarInsn(LLOAD, 252);
			m.visitVarInsn(ILOAD, 254);
			m.visitInsn(I2L);
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
		});
		p.method(0, "instance254", "(" + "I".repeat(254) + ")I", m -> {
			m.visitVarInsn(ILOAD, 254);
			m.visitInsn(IRETURN);
		});
		p.test("callThem", "()J", m -> {
			for (int i = 0; i < 255; i++)
				m.visitIntInsn(SIPUSH, i * 3);
			m.visitMethodInsn(INVOKESTATIC, p.name, "args255", ints, false);
			m.visitInsn(I2L);
			for (int i = 0; i < 127; i++)
				m.visitLdcInsn(1000L + i);
			m.visitInsn(ICONST_4);
			m.visitMethodInsn(INVOKESTATIC, p.name, "longs127", longs, false);
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
		});
		p.test("locals65535", "()J", m -> {
			m.visitLdcInsn(1L << 50);
			m.visitVarInsn(LSTORE, 65533);
			m.visitVarInsn(LLOAD, 65533);
			m.visitInsn(LRETURN);
		});
		p.test("stack20000", "()I", m -> {
			for (int i = 0; i < 20000; i++)
				m.visitInsn(ICONST_1 + i % 3);
			for (int i = 1; i < 20000; i++)
				m.visitInsn(IADD);
			m.visitInsn(IRETURN);
		});
		p.test("wideIinc", "()I", m -> {
			m.visitInsn(ICONST_0);
			m.visitVarInsn(ISTORE, 1000);
			m.visitIincInsn(1000, 1);
			m.visitIincInsn(1000, 30000);
			m.visitVarInsn(ILOAD, 1000);
			m.visitInsn(IRETURN);
		});
	}
}
