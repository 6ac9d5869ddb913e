// SPDX-License-Identifier: Apache-2.0

import java.util.function.Consumer;
import org.objectweb.asm.Opcodes;

/** Malformed code arrays, operands and stack maps, whatever the types (JVMS 4.9.1, 4.7.4). */
final class InvalidCode implements Opcodes {
	private static final int L0 = RawClass.ILOAD_0;
	private final Zoo zoo;

	private InvalidCode(Zoo zoo) {
		this.zoo = zoo;
	}

	static void write(Zoo zoo) {
		InvalidCode c = new InvalidCode(zoo);
		c.opcodes();
		c.branches();
		c.switches();
		c.operands();
		c.calls();
		c.locals();
		c.handlers();
		c.frames();
	}

	private void bad(String file, Consumer<RawClass> spoil) {
		bad(file, 52, spoil);
	}

	private void bad(String file, int version, Consumer<RawClass> spoil) {
		RawClass c = new RawClass("Bad").version(version).constructor();
		spoil.accept(c);
		zoo.invalid("code", file, c.build());
	}

	/** A class whose static method `(I)V` has this code, room enough, and these frames. */
	private void code(String file, Bytes code, Bytes... frames) {
		bad(file, c -> add(c, code, frames));
	}

	private static void add(RawClass c, Bytes code, Bytes... frames) {
		c.method(9, "m", "(I)V", frames.length == 0 ? c.code(8, 8, code) : c.code(8, 8,
				code, c.frames(frames)));
	}

	private void opcodes() {
		for (int op : new int[] {202, 203, 204, 210, 229, 230, 253, 254, 255})
			code("opcode_" + op, Bytes.of(op, RETURN));
		code("opcode_cut_bipush", Bytes.of(RETURN, BIPUSH));
		code("opcode_cut_sipush", Bytes.of(RETURN, SIPUSH, 0));
		code("opcode_cut_goto", Bytes.of(RETURN, GOTO, 0));
		code("opcode_cut_goto_w", Bytes.of(RETURN, RawClass.GOTO_W, 0, 0, 0));
		code("opcode_cut_invokeinterface", Bytes.of(RETURN, INVOKEINTERFACE, 0, 1, 1));
		code("opcode_cut_iinc", Bytes.of(RETURN, IINC, 0));
		code("wide_at_end", Bytes.of(RETURN, RawClass.WIDE));
		code("wide_cut_operand", Bytes.of(RETURN, RawClass.WIDE, ILOAD, 0));
		code("wide_cut_iinc", Bytes.of(RETURN, RawClass.WIDE, IINC, 0, 0, 0));
		code("wide_of_iadd", Bytes.of(RawClass.WIDE, IADD, 0, 0, RETURN));
		code("wide_of_goto", Bytes.of(RawClass.WIDE, GOTO, 0, 4, RETURN));
		code("wide_of_wide", Bytes.of(RawClass.WIDE, RawClass.WIDE, ILOAD, 0, 0, POP,
				RETURN));
		bad("jsr_in_version_51", 51, c -> add(c, Bytes.of(JSR, 0, 3, POP, RETURN),
				RawClass.same1(3,
				RawClass.type(RawClass.TOP))));
		bad("jsr_w_in_version_52", c -> add(c, Bytes.of(RawClass.JSR_W, 0, 0, 0, 5, POP,
				RETURN)));
		bad("ret_in_version_52", c -> add(c, Bytes.of(RET, 0)));
		bad("invokedynamic_in_version_50", 50, c -> add(c, Bytes.of(INVOKEDYNAMIC)
				.u2(c.nameType("m", "()V"), 0)
				.u1(RETURN)));
	}

	private void branches() {
		Bytes at0 = RawClass.same(0);
		code("branch_into_operand", Bytes.of(SIPUSH, 0, 0, POP, L0, IFEQ).u2(-4).u1(RETURN),
				RawClass.same(1));
		code("branch_past_end", Bytes.of(L0, IFEQ).u2(100).u1(RETURN), at0);
		code("branch_to_code_end", Bytes.of(L0, IFEQ).u2(4).u1(RETURN), at0);
		code("branch_before_start", Bytes.of(L0, IFEQ).u2(-2).u1(RETURN), at0);
		code("goto_w_past_end", Bytes.of(RawClass.GOTO_W).u4(1 << 30).u1(RETURN), at0);
		code("goto_w_before_start", Bytes.of(RawClass.GOTO_W).u4(Integer.MIN_VALUE)
				.u1(RETURN), at0);
		code("jump_into_wide", Bytes.of(RawClass.WIDE, ILOAD, 0, 0, POP, L0, IFEQ).u2(-5)
				.u1(RETURN), RawClass.same(1));
		code("jump_into_switch_padding", Bytes.of(L0, IFEQ).u2(5).u1(L0, TABLESWITCH, 0, 0)
				.u4(20, 0, 0, 20)
				.u1(RETURN), RawClass.same(6), RawClass.same(18));
		old("branch_into_operand", Bytes.of(SIPUSH, 0, 0, POP, L0, IFEQ).u2(-4).u1(RETURN));
		old("branch_past_end", Bytes.of(L0, IFEQ).u2(100).u1(RETURN));
		old("branch_to_code_end", Bytes.of(L0, IFEQ).u2(4).u1(RETURN));
		old("branch_before_start", Bytes.of(L0, IFEQ).u2(-2).u1(RETURN));
		old("jump_into_wide", Bytes.of(RawClass.WIDE, ILOAD, 0, 0, POP, L0, IFEQ).u2(-5)
				.u1(RETURN));
		old("jsr_past_end", Bytes.of(JSR, 1, 0, RETURN));
		old("jsr_w_into_operand", Bytes.of(SIPUSH, 0, 0, POP, RawClass.JSR_W).u4(-3)
				.u1(RETURN));
	}

	/** The same without a stack map that could give it away. */
	private void old(String file, Bytes code) {
		bad(file + "_version_49", 49, c -> add(c, code));
	}

	/** iload_0; switch at offset 1; operands from offset 4. */
	private static Bytes sw(int op, int... words) {
		return Bytes.of(L0, op, 0, 0).u4(words);
	}

	private void switches() {
		code("switch_low_above_high", sw(TABLESWITCH, 15, 5, 4).u1(RETURN),
				RawClass.same(16));
		code("switch_2_pow_31_entries", sw(TABLESWITCH, 19, 0, Integer.MAX_VALUE, 19)
				.u1(RETURN), RawClass.same(20));
		code("switch_2_pow_32_entries", sw(TABLESWITCH, 19, Integer.MIN_VALUE,
				Integer.MAX_VALUE, 19).u1(RETURN),
				RawClass.same(20));
		code("switch_entry_past_code", sw(TABLESWITCH, 19, 0, 0, 500).u1(RETURN),
				RawClass.same(20));
		code("switch_default_past_code", sw(TABLESWITCH, 500, 0, 0, 19).u1(RETURN),
				RawClass.same(20));
		code("switch_entry_into_itself", sw(TABLESWITCH, 19, 0, 0, 3).u1(RETURN),
				RawClass.same(4), RawClass.same(15));
		code("switch_cut_in_table", sw(TABLESWITCH, 23, 0, 1, 23));
		code("switch_cut_in_padding", Bytes.of(L0, TABLESWITCH, 0));
		code("lookup_unsorted", sw(LOOKUPSWITCH, 27, 2, 7, 27, 5, 27).u1(RETURN),
				RawClass.same(28));
		code("lookup_duplicate_key", sw(LOOKUPSWITCH, 27, 2, 7, 27, 7, 27).u1(RETURN),
				RawClass.same(28));
		code("lookup_negative_count", sw(LOOKUPSWITCH, 11, -1).u1(RETURN),
				RawClass.same(12));
		code("lookup_2_pow_30_pairs", sw(LOOKUPSWITCH, 19, 1 << 30, 7, 19).u1(RETURN),
				RawClass.same(20));
		code("lookup_cut_in_pairs", sw(LOOKUPSWITCH, 19, 2, 7, 19));
		old("switch_entry_into_itself", sw(TABLESWITCH, 19, 0, 0, 3).u1(RETURN));
		old("switch_padding_not_zero", Bytes.of(L0, TABLESWITCH, 1, 2).u4(19, 0, 0, 19)
				.u1(RETURN));
		code("lookup_entry_past_code", sw(LOOKUPSWITCH, 19, 1, 7, -50).u1(RETURN),
				RawClass.same(20));
	}

	private void operands() {
		bad("ldc_of_long", c -> add(c, Bytes.of(LDC, c.longs(5), POP2, RETURN)));
		bad("ldc_of_utf8", c -> add(c, Bytes.of(LDC, c.utf8("x"), POP, RETURN)));
		bad("ldc_of_methodref", c -> add(c, Bytes.of(LDC, c.method("Bad", "m", "(I)V"), POP,
				RETURN)));
		bad("ldc_of_zero", c -> add(c, Bytes.of(LDC, 0, POP, RETURN)));
		bad("ldc_past_pool", c -> add(c, Bytes.of(LDC, 250, POP, RETURN)));
		bad("ldc_of_second_half_of_double", c -> add(c, Bytes.of(LDC, c.doubles(5.5) + 1,
				POP, RETURN)));
		bad("ldc_w_of_double", c -> add(c, Bytes.of(RawClass.LDC_W).u2(c.doubles(1.5))
				.u1(POP2, RETURN)));
		bad("ldc2_w_of_int", c -> add(c, Bytes.of(RawClass.LDC2_W).u2(c.integer(5))
				.u1(POP2, RETURN)));
		bad("ldc_of_class_in_version_48", 48, c -> add(c, Bytes.of(LDC, c.thisClass, POP,
				RETURN)));
		bad("ldc_of_long_dynamic", 55, c -> {
			boot(c);
			add(c, Bytes.of(LDC, c.pair(17, 0, c.nameType("x", "J")), POP2, RETURN));
		});
		bad("ldc2_w_of_int_dynamic", 55, c -> {
			boot(c);
			add(c, Bytes.of(RawClass.LDC2_W).u2(c.pair(17, 0, c.nameType("x", "I")))
					.u1(POP2, RETURN));
		});
		bad("getstatic_of_methodref", c -> add(c, Bytes.of(GETSTATIC)
				.u2(c.method("Bad", "m", "(I)V")).u1(POP, RETURN)));
		bad("putfield_of_class", c -> add(c, Bytes.of(ACONST_NULL, ICONST_0, PUTFIELD)
				.u2(c.thisClass).u1(RETURN)));
		bad("getstatic_of_zero", c -> add(c, Bytes.of(GETSTATIC, 0, 0, POP, RETURN)));
		bad("new_of_array", c -> add(c, Bytes.of(NEW).u2(c.cls("[I")).u1(POP, RETURN)));
		bad("new_of_utf8", c -> add(c, Bytes.of(NEW).u2(c.utf8("Bad")).u1(POP, RETURN)));
		bad("checkcast_of_string", c -> add(c, Bytes.of(ACONST_NULL, CHECKCAST)
				.u2(c.string("x")).u1(POP, RETURN)));
		bad("instanceof_past_pool", c -> add(c, Bytes.of(ACONST_NULL, INSTANCEOF).u2(9999)
				.u1(POP, RETURN)));
		bad("anewarray_of_255_dimensions", c -> add(c, Bytes.of(ICONST_0, ANEWARRAY)
				.u2(c.cls("[".repeat(255) + "I"))
				.u1(POP, RETURN)));
		for (int t : new int[] {0, 3, 12, 255})
			code("newarray_of_type_" + t, Bytes.of(ICONST_0, NEWARRAY, t, POP, RETURN));
		bad("multianewarray_zero_dimensions", c -> add(c, Bytes.of(MULTIANEWARRAY)
				.u2(c.cls("[[I")).u1(0, POP, RETURN)));
		bad("multianewarray_more_dimensions_than_type", c -> add(c, Bytes.of(ICONST_0,
				ICONST_0, ICONST_0,
				MULTIANEWARRAY).u2(c.cls("[[I")).u1(3, POP, RETURN)));
		bad("multianewarray_of_no_array", c -> add(c, Bytes.of(ICONST_0, MULTIANEWARRAY)
				.u2(c.thisClass)
				.u1(1, POP, RETURN)));
	}

	private static void boot(RawClass c) {
		c.attribute(c.attr("BootstrapMethods", new Bytes()
				.u2(1, c.handle(6, c.method("Bad", "b", "()V")), 0)));
	}

	private void calls() {
		bad("invokevirtual_of_fieldref", c -> add(c, Bytes.of(ACONST_NULL, INVOKEVIRTUAL)
				.u2(c.field("Bad", "f", "I"))
				.u1(RETURN)));
		bad("invokevirtual_of_interface_method", c -> add(c, Bytes.of(ACONST_NULL,
				INVOKEVIRTUAL)
				.u2(c.interfaceMethod("java/lang/Runnable", "run", "()V"))
				.u1(RETURN)));
		bad("invokeinterface_of_class_method", c -> add(c, Bytes.of(ACONST_NULL,
				INVOKEINTERFACE)
				.u2(c.method("Bad", "n", "()V")).u1(1, 0, RETURN)));
		for (int n : new int[] {0, 2})
			bad("invokeinterface_count_" + n, c -> add(c, Bytes.of(ACONST_NULL,
					INVOKEINTERFACE)
					.u2(c.interfaceMethod("java/lang/Runnable", "run", "()V"))
					.u1(n, 0, RETURN)));
		bad("invokeinterface_count_ignores_long", c -> add(c, Bytes.of(ACONST_NULL,
				LCONST_0, INVOKEINTERFACE)
				.u2(c.interfaceMethod("java/util/function/LongConsumer", "accept",
				"(J)V")).u1(2, 0, RETURN)));
		bad("invokeinterface_last_byte_not_zero", c -> add(c, Bytes.of(ACONST_NULL,
				INVOKEINTERFACE)
				.u2(c.interfaceMethod("java/lang/Runnable", "run", "()V"))
				.u1(1, 1, RETURN)));
		bad("invokedynamic_last_bytes_not_zero", c -> {
			boot(c);
			add(c, Bytes.of(INVOKEDYNAMIC).u2(c.pair(18, 0, c.nameType("x", "()V")), 1)
					.u1(RETURN));
		});
		bad("invokedynamic_of_methodref", c -> add(c, Bytes.of(INVOKEDYNAMIC)
				.u2(c.method("Bad", "m", "(I)V"), 0)
				.u1(RETURN)));
		bad("invokestatic_of_init", c -> add(c, Bytes.of(INVOKESTATIC)
				.u2(c.method("Bad", "<init>", "()V")).u1(RETURN)));
		bad("invokevirtual_of_init", c -> add(c, Bytes.of(NEW).u2(c.thisClass)
				.u1(INVOKEVIRTUAL)
				.u2(c.method("Bad", "<init>", "()V")).u1(RETURN)));
		bad("invokestatic_interface_method_in_51", 51, c -> add(c, Bytes.of(INVOKESTATIC)
				.u2(c.interfaceMethod("java/util/List", "of", "()Ljava/util/List;"))
				.u1(POP, RETURN)));
		bad("invokestatic_past_pool", c -> add(c, Bytes.of(INVOKESTATIC).u2(9999)
				.u1(RETURN)));
	}

	private static void locals(RawClass c, int max, Bytes code) {
		c.method(9, "m", "()V", c.code(4, max, code));
	}

	private void locals() {
		bad("local_beyond_max_locals", c -> locals(c, 2, Bytes.of(ICONST_0, ISTORE, 2,
				RETURN)));
		bad("local_short_form_beyond_max_locals", c -> locals(c, 2, Bytes.of(ICONST_0,
				RawClass.ISTORE_0 + 3, RETURN)));
		bad("local_long_half_beyond_max_locals", c -> locals(c, 2, Bytes.of(LCONST_0,
				RawClass.LSTORE_0 + 1, RETURN)));
		bad("local_wide_beyond_max_locals", c -> locals(c, 2, Bytes.of(ICONST_0,
				RawClass.WIDE, ISTORE, 1, 0, RETURN)));
		bad("local_iinc_beyond_max_locals", c -> locals(c, 2, Bytes.of(IINC, 9, 1,
				RETURN)));
		bad("local_double_65535", c -> locals(c, 65535, Bytes.of(DCONST_0, RawClass.WIDE,
				DSTORE, 0xff, 0xff, RETURN)));
	}

	private static void rows(RawClass c, Bytes code, int... table) {
		c.method(9, "m", "(I)V", c.code(2, 1, code, table, c.frames(RawClass.same1(4,
				c.object("java/lang/Throwable")))));
	}

	private void handlers() {
		Bytes code = Bytes.of(SIPUSH, 0, 0, RETURN, POP, RETURN);
		bad("handler_start_in_operand", c -> rows(c, code, 1, 3, 4, 0));
		bad("handler_end_in_operand", c -> rows(c, code, 0, 2, 4, 0));
		bad("handler_pc_in_operand", c -> rows(c, code, 0, 3, 2, 0));
		bad("handler_max_stack_zero", c -> c.method(9, "m", "()V", c.code(0, 0,
				Bytes.of(NOP, RETURN, NOP, RETURN),
				new int[] {0, 1, 2, 0}, c.frames(RawClass.same1(2,
				c.object("java/lang/Throwable"))))));
		bad("handler_at_offset_zero", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(NOP, NOP, RETURN),
				new int[] {1, 2, 0, 0}, c.frames(RawClass.same1(0,
				c.object("java/lang/Throwable"))))));
	}

	private void frames() {
		Bytes ret = Bytes.of(NOP, RETURN);
		code("frame_offset_past_code", ret, RawClass.same(2));
		code("frame_offset_far_past_code", ret, RawClass.same(60000));
		code("frame_offset_in_operand", Bytes.of(SIPUSH, 0, 0, POP, RETURN),
				RawClass.same(1));
		code("frame_second_offset_past_code", ret, RawClass.same(0), RawClass.same(5));
		for (int tag : new int[] {128, 200, 246})
			code("frame_tag_" + tag, ret, Bytes.of(tag, 0, 0));
		bad("frame_count_too_high", c -> c.method(9, "m", "(I)V", c.code(8, 8, ret,
				c.attr("StackMapTable", new Bytes().u2(3).u1(0)))));
		bad("frame_cut", c -> c.method(9, "m", "(I)V", c.code(8, 8, ret,
				c.attr("StackMapTable", new Bytes().u2(1).u1(255, 0, 0)))));
		bad("frame_trailing_bytes", c -> c.method(9, "m", "(I)V", c.code(8, 8, ret,
				c.attr("StackMapTable", new Bytes().u2(1).u1(0, 0)))));
		code("frame_type_tag_9", ret, RawClass.append(0, Bytes.of(9)));
		code("frame_type_tag_255", ret, RawClass.append(0, Bytes.of(255)));
		code("frame_object_index_zero", ret, RawClass.append(0, Bytes.of(7, 0, 0)));
		bad("frame_object_is_utf8", c -> add(c, ret, RawClass.append(0, Bytes.of(7)
				.u2(c.utf8("x")))));
		code("frame_object_past_pool", ret, RawClass.append(0, Bytes.of(7, 99, 99)));
		code("frame_chops_more_than_there_is", ret, RawClass.chop(0, 2));
		code("frame_appends_beyond_max_locals", ret, RawClass.full(0,
				new Bytes[] {Bytes.of(1), Bytes.of(0), Bytes.of(0),
			Bytes.of(0), Bytes.of(0), Bytes.of(0), Bytes.of(0), Bytes.of(0),
			Bytes.of(0)}));
		bad("frame_long_beyond_max_locals", c -> c.method(9, "m", "()V", c.code(1, 1, ret,
				c.frames(RawClass.append(0, Bytes.of(RawClass.LONG))))));
		bad("frame_stack_beyond_max_stack", c -> c.method(9, "m", "()V", c.code(1, 0,
				Bytes.of(RETURN, POP, POP, RETURN),
				c.frames(RawClass.full(1, new Bytes[0], Bytes.of(1),
				Bytes.of(1))))));
		code("uninitialized_points_at_non_new", Bytes.of(RETURN, POP, RETURN),
				RawClass.same1(1, RawClass.uninit(0)));
		code("uninitialized_points_past_code", Bytes.of(RETURN, POP, RETURN),
				RawClass.same1(1, RawClass.uninit(700)));
	}
}
