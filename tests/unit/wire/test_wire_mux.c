/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "base/random.h"
#include "wire/mux.h"

/* What one side has written, read by the other. */
static void hand_over(struct mux *from, struct mux *to)
{
	buf_put(&to->in, buf_slice(&from->out));
	buf_clear(&from->out);
}

static struct slice text(const char *s)
{
	return slice_str(s);
}

/* A manager that knows agent 1 and has channel 0 to it; with `closed` it has closed that. */
static void make_manager(struct mux *m, bool closed)
{
	struct mux_event e;
	struct mux relay;

	mux_init(m, true);
	mux_init(&relay, false);
	mux_found(&relay, 10, 20, text("u"));
	hand_over(&relay, m);
	CHECK_INT(mux_next(m, &e), 1, "found");
	CHECK_INT(mux_open(m, 1, MUX_LINK, text("")), 0, "the first channel");
	if (closed)
		mux_close(m, 0, MUX_DONE);
	mux_release(&relay);
}

static void put_frame(struct buf *to, unsigned type, unsigned channel, uint32_t n,
		      const char *payload)
{
	buf_u8(to, type);
	buf_u8(to, 0);
	buf_u16(to, channel);
	buf_u32(to, n);
	for (uint32_t i = 0; i < n && payload; i++)
		buf_u8(to, (unsigned char)payload[i]);
}

static const struct {
	const char *label, *why;
	unsigned type, channel;
	uint32_t n;
	const char *payload; /* NULL: the head is enough */
	bool closed;
} hostile[] = {
	{ "no type", "kind", 0, 0, 0, NULL, false },
	{ "unknown type", "kind", MUX_TYPES, 0, 0, NULL, false },
	{ "a manager's frame", "kind", MUX_OPEN, 1, 8, NULL, false },
	{ "a huge length", "length", MUX_DATA, 0, 0xffffffff, NULL, false },
	{ "a long frame", "length", MUX_DATA, 0, MUX_FRAME + 1, NULL, false },
	{ "no data", "length", MUX_DATA, 0, 0, NULL, false },
	{ "a short number", "length", MUX_CREDIT, 0, 3, NULL, false },
	{ "a ping with bytes", "length", MUX_PING, 0, 1, NULL, false },
	{ "a long user", "length", MUX_FOUND, 0, 16 + MUX_USER, NULL, false },
	{ "a channel too high", "cannot be", MUX_DATA, MUX_CHANNELS, 1, NULL, false },
	{ "a channel where none is", "cannot be", MUX_PING, 1, 0, NULL, false },
	{ "an unknown channel", "not open", MUX_DATA, 5, 1, "x", false },
	{ "credit for an unknown channel", "not open", MUX_CREDIT, 5, 4, "\0\0\0\1", false },
	{ "end of an unknown channel", "not open", MUX_CLOSE, 5, 4, "\0\0\0\0", false },
	{ "credit for nothing", "grants more", MUX_CREDIT, 0, 4, "\0\0\0\1", false },
	{ "an agent twice", "twice", MUX_FOUND, 0, 16, "\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1", false },
	{ "end of an unknown agent", "not named", MUX_ENDED, 0, 4, "\0\0\0\7", false },
	{ "cost of an unknown agent", "not named", MUX_COST, 0, 12, "\0\0\0\7\0\0\0\0\0\0\0\0",
	  false },
	{ "a whole frame", NULL, MUX_DATA, 0, 1, "x", false },
	{ "data that was under way", NULL, MUX_DATA, 0, 1, "x", true },
};

TEST(a_relay_that_breaks_a_rule_is_told_which_and_heard_no_more)
{
	for (size_t i = 0; i < COUNT(hostile); i++) {
		struct mux_event e;
		struct mux m;
		int rc;

		make_manager(&m, hostile[i].closed);
		put_frame(&m.in, hostile[i].type, hostile[i].channel, hostile[i].n,
			  hostile[i].payload);
		rc = mux_next(&m, &e);
		if (!hostile[i].why) {
			CHECK_INT(rc, hostile[i].closed ? 0 : 1, hostile[i].label);
		} else {
			CHECK_INT(rc, E_SYNTAX, hostile[i].label);
			test_check(m.why && strstr(m.why, hostile[i].why),
				   TEST_AT("why", hostile[i].label));
			buf_clear(&m.in);
			m.used = 0;
			put_frame(&m.in, MUX_PING, 0, 0, "");
			CHECK_INT(mux_next(&m, &e), E_SYNTAX, "it stays broken");
		}
		mux_release(&m);
	}
}

TEST(a_manager_that_opens_a_channel_twice_is_refused)
{
	struct mux_event e;
	struct mux m;

	mux_init(&m, false);
	put_frame(&m.in, MUX_OPEN, 3, 8, "\0\0\0\1\0\0\0\0");
	put_frame(&m.in, MUX_OPEN, 3, 8, "\0\0\0\1\0\0\0\0");
	CHECK_INT(mux_next(&m, &e), 1, "once");
	CHECK_INT(mux_next(&m, &e), E_SYNTAX, "twice");
	mux_release(&m);
}

TEST(more_agents_than_the_limit_end_the_connection)
{
	struct mux_event e;
	struct mux m, relay;
	int rc = 1;

	mux_init(&m, true);
	mux_init(&relay, false);
	for (uint32_t i = 0; i < MUX_AGENTS; i++)
		CHECK(mux_found(&relay, i, i, text("")) > 0);
	CHECK_INT(mux_found(&relay, 1, 1, text("")), E_LIMIT, "the relay keeps to it");
	hand_over(&relay, &m);
	for (uint32_t i = 0; i < MUX_AGENTS; i++)
		rc = mux_next(&m, &e);
	CHECK_INT(rc, 1, "as many as may be");
	put_frame(&m.in, MUX_FOUND, 0, 16, "\0\1\0\0\0\0\0\1\0\0\0\0\0\0\0\1");
	CHECK_INT(mux_next(&m, &e), E_SYNTAX, "one more");
	CHECK_STR(m.why, "it tells of too many agents", NULL);
	mux_release(&m);
	mux_release(&relay);
}

TEST(a_window_holds_back_who_is_not_read)
{
	static const char block[MUX_FRAME];
	struct slice data = { (const uint8_t *)block, sizeof(block) };
	struct mux m, relay;
	struct mux_event e;
	size_t sent = 0;

	make_manager(&m, false);
	mux_init(&relay, false);
	hand_over(&m, &relay);
	CHECK_INT(mux_next(&relay, &e), 1, "open");
	for (; mux_room(&relay, 0); sent += sizeof(block))
		mux_send(&relay, 0, data);
	CHECK_INT(sent, MUX_WINDOW, "no more than the window");
	hand_over(&relay, &m);
	while (mux_next(&m, &e) > 0)
		mux_eaten(&m, 0, e.data.n);
	hand_over(&m, &relay);
	CHECK_INT(mux_next(&relay, &e), 0, "credit is nobody's business");
	CHECK_INT(relay.channels[0].may_send, MUX_WINDOW, "all of it came back");
	for (unsigned i = 0; i < MUX_WINDOW / MUX_FRAME; i++)
		mux_send(&relay, 0, data);
	put_frame(&relay.out, MUX_DATA, 0, 1, "x");
	hand_over(&relay, &m);
	for (unsigned i = 0; i < MUX_WINDOW / MUX_FRAME; i++)
		CHECK_INT(mux_next(&m, &e), 1, NULL);
	CHECK_INT(mux_next(&m, &e), E_SYNTAX, "a byte more than was granted");
	mux_release(&m);
	mux_release(&relay);
}

/* ---- both sides, whatever they do ---- */

struct side {
	struct mux m;
	uint64_t sent[MUX_CHANNELS],
		got[MUX_CHANNELS];	/* sums of bytes, of this use of the channel */
	unsigned waiting[MUX_CHANNELS]; /* bytes that came and are not eaten */
};

static void read_all(struct side *s, bool *good)
{
	struct mux_event e;
	int rc;

	while ((rc = mux_next(&s->m, &e)) > 0) {
		if (e.type == MUX_OPEN)
			s->got[e.channel] = s->sent[e.channel] = s->waiting[e.channel] = 0;
		if (e.type == MUX_DATA) {
			s->got[e.channel] += e.data.p[0];
			s->waiting[e.channel] += (unsigned)e.data.n;
		}
	}
	*good = *good && rc == 0;
}

static void act(struct side *s, uint64_t *random)
{
	static const uint8_t block[MUX_FRAME] = { 7 };
	unsigned c = random_below(random, 8);
	size_t room = mux_room(&s->m, c), n = 1 + random_below(random, MUX_FRAME);

	switch (random_below(random, 6)) {
	case 0:
		if (s->m.is_manager) {
			int opened = mux_open(&s->m, 1, MUX_LINK, text("x"));

			if (opened >= 0)
				s->got[opened] = s->sent[opened] = s->waiting[opened] = 0;
			s->m.next %= 8;
		}
		return;
	case 1:
		if (random_below(random, 8) == 0)
			mux_close(&s->m, c, MUX_DONE);
		return;
	case 2:
		mux_eaten(&s->m, c, s->waiting[c]);
		s->waiting[c] = 0;
		return;
	default:
		n = n < room ? n : room;
		if (n)
			s->sent[c] += block[0];
		mux_send(&s->m, c, (struct slice){ block, n });
	}
}

TEST(two_sides_that_keep_the_rules_never_break_them)
{
	static struct side manager, relay;
	uint64_t random = 4711;
	bool good = true;

	mux_init(&manager.m, true);
	mux_init(&relay.m, false);
	mux_found(&relay.m, 1, 1, text("me"));
	for (unsigned i = 0; i < (test_is_short() ? 5000u : 100000u) && good; i++) {
		act(&manager, &random);
		act(&relay, &random);
		if (random_below(&random, 3) == 0) {
			hand_over(&manager.m, &relay.m);
			read_all(&relay, &good);
		}
		if (random_below(&random, 3) == 0) {
			hand_over(&relay.m, &manager.m);
			read_all(&manager, &good);
		}
	}
	CHECK(good);
	for (unsigned turn = 0; turn < 2; turn++) {
		hand_over(&manager.m, &relay.m);
		read_all(&relay, &good);
		hand_over(&relay.m, &manager.m);
		read_all(&manager, &good);
	}
	for (unsigned c = 0; c < 8; c++) {
		if (manager.m.channels[c].state != MUX_OPENED ||
		    relay.m.channels[c].state != MUX_OPENED)
			continue;
		CHECK_INT(manager.sent[c], relay.got[c], "all that was sent came");
		CHECK_INT(relay.sent[c], manager.got[c], "and back");
	}
	CHECK_STR(manager.m.why ? manager.m.why : "", "", NULL);
	CHECK_STR(relay.m.why ? relay.m.why : "", "", NULL);
	mux_release(&manager.m);
	mux_release(&relay.m);
}
