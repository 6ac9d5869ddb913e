/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - the agent with a recorder: what observed threads tell the probe is written to files.
 *
 * The linker puts these functions between the agent and the probe (--wrap).  Each thread has a file
 * of its own in the folder that SONDE_EVENTS names.  Nothing here is careful with the program's
 * time. */
#define _GNU_SOURCE
#include "bench/tree/native/events.h"

#include "base/tick.h"
#include "probe/probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, DEEP = 1 << 16 };

struct recorder {
	struct recorder *next;
	int fd;
	uint32_t depth;
	size_t n;
	uint64_t last; /* tick */
	uint8_t bytes[BUFFER];
	struct {
		uint64_t token;
		uint32_t id;
	} stack[DEEP];
};

static struct recorder *all;
static __thread struct recorder *mine __attribute__((tls_model("initial-exec")));

uint64_t __real_probe_enter(uint32_t id);
void __real_probe_exit(uint32_t id, uint64_t token);
void __real_probe_thrown(uint32_t id, uint64_t token);
uint64_t __wrap_probe_enter(uint32_t id);
void __wrap_probe_exit(uint32_t id, uint64_t token);
void __wrap_probe_thrown(uint32_t id, uint64_t token);

static void flush(struct recorder *r)
{
	size_t at = 0;

	while (at < r->n) {
		ssize_t n = write(r->fd, r->bytes + at, r->n - at);

		if (n <= 0)
			abort();
		at += (size_t)n;
	}
	r->n = 0;
}

static struct recorder *begin(void)
{
	const char *folder = getenv("SONDE_EVENTS");
	struct recorder *r;
	char path[4096];

	if (!folder)
		return NULL;
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "%s/%d", folder, gettid());
	r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (r->fd < 0)
		abort();
	r->last = tick_now();
	r->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all, &r->next, r, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return mine = r;
}

__attribute__((destructor)) static void end(void)
{
	for (struct recorder *r = __atomic_load_n(&all, __ATOMIC_ACQUIRE); r; r = r->next)
		flush(r);
}

static void put(struct recorder *r, unsigned kind, uint64_t tick)
{
	uint64_t ticks = tick > r->last ? tick - r->last : 0;

	if (r->n > BUFFER - 2 * EVENT_BYTES)
		flush(r);
	r->last += ticks;
	r->n = (size_t)(events_put(r->bytes + r->n, ticks << 2 | kind) - r->bytes);
}

uint64_t __wrap_probe_enter(uint32_t id)
{
	uint64_t token = __real_probe_enter(id);
	struct recorder *r = mine ? mine : begin();

	if (!r || !token || token == PROBE_ASK)
		return token;
	if (r->depth == DEEP)
		abort();
	r->stack[r->depth].token = token;
	r->stack[r->depth++].id = id;
	put(r, EVENT_ENTER, token >> 1);
	r->n = (size_t)(events_put(r->bytes + r->n, id) - r->bytes);
	return token;
}

/* The end of a call that was not put down is passed over. */
static void leave(uint32_t id, uint64_t token, unsigned kind)
{
	struct recorder *r = mine;
	uint64_t now = tick_now();
	uint32_t i = r ? r->depth : 0;

	while (i > 0 && (r->stack[i - 1].token != token || r->stack[i - 1].id != id))
		i--;
	if (i == 0)
		return;
	for (; r->depth > i; r->depth--)
		put(r, EVENT_LOST, now);
	put(r, kind, now);
	r->depth--;
}

void __wrap_probe_exit(uint32_t id, uint64_t token)
{
	leave(id, token, EVENT_EXIT);
	__real_probe_exit(id, token);
}

void __wrap_probe_thrown(uint32_t id, uint64_t token)
{
	if (token)
		leave(id, token, EVENT_THROWN);
	__real_probe_thrown(id, token);
}
