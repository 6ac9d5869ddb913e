/* SPDX-License-Identifier: Apache-2.0 */
/* class_name.c - dimensions go behind the element's name. */
#include "export/class_name.h"

void class_name_put(struct buf *out, struct slice signature)
{
	static const char *const basic[128] = {
		['B'] = "byte", ['C'] = "char", ['D'] = "double", ['F'] = "float",
		['I'] = "int",	['J'] = "long", ['S'] = "short",  ['Z'] = "boolean",
	};
	size_t arrays = 0;
	uint8_t c;

	while (arrays < signature.n && signature.p[arrays] == '[')
		arrays++;
	signature.p += arrays;
	signature.n -= arrays;
	c = signature.n ? signature.p[0] : 0;
	if (signature.n == 1 && c < 128 && basic[c]) {
		buf_text(out, basic[c]);
	} else {
		if (c == 'L' && signature.p[signature.n - 1] == ';')
			signature = (struct slice){ signature.p + 1, signature.n - 2 };
		for (size_t i = 0; i < signature.n; i++)
			buf_u8(out, signature.p[i] == '/' ? '.' : signature.p[i]);
	}
	while (arrays--)
		buf_text(out, "[]");
}
