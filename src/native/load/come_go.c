/* SPDX-License-Identifier: Apache-2.0 */
/* come_go.c - what `sonde attach` and `sonde detach` call in a thread of the program: as little as
 * possible, since nobody knows what the thread was just doing. */
#include "native/load/come_go.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "native/attached.h"
#include "native/near.h"
#include "native/serve.h"
#include "native/site.h"
#include "native/swap.h"
#include "native/totals.h"

/* What dlopen gives is the dynamic linker's entry of the library. */
static void *own_handle(void)
{
	struct link_map *entry = NULL;
	Dl_info info;

	return dladdr1((const void *)(uintptr_t)sonde_native_attach, &info, (void **)&entry,
		       RTLD_DL_LINKMAP)
		       ? entry
		       : NULL;
}

void come_go_opened(void)
{
	attached_handle(own_handle());
}

__attribute__((visibility("default"))) void sonde_native_attach(void)
{
	if (!serve_is_running())
		(void)serve_start_late();
}

__attribute__((visibility("default"))) void *sonde_native_release(void)
{
	near_release();
	site_release();
	swap_release();
	totals_release();
	serve_release();
	return attached_take_handle();
}
