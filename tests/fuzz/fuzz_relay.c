/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_relay.c - any bytes as what a relay sends to the manager, or the manager to a relay.
 *
 * The first byte says which, and how often the reader stops in between.  What the reader answers
 * must be frames that the other side could take, and no window may grow beyond its bound. */
#include <stdlib.h>

#include "wire/mux.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OPENED = 6 };

static void need(bool held)
{
	if (!held)
		abort();
}

static void check(const struct mux *m)
{
	need(m->n_agents <= MUX_AGENTS && m->used <= m->in.n);
	for (unsigned i = 0; i < MUX_CHANNELS; i++)
		need(m->channels[i].may_send <= MUX_WINDOW &&
		     m->channels[i].may_come <= MUX_WINDOW && m->channels[i].owed < MUX_WINDOW);
}

/* As the pump does: eats, answers, closes. */
static void react(struct mux *m, const struct mux_event *e)
{
	switch (e->type) {
	case MUX_DATA:
		need(e->data.n <= MUX_FRAME);
		if (mux_room(m, e->channel) >= e->data.n)
			mux_send(m, e->channel, e->data);
		mux_eaten(m, e->channel, e->data.n);
		if (e->data.p[0] == 'c')
			mux_close(m, e->channel, MUX_DONE);
		break;
	case MUX_OPEN:
		need(!m->is_manager && e->data.n <= MUX_TEXT);
		if (e->agent > 100)
			mux_close(m, e->channel, MUX_GONE);
		break;
	case MUX_CLOSE:
		mux_close(m, e->channel, MUX_DONE);
		break;
	case MUX_FOUND:
		need(m->is_manager && e->found.user.n < MUX_USER);
		mux_open(m, e->found.number, MUX_LINK, e->found.user);
		break;
	default:
		break;
	}
}

/* Heads one after the other, with lengths that lead to the end. */
static void check_output(const struct mux *m)
{
	size_t at = 0;

	while (at + MUX_HEAD <= m->out.n)
		at += MUX_HEAD + (((size_t)m->out.p[at + 4] << 24) |
				  ((size_t)m->out.p[at + 5] << 16) |
				  ((size_t)m->out.p[at + 6] << 8) | m->out.p[at + 7]);
	need(at == m->out.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mux m;
	struct mux_event e;
	size_t step;
	int rc = 0;

	if (!size)
		return 0;
	mux_init(&m, data[0] & 1);
	for (unsigned i = 0; (data[0] & 1) && i < OPENED; i++)
		mux_open(&m, 1, MUX_LINK, slice_str(""));
	if (data[0] & 2)
		mux_close(&m, 0, MUX_DONE);
	step = 1 + (size_t)data[0] / 4;
	for (size_t at = 1; at < size && rc >= 0; at += step) {
		buf_bytes(&m.in, data + at, size - at < step ? size - at : step);
		while ((rc = mux_next(&m, &e)) > 0)
			react(&m, &e);
		check(&m);
	}
	need(rc >= 0 || m.why);
	check_output(&m);
	mux_release(&m);
	return 0;
}
