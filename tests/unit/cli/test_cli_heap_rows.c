/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_heap_rows.c - the histogram that a JVM prints. */
#include "cli/look/heap_rows.h"

#include "test.h"

static const char printed[] =
	" num     #instances         #bytes  class name (module)\n"
	"-------------------------------------------------------\n"
	"   1:         10        800  [B (java.base@17.0.15)\n"
	"   2:          5        160  [[Ljava.lang.String; (java.base@17.0.15)\n"
	"   3:          2         32  com.shop.Cart\n"
	"  x4:          2         32  com.shop.No\n"
	"   5:  99999999999999999999 32  com.shop.No\n"
	"   6:          1\n"
	"Total           17        992\n";

static bool shows(const struct heap_rows *h, const char *part, size_t top, const char *wanted)
{
	struct buf out = { 0 };
	bool found;

	heap_rows_show(h, part, top, &out);
	buf_u8(&out, 0);
	found = strstr((const char *)out.p, wanted) != NULL;
	buf_release(&out);
	return found;
}

TEST(rows_of_a_histogram_are_read_and_other_lines_are_not)
{
	struct heap_rows h;

	CHECK_INT(heap_rows_read(&h, slice_str(printed)), 0, NULL);
	CHECK_INT(h.n, 3, NULL);
	CHECK_INT(h.objects, 17, NULL);
	CHECK_INT(h.bytes, 992, NULL);
	CHECK(slice_is(heap_row_at(&h, 0)->class, "[B"));
	CHECK(slice_is(heap_row_at(&h, 2)->class, "com.shop.Cart"));
	CHECK(shows(&h, NULL, 0, "byte[]\n"));
	CHECK(shows(&h, NULL, 0, "java.lang.String[][]\n"));
	CHECK(shows(&h, "shop", 0, "com.shop.Cart\n") && !shows(&h, "shop", 0, "byte[]"));
	CHECK(shows(&h, NULL, 1, "and 2 more classes") && !shows(&h, NULL, 1, "Cart"));
	heap_rows_release(&h);
}

TEST(class_names_of_a_histogram_are_harmless)
{
	struct heap_rows h;

	CHECK_INT(heap_rows_read(&h, slice_str("1: 1 16  a\033[31mb\n")), 0, NULL);
	CHECK(shows(&h, NULL, 0, "a\\u001b[31mb") && !shows(&h, NULL, 0, "\033"));
	heap_rows_release(&h);
}
