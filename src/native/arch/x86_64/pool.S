/* SPDX-License-Identifier: Apache-2.0 */
/* pool.S - x86-64: the way into a hook and out of it, and the stubs.
 *
 * Let S be the stack pointer at the entry of a hooked function; the return address stands there.
 * native_enter is reached with the site's number pushed below it.  A stub is reached with the return
 * address taken off, so that its call puts its own address into the same place, and arguments on the
 * stack stay where they are.  Memory below the stack pointer holds where to go on for one
 * instruction: the kernel leaves 128 bytes alone there (System V ABI, the red zone).
 *
 * No vector register is touched: activation.c is compiled for general registers alone.  All general
 * registers stay as they are, since a compiler that knows the callee relies on those that it does not
 * change (-fipa-ra): native_entry and native_exit save what they change (NATIVE_KEEPS), here is saved what
 * their arguments and results are in. */
#include "native_arch.h"

	.macro save regs:vararg
	.irp r, \regs
	push	%\r
	.cfi_adjust_cfa_offset 8
	.endr
	.endm

	.macro restore regs:vararg
	.irp r, \regs
	pop	%\r
	.cfi_adjust_cfa_offset -8
	.endr
	.endm

	.text
	.globl	native_leave_begin, native_leave_end, native_enter
	.hidden	native_leave_begin, native_leave_end, native_enter
	.type	native_enter, @function
native_leave_begin:
native_enter:			/* (S-8) is the number, (S) the return address */
	.cfi_startproc
	.cfi_def_cfa_offset 16
	save	rax, rdx, rdi
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	%rsp, %rdi		/* struct native_call */
	call	native_entry
	mov	%rax, 32(%rsp)
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	test	%edx, %edx
	restore	rdi, rdx, rax
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jnz	1f
	jmp	*-8(%rsp)
1:	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*-16(%rsp)
	.cfi_endproc
	.size	native_enter, . - native_enter

	.type	native_leave, @function
native_leave:			/* (S-8) is the stub's number, (S) the return address again */
	.cfi_startproc
	.cfi_def_cfa_offset 16
	save	rax, rdi
	mov	16(%rsp), %edi
	call	native_exit
	restore	rdi, rax
	lea	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	native_leave, . - native_leave
native_leave_end:

/* The stubs, and behind them, at the same distance for each, the room of their entries; native_begin
 * maps memory there.
 *
 * One record describes all stubs.  The frame's upper end is the stack pointer, 8 more behind the
 * first push and 16 behind the second.  The return address is that of the entry, less 1: the frame
 * is marked as a signal's, since two frames without extent are told apart by that, and unwinders do
 * not take 1 off themselves then. */
	.section .text.native_stubs, "ax", @progbits
	.balign	4096
	.globl	native_stubs, native_entries
	.hidden	native_stubs, native_entries
	.type	native_stubs, @function
native_stubs:
	.cfi_startproc
	.cfi_signal_frame
	/* CFA: rsp + ((rip & 63) >= 12) * 8 + ((rip & 63) >= 17) * 8 */
	.cfi_escape 0x0f, 0x16, 0x77, 0, 0x80, 0, 0x08, 63, 0x1a, 0x3c, 0x2a, 0x33, 0x24, 0x22, \
		0x80, 0, 0x08, 63, 0x1a, 0x41, 0x2a, 0x33, 0x24, 0x22
	/* rip: *((rip & -64) + 0x40000) - 1 */
	.cfi_escape 0x16, 0x10, 0x0c, 0x80, 0, 0x09, 0xc0, 0x1a, 0x23, 0x80, 0x80, 0x10, 0x06, 0x31, 0x1c
	.set	i, 0
	.rept	STUBS
	call	*(native_entries + STUB_SIZE * i + 8)(%rip)
	push	(native_entries + STUB_SIZE * i)(%rip)
	.byte	0x68			/* push $i */
	.long	i
	.byte	0xe9			/* jmp native_leave */
	.long	native_leave - . - 4
	.balign	STUB_SIZE, 0xcc
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	native_stubs, . - native_stubs
	.type	native_entries, @object
native_entries:
	.skip	STUBS * STUB_SIZE
	.size	native_entries, . - native_entries

	.section .note.GNU-stack, "", @progbits
