/* SPDX-License-Identifier: Apache-2.0 */
/* desc.c - descriptors, read from left to right without copying. */
#include "classfile/desc.h"

/* Length of an L...; type; unqualified names hold none of . ; [ and are not empty. */
static size_t class_len(struct slice s)
{
	const uint8_t *semi = memchr(s.p, ';', s.n);
	size_t n = semi ? (size_t)(semi - s.p) : 0;

	if (n < 2 || s.p[1] == '/' || s.p[n - 1] == '/')
		return 0;
	for (size_t i = 1; i < n; i++)
		if (s.p[i] == '.' || s.p[i] == '[' || (s.p[i] == '/' && s.p[i - 1] == '/'))
			return 0;
	return n + 1;
}

size_t desc_field_len(struct slice s)
{
	size_t dims = 0, n;

	while (dims < s.n && s.p[dims] == '[')
		dims++;
	if (dims == s.n || dims > 255)
		return 0;
	switch (s.p[dims]) {
	case 'B':
	case 'C':
	case 'D':
	case 'F':
	case 'I':
	case 'J':
	case 'S':
	case 'Z':
		return dims + 1;
	case 'L':
		n = class_len((struct slice){ s.p + dims, s.n - dims });
		return n ? dims + n : 0;
	default:
		return 0;
	}
}

struct desc_iter desc_args(struct slice desc)
{
	struct desc_iter it = { desc, { NULL, 0 }, 0 };

	if (!desc.n || desc.p[0] != '(') {
		it.err = E_DESCRIPTOR;
		return it;
	}
	it.rest.p++;
	it.rest.n--;
	return it;
}

bool desc_next(struct desc_iter *it)
{
	bool last = it->rest.n && it->rest.p[0] == ')';
	size_t n;

	if (it->err)
		return false;
	if (last) {
		it->rest.p++;
		it->rest.n--;
	}
	n = last && it->rest.n == 1 && it->rest.p[0] == 'V' ? 1 : desc_field_len(it->rest);
	if (!n || (last && n != it->rest.n)) {
		it->err = E_DESCRIPTOR;
		return false;
	}
	it->type = (struct slice){ it->rest.p, n };
	it->rest.p += n;
	it->rest.n -= n;
	return !last;
}

int desc_arg_slots(struct slice desc)
{
	struct desc_iter it = desc_args(desc);
	int slots = 0;

	while (desc_next(&it))
		slots += (int)desc_slots(it.type);
	return it.err ? it.err : slots;
}

struct slice desc_return(struct slice desc)
{
	struct desc_iter it = desc_args(desc);

	while (desc_next(&it))
		;
	return it.err ? (struct slice){ NULL, 0 } : it.type;
}

const char *desc_primitive(uint8_t letter)
{
	switch (letter) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'V':
		return "void";
	case 'Z':
		return "boolean";
	default:
		return NULL;
	}
}

const struct desc_box *desc_box(uint8_t letter)
{
	static const struct desc_box boxes[] = {
		{ 'Z', "java/lang/Boolean", "(Z)Ljava/lang/Boolean;" },
		{ 'B', "java/lang/Byte", "(B)Ljava/lang/Byte;" },
		{ 'C', "java/lang/Character", "(C)Ljava/lang/Character;" },
		{ 'S', "java/lang/Short", "(S)Ljava/lang/Short;" },
		{ 'I', "java/lang/Integer", "(I)Ljava/lang/Integer;" },
		{ 'J', "java/lang/Long", "(J)Ljava/lang/Long;" },
		{ 'F', "java/lang/Float", "(F)Ljava/lang/Float;" },
		{ 'D', "java/lang/Double", "(D)Ljava/lang/Double;" },
	};

	for (size_t i = 0; i < COUNT(boxes); i++)
		if (boxes[i].type == (char)letter)
			return &boxes[i];
	return NULL;
}

bool desc_is_field(struct slice s)
{
	return s.n && desc_field_len(s) == s.n;
}
