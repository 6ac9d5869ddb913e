// SPDX-License-Identifier: Apache-2.0

import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.ConstantDynamic;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.ModuleVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.RecordComponentVisitor;
import org.objectweb.asm.Type;

/** Method handles of all nine kinds, dynamic constants, modules, and the shapes of new classes. */
final class Handles implements Opcodes {
	private static final String BOOT = "java/lang/invoke/ConstantBootstraps";
	private static final String LOOKUP =
			"(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;";

	static void write(Zoo zoo) {
		for (int v : new int[] {V1_8, V9, V17, 69})
			handles(zoo, v);
		for (int v : new int[] {V11, V17, 69})
			condy(zoo, v);
		module(zoo);
		shapes(zoo);
	}

	private static void handles(Zoo zoo, int version) {
		Program p = new Program("zoo/gen/Handles", version, true);
		p.cw.visitField(ACC_PUBLIC, "fi", "J", null, null);
		p.cw.visitField(ACC_PUBLIC | ACC_STATIC, "si", "I", null, null);
		p.method(ACC_PRIVATE, "secret", "(I)I", m -> {
			m.visitVarInsn(ILOAD, 1);
			m.visitInsn(IRETURN);
		});
		Handle[] all = {
			new Handle(H_GETFIELD, p.name, "fi", "J", false),
			new Handle(H_GETSTATIC, p.name, "si", "I", false),
			new Handle(H_PUTFIELD, p.name, "fi", "J", false),
			new Handle(H_PUTSTATIC, p.name, "si", "I", false),
			new Handle(H_INVOKEVIRTUAL, "java/lang/String", "length", "()I", false),
			new Handle(H_INVOKESTATIC, "java/lang/Math", "max", "(DD)D", false),
			new Handle(H_INVOKESPECIAL, p.name, "secret", "(I)I", false),
			new Handle(H_NEWINVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(I)V",
			false),
			new Handle(H_INVOKEINTERFACE, "java/util/List", "get",
			"(I)Ljava/lang/Object;", true),
			new Handle(H_INVOKESTATIC, "java/util/Comparator", "naturalOrder",
			"()Ljava/util/Comparator;", true),
		};
		for (int i = 0; i < all.length; i++) {
			Handle h = all[i];
			p.test("handle" + i, "()Ljava/lang/Object;", m -> {
				m.visitLdcInsn(h);
				m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/invoke/MethodHandle",
						"type",
						"()Ljava/lang/invoke/MethodType;", false);
				m.visitInsn(ARETURN);
			});
		}
		p.test("methodType", "()Ljava/lang/Object;", m -> {
			m.visitLdcInsn(Type.getMethodType("(I[JLjava/lang/String;)V"));
			m.visitInsn(ARETURN);
		});
		// signature-polymorphic: any descriptor will do
		p.test("invokeExact", "()I", m -> {
			m.visitLdcInsn(all[4]);
			m.visitLdcInsn("four");
			m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/invoke/MethodHandle",
					"invokeExact",
					"(Ljava/lang/String;)I", false);
			m.visitInsn(IRETURN);
		});
		zoo.program(p.name, p.build());
	}

	private static ConstantDynamic staticFinal(String name, String type, String owner) {
		return new ConstantDynamic(name, type, new Handle(H_INVOKESTATIC, BOOT,
				"getStaticFinal", LOOKUP
				+ "Ljava/lang/Class;Ljava/lang/Class;)Ljava/lang/Object;", false),
				Type.getObjectType(owner));
	}

	private static void condy(Zoo zoo, int version) {
		Program p = new Program("zoo/gen/Condy", version, true);
		Object[][] all = {
			{"I", staticFinal("MAX_VALUE", "I", "java/lang/Integer")},
			{"J", staticFinal("MAX_VALUE", "J", "java/lang/Long")},
			{"F", staticFinal("MAX_VALUE", "F", "java/lang/Float")},
			{"D", staticFinal("MIN_VALUE", "D", "java/lang/Double")},
			{"S", staticFinal("MIN_VALUE", "S", "java/lang/Short")},
			{"B", staticFinal("MIN_VALUE", "B", "java/lang/Byte")},
			{"Ljava/lang/Object;", new ConstantDynamic("none", "Ljava/lang/Object;",
			new Handle(H_INVOKESTATIC,
				BOOT, "nullConstant", LOOKUP
				+ "Ljava/lang/Class;)Ljava/lang/Object;", false))},
			{"Ljava/lang/Class;", new ConstantDynamic("J", "Ljava/lang/Class;",
			new Handle(H_INVOKESTATIC, BOOT,
				"primitiveClass", LOOKUP + "Ljava/lang/Class;)Ljava/lang/Class;",
				false))},
		};
		for (Object[] c : all) {
			String t = (String) c[0];
			p.test("condy_" + t.replaceAll("[/;]", ""), "()" + t, m -> {
				m.visitLdcInsn(c[1]);
				m.visitInsn(Type.getType(t).getOpcode(IRETURN));
			});
		}
		// One dynamic constant as the argument of another, and a handle with them.
		ConstantDynamic nested = new ConstantDynamic("nested", "I",
				new Handle(H_INVOKESTATIC, BOOT, "invoke", LOOKUP
				+ "Ljava/lang/Class;Ljava/lang/invoke/MethodHandle;"
				+ "[Ljava/lang/Object;)Ljava/lang/Object;", false),
				new Handle(H_INVOKESTATIC, "java/lang/Math", "max", "(II)I", false),
				17, all[0][1]);
		p.test("condyNested", "()I", m -> {
			m.visitLdcInsn(nested);
			m.visitInsn(ICONST_2);
			m.visitInsn(IDIV);
			m.visitInsn(IRETURN);
		});
		zoo.program(p.name, p.build());
	}

	private static void module(Zoo zoo) {
		ClassWriter cw = new ClassWriter(0);
		cw.visit(V9, ACC_MODULE, "module-info", null, null, null);
		cw.visitSource("module-info.java", null);
		ModuleVisitor m = cw.visitModule("zoo.generated", ACC_SYNTHETIC, "1.0-beta+7");
		m.visitMainClass("zoo/gen/Main");
		m.visitPackage("zoo/gen");
		m.visitPackage("zoo/gen/hidden");
		m.visitRequire("java.base", ACC_MANDATED, "17");
		m.visitRequire("java.logging", ACC_TRANSITIVE, null);
		m.visitRequire("java.xml", ACC_STATIC_PHASE, null);
		m.visitExport("zoo/gen", 0);
		m.visitExport("zoo/gen/hidden", ACC_SYNTHETIC, "java.logging", "java.xml");
		m.visitOpen("zoo/gen", 0);
		m.visitOpen("zoo/gen/hidden", ACC_MANDATED, "java.sql");
		m.visitUse("java/util/spi/ToolProvider");
		m.visitProvide("java/util/spi/ToolProvider", "zoo/gen/Tool", "zoo/gen/hidden/Tool");
		m.visitEnd();
		cw.visitEnd();
		byte[] plain = cw.toByteArray();
		zoo.write("valid/53/gen-module/module-info.class", plain);

		// What jlink and jmod add: not known to ASM, and only for modules of the JDK.
		RawClass c = new RawClass("module-info").version(61);
		c.access = 0x8000;
		c.superClass = 0;
		int base = c.pair(19, c.utf8("java.base"));
		c.attribute(c.attr("Module", new Bytes().u2(c.pair(19, c.utf8("zoo.target")), 0,
				c.utf8("2"))
				.u2(1, base, 0x8000, 0).u2(0, 0, 0, 0)));
		c.attribute(c.attr("ModuleTarget", new Bytes().u2(c.utf8("linux-amd64"))));
		c.attribute(c.attr("ModuleResolution", new Bytes().u2(4)));
		c.attribute(c.attr("ModuleHashes", new Bytes().u2(c.utf8("SHA-256"), 1,
				c.pair(19, c.utf8("java.xml")), 4)
				.u1(1, 2, 3, 4)));
		c.attribute(c.attr("ModulePackages", new Bytes().u2(0)));
		zoo.write("valid/61/gen-module/module-info.class", c.build());
	}

	/** Attributes of newer releases in combinations that javac does not write. */
	private static void shapes(Zoo zoo) {
		ClassWriter r = new ClassWriter(0);
		r.visit(V16, ACC_PUBLIC | ACC_FINAL | ACC_RECORD, "zoo/gen/BareRecord",
				"<T:Ljava/lang/Object;>Ljava/lang/Record;", "java/lang/Record",
				null);
		RecordComponentVisitor rc = r.visitRecordComponent("c", "Ljava/lang/Object;",
				"TT;");
		rc.visitAnnotation("Ljava/lang/Deprecated;", true).visitEnd();
		rc.visitTypeAnnotation(0x13000000, null, "Lzoo/gen/Missing;", false).visitEnd();
		rc.visitEnd();
		r.visitRecordComponent("noField", "I", null).visitEnd();
		r.visitNestHost("zoo/gen/NoSuchHost");
		r.visitEnd();
		zoo.valid("zoo/gen/BareRecord", r.toByteArray());

		ClassWriter s = new ClassWriter(0);
		s.visit(V17, ACC_PUBLIC | ACC_ABSTRACT | ACC_INTERFACE, "zoo/gen/SealedShape", null,
				"java/lang/Object", null);
		s.visitPermittedSubclass("zoo/gen/Missing1");
		s.visitPermittedSubclass("zoo/gen/Missing2");
		s.visitNestMember("zoo/gen/SealedShape$A");
		s.visitNestMember("zoo/gen/SealedShape$B");
		s.visitInnerClass("zoo/gen/SealedShape$A", "zoo/gen/SealedShape", "A",
				ACC_PUBLIC | ACC_STATIC);
		s.visitInnerClass("zoo/gen/SealedShape$1", null, null, 0);
		s.visitEnd();
		zoo.valid("zoo/gen/SealedShape", s.toByteArray());

		// As the JDK's lambda factory spins them: a hidden class has no nest and no source.
		ClassWriter h = new ClassWriter(ClassWriter.COMPUTE_MAXS);
		h.visit(V17, ACC_FINAL | ACC_SYNTHETIC, "zoo/gen/Host$$Lambda", null,
				"java/lang/Object",
				new String[] {"java/util/function/Supplier"});
		h.visitField(ACC_PRIVATE | ACC_FINAL, "arg$1", "J", null, null);
		MethodVisitor m = h.visitMethod(ACC_PUBLIC, "get", "()Ljava/lang/Object;", null,
				null);
		m.visitCode();
		m.visitVarInsn(ALOAD, 0);
		m.visitFieldInsn(GETFIELD, "zoo/gen/Host$$Lambda", "arg$1", "J");
		m.visitMethodInsn(INVOKESTATIC, "java/lang/Long", "valueOf", "(J)Ljava/lang/Long;",
				false);
		m.visitInsn(ARETURN);
		m.visitMaxs(0, 0);
		m.visitEnd();
		h.visitEnd();
		zoo.valid("zoo/gen/Host$$Lambda", h.toByteArray());

		// The name a dumped hidden class has ("+" in the pool, "/" in Class.getName()).
		RawClass dumped = new RawClass("zoo/gen/Host$$Lambda+0x00007f1234567890");
		dumped.version(61);
		dumped.access = 0x1030;
		zoo.roundtripOnly("dumped_hidden_class", dumped.constructor().build());
	}
}
