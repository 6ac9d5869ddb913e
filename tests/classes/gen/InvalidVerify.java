// SPDX-License-Identifier: Apache-2.0

import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;

/**
 * Well-formed classes that are not well-typed: the type checker of JVMS 4.10.1 must refuse them,
 * and needs no class but those of java.lang to see it.  All are version 52.
 */
final class InvalidVerify implements Opcodes {
	private static final int I0 = RawClass.ILOAD_0, A0 = RawClass.ALOAD_0;
	private static final Bytes INT = Bytes.of(RawClass.INT), LONG = Bytes.of(RawClass.LONG),
			TOP = Bytes.of(RawClass.TOP),
			FLOAT = Bytes.of(RawClass.FLOAT), NULL = Bytes.of(RawClass.NULL),
			THIS = Bytes.of(RawClass.UNINIT_THIS);
	private final Zoo zoo;

	private InvalidVerify(Zoo zoo) {
		this.zoo = zoo;
	}

	static void write(Zoo zoo) {
		InvalidVerify v = new InvalidVerify(zoo);
		v.stack();
		v.slots();
		v.operands();
		v.arrays();
		v.returns();
		v.members();
		v.constructors();
		v.objects();
		v.frames();
		v.handlers();
		v.inference();
	}

	private void bad(String file, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").constructor();
		spoil.accept(c);
		zoo.invalid("verify", file, c.build());
	}

	/** A static method of this descriptor and code, with room enough. */
	private void code(String file, String desc, int... code) {
		bad(file, c -> c.method(9, "m", desc, c.code(8, 8, Bytes.of(code))));
	}

	private static void add(RawClass c, String desc, Bytes code, Bytes... frames) {
		c.method(9, "m", desc, frames.length == 0 ? c.code(8, 8, code) : c.code(8, 8, code,
				c.frames(frames)));
	}

	private void stack() {
		code("stack_underflow", "()V", POP, RETURN);
		code("stack_underflow_pop2", "()V", ICONST_0, POP2, RETURN);
		code("stack_underflow_iadd", "()V", ICONST_0, IADD, POP, RETURN);
		code("stack_underflow_dup_x2", "()V", ICONST_0, ICONST_0, DUP_X2, RETURN);
		bad("stack_overflow_max_stack", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(ICONST_0, ICONST_0, RETURN))));
		bad("stack_overflow_by_long", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(LCONST_0, RETURN))));
		bad("stack_overflow_by_dup", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(ICONST_0, DUP, RETURN))));
		bad("stack_overflow_by_call_result", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(INVOKESTATIC).u2(c.method("java/lang/System", "nanoTime",
				"()J")).u1(RETURN))));
		bad("stack_overflow_max_stack_zero", c -> c.method(9, "m", "()V", c.code(0, 0,
				Bytes.of(ICONST_0, RETURN))));
		code("falls_off_the_end", "()V", NOP);
		bad("falls_off_the_end_after_branch", c -> add(c, "(I)V", Bytes.of(I0, IFEQ, 0xff,
				0xff), RawClass.same(0)));
		bad("falls_off_the_end_into_nothing", c -> add(c, "(I)V", Bytes.of(I0, IFEQ, 0, 4,
				RETURN, NOP), RawClass.same(5)));
		code("dead_code_without_frame", "()V", RETURN, NOP, RETURN);
		bad("dead_code_after_goto_without_frame", c -> add(c, "()V", Bytes.of(GOTO, 0, 4,
				NOP, RETURN), RawClass.same(4)));
	}

	/** Two-slot values are never taken apart. */
	private void slots() {
		code("long_popped_by_half", "()V", LCONST_0, POP, RETURN);
		code("long_dup_of_half", "()V", LCONST_0, DUP, RETURN);
		code("long_swapped", "()V", LCONST_0, ICONST_0, SWAP, RETURN);
		code("long_dup_x1_into_middle", "()V", LCONST_0, ICONST_0, DUP_X1, RETURN);
		code("long_dup2_of_half", "()V", LCONST_0, ICONST_0, DUP2, RETURN);
		code("long_dup_x2_of_top_half", "()V", ICONST_0, ICONST_0, LCONST_0, DUP_X2,
				RETURN);
		code("long_dup2_x1_into_middle", "()V", LCONST_0, ICONST_0, ICONST_0, DUP2_X1,
				RETURN);
		code("long_dup2_x2_into_middle", "()V", LCONST_0, ICONST_0, ICONST_0, ICONST_0,
				DUP2_X2, RETURN);
		code("long_pop2_across_values", "()V", LCONST_0, ICONST_0, POP2, RETURN);
		code("long_local_lower_half_overwritten", "()V", LCONST_0, LSTORE, 1, ICONST_0,
				ISTORE, 1, LLOAD, 1, POP2, RETURN);
		code("long_local_upper_half_overwritten", "()V", LCONST_0, LSTORE, 1, ICONST_0,
				ISTORE, 2, LLOAD, 1, POP2, RETURN);
		code("long_local_overwritten_by_one_before", "()V", LCONST_0, LSTORE, 2, LCONST_0,
				LSTORE, 1, LLOAD, 2, POP2, RETURN);
		code("long_local_upper_half_loaded", "()V", LCONST_0, LSTORE, 1, ILOAD, 2, POP,
				RETURN);
		code("argument_after_long_at_wrong_slot", "(JI)V", ILOAD, 1, POP, RETURN);
	}

	private void operands() {
		code("wrong_type_on_stack", "()V", FCONST_0, ICONST_0, IADD, POP, RETURN);
		code("int_for_long", "()V", ICONST_0, ICONST_0, LADD, POP2, RETURN);
		code("double_for_long", "()V", LCONST_0, DCONST_0, LADD, POP2, RETURN);
		code("int_for_float", "()V", ICONST_0, FNEG, POP, RETURN);
		code("reference_for_int", "()V", ACONST_NULL, INEG, POP, RETURN);
		code("int_for_reference_ifnull", "()V", ICONST_0, IFNULL, 0, 3, RETURN);
		code("int_for_reference_acmp", "()V", ICONST_0, ICONST_0, IF_ACMPEQ, 0, 3, RETURN);
		code("reference_for_int_icmp", "()V", ACONST_NULL, ACONST_NULL, IF_ICMPEQ, 0, 3,
				RETURN);
		code("long_shift_by_long", "()V", LCONST_0, LCONST_0, LSHL, POP2, RETURN);
		code("convert_wrong_source", "()V", FCONST_0, I2L, POP2, RETURN);
		code("compare_wrong_type", "()V", FCONST_0, FCONST_0, DCMPL, POP, RETURN);
		code("load_uninitialised_local", "()V", ILOAD, 3, POP, RETURN);
		code("load_int_as_reference", "(I)V", A0, POP, RETURN);
		code("load_int_as_float", "(I)V", RawClass.FLOAD_0, POP, RETURN);
		code("load_reference_as_int", "(Ljava/lang/Object;)V", I0, POP, RETURN);
		code("store_int_as_reference", "()V", ICONST_0, ASTORE, 1, RETURN);
		code("store_long_as_double", "()V", LCONST_0, DSTORE, 1, RETURN);
		code("iinc_of_float", "(F)V", IINC, 0, 1, RETURN);
		bad("switch_on_long", c -> add(c, "()V", Bytes.of(LCONST_0, LOOKUPSWITCH, 0, 0)
				.u4(19, 1, 0, 19).u1(RETURN),
				RawClass.same(20)));
		code("monitorenter_of_int", "()V", ICONST_0, MONITORENTER, RETURN);
		code("athrow_of_int", "()V", ICONST_0, ATHROW);
		bad("athrow_of_string", c -> add(c, "()V", Bytes.of(LDC, c.string("x"), ATHROW)));
		bad("checkcast_of_int", c -> add(c, "()V", Bytes.of(ICONST_0, CHECKCAST)
				.u2(c.thisClass).u1(POP, RETURN)));
		bad("instanceof_of_float", c -> add(c, "()V", Bytes.of(FCONST_0, INSTANCEOF)
				.u2(c.thisClass).u1(POP, RETURN)));
		bad("ldc_string_used_as_int", c -> add(c, "()V", Bytes.of(LDC, c.string("x"), INEG,
				POP, RETURN)));
		bad("ldc_class_used_as_string", c -> add(c, "()V", Bytes.of(LDC, c.thisClass,
				INVOKEVIRTUAL)
				.u2(c.method("java/lang/String", "length", "()I"))
				.u1(POP, RETURN)));
	}

	private void arrays() {
		code("arraylength_of_object", "(Ljava/lang/Object;)V", A0, ARRAYLENGTH, POP,
				RETURN);
		code("arraylength_of_int", "()V", ICONST_0, ARRAYLENGTH, POP, RETURN);
		code("iaload_of_byte_array", "([B)V", A0, ICONST_0, IALOAD, POP, RETURN);
		code("baload_of_int_array", "([I)V", A0, ICONST_0, BALOAD, POP, RETURN);
		code("caload_of_short_array", "([S)V", A0, ICONST_0, CALOAD, POP, RETURN);
		code("aaload_of_int_array", "([I)V", A0, ICONST_0, AALOAD, POP, RETURN);
		code("iaload_of_object_array", "([Ljava/lang/Object;)V", A0, ICONST_0, IALOAD, POP,
				RETURN);
		code("iaload_of_object", "(Ljava/lang/Object;)V", A0, ICONST_0, IALOAD, POP,
				RETURN);
		code("laload_into_int", "([J)V", A0, ICONST_0, LALOAD, INEG, POP, RETURN);
		code("index_is_long", "([I)V", A0, LCONST_0, IALOAD, POP, RETURN);
		code("dastore_of_float", "([D)V", A0, ICONST_0, FCONST_0, DASTORE, RETURN);
		code("aastore_of_int", "([Ljava/lang/Object;)V", A0, ICONST_0, ICONST_0, AASTORE,
				RETURN);
		code("aastore_into_int_array", "([I)V", A0, ICONST_0, ACONST_NULL, AASTORE, RETURN);
		code("newarray_length_float", "()V", FCONST_0, NEWARRAY, T_INT, POP, RETURN);
		bad("multianewarray_too_few_lengths", c -> add(c, "()V", Bytes.of(ICONST_0,
				MULTIANEWARRAY).u2(c.cls("[[I"))
				.u1(2, POP, RETURN)));
		bad("array_of_int_passed_for_array_of_object", c -> add(c, "([I)V", Bytes.of(A0,
				INVOKESTATIC)
				.u2(c.method("java/util/Arrays", "toString",
				"([Ljava/lang/Object;)Ljava/lang/String;")).u1(POP, RETURN)));
		bad("array_of_object_passed_for_array_of_string", c ->
				add(c, "([Ljava/lang/Object;)V", Bytes.of(A0, INVOKESTATIC)
				.u2(c.method("Bad", "m2", "([Ljava/lang/String;)V")).u1(RETURN)));
		bad("array_dimensions_differ", c -> add(c, "([[I)V", Bytes.of(A0, INVOKESTATIC)
				.u2(c.method("Bad", "m2", "([I)V"))
				.u1(RETURN)));
	}

	private void returns() {
		code("return_type_mismatch", "()I", FCONST_0, FRETURN);
		code("return_void_from_int_method", "()I", RETURN);
		code("return_int_from_void_method", "()V", ICONST_0, IRETURN);
		code("return_long_from_int_method", "()I", LCONST_0, LRETURN);
		code("return_wrong_value_type", "()I", FCONST_0, IRETURN);
		code("return_int_as_reference", "()Ljava/lang/Object;", ICONST_0, ARETURN);
		code("return_reference_from_int_method", "()I", ACONST_NULL, ARETURN);
		bad("return_wrong_class", c -> add(c, "()Ljava/lang/Integer;", Bytes.of(LDC,
				c.string("x"), ARETURN)));
		bad("return_object_for_string", c -> add(c,
				"(Ljava/lang/Object;)Ljava/lang/String;", Bytes.of(A0, ARETURN)));
		code("return_empty_stack", "()I", IRETURN);
		bad("return_value_from_constructor", c -> c.method(1, "<init>", "(I)V", c.code(2, 2,
				Bytes.of(A0, INVOKESPECIAL)
				.u2(c.method("java/lang/Object", "<init>", "()V")).u1(ICONST_0,
				IRETURN))));
	}

	private void members() {
		bad("call_argument_of_wrong_type", c -> add(c, "()V", Bytes.of(FCONST_0,
				INVOKESTATIC)
				.u2(c.method("java/lang/Math", "abs", "(I)I")).u1(POP, RETURN)));
		bad("call_argument_missing", c -> add(c, "()V", Bytes.of(ICONST_0, INVOKESTATIC)
				.u2(c.method("java/lang/Math", "max", "(II)I")).u1(POP, RETURN)));
		bad("call_arguments_in_wrong_order", c -> add(c, "()V", Bytes.of(LCONST_0, ICONST_0,
				INVOKESTATIC)
				.u2(c.method("Bad", "m2", "(IJ)V")).u1(RETURN)));
		bad("call_receiver_is_int", c -> add(c, "()V", Bytes.of(ICONST_0, INVOKEVIRTUAL)
				.u2(c.method("java/lang/Object", "hashCode", "()I"))
				.u1(POP, RETURN)));
		bad("call_receiver_of_wrong_class", c -> add(c, "()V", Bytes.of(LDC, c.string("x"),
				INVOKEVIRTUAL)
				.u2(c.method("java/lang/Integer", "intValue", "()I"))
				.u1(POP, RETURN)));
		bad("call_receiver_missing", c -> add(c, "()V", Bytes.of(INVOKEVIRTUAL)
				.u2(c.method("java/lang/Object", "hashCode", "()I"))
				.u1(POP, RETURN)));
		bad("call_result_used_as_other_type", c -> add(c, "()V", Bytes.of(INVOKESTATIC)
				.u2(c.method("java/lang/System", "nanoTime", "()J")).u1(INEG, POP,
				RETURN)));
		bad("call_result_of_void_used", c -> add(c, "()V", Bytes.of(INVOKESTATIC)
				.u2(c.method("java/lang/System", "gc", "()V")).u1(POP, RETURN)));
		bad("call_interface_receiver_is_int", c -> add(c, "()V", Bytes.of(ICONST_0,
				INVOKEINTERFACE)
				.u2(c.interfaceMethod("java/lang/Runnable", "run", "()V"))
				.u1(1, 0, RETURN)));
		bad("call_special_of_unrelated_class", c -> c.method(1, "m", "()V", c.code(2, 1,
				Bytes.of(A0, INVOKESPECIAL)
				.u2(c.method("java/lang/String", "length", "()I"))
				.u1(POP, RETURN))));
		bad("call_special_on_other_object", c -> c.method(1, "m", "(Ljava/lang/Object;)V",
				c.code(2, 2,
				Bytes.of(RawClass.ALOAD_1, INVOKESPECIAL)
				.u2(c.method("java/lang/Object", "hashCode", "()I"))
				.u1(POP, RETURN))));
		bad("putstatic_of_wrong_type", c -> {
			c.field(8, "f", "J");
			add(c, "()V", Bytes.of(ICONST_0, PUTSTATIC).u2(c.field("Bad", "f", "J"))
					.u1(RETURN));
		});
		bad("putfield_of_wrong_class", c -> {
			c.field(0, "f", "Ljava/lang/String;");
			add(c, "(LBad;Ljava/lang/Object;)V", Bytes.of(A0, RawClass.ALOAD_1,
					PUTFIELD)
					.u2(c.field("Bad", "f", "Ljava/lang/String;")).u1(RETURN));
		});
		bad("putfield_on_other_object", c -> {
			c.field(0, "f", "I");
			add(c, "(Ljava/lang/Object;)V", Bytes.of(A0, ICONST_0, PUTFIELD)
					.u2(c.field("Bad", "f", "I")).u1(RETURN));
		});
		bad("getfield_on_int", c -> {
			c.field(0, "f", "I");
			add(c, "(I)V", Bytes.of(I0, GETFIELD).u2(c.field("Bad", "f", "I"))
					.u1(POP, RETURN));
		});
		bad("getfield_on_array", c -> {
			c.field(0, "f", "I");
			add(c, "([I)V", Bytes.of(A0, GETFIELD).u2(c.field("Bad", "f", "I"))
					.u1(POP, RETURN));
		});
		bad("getstatic_used_as_other_type", c -> add(c, "()V", Bytes.of(GETSTATIC)
				.u2(c.field("java/lang/Long", "MAX_VALUE",
				"J")).u1(POP, RETURN)));
	}

	/** An extra constructor `(I)V` with this code. */
	private static void init(RawClass c, Bytes code, Bytes... frames) {
		c.method(1, "<init>", "(I)V", frames.length == 0 ? c.code(4, 4, code) : c.code(4, 4,
				code, c.frames(frames)));
	}

	private void constructors() {
		bad("super_not_called", c -> init(c, Bytes.of(RETURN)));
		bad("super_called_twice", c -> init(c, Bytes.of(A0, INVOKESPECIAL).u2(object(c))
				.u1(A0, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN)));
		bad("super_called_on_one_path", c -> init(c, Bytes.of(RawClass.ILOAD_1, IFEQ, 0, 7,
				A0, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN), RawClass.same(8)));
		bad("super_of_grandparent", c -> {
			c.superClass = c.cls("java/lang/Number");
			c.methods.clear();
			init(c, Bytes.of(A0, INVOKESPECIAL).u2(object(c)).u1(RETURN));
		});
		bad("super_of_unrelated_class", c -> init(c, Bytes.of(A0, INVOKESPECIAL)
				.u2(c.method("java/lang/Number", "<init>",
				"()V")).u1(RETURN)));
		bad("uninit_this_escapes", c -> init(c, Bytes.of(A0, INVOKESTATIC)
				.u2(c.method("java/lang/System",
				"identityHashCode", "(Ljava/lang/Object;)I")).u1(POP, A0,
				INVOKESPECIAL).u2(object(c)).u1(RETURN)));
		bad("uninit_this_stored_in_static", c -> {
			c.field(8, "f", "Ljava/lang/Object;");
			init(c, Bytes.of(A0, PUTSTATIC).u2(c.field("Bad", "f",
					"Ljava/lang/Object;")).u1(A0, INVOKESPECIAL)
					.u2(object(c)).u1(RETURN));
		});
		bad("uninit_this_method_called", c -> init(c, Bytes.of(A0, INVOKEVIRTUAL)
				.u2(c.method("Bad", "hashCode", "()I"))
				.u1(POP, A0, INVOKESPECIAL).u2(object(c)).u1(RETURN)));
		bad("uninit_this_field_read", c -> {
			c.field(0, "f", "I");
			init(c, Bytes.of(A0, GETFIELD).u2(c.field("Bad", "f", "I")).u1(POP, A0,
					INVOKESPECIAL).u2(object(c)).u1(RETURN));
		});
		bad("uninit_this_inherited_field_written", c -> {
			c.superClass = c.cls("java/lang/Throwable");
			c.methods.clear();
			init(c, Bytes.of(A0, ACONST_NULL, PUTFIELD)
					.u2(c.field("java/lang/Throwable", "cause",
					"Ljava/lang/Throwable;"))
					.u1(A0, INVOKESPECIAL).u2(c.method("java/lang/Throwable",
					"<init>", "()V")).u1(RETURN));
		});
		bad("uninit_this_stored_in_array", c -> init(c, Bytes.of(ICONST_1, ANEWARRAY)
				.u2(c.cls("java/lang/Object"))
				.u1(ICONST_0, A0, AASTORE, A0, INVOKESPECIAL).u2(object(c))
				.u1(RETURN)));
		bad("uninit_this_compared_to_type", c -> init(c, Bytes.of(A0, INSTANCEOF)
				.u2(c.thisClass).u1(POP, A0, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN)));
		bad("uninit_this_thrown", c -> {
			c.superClass = c.cls("java/lang/Exception");
			c.methods.clear();
			init(c, Bytes.of(A0, ATHROW));
		});
		bad("uninit_this_frame_says_initialised", c -> init(c, Bytes.of(RawClass.ILOAD_1,
				IFEQ, 0, 3, A0, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN), RawClass.full(4,
				new Bytes[] {c.object("Bad"), INT})));
		bad("uninit_this_overwritten_then_return", c -> init(c, Bytes.of(ACONST_NULL,
				RawClass.ASTORE_0, RETURN)));
		bad("uninit_this_caught_then_return", c -> c.method(1, "<init>", "(I)V",
				c.code(2, 2,
				Bytes.of(A0, INVOKESPECIAL).u2(object(c)).u1(RETURN, POP, RETURN),
				new int[] {0, 4, 5, 0},
				c.frames(RawClass.full(5, new Bytes[] {THIS, INT},
				c.object("java/lang/Throwable"))))));
		bad("init_called_on_initialised_this", c -> c.method(1, "m", "()V", c.code(1, 1,
				Bytes.of(A0, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN))));
	}

	private static int object(RawClass c) {
		return c.method("java/lang/Object", "<init>", "()V");
	}

	private void objects() {
		bad("new_used_before_init", c -> add(c, "()V", Bytes.of(NEW).u2(c.thisClass)
				.u1(INVOKEVIRTUAL)
				.u2(c.method("java/lang/Object", "hashCode", "()I"))
				.u1(POP, RETURN)));
		bad("new_returned_before_init", c -> add(c, "()Ljava/lang/Object;", Bytes.of(NEW)
				.u2(c.thisClass).u1(ARETURN)));
		bad("new_stored_in_static_before_init", c -> {
			c.field(8, "f", "LBad;");
			add(c, "()V", Bytes.of(NEW).u2(c.thisClass).u1(PUTSTATIC)
					.u2(c.field("Bad", "f", "LBad;")).u1(RETURN));
		});
		bad("new_initialised_twice", c -> add(c, "()V", Bytes.of(NEW).u2(c.thisClass)
				.u1(DUP, DUP, INVOKESPECIAL)
				.u2(c.method("Bad", "<init>", "()V")).u1(INVOKESPECIAL)
				.u2(c.method("Bad", "<init>", "()V")).u1(POP, RETURN)));
		bad("new_initialised_by_other_class", c -> add(c, "()V", Bytes.of(NEW)
				.u2(c.thisClass).u1(INVOKESPECIAL)
				.u2(object(c)).u1(RETURN)));
		bad("new_cast_before_init", c -> add(c, "()V", Bytes.of(NEW).u2(c.thisClass)
				.u1(CHECKCAST).u2(c.thisClass)
				.u1(POP, RETURN)));
		bad("new_thrown_before_init", c -> add(c, "()V", Bytes.of(NEW)
				.u2(c.cls("java/lang/Exception")).u1(ATHROW)));
		bad("new_of_two_sites_confused", c -> add(c, "(I)V", Bytes.of(I0, IFEQ, 0, 9, NEW)
				.u2(c.thisClass)
				.u1(GOTO, 0, 6, NEW).u2(c.thisClass).u1(INVOKESPECIAL)
				.u2(c.method("Bad", "<init>", "()V")).u1(RETURN),
				RawClass.same(10), RawClass.same1(2, RawClass.uninit(4))));
		bad("init_of_null", c -> add(c, "()V", Bytes.of(ACONST_NULL, INVOKESPECIAL)
				.u2(object(c)).u1(RETURN)));
	}

	private void frames() {
		code("frame_missing_at_branch_target", "(I)V", I0, IFEQ, 0, 4, NOP, RETURN);
		code("frame_missing_at_backward_target", "(I)V", NOP, I0, IFEQ, 0xff, 0xfe, RETURN);
		bad("frame_missing_at_handler", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, RETURN, POP, RETURN),
				new int[] {0, 1, 2, 0})));
		bad("frame_missing_at_switch_target", c -> add(c, "(I)V", Bytes.of(I0, TABLESWITCH,
				0, 0).u4(19, 0, 0, 20)
				.u1(NOP, RETURN), RawClass.same(20)));
		Bytes branch = Bytes.of(I0, IFEQ, 0, 4, NOP, RETURN);	// target 5
		bad("frame_local_of_wrong_type", c -> add(c, "(I)V", branch, RawClass.full(5,
		new Bytes[] {FLOAT})));
		bad("frame_local_never_set", c -> add(c, "(I)V", branch, RawClass.append(5, INT)));
		bad("frame_stack_too_high", c -> add(c, "(I)V", branch, RawClass.same1(5, INT)));
		bad("frame_stack_too_low", c -> add(c, "(I)V", Bytes.of(ICONST_0, I0, IFEQ, 0, 4,
				NOP, RETURN), RawClass.same(6)));
		bad("frame_stack_of_wrong_type", c -> add(c, "(I)V", Bytes.of(ICONST_0, I0, IFEQ, 0,
				4, NOP, RETURN),
				RawClass.same1(6, FLOAT)));
		bad("frame_more_specific_than_value", c -> add(c, "(Ljava/lang/Object;I)V",
				Bytes.of(RawClass.ILOAD_1, IFEQ, 0, 4,
				NOP, RETURN), RawClass.full(5,
				new Bytes[] {c.object("java/lang/String"), INT})));
		bad("frame_null_where_object_came", c -> add(c, "(Ljava/lang/Object;I)V",
				Bytes.of(RawClass.ILOAD_1, IFEQ, 0, 4,
				NOP, RETURN), RawClass.full(5, new Bytes[] {NULL, INT})));
		bad("frame_object_where_int_came", c -> add(c, "(I)V", branch, RawClass.full(5,
				new Bytes[] {c.object("java/lang/Object")})));
		bad("frame_array_where_object_came", c -> add(c, "(Ljava/lang/Object;I)V",
				Bytes.of(RawClass.ILOAD_1, IFEQ, 0, 4,
				NOP, RETURN), RawClass.full(5, new Bytes[] {c.object("[I"), INT})));
		bad("frame_long_made_of_two_ints", c -> add(c, "(II)V", branch, RawClass.full(5,
				new Bytes[] {LONG})));
		bad("frame_forgets_local_that_is_used", c -> add(c, "(I)V", Bytes.of(I0, IFEQ, 0, 4,
				NOP, I0, POP, RETURN),
				RawClass.chop(5, 1)));
		bad("frame_mismatch_by_falling_through", c -> add(c, "(I)V", Bytes.of(NOP, I0, IFEQ,
				0xff, 0xff, RETURN),
				RawClass.full(1, new Bytes[] {FLOAT})));
		bad("frame_loop_changes_local_type", c -> add(c, "(I)V", Bytes.of(ICONST_0, ISTORE,
				1, FCONST_0, FSTORE, 1, I0,
				IFEQ, 0xff, 0xfc, RETURN), RawClass.append(3, INT)));
		bad("frame_at_zero_differs_from_arguments", c -> add(c, "(I)V", Bytes.of(NOP,
				RETURN),
				RawClass.full(0, new Bytes[] {FLOAT})));
		bad("frame_top_then_used", c -> add(c, "(I)V", Bytes.of(I0, IFEQ, 0, 3, I0, POP,
				RETURN),
				RawClass.full(4, new Bytes[] {TOP})));
		bad("frame_dead_code_ill_typed", c -> add(c, "()V", Bytes.of(RETURN, IADD, RETURN),
				RawClass.same1(1, INT)));
		bad("frame_uninitialized_of_other_new", c -> add(c, "(I)V", Bytes.of(NEW)
				.u2(c.thisClass).u1(NEW).u2(c.thisClass)
				.u1(POP, I0, IFEQ, 0, 3, RETURN), RawClass.same1(11,
				RawClass.uninit(3))));
	}

	private void handlers() {
		bad("handler_catches_string", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, RETURN, POP, RETURN),
				new int[] {0, 1, 2, c.cls("java/lang/String")},
				c.frames(RawClass.same1(2,
				c.object("java/lang/String"))))));
		bad("handler_frame_without_exception", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, RETURN, NOP, RETURN),
				new int[] {0, 1, 2, 0}, c.frames(RawClass.same(2)))));
		bad("handler_frame_too_specific", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, RETURN, POP, RETURN),
				new int[] {0, 1, 2, c.cls("java/lang/Exception")},
				c.frames(RawClass.same1(2,
				c.object("java/lang/RuntimeException"))))));
		bad("handler_frame_with_two_values", c -> c.method(9, "m", "()V", c.code(2, 0,
				Bytes.of(NOP, RETURN, POP2, RETURN),
				new int[] {0, 1, 2, 0}, c.frames(RawClass.full(2, new Bytes[0], INT,
				c.object("java/lang/Throwable"))))));
		bad("handler_local_changes_inside_range", c -> c.method(9, "m", "(I)V", c.code(1, 1,
				Bytes.of(FCONST_0, RawClass.FSTORE_0, RETURN, POP, I0, POP, RETURN),
				new int[] {0, 3, 3, 0},
				c.frames(RawClass.same1(3, c.object("java/lang/Throwable"))))));
		bad("handler_local_set_inside_range", c -> c.method(9, "m", "()V", c.code(1, 1,
				Bytes.of(ICONST_0, RawClass.ISTORE_0, NOP, RETURN, POP, RETURN),
				new int[] {0, 3, 4, 0},
				c.frames(RawClass.full(4, new Bytes[] {INT},
				c.object("java/lang/Throwable"))))));
		bad("handler_inside_code_falls_into_it", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, POP, RETURN),
				new int[] {0, 1, 1, 0}, c.frames(RawClass.same1(1,
				c.object("java/lang/Throwable"))))));
	}

	/** For the verifier of JVMS 4.10.2, which alone sees versions below 50. */
	private void inference() {
		Object[][] all = {
			{"stack_underflow", "()V", new int[] {POP, RETURN}},
			{"stack_heights_differ", "(I)V", new int[] {I0, IFEQ, 0, 4, ICONST_0, NOP,
			RETURN}},
			{"merged_local_used", "(I)V", new int[] {I0, IFEQ, 0, 6, FCONST_0,
			RawClass.FSTORE_0, NOP, I0, POP, RETURN}},
			{"ret_of_int", "(I)V", new int[] {RET, 0}},
			{"ret_of_loaded_address", "()V", new int[] {JSR, 0, 3, DUP, ASTORE, 0,
			ALOAD, 0, POP, RET, 0}},
			{"recursive_jsr", "()V", new int[] {JSR, 0, 3, ASTORE, 0, JSR, 0xff, 0xfe,
			RETURN}},
			{"return_address_as_object", "()Ljava/lang/Object;", new int[] {JSR, 0, 3,
			ARETURN}},
			{"falls_off_the_end", "()V", new int[] {NOP}},
			{"wrong_type_on_stack", "()V", new int[] {FCONST_0, INEG, POP, RETURN}},
			{"long_taken_apart", "()V", new int[] {LCONST_0, POP, RETURN}},
		};
		for (Object[] a : all) {
			RawClass c = new RawClass("Bad").version(49);
			c.method(9, "m", (String) a[1], c.code(4, 4, Bytes.of((int[]) a[2])));
			zoo.invalid("inference", (String) a[0], c.build());
		}
	}
}
