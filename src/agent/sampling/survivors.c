/* SPDX-License-Identifier: Apache-2.0 */
/* survivors.c - see survivors.h.  An entry is taken by a swap of its state, written, and then shown. */
#include "agent/sampling/survivors.h"

#include <string.h>

#include "wire/wire.h"

enum { ENTRIES = 4096, TRIES = 16 };
enum { FREE, TAKEN, SHOWN };

static struct {
	struct entry {
		uint32_t state, collections; /* how many there had been */
		jweak object;
		uint64_t hash, amount, many;
	} all[ENTRIES];
	uint32_t at;	      /* where the next one is looked for */
	uint32_t collections; /* so far */
	uint32_t swept;	      /* ... when dead ones were looked for last */
	uint32_t one_in, seen;
	bool full;
} survivors;

void survivors_begin(void)
{
	memset(&survivors, 0, sizeof(survivors));
	survivors.one_in = 1;
}

/* NULL: no room. */
static struct entry *take(void)
{
	for (int i = 0; i < TRIES; i++) {
		uint32_t at = __atomic_fetch_add(&survivors.at, 1, __ATOMIC_RELAXED) % ENTRIES;
		struct entry *e = &survivors.all[at];
		uint32_t state = FREE;

		if (__atomic_compare_exchange_n(&e->state, &state, TAKEN, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return e;
	}
	return NULL;
}

void survivors_add(JNIEnv *jni, jobject object, const struct stacks_new *of)
{
	uint32_t one_in = __atomic_load_n(&survivors.one_in, __ATOMIC_RELAXED);
	struct entry *e;

	if (__atomic_fetch_add(&survivors.seen, 1, __ATOMIC_RELAXED) % one_in)
		return;
	e = take();
	if (!e) {
		__atomic_store_n(&survivors.full, true, __ATOMIC_RELAXED);
		return;
	}
	e->object = (*jni)->NewWeakGlobalRef(jni, object);
	e->hash = of->hash;
	e->amount = of->amount;
	e->many = of->many;
	e->collections = __atomic_load_n(&survivors.collections, __ATOMIC_RELAXED);
	__atomic_store_n(&e->state, e->object ? SHOWN : FREE, __ATOMIC_RELEASE);
}

void survivors_on_gc(void)
{
	__atomic_fetch_add(&survivors.collections, 1, __ATOMIC_RELAXED);
}

static bool is_shown(const struct entry *e)
{
	return __atomic_load_n(&e->state, __ATOMIC_ACQUIRE) == SHOWN;
}

static void let_go(JNIEnv *jni, struct entry *e)
{
	(*jni)->DeleteWeakGlobalRef(jni, e->object);
	__atomic_store_n(&e->state, FREE, __ATOMIC_RELEASE);
}

static void halve(JNIEnv *jni)
{
	bool keep = false;

	for (int i = 0; i < ENTRIES; i++)
		if (is_shown(&survivors.all[i]) && !(keep = !keep))
			let_go(jni, &survivors.all[i]);
	__atomic_store_n(&survivors.one_in, survivors.one_in * 2, __ATOMIC_RELAXED);
}

void survivors_sweep(JNIEnv *jni)
{
	uint32_t now = survivors_collections();

	bool full = __atomic_exchange_n(&survivors.full, false, __ATOMIC_RELAXED);

	if (now == survivors.swept) {
		if (full)
			halve(jni);
		return;
	}
	survivors.swept = now;
	for (int i = 0; i < ENTRIES; i++)
		if (is_shown(&survivors.all[i]) &&
		    (*jni)->IsSameObject(jni, survivors.all[i].object, NULL))
			let_go(jni, &survivors.all[i]);
}

void survivors_put(JNIEnv *jni, struct buf *rows)
{
	uint32_t now = survivors_collections();

	for (int i = 0; i < ENTRIES; i++) {
		struct entry *e = &survivors.all[i];

		if (!is_shown(e) || e->collections == now ||
		    (*jni)->IsSameObject(jni, e->object, NULL))
			continue;
		wire_put_stack_again(
			rows, &(struct wire_stack_again){ .hash = e->hash,
							  .count = 1,
							  .amount = e->amount * survivors.one_in,
							  .many = e->many * survivors.one_in });
	}
}

void survivors_end(JNIEnv *jni)
{
	for (int i = 0; i < ENTRIES; i++)
		if (is_shown(&survivors.all[i]))
			let_go(jni, &survivors.all[i]);
}

uint32_t survivors_collections(void)
{
	return __atomic_load_n(&survivors.collections, __ATOMIC_RELAXED);
}

uint32_t survivors_one_in(void)
{
	return survivors.one_in;
}
