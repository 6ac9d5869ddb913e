/* SPDX-License-Identifier: Apache-2.0 */
/* attached.c - the variable that is read from outside. */
#include "native/attached.h"

#include "native/native.h"

extern struct native_state sonde_native_state;

__attribute__((visibility(
	"default"))) struct native_state sonde_native_state = { .version = NATIVE_STATE_VERSION };

void attached_phase(enum native_phase phase)
{
	__atomic_store_n(&sonde_native_state.phase, phase, __ATOMIC_RELEASE);
}

void attached_handle(void *handle)
{
	sonde_native_state.handle = (uintptr_t)handle;
}

void *attached_take_handle(void)
{
	void *handle = (void *)(uintptr_t)sonde_native_state.handle;

	sonde_native_state.handle = 0;
	sonde_native_state.version = 0; /* what follows is the end of this library */
	return handle;
}

void attached_leave(unsigned stuck)
{
	sonde_native_state.entries = (uintptr_t)&native_entries[0].owner;
	sonde_native_state.entry_n = sizeof(native_entries[0]);
	sonde_native_state.n_entries = STUBS;
	sonde_native_state.stuck = stuck;
	sonde_native_state.n_ranges = near_ranges(&sonde_native_state.ranges);
}
