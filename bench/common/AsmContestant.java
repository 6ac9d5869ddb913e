// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.function.BiFunction;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * ASM as a contestant.
 *
 * <p>Modes: "copy" takes every method apart and puts it together; "nop" puts a nop at each method's
 * start; "weave" adds calls at entry, before each return and in a handler around all, with
 * AdviceAdapter, expanded frames and computed maxima, as most agents do; "weave-hand" does the same
 * by hand, as cheaply as ASM allows.  With "-pool" behind it, the new class starts from a copy of
 * the old one's constant pool (and "copy" then copies whole methods as they lie).
 */
class AsmContestant extends Contestant {
	private static final int API = Opcodes.ASM9;
	private static final String PROBE = "sonde/Probe";

	private final boolean pool;
	private final int readFlags, writeFlags;
	/** The visitor that changes methods, or null for none. */
	private final BiFunction<ClassVisitor, AsmContestant, ClassVisitor> edit;

	private int nextId;

	AsmContestant(String mode) {
		pool = mode.endsWith("-pool");
		switch (pool ? mode.substring(0, mode.length() - 5) : mode) {
		case "copy" -> {
			readFlags = 0;
			writeFlags = 0;
			edit = null;
		}
		case "nop" -> {
			readFlags = 0;
			writeFlags = 0;
			edit = NopClass::new;
		}
		case "weave" -> {
			readFlags = ClassReader.EXPAND_FRAMES;
			writeFlags = ClassWriter.COMPUTE_MAXS;
			edit = AdviceClass::new;
		}
		case "weave-hand" -> {
			readFlags = 0;
			writeFlags = 0;
			edit = HandClass::new;
		}
		default -> throw new IllegalArgumentException(mode);
		}
	}

	@Override
	byte[] change(byte[] in) {
		ClassReader reader = new ClassReader(in);
		ClassWriter writer =
			pool ? new ClassWriter(reader, writeFlags) : new ClassWriter(writeFlags);
		reader.accept(edit == null ? writer : edit.apply(writer, this), readFlags);
		return writer.toByteArray();
	}

	private int id() {
		return nextId++ & 0x7fff;
	}

	static final class NopClass extends ClassVisitor {
		NopClass(ClassVisitor out, AsmContestant self) {
			super(API, out);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String desc, String signature,
						 String[] exceptions) {
			return new NopMethod(super.visitMethod(access, name, desc, signature, exceptions));
		}
	}

	static final class NopMethod extends MethodVisitor {
		NopMethod(MethodVisitor out) {
			super(API, out);
		}

		@Override
		public void visitCode() {
			super.visitCode();
			super.visitInsn(Opcodes.NOP);
		}
	}

	/** What both weavers need to know of the class. */
	abstract static class WeaveClass extends ClassVisitor {
		final AsmContestant self;
		boolean frames;
		String name, superName;

		WeaveClass(ClassVisitor out, AsmContestant self) {
			super(API, out);
			this.self = self;
		}

		@Override
		public void visit(int version, int access, String name, String signature, String superName,
				  String[] interfaces) {
			super.visit(version, access, name, signature, superName, interfaces);
			frames = (version & 0xffff) >= Opcodes.V1_6;
			this.name = name;
			this.superName = superName;
		}
	}

	static void probe(MethodVisitor out, String name, int id) {
		out.visitIntInsn(Opcodes.SIPUSH, id);
		out.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, name, "(I)V", false);
	}

	/**
	 * The handler around everything from start on.  Its frame promises no locals, which is right
	 * whatever the method did to them.
	 */
	static void handler(MethodVisitor out, Label start, int id, boolean frames, int frameType) {
		Label end = new Label();
		out.visitTryCatchBlock(start, end, end, null);
		out.visitLabel(end);
		if (frames)
			out.visitFrame(frameType, 0, null, 1, new Object[] {"java/lang/Throwable"});
		probe(out, "exit", id);
		out.visitInsn(Opcodes.ATHROW);
	}

	static final class AdviceClass extends WeaveClass {
		AdviceClass(ClassVisitor out, AsmContestant self) {
			super(out, self);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String desc, String signature,
						 String[] exceptions) {
			MethodVisitor out = super.visitMethod(access, name, desc, signature, exceptions);
			if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0)
				return out;
			return new AdviceMethod(out, access, name, desc, this);
		}
	}

	static final class AdviceMethod extends AdviceAdapter {
		private final boolean frames;
		private final int id;
		private Label start;

		AdviceMethod(MethodVisitor out, int access, String name, String desc, WeaveClass in) {
			super(API, out, access, name, desc);
			frames = in.frames;
			id = in.self.id();
		}

		@Override
		protected void onMethodEnter() {
			probe(mv, "enter", id);
			start = new Label();
			mv.visitLabel(start);
		}

		@Override
		protected void onMethodExit(int opcode) {
			if (opcode != ATHROW && start != null)
				probe(mv, "exit", id);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			if (start != null)
				handler(mv, start, id, frames, Opcodes.F_NEW);
			super.visitMaxs(maxStack, maxLocals);
		}
	}

	static final class HandClass extends WeaveClass {
		HandClass(ClassVisitor out, AsmContestant self) {
			super(out, self);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String desc, String signature,
						 String[] exceptions) {
			MethodVisitor out = super.visitMethod(access, name, desc, signature, exceptions);
			if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0)
				return out;
			return new HandMethod(out, name.equals("<init>"), this);
		}
	}

	static final class HandMethod extends MethodVisitor {
		private final WeaveClass in;
		private final int id;
		private boolean before; // in a constructor, before it called the next one
		private int news;	// objects of such classes that wait for their own constructor
		private Label start;

		HandMethod(MethodVisitor out, boolean constructor, WeaveClass in) {
			super(API, out);
			this.in = in;
			id = in.self.id();
			before = constructor;
		}

		private void enter() {
			before = false;
			probe(mv, "enter", id);
			start = new Label();
			mv.visitLabel(start);
		}

		private boolean near(String type) {
			return type.equals(in.superName) || type.equals(in.name);
		}

		@Override
		public void visitCode() {
			mv.visitCode();
			if (!before)
				enter();
		}

		@Override
		public void visitTypeInsn(int opcode, String type) {
			if (before && opcode == Opcodes.NEW && near(type))
				news++;
			mv.visitTypeInsn(opcode, type);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String desc,
					    boolean isInterface) {
			mv.visitMethodInsn(opcode, owner, name, desc, isInterface);
			if (before && opcode == Opcodes.INVOKESPECIAL && name.equals("<init>")
			    && near(owner) && news-- == 0)
				enter();
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN && start != null)
				probe(mv, "exit", id);
			mv.visitInsn(opcode);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			if (start != null)
				handler(mv, start, id, in.frames, Opcodes.F_FULL);
			mv.visitMaxs(Math.max(maxStack + 1, 2), maxLocals);
		}
	}

	public static void main(String[] args) throws IOException {
		new AsmContestant(args[1]).serve(args);
	}
}
