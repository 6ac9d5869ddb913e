/* SPDX-License-Identifier: Apache-2.0 */
/* probe_bytes.S - the classes that the agent defines in the JVM, as bytes. */
	.section .rodata, "a"
	.macro embed name, file
	.globl \name
	.hidden \name
	.globl \name\()_end
	.hidden \name\()_end
	.balign 8
\name:
	.incbin "build/java/probe/java/util/\file"
\name\()_end:
	.byte 0
	.endm

	embed probe_class_main, SondeProbe.class
	embed probe_class_fast, SondeFast.class
	embed probe_class_text, SondeText.class
	embed probe_class_known, SondeKnown.class
	embed probe_class_access, SondeAccess.class
	embed probe_class_chars, SondeChars.class
	embed probe_class_site, SondeSite.class
	embed probe_class_held, SondeHeld.class
	embed probe_class_data, SondeData.class
	embed probe_class_hop, SondeHop.class
	embed probe_class_hop_entry, SondeHop$Entry.class
	embed probe_class_hop_part, SondeHop$Part.class

	.section .note.GNU-stack, "", %progbits
