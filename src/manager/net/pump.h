/* SPDX-License-Identifier: Apache-2.0 */
/* pump.h - moves bytes between one connection (wire/mux.h) and the descriptors of its channels; the
 * same at the relay and at the manager.  One thread. */
#ifndef MANAGER_NET_PUMP_H
#define MANAGER_NET_PUMP_H

#include <poll.h>

#include "wire/mux.h"

enum { PUMP_AGAIN = -1, PUMP_FAILED = -2 };

/* The connection: it never blocks.  Both give the number of bytes, 0 when it is over, or PUMP_*. */
struct pump_way {
	void *ctx;
	int fd; /* for poll() */
	long (*send)(void *ctx, const void *p, size_t n);
	long (*recv)(void *ctx, void *to, size_t n);
};

struct pump {
	struct mux mux;
	struct pump_way way;
	int wake; /* -1; or an eventfd that ends a turn */
	/* What is not about bytes: FOUND, ENDED, LISTED, COST, OPEN.  Negative, with .why set: over. */
	int (*on)(void *ctx, const struct mux_event *e);
	void *ctx;
	char why[160];
	uint64_t heard_ms, got, gave; /* monotonic; bytes */
	/* private */
	size_t sent; /* of mux.out */
	uint64_t said_ms;
	unsigned turn;
	bool more; /* there may be more to read than was */
	struct pump_channel {
		int fd; /* -1: none */
		struct buf out;
		size_t sent;
	} channels[MUX_CHANNELS];
	struct pollfd fds[MUX_CHANNELS + 2];
	unsigned short of[MUX_CHANNELS + 2];
};

/* The fields before `private` stay as they are. */
void pump_init(struct pump *p, bool is_manager);
void pump_release(struct pump *p); /* closes the descriptors of the channels */
/* From now on `fd`, which does not block, belongs to that channel and to the pump. */
void pump_join(struct pump *p, unsigned channel, int fd);
/* Waits so long, at most, for something to happen, and does it.  Negative: it is over, and .why
 * says why. */
int pump_step(struct pump *p, unsigned limit_ms);

#endif
