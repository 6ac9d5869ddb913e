/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/archive/blob.h"

#include <zstd.h>

enum { BLOB_MAX = 256 << 20 };

struct blob_press *blob_press_new(void)
{
	return (struct blob_press *)ZSTD_createCCtx();
}

void blob_press_free(struct blob_press *p)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)p);
}

int blob_compress(struct blob_press *p, struct slice from, struct buf *out)
{
	size_t room = ZSTD_compressBound(from.n), n = 0;
	uint8_t *at = buf_room(out, room);

	if (at && p)
		n = ZSTD_compressCCtx((ZSTD_CCtx *)p, at, room, from.p, from.n, 1);
	else
		n = at ? ZSTD_compress(at, room, from.p, from.n, 1) : 0;
	if (!at || ZSTD_isError(n))
		return E_NO_MEMORY;
	out->n += n;
	return 0;
}

int blob_expand(struct slice from, struct buf *out)
{
	unsigned long long n = ZSTD_getFrameContentSize(from.p, from.n);
	size_t got;

	if (n > BLOB_MAX) /* also what is not known */
		return E_DAMAGED;
	if (!buf_room(out, (size_t)n))
		return E_NO_MEMORY;
	got = ZSTD_decompress(out->p + out->n, (size_t)n, from.p, from.n);
	if (ZSTD_isError(got))
		return E_DAMAGED;
	out->n += got;
	return 0;
}
