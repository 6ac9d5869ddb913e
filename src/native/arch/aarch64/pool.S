/* SPDX-License-Identifier: Apache-2.0 */
/* pool.S - aarch64: the way into a hook and out of it, and the stubs.
 *
 * native_enter is reached with the site's number in w17 and the return address in x30; x16 and x17
 * are free between functions (AAPCS64: the linker's veneers use them), all other registers are saved
 * that a callee may change (-fipa-ra).  No vector register is touched: activation.c is compiled for general
 * registers alone. */
#include "native_arch.h"

	.macro save_all
	sub	sp, sp, #NATIVE_CALL_SP
	.cfi_adjust_cfa_offset NATIVE_CALL_SP
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x29, x17, [sp, #128]
	str	x30, [sp, #NATIVE_CALL_RET]
	.cfi_rel_offset x30, NATIVE_CALL_RET
	.endm

	.macro restore_all
	ldp	x0, x1, [sp]
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldr	x29, [sp, #128]
	ldr	x30, [sp, #NATIVE_CALL_RET]
	.cfi_restore x30
	add	sp, sp, #NATIVE_CALL_SP
	.cfi_adjust_cfa_offset -NATIVE_CALL_SP
	.endm

	.text
	.globl	native_leave_begin, native_leave_end, native_enter
	.hidden	native_leave_begin, native_leave_end, native_enter
	.type	native_enter, %function
	.balign	16
native_leave_begin:
native_enter:
	.cfi_startproc
	hint	#36			/* bti j */
	save_all
	mov	x0, sp			/* struct native_call */
	bl	native_entry
	mov	x16, x0
	restore_all
	br	x16			/* a stub, which calls, or the function */
	.cfi_endproc
	.size	native_enter, . - native_enter

	.type	native_leave, %function
native_leave:				/* w17 is the stub's number; x30 is of no use any more */
	.cfi_startproc
	.cfi_undefined x30
	save_all
	mov	w0, w17
	bl	native_exit
	mov	x16, x0
	restore_all
	mov	x30, x16
	ret
	.cfi_endproc
	.size	native_leave, . - native_leave
native_leave_end:

/* The stubs, and behind them, at the same distance for each, the room of their entries; native_begin
 * maps memory there.  Each stub has a record of its own, since before its call the return address is
 * in x30 still: behind it, it is *((x30 & -64) + 0x40000) - 1.  Why less 1, and why a signal's frame:
 * see x86_64/pool.S. */
	.section .text.native_stubs, "ax", %progbits
	.balign	4096
	.globl	native_stubs, native_entries
	.hidden	native_stubs, native_entries
	.type	native_stubs, %function
native_stubs:
	.set	i, 0
	.rept	STUBS
	.cfi_startproc
	.cfi_signal_frame
	hint	#36			/* bti j */
	adr	x16, native_entries + STUB_SIZE * i
	ldr	x16, [x16, #8]
	blr	x16
	.cfi_escape 0x16, 0x1e, 0x0c, 0x8e, 0, 0x09, 0xc0, 0x1a, 0x23, 0x80, 0x80, 0x10, 0x06, 0x31, 0x1c
	movz	w17, #i
	b	native_leave
	.balign	STUB_SIZE
	.cfi_endproc
	.set	i, i + 1
	.endr
	.size	native_stubs, . - native_stubs
	.type	native_entries, %object
native_entries:
	.skip	STUBS * STUB_SIZE
	.size	native_entries, . - native_entries

	.section .note.GNU-stack, "", %progbits
