/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.c - files are read as they are in the process's own view; the vdso is copied from memory. */
#include "agent/sampling/mapped.h"

#include <fcntl.h>
#include <unistd.h>

#include "agent/sampling/peek.h"
#include "base/buf.h"
#include "base/mem.h"
#include "sample/sparse.h"

enum { MAPS_MAX = 64 << 20 };

static struct {
	struct modules lists[2];
	const struct modules *now;
	bool old; /* the other list is still to be given back */
	uint64_t digest;
	struct buf maps, vdso;
} mapped;

bool mapped_read(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;
	uint8_t *p;

	buf_clear(&mapped.maps);
	while (n > 0 && mapped.maps.n < MAPS_MAX && (p = buf_room(&mapped.maps, 64 << 10))) {
		n = read(fd, p, 64 << 10);
		mapped.maps.n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n == 0 && !mapped.maps.err;
}

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	char path[4096];
	uint8_t *p;

	(void)ctx;
	if (map->path.n >= sizeof(path))
		return false;
	memcpy(path, map->path.p, map->path.n);
	path[map->path.n] = '\0';
	if (path[0] == '/')
		return sparse_read(path, file);
	buf_clear(&mapped.vdso);
	p = buf_room(&mapped.vdso, (size_t)(map->hi - map->lo));
	*file = (struct slice){ p, (size_t)(map->hi - map->lo) };
	return p && peek(map->lo, p, file->n);
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx;
	if (file.p != mapped.vdso.p)
		sparse_drop(file);
}

bool mapped_update(void)
{
	static const struct modules_source source = { fetch, drop, NULL };
	struct modules *next = &mapped.lists[mapped.now == &mapped.lists[0]];
	uint64_t digest;

	if (mapped.old)
		return false;
	digest = modules_digest(buf_slice(&mapped.maps));
	if ((mapped.now && digest == mapped.digest) ||
	    modules_build(next, buf_slice(&mapped.maps), &source, mapped.now) < 0)
		return false;
	mapped.digest = digest;
	mapped.old = mapped.now != NULL;
	__atomic_store_n(&mapped.now, next, __ATOMIC_RELEASE);
	return true;
}

void mapped_drop_old(void)
{
	if (mapped.old)
		modules_release(&mapped.lists[mapped.now == &mapped.lists[0]]);
	mapped.old = false;
}

bool mapped_begin(void)
{
	return mapped_read() && mapped_update();
}

void mapped_end(void)
{
	mapped_drop_old();
	if (mapped.now)
		modules_release(&mapped.lists[mapped.now == &mapped.lists[1]]);
	mapped.now = NULL;
	buf_release(&mapped.maps);
	buf_release(&mapped.vdso);
}

const struct modules *mapped_now(void)
{
	return __atomic_load_n(&mapped.now, __ATOMIC_ACQUIRE);
}

bool mapped_range(uint64_t address, struct mapping *out)
{
	struct slice maps = buf_slice(&mapped.maps);

	while (modules_next_mapping(&maps, out))
		if (address >= out->lo && address < out->hi)
			return true;
	return false;
}
