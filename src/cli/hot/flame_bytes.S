/* SPDX-License-Identifier: Apache-2.0 */
/* flame_bytes.S - the page of a flame graph, as bytes. */
	.section .rodata, "a"
	.globl flame_page_html
	.hidden flame_page_html
	.globl flame_page_html_end
	.hidden flame_page_html_end
flame_page_html:
	.incbin "src/cli/hot/flame_page.html"
flame_page_html_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
