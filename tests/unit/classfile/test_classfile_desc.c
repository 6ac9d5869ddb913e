/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "classfile/desc.h"

static const struct {
	const char *desc;
	int slots; /* of the arguments, or E_DESCRIPTOR */
	const char *returns;
} methods[] = {
	{ "()V", 0, "V" },
	{ "(IJ)V", 3, "V" },  /* a long takes two */
	{ "([[D)D", 1, "D" }, /* any array is one reference */
	{ "(BCDFIJSZLa/B;[Lc;)[[Ld/e/F;", 12, "[[Ld/e/F;" },
	{ "(L\xc3\xa9;)I", 1, "I" },
	{ "(La-b c/<d>;)V", 1, "V" }, /* strange, but a name */
	{ "", E_DESCRIPTOR, "" },
	{ "V", E_DESCRIPTOR, "" },
	{ "(", E_DESCRIPTOR, "" },
	{ "()", E_DESCRIPTOR, "" },
	{ "()VV", E_DESCRIPTOR, "" },
	{ "()II", E_DESCRIPTOR, "" },
	{ "(V)V", E_DESCRIPTOR, "" },
	{ "([V)V", E_DESCRIPTOR, "" },
	{ "()[V", E_DESCRIPTOR, "" },
	{ "(I", E_DESCRIPTOR, "" },
	{ "(I)", E_DESCRIPTOR, "" },
	{ "(X)V", E_DESCRIPTOR, "" },
	{ "(Lnever/closed", E_DESCRIPTOR, "" },
	{ "(L;)V", E_DESCRIPTOR, "" },
	{ "(L/a;)V", E_DESCRIPTOR, "" },
	{ "(La/;)V", E_DESCRIPTOR, "" },
	{ "(La//b;)V", E_DESCRIPTOR, "" },
	{ "(La.b;)V", E_DESCRIPTOR, "" },
	{ "(La[b;)V", E_DESCRIPTOR, "" },
	{ "([)V", E_DESCRIPTOR, "" },
	{ "()[", E_DESCRIPTOR, "" },
	{ "())V", E_DESCRIPTOR, "" },
};

TEST(desc_counts_argument_slots)
{
	for (size_t i = 0; i < COUNT(methods); i++) {
		struct slice d = slice_str(methods[i].desc), got = desc_return(d);

		CHECK_INT(desc_arg_slots(d), methods[i].slots, methods[i].desc);
		CHECK_MEM(got.p, got.n, methods[i].returns, strlen(methods[i].returns),
			  methods[i].desc);
	}
}

TEST(desc_walks_types_from_left_to_right)
{
	static const char *const want[] = { "I", "[[J", "La/B;", "[La/B;" };
	struct desc_iter it = desc_args(slice_str("(I[[JLa/B;[La/B;)S"));
	size_t n = 0;

	for (; desc_next(&it) && n < COUNT(want); n++)
		CHECK(slice_is(it.type, want[n]));
	CHECK_INT(n, COUNT(want), NULL);
	CHECK_INT(it.err, 0, NULL);
	CHECK(slice_is(it.type, "S"));
}

static const struct {
	const char *desc;
	size_t len; /* of the first field descriptor */
} fields[] = {
	{ "I", 1 },	{ "II", 1 }, { "[I", 2 },	{ "La;", 3 }, { "La;Lb;", 3 },
	{ "[[La;", 5 }, { "V", 0 },  { "", 0 },		{ "[", 0 },   { "L", 0 },
	{ "La", 0 },	{ "(", 0 },  { "[[[[[[[Z", 8 }, { "i", 0 },
};

TEST(desc_measures_one_field)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		struct slice d = slice_str(fields[i].desc);

		CHECK_INT(desc_field_len(d), fields[i].len, fields[i].desc);
		CHECK_INT(desc_is_field(d), d.n && fields[i].len == d.n, fields[i].desc);
	}
}

TEST(desc_allows_255_dimensions_and_no_more)
{
	char desc[300];

	memset(desc, '[', sizeof(desc));
	desc[256] = 'I';
	CHECK(desc_is_field((struct slice){ (uint8_t *)desc + 1, 256 }));
	CHECK(!desc_is_field((struct slice){ (uint8_t *)desc, 257 }));
}

TEST(desc_slots_of_one_value)
{
	CHECK_INT(desc_slots(slice_str("V")), 0, NULL);
	CHECK_INT(desc_slots(slice_str("J")), 2, NULL);
	CHECK_INT(desc_slots(slice_str("D")), 2, NULL);
	CHECK_INT(desc_slots(slice_str("[J")), 1, NULL);
	CHECK_INT(desc_slots(slice_str("La;")), 1, NULL);
	CHECK_INT(desc_slots(slice_str("")), 0, NULL);
}
