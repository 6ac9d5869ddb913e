/* SPDX-License-Identifier: Apache-2.0 */
/* owned.c - preloaded into a JVM: how much memory code of libsonde.so has allocated and not freed.
 * The text "BYTES BLOCKS" is kept in the file named by OWNED.  What libc allocates on its behalf
 * (opendir) and what came before the library was found are not in it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

enum {
	SLOTS = 1 << 20,
	NEAR = 64
}; /* a block is at most so many slots away from where it belongs */

struct block {
	void *p;
	size_t n;
};

static struct {
	pthread_mutex_t lock;
	uintptr_t from, to; /* of libsonde.so; UINTPTR_MAX: not found yet */
	struct block *blocks;
	size_t bytes, count, lost; /* lost: no slot for it */
} owned = { .lock = PTHREAD_MUTEX_INITIALIZER, .from = UINTPTR_MAX };

static struct block *slot(const void *p, size_t i)
{
	uint64_t hash = ((uint64_t)(uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u;

	return &owned.blocks[((hash >> 44) + i) % SLOTS];
}

static void add(void *p, size_t n, const void *caller)
{
	uintptr_t at = (uintptr_t)caller;
	size_t i = 0;

	if (!p || at < __atomic_load_n(&owned.from, __ATOMIC_ACQUIRE) || at >= owned.to)
		return;
	pthread_mutex_lock(&owned.lock);
	while (i < NEAR && slot(p, i)->p)
		i++;
	if (i < NEAR)
		*slot(p, i) = (struct block){ p, n };
	else
		owned.lost++;
	owned.bytes += i < NEAR ? n : 0;
	owned.count += i < NEAR;
	pthread_mutex_unlock(&owned.lock);
}

static void take(const void *p)
{
	if (!p || __atomic_load_n(&owned.from, __ATOMIC_ACQUIRE) == UINTPTR_MAX)
		return;
	for (size_t i = 0; i < NEAR; i++)
		if (__atomic_load_n(&slot(p, i)->p, __ATOMIC_RELAXED) == p) {
			pthread_mutex_lock(&owned.lock);
			owned.bytes -= slot(p, i)->n;
			owned.count--;
			slot(p, i)->p = NULL;
			pthread_mutex_unlock(&owned.lock);
			return;
		}
}

void *malloc(size_t n)
{
	void *p = __libc_malloc(n);

	add(p, n, __builtin_return_address(0));
	return p;
}

void *calloc(size_t n, size_t size)
{
	void *p = __libc_calloc(n, size);

	add(p, n * size, __builtin_return_address(0));
	return p;
}

void *realloc(void *old, size_t n)
{
	void *p;

	take(old);
	p = __libc_realloc(old, n);
	add(p, n, __builtin_return_address(0));
	return p;
}

void free(void *p)
{
	take(p);
	__libc_free(p);
}

static int find(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uintptr_t from = UINTPTR_MAX, to = 0;

	(void)size, (void)ctx;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/libsonde.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		from = at < from ? at : from;
		to = at + info->dlpi_phdr[i].p_memsz > to ? at + info->dlpi_phdr[i].p_memsz : to;
	}
	owned.to = to;
	__atomic_store_n(&owned.from, from, __ATOMIC_RELEASE);
	return 1;
}

static void *tell(void *file)
{
	char text[80];
	int fd, n;

	for (;;) {
		if (owned.from == UINTPTR_MAX)
			dl_iterate_phdr(find, NULL);
		n = snprintf(text, sizeof(text), "%-20zu %-20zu %-20zu\n", owned.bytes, owned.count,
			     owned.lost);
		fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd >= 0 && pwrite(fd, text, (size_t)n, 0) == n)
			close(fd);
		usleep(owned.from == UINTPTR_MAX ? 20000 : 500000);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	char *file = getenv("OWNED");
	pthread_t thread;

	owned.blocks = __libc_calloc(SLOTS, sizeof(*owned.blocks));
	if (file && owned.blocks)
		pthread_create(&thread, NULL, tell, file);
	unsetenv("LD_PRELOAD"); /* it is for this process alone */
}
