/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.c - one room is kept in one word, and taken and given by exchanging it. */
#include "agent/core/scratch.h"

#include "base/mem.h"

enum { KEEP_MAX = 1 << 20 }; /* bytes; a larger room is given back */

static struct scratch *kept; /* atomic; NULL: in use, or none */

static void room_free(struct scratch *r)
{
	if (!r)
		return;
	arena_release(&r->mem);
	arena_release(&r->work);
	buf_release(&r->out);
	buf_release(&r->kept);
	mem_free(r);
}

struct scratch *scratch_take(void)
{
	struct scratch *r = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQUIRE);

	if (r)
		return r;
	r = mem_alloc(sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct scratch){ 0 };
	arena_init(&r->mem);
	arena_init(&r->work);
	return r;
}

void scratch_give(struct scratch *r)
{
	if (!r)
		return;
	arena_reset(&r->mem);
	arena_reset(&r->work);
	buf_clear(&r->out);
	buf_clear(&r->kept);
	if (r->mem.total + r->work.total + r->out.cap + r->kept.cap <= KEEP_MAX)
		r = __atomic_exchange_n(&kept, r, __ATOMIC_ACQ_REL);
	room_free(r);
}

void scratch_drop(void)
{
	room_free(__atomic_exchange_n(&kept, NULL, __ATOMIC_ACQUIRE));
}
