/* SPDX-License-Identifier: Apache-2.0 */
/* trace_bytes.S - the page that shows transactions, as bytes. */
	.section .rodata, "a"
	.globl trace_page_html
	.hidden trace_page_html
	.globl trace_page_html_end
	.hidden trace_page_html_end
trace_page_html:
	.incbin "src/cli/report/trace_page.html"
trace_page_html_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
