/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/reader.h"

TEST(buf_writes_big_endian)
{
	static const uint8_t want[] = { 1, 2, 3, 4, 5, 6, 7, 'a', 'b', '-', '7', '!' };
	struct buf b = { 0 };

	buf_u8(&b, 0x101);
	buf_u16(&b, 0x0203);
	buf_u32(&b, 0x04050607);
	buf_text(&b, "ab");
	buf_printf(&b, "%d%c", -7, '!');
	CHECK_MEM(b.p, b.n, want, sizeof(want), NULL);
	buf_clear(&b);
	CHECK_INT(b.n, 0, "cleared");
	buf_release(&b);
	CHECK(!b.p);
}

TEST(buf_grows_to_any_size_and_keeps_what_is_there)
{
	struct buf b = { 0 };

	for (unsigned i = 0; i < 100000; i++)
		buf_u16(&b, i);
	CHECK_INT(b.n, 200000, NULL);
	CHECK_INT(get_u16(b.p + 2 * 99999), 99999 & 0xffff, "last");
	CHECK_INT(get_u16(b.p + 2 * 300), 300, "early");
	buf_printf(&b, "%5000d", 1);
	CHECK_INT(b.n, 205000, "printf longer than the room");
	CHECK_INT(b.p[b.n - 1], '1', NULL);
	buf_release(&b);
}

TEST(buf_error_is_sticky)
{
	struct buf b = { 0 };
	size_t n;

	buf_text(&b, "kept");
	for (n = b.cap - b.n; n; n--)
		buf_u8(&b, 0);
	n = b.n;
	mem_fail_at(0);
	buf_u8(&b, 1);
	CHECK_INT(b.err, E_NO_MEMORY, NULL);
	buf_u16(&b, 1); /* memory would be there again */
	buf_u32(&b, 1);
	buf_text(&b, "x");
	buf_printf(&b, "%d", 12345678);
	CHECK_INT(b.n, n, "nothing was added");
	CHECK_INT(b.err, E_NO_MEMORY, "first error kept");
	buf_clear(&b);
	buf_u8(&b, 7);
	CHECK_INT(b.err, 0, "works again");
	CHECK_INT(b.n, 1, "works again");
	buf_release(&b);
}

TEST(buf_refuses_absurd_sizes)
{
	struct buf b = { 0 };

	CHECK(!buf_room(&b, SIZE_MAX / 2));
	CHECK_INT(b.err, E_LIMIT, NULL);
	buf_release(&b);
}

TEST(buf_accepts_empty_pieces)
{
	struct buf b = { 0 };

	buf_put(&b, (struct slice){ NULL, 0 });
	buf_bytes(&b, NULL, 0);
	buf_text(&b, "");
	buf_printf(&b, "%s", "");
	CHECK_INT(b.n, 0, NULL);
	CHECK_INT(b.err, 0, NULL);
	buf_release(&b);
}

TEST(buf_dotted_of_no_name_writes_nothing)
{
	struct buf b = { 0 };

	buf_dotted(&b, slice_str(""));
	CHECK_INT(b.n, 0, NULL);
	buf_dotted(&b, slice_str("a/b"));
	CHECK(slice_eq(buf_slice(&b), slice_str("a.b")));
	buf_release(&b);
}
