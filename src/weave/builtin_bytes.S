/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_bytes.S - the class files that are part of Sonde, as bytes.  builtin.c lists them. */
	.section .rodata, "a"
	.macro embed name, file
	.globl builtin_\name
	.hidden builtin_\name
	.globl builtin_\name\()_end
	.hidden builtin_\name\()_end
	.balign 8
builtin_\name:
	.incbin "build/java/\file"
builtin_\name\()_end:
	.byte 0
	.endm

	embed light, template/sonde/template/Light.class
	embed timed, template/sonde/template/Timed.class
	embed full, template/sonde/template/Full.class

	.section .note.GNU-stack, "", %progbits
