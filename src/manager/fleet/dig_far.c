/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/fleet/dig_far.h"

#include "base/reader.h"

enum { HEAD = 5, RECORD_MAX = 1 << 20, TEXT_MAX = 4 << 20 };

static void put_record(struct buf *out, enum dig_far_kind kind, struct slice text)
{
	buf_u8(out, kind);
	buf_u32(out, (uint32_t)text.n);
	buf_put(out, text);
}

void dig_far_put(struct buf *out, enum dig_far_kind kind, struct slice text)
{
	while (text.n > RECORD_MAX) {
		put_record(out, kind, (struct slice){ text.p, RECORD_MAX });
		text = (struct slice){ text.p + RECORD_MAX, text.n - RECORD_MAX };
	}
	if (text.n)
		put_record(out, kind, text);
}

/* What is too much is left out, as of a child. */
static void keep(struct buf *to, struct slice text)
{
	if (to->n + text.n <= TEXT_MAX)
		buf_put(to, text);
}

int dig_far_take(struct buf *in, struct buf *out, struct buf *err, struct buf *rules)
{
	struct reader r = rd_init(buf_slice(in));
	int status = DIG_FAR_MORE;
	size_t used = 0;

	while (status == DIG_FAR_MORE && rd_left(&r) >= HEAD) {
		unsigned kind = rd_u8(&r);
		uint32_t n = rd_u32(&r);
		struct slice text = { r.p, n };

		if (n > RECORD_MAX || (kind == DIG_FAR_STATUS && n != 1))
			return E_SYNTAX;
		if (!rd_take(&r, n))
			break;
		used += HEAD + n;
		if (kind == DIG_FAR_STATUS)
			status = text.p[0];
		else if (kind == DIG_FAR_OUT || kind == DIG_FAR_ERR || kind == DIG_FAR_RULES)
			keep(kind == DIG_FAR_OUT ? out : kind == DIG_FAR_ERR ? err : rules, text);
		else
			return E_SYNTAX;
	}
	if (used) {
		memmove(in->p, in->p + used, in->n - used);
		in->n -= used;
	}
	return status;
}
