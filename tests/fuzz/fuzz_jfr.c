/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_jfr.c - any bytes as a recording of the Flight Recorder.  The first byte says what is looked for, and
 * whether the first chunk is as long as the file; what is behind it is the file. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/reader.h"
#include "export/jfr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct jfr_kinds kinds = { 1, 2, 3, 4, 5, 6 };
	struct jfr_about about;
	struct profile p;
	struct buf file = { 0 };
	int rc;

	if (!size)
		return 0;
	buf_bytes(&file, data + 1, size - 1);
	if (data[0] & 4 && file.n >= 16) {
		put_u32(file.p + 8, 0);
		put_u32(file.p + 12, (uint32_t)file.n);
	}
	profile_init(&p);
	rc = jfr_read(buf_slice(&file), data[0] & 3, &kinds, &p, &about);
	if (rc == E_SYNTAX && !about.why)
		abort(); /* people are told what is wrong */
	if (rc == 0 && p.count > about.events)
		abort();
	profile_release(&p);
	buf_release(&file);
	return 0;
}
