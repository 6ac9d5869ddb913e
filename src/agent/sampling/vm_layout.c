/* SPDX-License-Identifier: Apache-2.0 */
/* vm_layout.c - asks vmstructs for each field; JDK 17 to 22 and 23 to 25 keep debug information in two
 * ways. */
#include "agent/sampling/vm_layout.h"

#include <string.h>

#include "agent/hotspot/vmstructs.h"
#include "agent/sampling/peek.h"

struct want {
	const char *type, *field;
	uint64_t *to;
};

/* The first that is missing. */
static const char *find_all(const struct want *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!vmstructs_offset(w[i].type, w[i].field, w[i].to))
			return w[i].field;
	return NULL;
}
#define FIND_ALL(list) find_all(list, sizeof(list) / sizeof((list)[0]))

static uint64_t word(uint64_t address)
{
	uint64_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

static uint32_t number(uint64_t address)
{
	uint32_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

/* CodeCache::_heaps is a GrowableArray of pointers; they are made at the start and stay. */
static const char *find_heaps(struct heaps *h)
{
	uint64_t heaps, length, data, memory, segments, shift;
	const struct want fields[] = {
		{ "GrowableArrayBase", "_len", &length },
		{ "GrowableArray<int>", "_data", &data },
		{ "CodeHeap", "_memory", &memory },
		{ "CodeHeap", "_segmap", &segments },
		{ "CodeHeap", "_log2_segment_size", &shift },
	};
	const char *missing = FIND_ALL(fields);

	if (missing || !vmstructs_static("CodeCache", "_heaps", &heaps) || !heaps)
		return missing ? missing : "CodeCache::_heaps";
	h->n = number(heaps + length);
	h->n = h->n < HEAPS_MAX ? h->n : HEAPS_MAX;
	for (unsigned i = 0; i < h->n; i++) {
		uint64_t heap = word(word(heaps + data) + 8 * i);

		h->heap[i] = (struct heap){ heap + memory, heap + segments, number(heap + shift) };
	}
	return NULL;
}

static const char *find_blobs(struct heaps *h)
{
	uint64_t header, used;
	const struct want fields[] = {
		{ "VirtualSpace", "_low", &h->in.low },
		{ "VirtualSpace", "_high", &h->in.high },
		{ "HeapBlock", "_header", &header },
		{ "HeapBlock::Header", "_used", &used },
		{ "CodeBlob", "_size", &h->in.size },
		{ "CodeBlob", "_frame_size", &h->in.frame },
		{ "CodeBlob", "_frame_complete_offset", &h->in.complete },
	};
	const char *missing = FIND_ALL(fields);

	if (missing)
		return missing;
	h->in.block_used = header + used;
	h->in.block_size = vmstructs_size("HeapBlock");
	h->in.code_is_offset = vmstructs_offset("CodeBlob", "_code_offset", &h->in.code);
	h->in.complete_bytes = h->in.code_is_offset ? 2 : 4;
	if (!h->in.code_is_offset && !vmstructs_offset("CodeBlob", "_code_begin", &h->in.code))
		return "CodeBlob::_code_begin";
	return h->in.block_size ? NULL : "HeapBlock";
}

static bool is_of_continuations(uint64_t blob, uint64_t name)
{
	char text[64] = "";

	return peek(peek_word(blob + name), text, sizeof(text) - 1) &&
	       strstr(text, "continuation") != NULL;
}

/* The stubs of continuations: a frame that returns there has its caller in the heap.  Blocks lie one
 * behind the other from the start of a heap; their length is in segments. */
static void find_frozen(struct heaps *h)
{
	uint64_t header, length, name, at, end;
	struct blob blob;

	if (!vmstructs_offset("HeapBlock", "_header", &header) ||
	    !vmstructs_offset("HeapBlock::Header", "_length", &length) ||
	    !vmstructs_offset("CodeBlob", "_name", &name))
		return;
	for (unsigned i = 0; i < h->n; i++) {
		end = word(h->heap[i].memory + h->in.high);
		at = word(h->heap[i].memory + h->in.low);
		for (uint64_t n = 1; at < end && n; at += n << h->heap[i].shift) {
			n = number(at + header + length);
			if (!heaps_find(h, at + h->in.block_size, &blob) ||
			    !is_of_continuations(blob.at, name))
				continue;
			h->frozen = blob.code;
			h->frozen_end = blob.end;
			return;
		}
	}
}

static const char *find_interpreter(struct heaps *h)
{
	uint64_t queue, buffer, limit;

	if (!vmstructs_static("AbstractInterpreter", "_code", &queue) || !queue ||
	    !vmstructs_offset("StubQueue", "_stub_buffer", &buffer) ||
	    !vmstructs_offset("StubQueue", "_buffer_limit", &limit))
		return "AbstractInterpreter::_code";
	h->interpreter = word(queue + buffer);
	h->interpreter_end = h->interpreter + number(queue + limit);
	return NULL;
}

static const char *find_names(struct vm_layout *l)
{
	const struct want fields[] = {
		{ "Method", "_constMethod", &l->name.const_method },
		{ "ConstMethod", "_constants", &l->name.constants },
		{ "ConstMethod", "_name_index", &l->name.name },
		{ "ConstMethod", "_signature_index", &l->name.signature },
		{ "ConstantPool", "_pool_holder", &l->name.holder },
		{ "Klass", "_name", &l->name.klass_name },
		{ "Symbol", "_length", &l->name.symbol_length },
		{ "Symbol", "_body", &l->name.symbol_body },
		{ "CodeBlob", "_name", &l->code.name },
		{ "nmethod", "_comp_level", &l->code.level },
	};
	const char *missing = FIND_ALL(fields);

	l->name.pool_size = vmstructs_size("ConstantPool");
	if (!missing && !vmstructs_offset("nmethod", "_method", &l->code.method) &&
	    !vmstructs_offset("CompiledMethod", "_method", &l->code.method))
		missing = "nmethod::_method";
	return missing ? missing : l->name.pool_size ? NULL : "ConstantPool";
}

/* Without these there are stacks, but no inlined frames in them. */
static void find_scopes(struct vm_layout *l, int jdk)
{
	const struct want inside[] = {
		{ "nmethod", "_scopes_pcs_offset", &l->code.pcs },
		{ "nmethod", "_dependencies_offset", &l->code.pcs_end },
		{ "CompiledMethod", "_scopes_data_begin", &l->code.scopes },
		{ "nmethod", "_metadata_offset", &l->code.metadata },
	};
	const struct want apart[] = {
		{ "nmethod", "_scopes_pcs_offset", &l->code.pcs },
		{ "nmethod", "_immutable_data", &l->code.data },
		{ "nmethod", "_immutable_data_size", &l->code.data_size },
		{ "nmethod", "_scopes_data_offset", &l->code.scopes },
		{ "CodeBlob", "_mutable_data", &l->code.metadata },
		{ "CodeBlob", "_relocation_size", &l->code.relocation_size },
	};

	l->code.shifted = jdk >= 20;
	l->code.apart = !FIND_ALL(apart);
	l->code.has_scopes = l->code.apart || !FIND_ALL(inside);
}

/* Without these, stacks are walked from the registers alone. */
static void find_threads(struct vm_layout *l)
{
	const struct want fields[] = {
		{ "ThreadsList", "_length", &l->thread.length },
		{ "ThreadsList", "_threads", &l->thread.threads },
		{ "OSThread", "_thread_id", &l->thread.tid },
		{ "JavaThread", "_stack_base", &l->thread.stack_base },
		{ "JavaThread", "_stack_size", &l->thread.stack_size },
		{ "JavaThread", "_anchor", &l->thread.anchor },
		{ "JavaFrameAnchor", "_last_Java_sp", &l->thread.last_sp },
		{ "JavaFrameAnchor", "_last_Java_pc", &l->thread.last_pc },
		{ "JavaFrameAnchor", "_last_Java_fp", &l->thread.last_fp },
	};

	l->thread.has_continuation =
		vmstructs_offset("JavaThread", "_cont_entry", &l->thread.continuation);
	l->thread.known =
		!FIND_ALL(fields) &&
		vmstructs_static_at("ThreadsSMRSupport", "_java_thread_list", &l->thread.list) &&
		(vmstructs_offset("JavaThread", "_osthread", &l->thread.osthread) ||
		 vmstructs_offset("Thread", "_osthread", &l->thread.osthread));
}

/* Without these, threads that wait are not told apart by what they wait for. */
static void find_states(struct vm_layout *l)
{
	l->thread.has_states = l->thread.known &&
			       vmstructs_offset("OSThread", "_state", &l->thread.state) &&
			       vmstructs_constant("MONITOR_WAIT", &l->thread.blocked) &&
			       vmstructs_constant("CONDVAR_WAIT", &l->thread.parked) &&
			       vmstructs_constant("OBJECT_WAIT", &l->thread.waits);
}

const char *vm_layout_find(struct vm_layout *l, int jdk)
{
	const char *missing;

	memset(l, 0, sizeof(*l));
	missing = find_blobs(&l->heaps);
	missing = missing ? missing : find_heaps(&l->heaps);
	missing = missing ? missing : find_interpreter(&l->heaps);
	missing = missing ? missing : find_names(l);
	if (!missing && jdk >= 21)
		find_frozen(&l->heaps);
	find_scopes(l, jdk);
	find_threads(l);
	find_states(l);
	return missing;
}
