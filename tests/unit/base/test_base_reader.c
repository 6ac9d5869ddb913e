/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/reader.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

TEST(reader_reads_big_endian_from_left_to_right)
{
	struct reader r = rd_init((struct slice){ bytes, sizeof(bytes) });
	struct slice rest;

	CHECK_INT(rd_u8(&r), 1, NULL);
	CHECK_INT(rd_u16(&r), 0x0203, NULL);
	CHECK_INT(rd_u32(&r), 0x04050607, NULL);
	CHECK_INT(rd_at(&r), 7, NULL);
	CHECK_INT(rd_left(&r), 2, NULL);
	rest = rd_bytes(&r, 2);
	CHECK_MEM(rest.p, rest.n, bytes + 7, 2, "rest");
	CHECK_INT(r.err, 0, "all read, nothing wrong");
	CHECK_INT(rd_bytes(&r, 0).n, 0, "no bytes at the end");
	CHECK_INT(r.err, 0, NULL);
}

TEST(reader_error_is_sticky)
{
	for (size_t n = 0; n < 4; n++) {
		struct reader r = rd_init((struct slice){ bytes, n });

		CHECK_INT(rd_u32(&r), 0, "too short");
		CHECK_INT(r.err, E_TRUNCATED, NULL);
		CHECK_INT(rd_left(&r), 0, "stands at its end");
		CHECK_INT(rd_u8(&r) + rd_u16(&r), 0, "gives zero");
		CHECK_INT(rd_bytes(&r, 1).n, 0, "gives nothing");
		rd_fail(&r, E_MAGIC);
		CHECK_INT(r.err, E_TRUNCATED, "first error kept");
	}
}

TEST(reader_of_nothing_has_nothing)
{
	struct reader r = rd_init((struct slice){ NULL, 0 });

	CHECK_INT(rd_left(&r), 0, NULL);
	CHECK_INT(rd_u8(&r), 0, NULL);
	CHECK_INT(r.err, E_TRUNCATED, NULL);
}
