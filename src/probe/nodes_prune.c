/* SPDX-License-Identifier: Apache-2.0 */
/* nodes_prune.c - makes room in a tree: lossy counting over calling contexts, in small steps.
 *
 * A thread whose memory is used up goes over its tree like the hand of a clock: a few nodes for
 * each new one that it wants, so that no call ever waits for the whole.  Each leaf that the hand
 * meets has a heat: its share of the tree's time or calls, whichever is more.  Leaves that are
 * among the coldest, as far as is known from this round and the one before, are taken out, and what
 * is above them, too, when it is as cold and a leaf by now.  The figures of a node that goes are
 * added to its method's, so these stay exact, and to a child of its parent that stands for all such
 * (KID_PRUNED), so the tree says what it does not show.
 *
 * The bound.  A context that was taken out counts from 0 when it comes back, and a node does not go
 * in the round in which it was made.  So a context goes at most once a round, and loses at most
 * what the hottest had that went in that round: none, there or not, lacks more than the sum of
 * these, which is kept.  Most contexts are called a few times and never again: so what goes is
 * mostly that.
 *
 * Who is in the way.  The tree is its thread's, which does nothing else meanwhile, and a signal
 * handler in it finds itself muted.  The agent reads nodes and methods as one, so the two exclude
 * each other by two words, each written before the other is read.  The agent waits.  The thread
 * takes of its reserve; when that is used up it stays for some microseconds, which is what reading
 * one method takes, and then goes on without a context.  While somebody reads, a node may come into
 * being, but none goes. */
#include "probe/nodes.h"

#include "base/tick.h"
#include "probe/histogram.h"

#include <string.h>

enum {
	SHARE = 5,	  /* of so many nodes that are looked at one is to go, if that */
	HALF = 2,	  /* ... is not more than one in so many leaves */
	LOOK = 32,	  /* nodes to look at in one step */
	LOOK_MANY = 1024, /* ... until the coldest goes, however hot it is */

	ENOUGH = 16, /* one in so many nodes to be free, of trees of ended threads */

	ROUNDS = 8,
	CHAINS = 32, /* of heads, to look for windows in */
	WAIT = 64,   /* nodes to be wanted before what was in vain is tried again */
	STAY = 512,  /* times to look whether the agent still reads: 4 to 10 us */
	PINS = 3,
};

struct prune_step {
	struct probe_thread *t;
	const struct probe_node *pins[PINS]; /* leaves that stay */
	double per_tick, per_call;	     /* what share of the whole one of it is */
	uint32_t limit;			     /* heat up to which leaves go */
	struct probe_node *coldest;	     /* that was met and stayed, or NULL */
	uint32_t coldest_heat;
};

static struct probe_node *parent_of(struct probe_thread *t, const struct probe_node *node)
{
	return node->parent ? node_at(node->parent) : &t->root;
}

static bool is_context(const struct probe_node *node)
{
	return ((uint32_t)node->key & (KID_FREE | KID_PRUNED)) == 0;
}

/* What counts of a node: nothing when its method was reset since.  Hidden calls are no figures, but
 * cost as much to find again. */
static struct probe_figures figures_now(const struct probe_node *node)
{
	struct probe_figures f = { .min = UINT64_MAX };
	uint32_t id = is_context(node) ? node_id(node) : 0;

	sums_of_node(&f, node, LOAD(probe.methods[id].epoch));
	meter_of_node(&f.metered, node, LOAD(probe.methods[id].epoch));
	return f;
}

/* ---- heat -------------------------------------------------------------------------------- */

/* 1 to PROBE_BUCKETS */
static uint32_t heat_of_share(double share)
{
	return 1 + histogram_bucket((uint64_t)((share < 1 ? share : 1) * (double)(1ull << 40)));
}

static uint32_t heat_of(const struct prune_step *s, const struct probe_node *node)
{
	struct probe_figures f = figures_now(node);
	double time = (double)f.weighted * s->per_tick, calls = (double)f.calls * s->per_call;

	if (node_is_hidden(node))
		calls = (double)node->counted * s->per_call;
	return heat_of_share(time > calls ? time : calls);
}

/* So that enough of all leaves that were met in this round and the one before is not hotter: the
 * more goes, the longer is a round, and the time that a new context has to become hot. */
static uint32_t limit_of(const struct probe_prune *p)
{
	uint32_t leaves = 0, sum = 0, heat, limit = 0, enough;
	uint32_t cold = p->cold[0] + p->cold[1], gone = p->gone[0] + p->gone[1];

	for (heat = 1; heat <= PROBE_BUCKETS; heat++)
		leaves += p->heat[0][heat] + p->heat[1][heat];
	enough = (p->looked[0] + p->looked[1]) / SHARE;
	if (gone > cold)
		enough = (uint32_t)((uint64_t)enough * cold / gone);
	enough = enough < leaves / HALF ? enough : leaves / HALF;
	for (heat = 1; heat <= PROBE_BUCKETS && sum <= enough; heat++) {
		uint32_t n = p->heat[0][heat] + p->heat[1][heat];

		sum += n;
		if (n)
			limit = heat;
	}
	return limit;
}

/* The whole is what its outermost calls took, and how many calls the nodes had when they were last
 * met. */
static void measure(struct prune_step *s)
{
	const struct probe_thread *t = s->t;
	const struct probe_prune *p = &t->prune;
	uint64_t now = tick_now(), began = t->frames[1].token >> 1;
	double ticks = (double)t->frames[0].below, calls = p->calls[1];
	if (began && began < now)
		ticks += (double)(now - began);
	if (calls <= 0 && p->looked[0])
		calls = p->calls[0] / (double)p->looked[0] * (double)t->nodes_n;
	s->per_tick = ticks > 0 ? 1 / ticks : 0;
	s->per_call = calls > 0 ? 1 / calls : 0;
	s->limit = limit_of(p);
}

/* ---- taking out -------------------------------------------------------------------------- */

/* Adds to the bound what this one has lost more than all others of this round. */
static void add_to_bound(struct probe_thread *t, const struct probe_figures *f)
{
	uint32_t epoch = LOAD(probe.methods[0].epoch);
	struct probe_prune *p = &t->prune;

	if (t->bound_epoch != epoch) {
		STORE(t->bound_ticks, 0);
		STORE(t->bound_calls, 0);
		STORE(t->bound_epoch, epoch);
		p->most_ticks = p->most_calls = 0;
	}
	if (f->weighted > p->most_ticks) {
		ADD(t->bound_ticks, f->weighted - p->most_ticks);
		p->most_ticks = f->weighted;
	}
	if (f->calls > p->most_calls) {
		ADD(t->bound_calls, f->calls - p->most_calls);
		p->most_calls = f->calls;
	}
}

/* What stands for all that was taken out below a node, made of `slot` when there is nothing yet. */
static struct probe_node *pruned_of(struct probe_thread *t, struct probe_node *parent,
				    struct probe_node *slot)
{
	struct probe_node *node = nodes_take_pruned(t, parent);

	if (node) {
		nodes_set_free(t, slot);
	} else {
		node = slot;
		nodes_forget_kin(t, node);
		nodes_make_pruned(node, nodes_line(t, parent));
		node->recent = &probe_nobody;
	}
	nodes_put_into_hash(t, node);
	return node;
}

/* What goes up is what was called in all, and the time of the outermost calls. */
static void take_out(struct probe_thread *t, struct probe_node *node)
{
	struct probe_node *below = nodes_take_pruned(t, node), *parent = parent_of(t, node);
	struct probe_figures f = figures_now(node), sum = f, g;
	uint32_t id = node_id(node);

	if (node_is_hidden(node))
		ADD(nodes_head(t, id, false)->outside, node->counted);
	shared_add(id, &f);
	if (below) {
		g = figures_now(below);
		if (!f.timed)
			sum = g;
		sum.calls = f.calls + g.calls;
		sum.errors = f.errors + g.errors;
		nodes_set_free(t, below);
	}
	add_to_bound(t, &f);
	ADD(t->pruned, 1);
	nodes_unlink(t, node);
	nodes_add_pruned(t, pruned_of(t, parent, node), &sum);
}

/* ---- the hand ---------------------------------------------------------------------------- */

static bool may_go(const struct prune_step *s, const struct probe_node *node)
{
	const struct probe_kin *kin;

	if (node == &s->t->root || !is_context(node))
		return false;
	kin = kin_of(line_of(node));
	if (kin->kids || kin->round == s->t->prune.round)
		return false;
	for (int i = 0; i < PINS; i++)
		if (node == s->pins[i])
			return false;
	return true;
}

static void look_at(struct prune_step *s, struct probe_node *node)
{
	struct probe_prune *p = &s->t->prune;
	uint32_t heat;

	if ((uint32_t)node->key & KID_FREE)
		return;
	p->calls[0] += (double)(node->begun + node->counted);
	if (!may_go(s, node))
		return;
	heat = heat_of(s, node);
	p->heat[0][heat]++;
	if (heat > s->limit && (!s->coldest || heat < s->coldest_heat)) {
		s->coldest = node;
		s->coldest_heat = heat;
	}
	p->cold[0] += heat <= s->limit;
	while (heat <= s->limit) {
		struct probe_node *parent = parent_of(s->t, node);

		if (node == s->coldest)
			s->coldest = NULL;
		p->gone[0]++;
		take_out(s->t, node);
		node = parent;
		if (!may_go(s, node))
			return;
		heat = heat_of(s, node);
	}
}

static void begin_anew(struct probe_prune *p)
{
	p->hand = p->page = 0;
	p->round++;
	p->looked[1] = p->looked[0];
	p->calls[1] = p->calls[0];
	p->cold[1] = p->cold[0];
	p->gone[1] = p->gone[0];
	p->looked[0] = p->cold[0] = p->gone[0] = 0;
	p->calls[0] = 0;
	p->most_ticks = p->most_calls = 0;
	memcpy(p->heat[1], p->heat[0], sizeof(p->heat[0]));
	memset(p->heat[0], 0, sizeof(p->heat[0]));
}

static void look(struct prune_step *s, uint32_t n)
{
	struct probe_prune *p = &s->t->prune;

	measure(s);
	for (; n > 0; n--) {
		if (p->hand == s->t->nodes_n) {
			begin_anew(p);
			return;
		}
		look_at(s, nodes_at(s->t, p->hand++, &p->page));
		p->looked[0]++;
	}
}

/* Histograms of single threads are a comfort: methods have one for all.  When there is no room for
 * the head of a new method, some go. */
static void drop_windows(struct probe_thread *t)
{
	struct probe_head *head;

	for (int i = 0; i < CHAINS && !nodes_has_pieces(t); i++) {
		for (uint32_t line = t->head[t->prune.chain]; line; line = head->next) {
			head = line_at(line);
			nodes_drop_old(t, head);
			nodes_drop_window(t, head);
		}
		t->prune.chain = (t->prune.chain + 1) % HEADS;
	}
	for (struct probe_frame *f = t->frames + 1; f <= t->frames + PROBE_DEPTH; f++) {
		if (frame_is_unused(f))
			break;
		f->window = f->node->window;
	}
}

static bool has_room(const struct probe_thread *t)
{
	return t->free && nodes_has_pieces(t);
}

/* A call without a context would leave all those below it without one, so rather all nodes are
 * looked at; that happens when memory comes to its end of a sudden.  When many leaves were looked
 * at and none of them is cold, the coldest goes. */
static void look_for_room(struct prune_step *s)
{
	for (uint32_t n = LOOK; !has_room(s->t) && n <= 2 * s->t->nodes_n + LOOK_MANY; n += LOOK) {
		look(s, LOOK);
		if (!nodes_has_pieces(s->t))
			drop_windows(s->t);
		if (!has_room(s->t) && n % LOOK_MANY == 0 && s->coldest) {
			take_out(s->t, s->coldest);
			s->coldest = NULL;
		}
	}
}

/* ---- a thread's own ---------------------------------------------------------------------- */

/* Of the frames on a stack only the last with a node can be that of a leaf: each other one has the
 * next one's node below it.  There are two stacks while a virtual thread is mounted. */
static const struct probe_node *leaf_of(const struct probe_thread *t, const struct probe_frame *f)
{
	while (f > t->frames && (f->node == &probe_nowhere || frame_is_nobodys(f)))
		f--;
	return f->node;
}

static bool step_own(struct probe_thread *t, const struct probe_node *keep)
{
	struct prune_step s = { .t = t,
				.pins = { keep, leaf_of(t, thread_top()), leaf_of(t, t->base) } };
	struct probe_prune *p = &t->prune;
	uint64_t before = t->pruned;

	if (p->round == 0)
		begin_anew(p); /* what was made until now is not of this round */
	p->reserve = nodes_prune_reserve(t);
	if (keep) {
		look(&s, LOOK);
		return true;
	}
	look_for_room(&s);
	/* With memory short for something else it must not be tried again at every call. */
	p->wait = has_room(t) || t->pruned != before ? 0 : WAIT;
	return has_room(t);
}

static void let_readers_in(void)
{
	__atomic_fetch_sub(&probe.pruning, 1, __ATOMIC_SEQ_CST);
}

/* Who begins to read sees it and waits; for one that reads already it is looked so many times. */
static bool keep_readers_out(int looks)
{
	if (looks == 1 && LOAD(probe.reading))
		return false;
	__atomic_fetch_add(&probe.pruning, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&probe.reading, __ATOMIC_SEQ_CST)) {
		if (--looks <= 0) {
			let_readers_in();
			return false;
		}
		(void)tick_now(); /* takes its time */
	}
	return true;
}

/* Who reads for longer is not waited for at each call that it lasts. */
static bool await_readers(struct probe_prune *p)
{
	bool waits = p->in_vain == 0, good = keep_readers_out(waits ? STAY : 1);

	if (good)
		p->in_vain = 0;
	else
		p->in_vain = waits ? WAIT : p->in_vain - 1;
	return good;
}

bool nodes_prune_own(struct probe_thread *t, const struct probe_node *keep)
{
	bool good;

	if (t->busy || t->nodes_n == 0)
		return false;
	if (t->prune.wait > 0) {
		t->prune.wait--;
		return false;
	}
	if (!(keep ? keep_readers_out(1) : await_readers(&t->prune)))
		return false;
	STORE(t->busy, 1);
	probe_mute(true);
	good = step_own(t, keep);
	probe_mute(false);
	STORE(t->busy, 0);
	let_readers_in();
	return good;
}

/* ---- of threads that have ended ------------------------------------------------------------ */

uint32_t nodes_prune_once(struct probe_thread *t)
{
	struct prune_step s = { .t = t };
	uint64_t before = t->pruned;
	uint32_t n = t->nodes_n;

	if (t->prune.round == 0)
		begin_anew(&t->prune);
	for (uint32_t i = 0; i < n; i += LOOK)
		look(&s, LOOK);
	return (uint32_t)(t->pruned - before);
}

bool nodes_prune_ended(struct probe_thread *t)
{
	for (int i = 0; i < ROUNDS && t->free_n <= t->nodes_n / ENOUGH; i++)
		nodes_prune_once(t);
	if (!nodes_has_pieces(t))
		drop_windows(t);
	return t->free_n > 0;
}
