// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** A class of little static test methods, with a main that calls each and prints its result. */
final class Program implements Opcodes {
	interface Body {
		void emit(MethodVisitor m);
	}

	final String name;
	final ClassWriter cw;
	private final MethodVisitor main;
	private final int version;

	/** computeFrames: let ASM find the frames; else bodies visit their own, or need none. */
	Program(String name, int version, boolean computeFrames) {
		this.name = name;
		this.version = version;
		cw = new ClassWriter(computeFrames ? ClassWriter.COMPUTE_FRAMES
				: ClassWriter.COMPUTE_MAXS) {
			@Override
			protected String getCommonSuperClass(String a, String b) {
				// never load what we are writing
				return a.equals(b) ? a : "java/lang/Object";
			}
		};
		cw.visit(version, ACC_PUBLIC | ACC_SUPER, name, null, "java/lang/Object", null);
		MethodVisitor init = cw.visitMethod(ACC_PUBLIC, "<init>", "()V", null, null);
		init.visitCode();
		init.visitVarInsn(ALOAD, 0);
		init.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
		init.visitInsn(RETURN);
		init.visitMaxs(0, 0);
		init.visitEnd();
		main = cw.visitMethod(ACC_PUBLIC | ACC_STATIC, "main", "([Ljava/lang/String;)V",
				null, null);
		main.visitCode();
	}

	/** A method without a call in main. */
	void method(int access, String method, String desc, Body body) {
		MethodVisitor m = cw.visitMethod(access, method, desc, null, null);
		m.visitCode();
		body.emit(m);
		m.visitMaxs(0, 0);
		m.visitEnd();
	}

	/** A static test method; main calls it once per array of arguments (ints only). */
	void test(String method, String desc, Body body, int[]... calls) {
		method(ACC_PUBLIC | ACC_STATIC, method, desc, body);
		if (calls.length == 0)
			call(method, desc);
		for (int[] args : calls)
			call(method, desc, args);
	}

	void call(String method, String desc, int... args) {
		main.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
		main.visitLdcInsn(method + " ");
		main.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "print",
				"(Ljava/lang/String;)V", false);
		for (int a : args)
			main.visitLdcInsn(a);
		main.visitMethodInsn(INVOKESTATIC, name, method, desc, false);
		Type r = Type.getReturnType(desc);
		if (r.getSort() == Type.VOID)
			main.visitLdcInsn("void");
		String shown = switch (r.getSort()) {
			case Type.OBJECT, Type.ARRAY, Type.VOID -> "Ljava/lang/Object;";
			case Type.BYTE, Type.SHORT -> "I";
			default -> r.getDescriptor();
		};
		main.visitMethodInsn(INVOKESTATIC, "java/lang/String", "valueOf", "(" + shown
				+ ")Ljava/lang/String;", false);
		main.visitFieldInsn(GETSTATIC, "java/lang/System", "out", "Ljava/io/PrintStream;");
		main.visitInsn(SWAP);
		main.visitMethodInsn(INVOKEVIRTUAL, "java/io/PrintStream", "println",
				"(Ljava/lang/String;)V", false);
	}

	byte[] build() {
		main.visitInsn(RETURN);
		main.visitMaxs(0, 0);
		main.visitEnd();
		cw.visitEnd();
		return cw.toByteArray();
	}

	boolean needsFrames() {
		return (version & 0xffff) >= 51;
	}
}
