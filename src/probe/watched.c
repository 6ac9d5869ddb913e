/* SPDX-License-Identifier: Apache-2.0 */
/* watched.c - keeps the time that watching takes out of the time of what is watched. */
#include "base/tick.h"
#include "probe/tracing.h"

uint64_t probe_now(void)
{
	return tick_now();
}

PROBE_NEAR uint64_t probe_shift(uint32_t id, uint64_t token, uint64_t since)
{
	uint64_t now = tick_now(), later = token + ((now > since ? now - since : 0) << 1);
	struct probe_frame *f;

	if (!probe_local.mine || !token)
		return later;
	for (f = probe_local.top; !frame_is_nobodys(f); f--) {
		if (LOAD(f->token) == token && frame_id(f) == id) {
			STORE(f->token, later);
			if (UNLIKELY(f->id & ID_TYPED))
				types_moved(probe_local.mine, f, later);
			if (UNLIKELY(probe_local.mine->trace))
				trace_shift(id, token >> 1, later >> 1);
			break;
		}
	}
	return later;
}
