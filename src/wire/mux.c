/* SPDX-License-Identifier: Apache-2.0 */
/* mux.c - frames, channels and their windows; see mux.h.
 *
 * A side that has closed a channel may still be sent data that was under way, which is passed over.
 * The other side, when it has seen the CLOSE, sends its own, and only then the number is free: so
 * no late frame is taken for one of the next channel with that number, and a frame for a free
 * channel is always a broken rule. */
#include "wire/mux.h"

#include "base/reader.h"

void mux_init(struct mux *m, bool is_manager)
{
	*m = (struct mux){ .is_manager = is_manager };
}

void mux_release(struct mux *m)
{
	buf_release(&m->in);
	buf_release(&m->out);
}

static int broken(struct mux *m, const char *why)
{
	m->why = why;
	return E_SYNTAX;
}

/* ---- writing ---- */

static void put_head(struct mux *m, enum mux_type type, unsigned channel, size_t n)
{
	buf_u8(&m->out, type);
	buf_u8(&m->out, 0);
	buf_u16(&m->out, channel);
	buf_u32(&m->out, (uint32_t)n);
}

static void put_long(struct mux *m, uint64_t v)
{
	buf_u32(&m->out, (uint32_t)(v >> 32));
	buf_u32(&m->out, (uint32_t)v);
}

static void put_number(struct mux *m, enum mux_type type, unsigned channel, uint32_t v)
{
	put_head(m, type, channel, 4);
	buf_u32(&m->out, v);
}

static void open_window(struct mux *m, unsigned channel)
{
	m->channels[channel].state = MUX_OPENED;
	m->channels[channel].may_send = m->channels[channel].may_come = MUX_WINDOW;
	m->channels[channel].owed = 0;
}

int mux_open(struct mux *m, uint32_t agent, unsigned kind, struct slice text)
{
	for (unsigned k = 0; text.n <= MUX_TEXT && k < MUX_CHANNELS; k++) {
		unsigned channel = (m->next + k) % MUX_CHANNELS;

		if (m->channels[channel].state != MUX_FREE)
			continue;
		m->next = channel + 1;
		open_window(m, channel);
		put_head(m, MUX_OPEN, channel, 8 + text.n);
		buf_u32(&m->out, agent);
		buf_u32(&m->out, kind);
		buf_put(&m->out, text);
		return (int)channel;
	}
	return E_LIMIT;
}

long mux_found(struct mux *m, uint32_t pid, uint64_t ticks, struct slice user)
{
	if (m->n_agents == MUX_AGENTS || user.n >= MUX_USER)
		return E_LIMIT;
	m->agents[m->n_agents++] = ++m->newest;
	put_head(m, MUX_FOUND, 0, 16 + user.n);
	buf_u32(&m->out, m->newest);
	buf_u32(&m->out, pid);
	put_long(m, ticks);
	buf_put(&m->out, user);
	return m->newest;
}

static bool is_agent(const struct mux *m, uint32_t agent)
{
	for (unsigned k = 0; k < m->n_agents; k++)
		if (m->agents[k] == agent)
			return true;
	return false;
}

static void drop_agent(struct mux *m, uint32_t agent)
{
	for (unsigned k = 0; k < m->n_agents; k++)
		if (m->agents[k] == agent)
			m->agents[k--] = m->agents[--m->n_agents];
}

void mux_ended(struct mux *m, uint32_t agent)
{
	drop_agent(m, agent);
	put_number(m, MUX_ENDED, 0, agent);
}

void mux_listed(struct mux *m)
{
	put_head(m, MUX_LISTED, 0, 0);
}

void mux_cost(struct mux *m, uint32_t agent, uint64_t own_ns)
{
	put_head(m, MUX_COST, 0, 12);
	buf_u32(&m->out, agent);
	put_long(m, own_ns);
}

void mux_ping(struct mux *m)
{
	put_head(m, MUX_PING, 0, 0);
}

size_t mux_room(const struct mux *m, unsigned channel)
{
	uint32_t left = m->channels[channel].may_send;

	if (m->channels[channel].state != MUX_OPENED)
		return 0;
	return left < MUX_FRAME ? left : MUX_FRAME;
}

void mux_send(struct mux *m, unsigned channel, struct slice data)
{
	if (!data.n || data.n > mux_room(m, channel))
		return;
	put_head(m, MUX_DATA, channel, data.n);
	buf_put(&m->out, data);
	m->channels[channel].may_send -= (uint32_t)data.n;
}

/* Not for each little piece. */
void mux_eaten(struct mux *m, unsigned channel, size_t n)
{
	if (m->channels[channel].state != MUX_OPENED)
		return;
	m->channels[channel].owed += (uint32_t)n;
	if (m->channels[channel].owed < MUX_WINDOW / 4)
		return;
	put_number(m, MUX_CREDIT, channel, m->channels[channel].owed);
	m->channels[channel].may_come += m->channels[channel].owed;
	m->channels[channel].owed = 0;
}

void mux_close(struct mux *m, unsigned channel, enum mux_reason reason)
{
	enum mux_state state = m->channels[channel].state;

	if (state != MUX_OPENED && state != MUX_THEY_CLOSED)
		return;
	put_number(m, MUX_CLOSE, channel, reason);
	m->channels[channel].state = state == MUX_OPENED ? MUX_WE_CLOSED : MUX_FREE;
}

/* ---- reading ---- */

/* Which side may send it, whether it is of a channel, and how long it may be. */
static const struct {
	bool from_manager, from_relay, channel;
	uint32_t least, most;
} rules[MUX_TYPES] = {
	[MUX_FOUND] = { false, true, false, 16, 16 + MUX_USER - 1 },
	[MUX_ENDED] = { false, true, false, 4, 4 },
	[MUX_LISTED] = { false, true, false, 0, 0 },
	[MUX_COST] = { false, true, false, 12, 12 },
	[MUX_OPEN] = { true, false, true, 8, 8 + MUX_TEXT },
	[MUX_DATA] = { true, true, true, 1, MUX_FRAME },
	[MUX_CREDIT] = { true, true, true, 4, 4 },
	[MUX_CLOSE] = { true, true, true, 4, 4 },
	[MUX_PING] = { true, true, false, 0, 0 },
};

static uint64_t read_long(struct reader *r)
{
	uint64_t high = rd_u32(r);

	return high << 32 | rd_u32(r);
}

static int take_found(struct mux *m, struct mux_event *e, struct reader *r)
{
	e->found.number = rd_u32(r);
	e->found.pid = rd_u32(r);
	e->found.ticks = read_long(r);
	e->found.user = (struct slice){ r->p, rd_left(r) };
	if (e->found.number <= m->newest)
		return broken(m, "it tells of an agent twice");
	if (m->n_agents == MUX_AGENTS)
		return broken(m, "it tells of too many agents");
	m->newest = e->found.number;
	m->agents[m->n_agents++] = e->found.number;
	return 1;
}

static int take_agent(struct mux *m, struct mux_event *e, struct reader *r)
{
	e->agent = rd_u32(r);
	if (!is_agent(m, e->agent))
		return broken(m, "it tells of an agent that it has not named");
	if (e->type == MUX_ENDED)
		drop_agent(m, e->agent);
	else
		e->own_ns = read_long(r);
	return 1;
}

static int take_open(struct mux *m, struct mux_event *e, struct reader *r)
{
	if (m->channels[e->channel].state != MUX_FREE)
		return broken(m, "it opens a channel twice");
	e->agent = rd_u32(r);
	e->kind = rd_u32(r);
	e->data = (struct slice){ r->p, rd_left(r) };
	open_window(m, e->channel);
	return 1;
}

static int take_data(struct mux *m, struct mux_event *e, struct reader *r)
{
	enum mux_state state = m->channels[e->channel].state;

	e->data = (struct slice){ r->p, rd_left(r) };
	if (e->data.n > m->channels[e->channel].may_come)
		return broken(m, "it sends more than it was granted");
	m->channels[e->channel].may_come -= (uint32_t)e->data.n;
	return state == MUX_OPENED ? 1 : 0; /* 0: it was under way when we closed */
}

static int take_credit(struct mux *m, struct mux_event *e, struct reader *r)
{
	uint32_t n = rd_u32(r);

	if (n > MUX_WINDOW - m->channels[e->channel].may_send)
		return broken(m, "it grants more than it was sent");
	m->channels[e->channel].may_send += n;
	return 0;
}

static int take_close(struct mux *m, struct mux_event *e, struct reader *r)
{
	bool both = m->channels[e->channel].state == MUX_WE_CLOSED;

	e->reason = rd_u32(r);
	m->channels[e->channel].state = both ? MUX_FREE : MUX_THEY_CLOSED;
	return both ? 0 : 1;
}

/* 1: an event; 0: nothing that anybody has to know. */
static int take(struct mux *m, struct mux_event *e, struct slice payload)
{
	struct reader r = rd_init(payload);
	enum mux_state state = m->channels[e->channel].state;

	if (rules[e->type].channel && e->type != MUX_OPEN &&
	    (state == MUX_FREE || state == MUX_THEY_CLOSED))
		return broken(m, "it uses a channel that is not open");
	switch (e->type) {
	case MUX_FOUND:
		return take_found(m, e, &r);
	case MUX_ENDED:
	case MUX_COST:
		return take_agent(m, e, &r);
	case MUX_OPEN:
		return take_open(m, e, &r);
	case MUX_DATA:
		return take_data(m, e, &r);
	case MUX_CREDIT:
		return take_credit(m, e, &r);
	case MUX_CLOSE:
		return take_close(m, e, &r);
	default:
		return 1;
	}
}

/* A head that breaks no rule by itself. */
static int check_head(struct mux *m, const uint8_t *p, uint32_t length)
{
	unsigned type = p[0], channel = get_u16(p + 2);

	if (type == 0 || type >= MUX_TYPES || p[1] ||
	    !(m->is_manager ? rules[type].from_relay : rules[type].from_manager))
		return broken(m, "it sends frames of a kind that is not its to send");
	if (length < rules[type].least || length > rules[type].most)
		return broken(m, "it sends a frame of a wrong length");
	if (rules[type].channel ? channel >= MUX_CHANNELS : channel != 0)
		return broken(m, "it uses a channel that cannot be");
	return 0;
}

static void drop_used(struct mux *m)
{
	if (!m->used)
		return;
	memmove(m->in.p, m->in.p + m->used, m->in.n - m->used);
	m->in.n -= m->used;
	m->used = 0;
}

int mux_next(struct mux *m, struct mux_event *e)
{
	if (m->why)
		return E_SYNTAX;
	if (m->in.err || m->out.err)
		return broken(m, "out of memory");
	while (m->in.n - m->used >= MUX_HEAD) {
		const uint8_t *p = m->in.p + m->used;
		uint32_t length = get_u32(p + 4);
		int rc = check_head(m, p, length);

		if (rc < 0)
			return rc;
		if (m->in.n - m->used - MUX_HEAD < length)
			break;
		*e = (struct mux_event){ .type = p[0], .channel = get_u16(p + 2) };
		m->used += MUX_HEAD + length;
		rc = take(m, e, (struct slice){ p + MUX_HEAD, length });
		if (rc)
			return rc;
	}
	drop_used(m);
	return 0;
}
