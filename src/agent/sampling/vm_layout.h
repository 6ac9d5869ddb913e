/* SPDX-License-Identifier: Apache-2.0 */
/* vm_layout.h - where HotSpot keeps what a sampler wants to know, by its tables for debuggers. */
#ifndef AGENT_SAMPLING_VM_LAYOUT_H
#define AGENT_SAMPLING_VM_LAYOUT_H

#include "sample/heaps.h"

struct vm_layout {
	struct heaps heaps;
	struct {
		uint64_t const_method;
		uint64_t constants, name, signature; /* of ConstMethod */
		uint64_t holder, pool_size;	     /* of ConstantPool; its entries follow */
		uint64_t klass_name;
		uint64_t symbol_length, symbol_body;
	} name;
	struct {
		uint64_t name;		/* of CodeBlob */
		uint64_t method, level; /* of nmethod */
		bool has_scopes;	/* what follows is known */
		bool apart;		/* debug information lies outside of the code heap */
		uint64_t data;		/* ... there */
		uint64_t data_size;
		uint64_t pcs, pcs_end; /* offsets of PcDescs; pcs_end: not if apart */
		uint64_t scopes;       /* apart: an offset; else an address */
		uint64_t
			metadata; /* an offset; apart: the address of what begins with relocations */
		uint64_t relocation_size;
		bool shifted; /* compressed numbers have no byte 0 (JDK 20) */
	} code;
	struct {
		bool known;
		uint64_t list; /* address of the pointer to the ThreadsList */
		uint64_t length, threads;
		uint64_t osthread, tid, stack_base, stack_size;
		uint64_t anchor, last_sp, last_pc, last_fp;
		bool has_continuation;
		uint64_t continuation;	/* of a thread that carries a virtual one: not 0 */
		bool has_states;	/* what follows is known */
		uint64_t state;		/* of OSThread */
		int32_t blocked, waits; /* its values, of threads that wait in a monitor, ... */
		int32_t parked;		/* ... and in any other way the JVM knows of */
	} thread;
};

/* The name of what is missing; NULL: all that must be there is.  After peek_begin. */
const char *vm_layout_find(struct vm_layout *l, int jdk);

#endif
