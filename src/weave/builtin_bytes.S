/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_bytes.S - the class files that are part of Sonde, as bytes.  builtin.def lists them. */
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
	embed arguments, template/sonde/template/Arguments.class
	embed full, template/sonde/template/Full.class
	embed whole, template/sonde/template/Whole.class
	embed capture, template/sonde/template/Capture.class
	embed database, template/sonde/template/Database.class
	embed web, template/sonde/template/Web.class
	embed web_jakarta, template/sonde/template/WebJakarta.class
	embed web_jdk, template/sonde/template/WebJdk.class
	embed bytes, template/sonde/template/Bytes.class
	embed socket_io, template/sonde/template/SocketIo.class
	embed file_io, template/sonde/template/FileIo.class
	embed messaging, template/sonde/template/Messaging.class
	embed messaging_jakarta, template/sonde/template/MessagingJakarta.class

	.section .note.GNU-stack, "", %progbits
