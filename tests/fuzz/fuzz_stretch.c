/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stretch.c - any bytes as the body of a file of a history, the length and sum of which are right.  What
 * is read is written and read again, and is then the same. */
#include <stdlib.h>

#include "base/fnv.h"
#include "export/collapsed.h"
#include "export/stretch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrap(struct slice body, struct buf *out)
{
	uint64_t sum = fnv_add(FNV_START, body.p, body.n);

	buf_text(out, "SondeHis");
	buf_u32(out, (uint32_t)body.n);
	buf_put(out, body);
	buf_u32(out, (uint32_t)(sum >> 32));
	buf_u32(out, (uint32_t)sum);
}

static void again(const struct stretch_facts *f, const struct profile *p)
{
	struct profile q;
	struct stretch_facts g;
	struct buf bytes = { 0 };

	profile_init(&q);
	stretch_put(&bytes, f, p);
	if (bytes.err || stretch_read(buf_slice(&bytes), &g, &q) < 0 || q.total != p->total ||
	    g.samples != f->samples || !slice_eq(f->name, g.name))
		abort();
	profile_release(&q);
	buf_release(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile p;
	struct stretch_facts f;
	struct buf bytes = { 0 };

	profile_init(&p);
	wrap((struct slice){ data, size }, &bytes);
	if (stretch_read(buf_slice(&bytes), &f, &p) == 0)
		again(&f, &p);
	profile_release(&p);
	buf_release(&bytes);
	return 0;
}
