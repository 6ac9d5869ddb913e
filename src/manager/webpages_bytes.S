/* SPDX-License-Identifier: Apache-2.0 */
/* webpages_bytes.S - the built pages, as bytes of the program, each as it is and compressed. */
	.section .rodata
	.macro embed name, file
	.global pages_\name, pages_\name\()_end, pages_\name\()_gz, pages_\name\()_gz_end
	.hidden pages_\name, pages_\name\()_end, pages_\name\()_gz, pages_\name\()_gz_end
pages_\name:
	.incbin "build/web/\file"
pages_\name\()_end:
	.byte 0
pages_\name\()_gz:
	.incbin "build/web/\file\().gz"
pages_\name\()_gz_end:
	.byte 0
	.endm

	embed index, index.html
	embed app_js, app.js
	embed app_css, app.css
	embed favicon, favicon.svg
	.section .note.GNU-stack,"",%progbits
