// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.Arrays;
import java.util.function.BiFunction;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.TypePath;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * ASM as a contestant.
 *
 * <p>Modes: "copy" takes every method apart and puts it together; "nop" puts a nop at each method's
 * start; "weave" adds calls at entry, before each return and in a handler around all, with a long
 * that lives in a local from the first to the others, by AdviceAdapter, expanded frames and computed
 * maxima, as most agents do; "weave-hand" does the same by hand, as cheaply as ASM allows.  With "-pool" behind it, the new class starts from a copy of
 * the old one's constant pool (and "copy" then copies whole methods as they lie).
 */
class AsmContestant extends Contestant {
	private static final int API = Opcodes.ASM9;
	private static final String PROBE = "java/util/SondeProbe";
	private static final int NO_FRAME = -2; // a class of before Java 6

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

	static void enter(MethodVisitor out, int id, int token) {
		out.visitIntInsn(Opcodes.SIPUSH, id);
		out.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "enter", "(I)J", false);
		out.visitVarInsn(Opcodes.LSTORE, token);
	}

	/** With the exception in the local thrown, or -1 for none. */
	static void exit(MethodVisitor out, int id, int token, int thrown) {
		out.visitIntInsn(Opcodes.SIPUSH, id);
		out.visitVarInsn(Opcodes.LLOAD, token);
		if (thrown < 0)
			out.visitInsn(Opcodes.ACONST_NULL);
		else
			out.visitVarInsn(Opcodes.ALOAD, thrown);
		out.visitMethodInsn(Opcodes.INVOKESTATIC, PROBE, "exit", "(IJLjava/lang/Throwable;)V",
				    false);
	}

	/**
	 * The handler around everything from start on.  Its frame promises no local but the token,
	 * which is right whatever the method did to them.
	 */
	static void handler(MethodVisitor out, Label start, int id, int token, int frameType) {
		Label end = new Label();
		out.visitTryCatchBlock(start, end, end, null);
		out.visitLabel(end);
		if (frameType != NO_FRAME) {
			Object[] locals = new Object[token + 1];
			Arrays.fill(locals, Opcodes.TOP);
			locals[token] = Opcodes.LONG;
			out.visitFrame(frameType, token + 1, locals, 1,
				       new Object[] {"java/lang/Throwable"});
		}
		out.visitVarInsn(Opcodes.ASTORE, token + 2);
		exit(out, id, token, token + 2);
		out.visitVarInsn(Opcodes.ALOAD, token + 2);
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
		private int token;
		private Label start;

		AdviceMethod(MethodVisitor out, int access, String name, String desc, WeaveClass in) {
			super(API, out, access, name, desc);
			frames = in.frames;
			id = in.self.id();
		}

		@Override
		protected void onMethodEnter() {
			token = newLocal(Type.LONG_TYPE);
			enter(mv, id, token);
			start = new Label();
			mv.visitLabel(start);
		}

		@Override
		protected void onMethodExit(int opcode) {
			if (opcode != ATHROW && start != null)
				exit(mv, id, token, -1);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			if (start != null)
				handler(mv, start, id, token, frames ? Opcodes.F_NEW : NO_FRAME);
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
			return new HandMethod(out, access, name.equals("<init>"), desc, this);
		}
	}

	/**
	 * The token lies behind the arguments, and the method's own locals make room for it, since their
	 * number is not known before the end.  Frames stay differences where they can: what is known of
	 * the locals is kept, to write one in full where the token comes in or an argument has gone.
	 */
	static final class HandMethod extends MethodVisitor {
		private final WeaveClass in;
		private final int id;
		private final int token; // also the number of slots that the arguments take
		private boolean before; // in a constructor, before it called the next one
		private int news;	// objects of such classes that wait for their own constructor
		private Label start;
		private Object[] locals; // of the last frame
		private int nLocals, nSlots;
		private boolean whole; // the next frame cannot be a difference

		HandMethod(MethodVisitor out, int access, boolean constructor, String desc,
			   WeaveClass in) {
			super(API, out);
			this.in = in;
			id = in.self.id();
			before = constructor;
			boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
			token = (Type.getArgumentsAndReturnSizes(desc) >> 2) - (isStatic ? 1 : 0);
			if (in.frames)
				setArguments(isStatic, constructor, desc);
		}

		private void setArguments(boolean isStatic, boolean constructor, String desc) {
			locals = new Object[token + 8];
			nSlots = token;
			if (!isStatic)
				locals[nLocals++] = constructor ? Opcodes.UNINITIALIZED_THIS : in.name;
			for (Type t : Type.getArgumentTypes(desc)) {
				locals[nLocals++] = switch (t.getSort()) {
				case Type.LONG -> Opcodes.LONG;
				case Type.DOUBLE -> Opcodes.DOUBLE;
				case Type.FLOAT -> Opcodes.FLOAT;
				case Type.ARRAY -> t.getDescriptor();
				case Type.OBJECT -> t.getInternalName();
				default -> Opcodes.INTEGER;
				};
			}
		}

		private void enter() {
			before = false;
			whole = true;
			AsmContestant.enter(mv, id, token);
			start = new Label();
			mv.visitLabel(start);
		}

		private boolean near(String type) {
			return type.equals(in.superName) || type.equals(in.name);
		}

		private int moved(int local) {
			return local < token ? local : local + 2;
		}

		private static int slots(Object type) {
			return type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
		}

		private void append(int n, Object[] more) {
			if (nLocals + n > locals.length)
				locals = Arrays.copyOf(locals, 2 * (nLocals + n));
			for (int i = 0; i < n; i++) {
				locals[nLocals++] = more[i];
				nSlots += slots(more[i]);
			}
		}

		/** Follows what a frame says of the locals. */
		private void follow(int type, int n, Object[] local) {
			if (type == Opcodes.F_FULL)
				nLocals = nSlots = 0;
			if (type == Opcodes.F_FULL || type == Opcodes.F_APPEND)
				append(n, local);
			for (int i = 0; type == Opcodes.F_CHOP && i < n; i++)
				nSlots -= slots(locals[--nLocals]);
		}

		/** In full, with the token in its place. */
		private void wholeFrame(int nStack, Object[] stack) {
			Object[] all = new Object[nLocals + token + 1];
			int n = 0, slot = 0, i = 0;
			while (i < nLocals && slot < token) {
				slot += slots(locals[i]);
				all[n++] = locals[i++];
			}
			for (; slot < token; slot++)
				all[n++] = Opcodes.TOP;
			all[n++] = Opcodes.LONG;
			while (i < nLocals)
				all[n++] = locals[i++];
			whole = nSlots < token;
			mv.visitFrame(Opcodes.F_FULL, n, all, nStack, stack);
		}

		@Override
		public void visitFrame(int type, int nLocal, Object[] local, int nStack, Object[] stack) {
			follow(type, nLocal, local);
			if (!before && !isBefore() && (whole || type == Opcodes.F_FULL || nSlots < token))
				wholeFrame(nStack, stack);
			else
				mv.visitFrame(type, nLocal, local, nStack, stack);
		}

		/** A frame of code that lies behind the call of the next constructor, and runs before it. */
		private boolean isBefore() {
			return nLocals > 0 && locals[0] == Opcodes.UNINITIALIZED_THIS;
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
			    && near(owner) && news-- == 0) {
				if (in.frames)
					for (int i = 0; i < nLocals; i++)
						if (locals[i] == Opcodes.UNINITIALIZED_THIS)
							locals[i] = in.name;
				enter();
			}
		}

		@Override
		public void visitVarInsn(int opcode, int local) {
			mv.visitVarInsn(opcode, moved(local));
		}

		@Override
		public void visitIincInsn(int local, int by) {
			mv.visitIincInsn(moved(local), by);
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN && start != null)
				exit(mv, id, token, -1);
			mv.visitInsn(opcode);
		}

		@Override
		public void visitLocalVariable(String name, String desc, String signature, Label from,
					       Label to, int local) {
			mv.visitLocalVariable(name, desc, signature, from, to, moved(local));
		}

		@Override
		public AnnotationVisitor visitLocalVariableAnnotation(int ref, TypePath path, Label[] from,
								      Label[] to, int[] local,
								      String desc, boolean visible) {
			int[] all = new int[local.length];
			for (int i = 0; i < all.length; i++)
				all[i] = moved(local[i]);
			return mv.visitLocalVariableAnnotation(ref, path, from, to, all, desc, visible);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			if (start != null)
				handler(mv, start, id, token, in.frames ? Opcodes.F_FULL : NO_FRAME);
			mv.visitMaxs(Math.max(maxStack + 4, 6), Math.max(maxLocals + 2, token + 3));
		}
	}

	public static void main(String[] args) throws IOException {
		new AsmContestant(args[1]).serve(args);
	}
}
