// SPDX-License-Identifier: Apache-2.0

import java.util.Map;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Every opcode but jsr and ret (Subroutines) and the forms that ASM never picks (RawCode), each in
 * a method of its own, in versions 45 to 69.
 */
final class AllOpcodes implements Opcodes {
	private static final String CONCAT = "(Ljava/lang/invoke/MethodHandles$Lookup;"
			+ "Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/String;"
			+ "[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;";
	private static final int[] VERSIONS = {V1_1, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,
			58, 59, 60, 61,
		62, 63, 64, 65, 66, 67, 68, 69};

	static void write(Zoo zoo) {
		for (int v : VERSIONS) {
			Program p = new Program("zoo/gen/AllOpcodes", v, (v & 0xffff) >= 50);
			new AllOpcodes(p, v & 0xffff).emit();
			zoo.program(p.name, p.build());
		}
	}

	private final Program p;
	private final int version;

	private AllOpcodes(Program p, int version) {
		this.p = p;
		this.version = version;
	}

	private void emit() {
		constants();
		locals();
		arrays();
		stack();
		arithmetic();
		branches();
		objects();
	}

	private void constants() {
		p.test("nop", "()V", m -> {
			m.visitInsn(NOP);
			m.visitInsn(RETURN);
		});
		p.test("aconst_null", "()Ljava/lang/Object;", m -> {
			m.visitInsn(ACONST_NULL);
			m.visitInsn(ARETURN);
		});
		for (int op = ICONST_M1; op <= DCONST_1; op++) {
			int o = op;
			String t = op <= ICONST_5 ? "I" : op <= LCONST_1 ? "J" : op <= FCONST_2
					? "F" : "D";
			p.test("const" + op, "()" + t, m -> {
				m.visitInsn(o);
				m.visitInsn(returnOf(t));
			});
		}
		p.test("pushes", "()I", m -> {
			m.visitIntInsn(BIPUSH, -128);
			m.visitIntInsn(BIPUSH, 127);
			m.visitIntInsn(SIPUSH, -32768);
			m.visitIntInsn(SIPUSH, 32767);
			m.visitInsn(IADD);
			m.visitInsn(ISUB);
			m.visitInsn(IMUL);
			m.visitInsn(IRETURN);
		});
		Object[] ldcs = {1 << 20, 1.25f, "text", 1L << 40, Math.E};
		for (Object c : ldcs) {
			String t = c instanceof String ? "Ljava/lang/String;" : c instanceof Integer
					? "I"
					: c instanceof Long ? "J" : c instanceof Float ? "F" : "D";
			p.test("ldc_" + t.charAt(0), "()" + t, m -> {
				m.visitLdcInsn(c);
				m.visitInsn(returnOf(t));
			});
		}
		if (version >= 49)
			p.test("ldc_class", "()Ljava/lang/Class;", m -> {
				m.visitLdcInsn(Type.getObjectType("[[Ljava/lang/String;"));
				m.visitInsn(ARETURN);
			});
	}

	private static int returnOf(String t) {
		return Type.getType(t).getOpcode(IRETURN);
	}

	/** Each type at the slots 0-3 with their own opcodes, at 4, at 255 and beyond (wide). */
	private void locals() {
		Map<String, Integer> zero = Map.of("I", ICONST_4, "J", LCONST_1, "F", FCONST_2, "D",
				DCONST_1,
				"Ljava/lang/Object;", ACONST_NULL);
		for (String t : new String[] {"I", "J", "F", "D", "Ljava/lang/Object;"})
			for (int slot : new int[] {0, 1, 2, 3, 4, 254, 255, 256, 300, 60000})
				p.test("local_" + t.charAt(0) + slot, "()" + t, m -> {
					Type type = Type.getType(t);
					m.visitInsn(zero.get(t));
					m.visitVarInsn(type.getOpcode(ISTORE), slot);
					m.visitVarInsn(type.getOpcode(ILOAD), slot);
					m.visitInsn(returnOf(t));
				});
		for (int slot : new int[] {0, 255, 256})
			for (int by : new int[] {1, -128, 127, 128, -129, 32767, -32768})
				p.test("iinc" + slot + "_" + (by & 0xffff), "()I", m -> {
					m.visitInsn(ICONST_0);
					m.visitVarInsn(ISTORE, slot);
					m.visitIincInsn(slot, by);
					m.visitVarInsn(ILOAD, slot);
					m.visitInsn(IRETURN);
				});
	}

	private void arrays() {
		Object[][] kinds = {{T_BOOLEAN, BALOAD, BASTORE, ICONST_1, "I"}, {T_CHAR, CALOAD,
				CASTORE, ICONST_2, "I"},
			{T_FLOAT, FALOAD, FASTORE, FCONST_1, "F"}, {T_DOUBLE, DALOAD, DASTORE,
			DCONST_1, "D"},
			{T_BYTE, BALOAD, BASTORE, ICONST_3, "I"}, {T_SHORT, SALOAD, SASTORE,
			ICONST_4, "I"},
			{T_INT, IALOAD, IASTORE, ICONST_5, "I"}, {T_LONG, LALOAD, LASTORE, LCONST_1,
			"J"}};
		for (Object[] k : kinds)
			p.test("newarray" + k[0], "()" + k[4], m -> {
				m.visitInsn(ICONST_2);
				m.visitIntInsn(NEWARRAY, (int) k[0]);
				m.visitInsn(DUP);
				m.visitInsn(ICONST_1);
				m.visitInsn((int) k[3]);
				m.visitInsn((int) k[2]);
				m.visitInsn(ICONST_1);
				m.visitInsn((int) k[1]);
				m.visitInsn(returnOf((String) k[4]));
			});
		p.test("anewarray", "()Ljava/lang/Object;", m -> {
			m.visitInsn(ICONST_3);
			m.visitTypeInsn(ANEWARRAY, "java/lang/String");
			m.visitInsn(DUP);
			m.visitInsn(ICONST_2);
			m.visitLdcInsn("element");
			m.visitInsn(AASTORE);
			m.visitInsn(ICONST_2);
			m.visitInsn(AALOAD);
			m.visitInsn(ARETURN);
		});
		p.test("multianewarray", "()I", m -> {
			m.visitInsn(ICONST_2);
			m.visitInsn(ICONST_3);
			m.visitMultiANewArrayInsn("[[[J", 2);
			m.visitInsn(ICONST_1);
			m.visitInsn(AALOAD);
			m.visitInsn(ARRAYLENGTH);
			m.visitInsn(IRETURN);
		});
		p.test("multianewarray255", "()I", m -> {
			for (int i = 0; i < 254; i++)
				m.visitInsn(ICONST_1);
			m.visitInsn(ICONST_0);
			m.visitMultiANewArrayInsn("[".repeat(255) + "I", 255);
			m.visitInsn(ARRAYLENGTH);
			m.visitInsn(IRETURN);
		});
	}

	/** A digit string of what the stack holds after the opcode, top last. */
	private void stack() {
		Object[][] cases = {{"pop", POP, 3, 2}, {"pop2", POP2, 4, 2}, {"dup", DUP, 2, 3},
				{"dup_x1", DUP_X1, 2, 3},
			{"dup_x2", DUP_X2, 3, 4}, {"dup2", DUP2, 2, 4}, {"dup2_x1", DUP2_X1, 3, 5},
			{"dup2_x2", DUP2_X2, 4, 6}, {"swap", SWAP, 2, 2}};
		for (Object[] c : cases)
			p.test((String) c[0], "()I", m -> {
				for (int i = 0; i < (int) c[2]; i++)
					m.visitInsn(ICONST_1 + i);
				m.visitInsn((int) c[1]);
				for (int i = 1; i < (int) c[3]; i++) {
					m.visitIntInsn(BIPUSH, 10);
					m.visitInsn(IMUL);
					m.visitInsn(IADD);
				}
				m.visitInsn(IRETURN);
			});
		p.test("dup2_long", "()J", m -> {
			m.visitLdcInsn(7L);
			m.visitInsn(DUP2);
			m.visitInsn(LMUL);
			m.visitInsn(LRETURN);
		});
		p.test("pop2_double", "()D", m -> {
			m.visitInsn(DCONST_1);
			m.visitInsn(DCONST_0);
			m.visitInsn(POP2);
			m.visitInsn(DRETURN);
		});
		p.test("dup_x2_under_long", "()J", m -> {	// J I -> I J I
			m.visitLdcInsn(100L);
			m.visitInsn(ICONST_5);
			m.visitInsn(DUP_X2);
			sumIntLongInt(m);
		});
		p.test("dup2_x1_long", "()J", m -> {		// I J -> J I J
			m.visitInsn(ICONST_5);
			m.visitLdcInsn(100L);
			m.visitInsn(DUP2_X1);
			m.visitInsn(POP2);
			m.visitInsn(I2L);
			m.visitInsn(LSUB);
			m.visitInsn(LRETURN);
		});
		p.test("dup2_x2_longs", "()D", m -> {		// J D -> D J D
			m.visitLdcInsn(100L);
			m.visitLdcInsn(0.5);
			m.visitInsn(DUP2_X2);
			m.visitInsn(POP2);
			m.visitInsn(L2D);
			m.visitInsn(DSUB);
			m.visitInsn(DRETURN);
		});
		p.test("dup2_x2_ints_over_long", "()J", m -> {	// J I I -> I I J I I
			m.visitLdcInsn(100L);
			m.visitInsn(ICONST_2);
			m.visitInsn(ICONST_3);
			m.visitInsn(DUP2_X2);
			m.visitInsn(IADD);
			sumIntLongInt(m);
		});
		p.test("dup2_x2_long_over_ints", "()J", m -> {	// I I J -> J I I J
			m.visitInsn(ICONST_2);
			m.visitInsn(ICONST_3);
			m.visitLdcInsn(100L);
			m.visitInsn(DUP2_X2);
			m.visitInsn(L2I);
			m.visitInsn(IADD);
			m.visitInsn(IADD);
			m.visitInsn(I2L);
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
		});
	}

	/** Of I J I on the stack (whatever lies below) returns the sum. */
	private static void sumIntLongInt(MethodVisitor m) {
		m.visitInsn(I2L);
		m.visitInsn(LADD);
		m.visitVarInsn(LSTORE, 4);
		m.visitInsn(I2L);
		m.visitVarInsn(LLOAD, 4);
		m.visitInsn(LADD);
		m.visitInsn(LRETURN);
	}

	private void arithmetic() {
		String types = "IJFD";
		int[][] consts = {{ICONST_5, ICONST_3}, {-1, -1}, {FCONST_2, FCONST_1}, {-1, -1}};
		for (int t = 0; t < 4; t++) {
			String type = types.substring(t, t + 1);
			int[] c = consts[t];
			for (int op = IADD + t; op <= IREM + t; op += 4)
				binary("op" + op, op, type, c);
			int neg = INEG + t;
			p.test("op" + neg, "()" + type, m -> {
				push(m, type, c[0], 77);
				m.visitInsn(neg);
				m.visitInsn(returnOf(type));
			});
		}
		for (int op = ISHL; op <= LUSHR; op++) {
			int o = op;
			String type = (op - ISHL) % 2 == 0 ? "I" : "J";
			p.test("op" + op, "()" + type, m -> {
				push(m, type, ICONST_M1, -9);
				m.visitInsn(ICONST_2);
				m.visitInsn(o);
				m.visitInsn(returnOf(type));
			});
		}
		for (int op = IAND; op <= LXOR; op++)
			binary("op" + op, op, (op - IAND) % 2 == 0 ? "I" : "J", new int[] {ICONST_5,
					ICONST_3});
		String from = "IIIJJJFFFDDDIII", to = "JFDIFDIJDIJFIII";
		for (int op = I2L; op <= I2S; op++) {
			int o = op;
			String a = from.substring(op - I2L, op - I2L + 1),
					b = to.substring(op - I2L, op - I2L + 1);
			p.test("op" + op, "()" + b, m -> {
				m.visitLdcInsn(a.equals("I") ? (Object) 70000 : a.equals("J")
						? (Object) (-1L << 33)
						: a.equals("F") ? (Object) 1e20f : Double.NaN);
				m.visitInsn(o);
				m.visitInsn(returnOf(b));
			});
		}
		for (int op = LCMP; op <= DCMPG; op++) {
			int o = op;
			p.test("op" + op, "()I", m -> {
				Object c = o == LCMP ? (Object) 5L : o <= FCMPG ? (Object) Float.NaN
						: Double.NaN;
				m.visitLdcInsn(c);
				m.visitLdcInsn(c);
				m.visitInsn(o);
				m.visitInsn(IRETURN);
			});
		}
	}

	private static void push(MethodVisitor m, String type, int op, int value) {
		if (type.equals("J"))
			m.visitLdcInsn((long) value);
		else if (type.equals("D"))
			m.visitLdcInsn(value + 0.5);
		else
			m.visitInsn(op);
	}

	private void binary(String name, int op, String type, int[] c) {
		p.test(name, "()" + type, m -> {
			push(m, type, c[0], 77);
			push(m, type, c[1], 6);
			m.visitInsn(op);
			m.visitInsn(returnOf(type));
		});
	}

	private void branches() {
		int[][] args = {{-1}, {0}, {1}};
		for (int op = IFEQ; op <= IFLE; op++) {
			int o = op;
			p.test("op" + op, "(I)I", m -> {
				m.visitVarInsn(ILOAD, 0);
				yesNo(m, o);
			}, args);
			int cmp = op - IFEQ + IF_ICMPEQ;
			p.test("op" + cmp, "(I)I", m -> {
				m.visitVarInsn(ILOAD, 0);
				m.visitInsn(ICONST_0);
				yesNo(m, cmp);
			}, args);
		}
		for (int op : new int[] {IF_ACMPEQ, IF_ACMPNE, IFNULL, IFNONNULL}) {
			p.test("op" + op, "()I", m -> {
				m.visitLdcInsn("a");
				if (op <= IF_ACMPNE)
					m.visitInsn(ACONST_NULL);
				yesNo(m, op);
			});
		}
		p.test("goto", "()I", m -> {
			Label back = new Label(), start = new Label(), end = new Label();
			m.visitInsn(ICONST_0);
			m.visitVarInsn(ISTORE, 0);
			m.visitJumpInsn(GOTO, start);
			m.visitLabel(back);
			m.visitIincInsn(0, 7);
			m.visitJumpInsn(GOTO, end);
			m.visitLabel(start);
			m.visitJumpInsn(GOTO, back);
			m.visitLabel(end);
			m.visitVarInsn(ILOAD, 0);
			m.visitInsn(IRETURN);
		});
		p.test("tableswitch", "(I)I", m -> {
			Label[] l = {new Label(), new Label(), new Label()};
			m.visitVarInsn(ILOAD, 0);
			m.visitTableSwitchInsn(-1, 1, l[2], l[0], l[2], l[1]);
			returns(m, l);
		}, args);
		p.test("lookupswitch", "(I)I", m -> {
			Label[] l = {new Label(), new Label(), new Label()};
			m.visitVarInsn(ILOAD, 0);
			m.visitLookupSwitchInsn(l[2], new int[] {-1, 1, Integer.MAX_VALUE},
					new Label[] {l[0], l[1], l[0]});
			returns(m, l);
		}, args);
		p.test("emptyLookup", "(I)I", m -> {
			Label[] l = {new Label()};
			m.visitVarInsn(ILOAD, 0);
			m.visitLookupSwitchInsn(l[0], new int[0], new Label[0]);
			returns(m, l);
		}, args);
	}

	private static void returns(MethodVisitor m, Label[] labels) {
		for (int i = 0; i < labels.length; i++) {
			m.visitLabel(labels[i]);
			m.visitIntInsn(BIPUSH, 10 + i);
			m.visitInsn(IRETURN);
		}
	}

	private static void yesNo(MethodVisitor m, int op) {
		Label yes = new Label();
		m.visitJumpInsn(op, yes);
		m.visitInsn(ICONST_0);
		m.visitInsn(IRETURN);
		m.visitLabel(yes);
		m.visitInsn(ICONST_1);
		m.visitInsn(IRETURN);
	}

	private void objects() {
		p.cw.visitField(ACC_STATIC, "sj", "J", null, null);
		p.cw.visitField(ACC_PRIVATE, "ii", "I", null, null);
		p.test("fields", "()J", m -> {
			m.visitLdcInsn(1234567890123L);
			m.visitFieldInsn(PUTSTATIC, p.name, "sj", "J");
			m.visitTypeInsn(NEW, p.name);
			m.visitInsn(DUP);
			m.visitMethodInsn(INVOKESPECIAL, p.name, "<init>", "()V", false);
			m.visitInsn(DUP);
			m.visitIntInsn(BIPUSH, 42);
			m.visitFieldInsn(PUTFIELD, p.name, "ii", "I");
			m.visitFieldInsn(GETFIELD, p.name, "ii", "I");
			m.visitInsn(I2L);
			m.visitFieldInsn(GETSTATIC, p.name, "sj", "J");
			m.visitInsn(LADD);
			m.visitInsn(LRETURN);
		});
		p.test("calls", "()I", m -> {
			m.visitLdcInsn("abc");
			m.visitTypeInsn(CHECKCAST, "java/lang/CharSequence");
			m.visitMethodInsn(INVOKEINTERFACE, "java/lang/CharSequence", "length",
					"()I", true);
			m.visitLdcInsn("def");
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/String", "hashCode", "()I",
					false);
			m.visitMethodInsn(INVOKESTATIC, "java/lang/Math", "max", "(II)I", false);
			m.visitInsn(IRETURN);
		});
		p.test("types", "()I", m -> {
			m.visitLdcInsn("abc");
			m.visitInsn(DUP);
			m.visitTypeInsn(INSTANCEOF, "java/lang/Comparable");
			m.visitInsn(SWAP);
			m.visitTypeInsn(CHECKCAST, "java/lang/String");
			m.visitTypeInsn(INSTANCEOF, "[I");
			m.visitInsn(ISUB);
			m.visitInsn(IRETURN);
		});
		p.test("monitors", "()I", m -> {
			m.visitLdcInsn("lock");
			m.visitInsn(DUP);
			m.visitVarInsn(ASTORE, 0);
			m.visitInsn(MONITORENTER);
			m.visitVarInsn(ALOAD, 0);
			m.visitInsn(MONITOREXIT);
			m.visitInsn(ICONST_1);
			m.visitInsn(IRETURN);
		});
		p.test("athrow", "()Ljava/lang/String;", m -> {
			Label start = new Label(), end = new Label();
			m.visitTryCatchBlock(start, end, end, "java/lang/RuntimeException");
			m.visitLabel(start);
			m.visitTypeInsn(NEW, "java/lang/RuntimeException");
			m.visitInsn(DUP);
			m.visitLdcInsn("thrown");
			m.visitMethodInsn(INVOKESPECIAL, "java/lang/RuntimeException", "<init>",
					"(Ljava/lang/String;)V", false);
			m.visitInsn(ATHROW);
			m.visitLabel(end);
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/Throwable", "getMessage",
					"()Ljava/lang/String;", false);
			m.visitInsn(ARETURN);
		});
		if (version >= 53)
			p.test("invokedynamic", "()Ljava/lang/String;", m -> {
				m.visitLdcInsn(5L);
				m.visitInsn(ICONST_2);
				Handle concat = new Handle(H_INVOKESTATIC,
						"java/lang/invoke/StringConcatFactory",
						"makeConcatWithConstants", CONCAT, false);
				m.visitInvokeDynamicInsn("makeConcatWithConstants",
						"(JI)Ljava/lang/String;", concat, "\1 and \1");
				m.visitInsn(ARETURN);
			});
	}
}
