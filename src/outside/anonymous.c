/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous.c - code of a JIT compiler: no file, or a name in brackets that prctl has set. */
#include "outside/anonymous.h"

#include "jvm/proc.h"
#include "sample/modules.h"

void anonymous_name_code(struct slice maps, struct buf *out)
{
	struct slice line;

	while (proc_line(&maps, &line)) {
		struct slice rest = line;
		struct mapping m;

		if (!modules_next_mapping(&rest, &m) || !m.executable)
			continue;
		if (m.path.n && (m.path.p[0] == '/' || slice_is(m.path, "[vdso]"))) {
			buf_put(out, line);
			buf_u8(out, '\n');
		} else if (!m.path.n || slice_starts(m.path, slice_str("[anon"))) {
			buf_printf(out, "%llx-%llx r-xp 00000000 00:00 0 " ANONYMOUS_CODE "\n",
				   (unsigned long long)m.lo, (unsigned long long)m.hi);
		}
	}
}
