// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassHierarchyResolver.ClassHierarchyInfo;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * java.lang.classfile (JDK 24 and later) as a contestant.
 *
 * <p>Modes as in AsmContestant: "copy", "nop", "weave".  The options are the defaults: the constant
 * pool is shared with the old class, and stack maps are kept where the code comes out unchanged and
 * computed where not (the library has no way to keep them).  With "-drop" behind it, stack maps are
 * left out instead: less work than the others do, and no longer a valid class.
 */
class JdkContestant extends Contestant {
	private static final ClassDesc PROBE = ClassDesc.of("java.util.SondeProbe");
	private static final MethodTypeDesc ENTER =
		MethodTypeDesc.of(ConstantDescs.CD_long, ConstantDescs.CD_int);
	private static final MethodTypeDesc EXIT =
		MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int, ConstantDescs.CD_long,
				  ConstantDescs.CD_Throwable);

	private final boolean drop;
	private final Function<ClassModel, ClassTransform> transform;
	private ClassFile context;
	private int nextId;

	JdkContestant(String mode) {
		drop = mode.endsWith("-drop");
		transform = switch (drop ? mode.substring(0, mode.length() - 5) : mode) {
		case "copy" -> {
			var copy = ClassTransform.transformingMethodBodies((b, e) -> b.with(e));
			yield c -> copy;
		}
		case "nop" -> {
			var nop = ClassTransform.transformingMethodBodies(new Nop());
			yield c -> nop;
		}
		case "weave" -> c -> (b, e) -> {
			if (e instanceof MethodModel m && m.code().isPresent())
				b.transformMethod(m, MethodTransform.transformingCode(new Weave(c, m, nextId++ & 0x7fff)));
			else
				b.with(e);
		};
		default -> throw new IllegalArgumentException(mode);
		};
	}

	/** Classes of the corpus are asked for their super class there, not by loading them. */
	@Override
	void prepare() {
		ClassFile plain = ClassFile.of();
		Map<ClassDesc, ClassHierarchyInfo> known = new HashMap<>();
		for (byte[] bytes : corpus) {
			ClassModel c = plain.parse(bytes);
			ClassDesc superClass = c.superclass().map(s -> s.asSymbol()).orElse(null);
			if (c.flags().has(java.lang.reflect.AccessFlag.INTERFACE))
				known.put(c.thisClass().asSymbol(), ClassHierarchyInfo.ofInterface());
			else if (!c.flags().has(java.lang.reflect.AccessFlag.MODULE))
				known.put(c.thisClass().asSymbol(), ClassHierarchyInfo.ofClass(superClass));
		}
		ClassHierarchyResolver fromCorpus = known::get;
		ClassHierarchyResolver unknown = d -> ClassHierarchyInfo.ofClass(ConstantDescs.CD_Object);
		context = ClassFile.of(
			ClassFile.ClassHierarchyResolverOption.of(
				fromCorpus.orElse(ClassHierarchyResolver.defaultResolver()).orElse(unknown)),
			drop ? ClassFile.StackMapsOption.DROP_STACK_MAPS
			     : ClassFile.StackMapsOption.STACK_MAPS_WHEN_REQUIRED);
	}

	@Override
	byte[] change(byte[] in) {
		ClassModel c = context.parse(in);
		return context.transformClass(c, transform.apply(c));
	}

	static final class Nop implements CodeTransform {
		@Override
		public void atStart(CodeBuilder b) {
			b.nop();
		}

		@Override
		public void accept(CodeBuilder b, CodeElement e) {
			b.with(e);
		}
	}

	static final class Weave implements CodeTransform {
		private final int id;
		private final String name, superName;
		private boolean before; // in a constructor, before it called the next one
		private int news;	// objects of such classes that wait for their own constructor
		private Label start;
		private int token;

		Weave(ClassModel c, MethodModel m, int id) {
			this.id = id;
			name = c.thisClass().asInternalName();
			superName = c.superclass().map(s -> s.asInternalName()).orElse(null);
			before = m.methodName().equalsString("<init>");
		}

		private void enter(CodeBuilder b) {
			before = false;
			token = b.allocateLocal(TypeKind.LONG);
			b.sipush(id).invokestatic(PROBE, "enter", ENTER).lstore(token);
			start = b.newBoundLabel();
		}

		private boolean near(String type) {
			return type.equals(superName) || type.equals(name);
		}

		@Override
		public void atStart(CodeBuilder b) {
			if (!before)
				enter(b);
		}

		@Override
		public void accept(CodeBuilder b, CodeElement e) {
			if (e instanceof ReturnInstruction && start != null)
				b.sipush(id).lload(token).aconst_null().invokestatic(PROBE, "exit", EXIT);
			b.with(e);
			if (!before)
				return;
			if (e instanceof NewObjectInstruction n && near(n.className().asInternalName()))
				news++;
			else if (e instanceof InvokeInstruction i && i.opcode() == Opcode.INVOKESPECIAL
				 && i.name().equalsString("<init>") && near(i.owner().asInternalName())
				 && news-- == 0)
				enter(b);
		}

		@Override
		public void atEnd(CodeBuilder b) {
			if (start == null)
				return;
			Label end = b.newBoundLabel();
			b.exceptionCatchAll(start, end, end);
			int thrown = b.allocateLocal(TypeKind.REFERENCE);
			b.astore(thrown).sipush(id).lload(token).aload(thrown);
			b.invokestatic(PROBE, "exit", EXIT).aload(thrown).athrow();
		}
	}

	public static void main(String[] args) throws IOException {
		new JdkContestant(args[1]).serve(args);
	}
}
