/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - the frames between sonde and the agent: one definition, encode and decode as twins.
 *
 * A frame is u32 length (of what follows), u16 type (WIRE_<name>), u16 0, then the fields of
 * messages.def, big-endian; a text is u32 length and bytes.  Decoded texts are slices of the frame.
 * The first frame each way is hello and welcome; another magic or version ends the connection. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "base/buf.h"
#include "base/reader.h"

enum {
	WIRE_MAGIC = 0x534f4e44, /* "SOND" */
	WIRE_VERSION = 1,
	WIRE_HEAD = 8,
	WIRE_FRAME_MAX = 8 << 20, /* longest frame that is read */
	/* No agent sends rows of deeper trees: the probe's stack has 512 frames, a sampled one
	 * 400. */
	WIRE_DEPTH_MAX = 1000,
};

/* Where an agent listens, by its pid.  The second name is for when a JVM of another user that had
 * the pid was killed, and left the first behind. */
#define WIRE_SOCKET "/tmp/.sonde_pid%d"
#define WIRE_SOCKET_2 WIRE_SOCKET ".2"
/* The agent of native functions in a JVM, beside the JVM's own. */
#define WIRE_SOCKET_NATIVE WIRE_SOCKET ".native"

enum wire_type {
	WIRE_none, /* never sent */
#define MESSAGE(name, fields) WIRE_##name,
#include "wire/messages.def"
	WIRE_TYPES
};

/* Flags of the fields named `flags`. */
enum {
	HOOK_YES = 1,  /* also when there are very many methods */
	HOOK_HELD = 2, /* leaves when the client does */
	HOOK_DRY = 4,  /* only count what it would hook */
	HOOK_INSTEAD =
		8, /* (also of `watch`) those that this client holds leave in the same change; of `hook` with HOOK_HELD also when
		       * no rules come in their place */
	HOOK_NOW = 16, /* classes that no rule wants get their original code at once */
	/* What is compiled anew from now on is counted, as long as this client is there. */
	HOOK_ACCOUNT = 32,
	/* (also of `watch` and `trace`) no rule stays that means no loaded method. */
	HOOK_LOADED = 64,
	UNHOOK_NOW = 1,	    /* classes get their original code at once */
	REPORT_BUCKETS = 2, /* of `report`: with histograms */
	RULE_HELD = 1,	    /* of `rule`: some client holds it */
	RULE_WAITS = 2,	    /* ... it decides about no method that is loaded */
	/* ... one of its callers cannot be woven: every call looks at the stack. */
	RULE_BY_STACK = 4,
	WELCOME_LATE = 1,    /* the agent was attached to the running JVM */
	DETACH_IF_ALONE = 1, /* not while others are connected or have rules that stay */
	METHOD_GONE = 1,     /* of `method`: hooked once, not any more */
	METHOD_NO_QUANTILES = 2,
	METHOD_ANCHOR = 4,    /* not hooked: a step in the sequence of callers of others */
	METHOD_PARTLY = 16,   /* only some calls are reported: its rule has `inside` or `if` */
	METHOD_SETTLED = 8,   /* its timed calls wait for what is under way (also NODE_SETTLED) */
	METHOD_DRAWN = 32,    /* one call in N was timed: times are estimates for all calls */
	METHOD_CLOSED = 64,   /* not observed now, to keep to the budget */
	METHOD_FEWER = 128,   /* ... now or for a while: there were more calls than were counted */
	METER_NO_BYTES = 1,   /* of `unknown`: allocated bytes are not known */
	METER_NO_BLOCKED = 2, /* ... how long calls were blocked is in the time that they waited */
	METER_NO_DELAY = 4,   /* ... how long they stood in line for a processor, too */
	/* ... instructions; the next bits: cache misses, branches, branch misses. */
	METER_NO_COUNTER = 8,
	METER_NO_COUNTERS = 15 * METER_NO_COUNTER,
	STATUS_FAST = 1,
	REPORT_PARTLY = 4, /* of `report`: say METHOD_PARTLY */
	REPORT_TREE = 1,   /* of `report`: the nodes of the tree, too, after the methods */
	NODE_SETTLED = 1,
	NODE_LIGHT = 2,	  /* only counted */
	NODE_PRUNED = 4,  /* of no method: contexts that were taken out to save memory */
	NODE_DRAWN = 8,	  /* one call in N was timed: total is an estimate for all calls */
	NODE_EVERY = 16,  /* it was not: total is that of the calls that have ended */
	NODE_SHUT = 32,	  /* its method is as METHOD_CLOSED says */
	NODE_FEWER = 64,  /* ... as METHOD_FEWER */
	FRAME_NATIVE = 1, /* of `frame`: the method has no byte code */
	FRAME_FIXED = 2,  /* the JVM does not let its class be changed */
	FRAME_SEEN = 4,	  /* of a synthetic method: nobody wrote it */
	LOCK_PARKED = 1,  /* of `lock`: java.util.concurrent, not a monitor */
	CALLEE_FOUND = 1, /* of `callee`: what a virtual call can arrive at */
	CALLEE_ABSTRACT = 2,
	CALLEE_NATIVE = 4,
	CALLEE_SYNTHETIC = 8,
	CALLEE_MORE = 16,     /* there are more than were looked for */
	NAME_CONDITIONAL = 1, /* of `trace_name`: hooked only in a context or by a condition */
	TX_FAILED = 1,	      /* of the others of `trace`: see probe/trace.h */
	TX_CUT = 2,
	TX_LOST = 4,
	TX_OPEN = 8,
	TX_SLOW = 16,
	TX_SAMPLED = 32,
	CALL_THREW = 64,
	PART_NEVER_BEGUN = 128,
	IN_PLACE_HELD = 1, /* of `in_place`: done at once, and on until the client goes */
	/* ... hooks are never open, and all calls are measured: for calibrations. */
	IN_PLACE_SHUT = 2,
	/* Hooks are open only at first: neither the tree nor the speed is wanted. */
	IN_PLACE_ALONE = 4,
	PROGRAM_WHOLE = 1, /* of `program`: since the JVM began */
	STACKS_CPU = 0,	   /* of `ask_stacks`: what threads do while they run */
	STACKS_WALL = 1,
	STACKS_ALLOC = 2, /* objects that they allocate */
	STACKS_LOCK = 3,  /* waits for monitors */
	STACKS_LIVE =
		1, /* flags of `ask_stacks`: what of STACKS_ALLOC is there after a collection */
	STACKS_SLOW = 2,   /* ... rows once a second: for who takes samples for days */
	STACK_RUNS = 0,	   /* of `stack_row`: on a processor, or wants one */
	STACK_CALLS = 1,   /* waits in a system call: for data, or in native code */
	STACK_BLOCKED = 2, /* waits for a monitor that another thread has */
	STACK_PARKED = 3,  /* ... or waits otherwise in the JVM: the innermost method says how */
	STACK_WAITS = 4,   /* Object.wait */
	STACK_SLEEPS = 5,  /* what a client makes of those */
	STACK_STATES = 6,
	PLACE_UNKNOWN = 0, /* of `stack_place` */
	PLACE_INTERPRETED = 1,
	PLACE_C1 = 2,
	PLACE_C2 = 3,
	PLACE_INLINED = 4,
	PLACE_JNI = 5, /* the JVM's wrapper of a native method */
	PLACE_STUB = 6,
	PLACE_NATIVE = 7,
	PLACE_KERNEL = 8,
	PLACE_CLASS =
		9, /* of the object that the stack is about: its signature, [Ljava/lang/String; */
	CALL_RUNS = 256,    /* its end was not reported */
	CALL_UNMET = 512,   /* it did not meet its condition: stands for what it called only */
	THREADS_LINES = 1,  /* of `ask_threads`: with the lines where frames are */
	THREAD_DAEMON = 1,  /* of `thread` */
	THREAD_NO_CPU = 2,  /* the JVM does not tell its processor time */
	THREAD_UNASKED = 4, /* there was no time to ask what it waits for */
	THREAD_RUNS = 0,    /* its state: in Java code, or wants a processor for it */
	THREAD_NATIVE = 1,
	THREAD_BLOCKED = 2,
	THREAD_WAITS = 3,
	THREAD_PARKED = 4,
	THREAD_SLEEPS = 5,
	THREAD_STATES = 6,
	VALUE_NONE = 1, /* of `static_value`: the text says why there is none */
};

#define U8(f) uint8_t f;
#define U32(f) uint32_t f;
#define U64(f) uint64_t f;
#define F64(f) double f;
#define STR(f) struct slice f;
#define MESSAGE(name, fields) \
	struct wire_##name {  \
		fields        \
	};
#include "wire/messages.def"

/* Appends one frame to out. */
#define MESSAGE(name, fields) void wire_put_##name(struct buf *out, const struct wire_##name *m);
#include "wire/messages.def"

/* Reads the fields of a frame's payload.  0 or E_TRUNCATED; *m is all zero then. */
#define MESSAGE(name, fields) int wire_get_##name(struct slice payload, struct wire_##name *m);
#include "wire/messages.def"

/* Looks for a whole frame at the start of `in`.  Gives its full length, with *type and *payload
 * filled; 0 when more bytes are needed; E_LIMIT for one longer than WIRE_FRAME_MAX, E_SYNTAX for
 * one that is none. */
long wire_frame(struct slice in, unsigned *type, struct slice *payload);

/* Takes the next pair off facts ("key NUL value NUL ..."); false: there is none. */
bool wire_fact(struct slice *facts, struct slice *key, struct slice *value);

const char *wire_name(unsigned type); /* "hook", or "?" */

#endif
