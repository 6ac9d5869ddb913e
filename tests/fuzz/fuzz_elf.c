/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_elf.c - any bytes as an ELF file: functions and unwinding rows are read within its bounds,
 * sorted, and findable. */
#include <stdlib.h>

#include "elf/functions.h"
#include "elf/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
	if (!held)
		abort();
}

static bool is_inside(struct slice s, const uint8_t *data, size_t size)
{
	return !s.n || (s.p >= data && s.p + s.n <= data + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct functions t;
	struct image image;
	struct unwind u;
	struct slice name;
	uint32_t crc;

	if (image_open(&image, (struct slice){ data, size }) < 0)
		return 0;
	must(is_inside(image_build_id(&image), data, size));
	must(!image_debug_link(&image, &name, &crc) || is_inside(name, data, size));
	must(unwind_build(&u, &image) == 0);
	for (size_t i = 0; i < u.n; i++) {
		must(i == 0 || u.rows[i - 1].at < u.rows[i].at);
		must(unwind_find(&u, u.rows[i].at) == &u.rows[i]);
	}
	unwind_release(&u);
	must(functions_build(&t, &image, &image) == 0);
	for (size_t i = 0; i < t.n; i++) {
		must(i == 0 || t.f[i - 1].addr <= t.f[i].addr);
		must(is_inside(t.f[i].name, data, size));
		(void)functions_find(&t, t.f[i].addr);
	}
	functions_release(&t);
	return 0;
}
