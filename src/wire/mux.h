/* SPDX-License-Identifier: Apache-2.0 */
/* mux.h - many byte streams over one connection, between a relay (`sonded --relay`) and the manager.
 *
 * A frame is u8 type, u8 0, u16 channel, u32 length, then so many bytes, big-endian.  The relay tells
 * which agents it sees.  The manager opens channels to them; either side closes one, and its number
 * is free again when both have.  Each side may send MUX_WINDOW bytes into a channel that the other
 * one has not read yet, so that neither keeps more than that for a slow one, and a busy channel
 * leaves room for others.
 *
 * Both sides are here, and no socket is: bytes that came are put into .in, what is to be sent is
 * appended to .out.  A peer that breaks a rule gets no second chance: mux_next says which rule, and
 * the connection is to be ended. */
#ifndef WIRE_MUX_H
#define WIRE_MUX_H

#include "base/buf.h"

#define MUX_PROTOCOL "sonde-relay/1" /* as Upgrade has it */

enum {
	MUX_HEAD = 8,
	MUX_FRAME = 16 << 10, /* longest payload */
	MUX_WINDOW = 256 << 10,
	MUX_CHANNELS = 1024,
	MUX_AGENTS = 500,
	MUX_USER = 64,
	MUX_TEXT = 1024, /* of OPEN */
};

enum mux_type {
	MUX_FOUND = 1, /* relay: an agent, with a number that is never used again */
	MUX_ENDED,     /* relay: its process has ended */
	MUX_LISTED,    /* relay: these are all, for now */
	MUX_COST,      /* relay: processor time of an agent's own thread */
	MUX_OPEN,      /* manager: a channel to an agent */
	MUX_DATA,
	MUX_CREDIT, /* so many bytes were read */
	MUX_CLOSE,
	MUX_PING, /* both, so that silence means something */
	MUX_TYPES
};

enum mux_kind { MUX_LINK, MUX_DIG }; /* of OPEN: to the agent's socket; `sonde dig` beside it */

/* Why a channel was closed. */
enum mux_reason { MUX_DONE, MUX_GONE, MUX_FOREIGN, MUX_BUSY, MUX_FAILED };

struct mux_agent {
	uint32_t number, pid;
	uint64_t ticks; /* when it began, since the machine did */
	struct slice user;
};

struct mux_event {
	enum mux_type type;
	unsigned channel;
	uint32_t agent;		/* of ENDED, COST, OPEN */
	struct mux_agent found; /* of FOUND */
	uint64_t own_ns;	/* of COST */
	unsigned kind;		/* of OPEN: one that is not known is to be closed */
	struct slice data;	/* of DATA and OPEN; of .in, until mux_next is called again */
	unsigned reason;	/* of CLOSE */
};

enum mux_state { MUX_FREE, MUX_OPENED, MUX_WE_CLOSED, MUX_THEY_CLOSED };

struct mux {
	bool is_manager;
	struct buf in, out;
	size_t used; /* of .in */
	const char *why;
	struct {
		enum mux_state state;
		uint32_t may_send, may_come, owed;
	} channels[MUX_CHANNELS];
	unsigned next; /* channel to be tried first */
	uint32_t agents[MUX_AGENTS];
	unsigned n_agents;
	uint32_t newest; /* agent that was told of */
};

void mux_init(struct mux *m, bool is_manager);
void mux_release(struct mux *m);

/* What has come: 1 and an event; 0: no whole frame; negative: a rule was broken, as .why says. */
int mux_next(struct mux *m, struct mux_event *e);

/* The manager's: the number of a new channel; E_LIMIT: there are too many. */
int mux_open(struct mux *m, uint32_t agent, unsigned kind, struct slice text);
/* The relay's: the number of an agent; E_LIMIT: there are too many. */
long mux_found(struct mux *m, uint32_t pid, uint64_t ticks, struct slice user);
void mux_ended(struct mux *m, uint32_t agent);
void mux_listed(struct mux *m);
void mux_cost(struct mux *m, uint32_t agent, uint64_t own_ns);

/* How much may be sent into a channel now, in one frame; 0: nothing. */
size_t mux_room(const struct mux *m, unsigned channel);
void mux_send(struct mux *m, unsigned channel, struct slice data); /* within mux_room */
void mux_eaten(struct mux *m, unsigned channel, size_t n);	   /* of DATA, after it was used */
/* We neither send nor want anything more; also the answer to the other side's CLOSE. */
void mux_close(struct mux *m, unsigned channel, enum mux_reason reason);
void mux_ping(struct mux *m);

#endif
