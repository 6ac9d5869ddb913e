/* SPDX-License-Identifier: Apache-2.0 */
/* prune.c - makes room in a tree: lossy counting over calling contexts.
 *
 * When a thread finds no memory for a node, it goes over its whole tree once.  Each node has a heat: its
 * share of the tree's time or calls, whichever is more, or the heat of a node below it when that is
 * hotter.  The coldest eighth is taken out, leaves before what is above them.  The figures of a node
 * that goes are added to its method's, so these stay exact, and to a child of its parent that
 * stands for all such (KID_PRUNED), so the tree says what it does not show.
 *
 * The bound.  A context that was taken out has lost at most what the hottest of its round had, and
 * when it comes back counts from 0.  So no context, there or not, lacks more than the sum of that over
 * all rounds, which is kept.  Some of the nodes are new in each round, and most contexts are called a few
 * times and never again: so what goes is mostly that.
 *
 * Who is in the way.  The tree is its thread's, which does nothing else meanwhile, and a signal handler
 * in it finds itself muted.  The agent reads nodes and methods as one, so the two exclude
 * each other by two words, each written before the other is read: the agent waits, the thread does
 * not but goes on without a context.  While somebody reads, a node may come into being, but none goes.
 *
 * The words that are not needed meanwhile are used: `recent` of all nodes, which only remembers, and
 * hash_next, since the hash is built anew. */
#include "probe/prune.h"

#include "base/tick.h"
#include "probe/histogram.h"
#include "probe/nodes.h"

#include <string.h>

enum {
	PINNED = PROBE_BUCKETS +
		 1,  /* heat of a node that cannot go; others have 1 to PROBE_BUCKETS */
	SHARE = 8,   /* one in so many contexts goes */
	ENOUGH = 16, /* ... for one in so many nodes to be free */
	ROUNDS = 4,
	WAIT = 64, /* nodes to be wanted after nothing could be taken out */
};

struct round {
	struct probe_thread *t;
	uint32_t contexts;
	uint32_t freed;
	double per_tick, per_call;	 /* what share of the whole one of it is */
	uint32_t first, last;		 /* lines: all nodes, children first, linked by hash_next */
	uint32_t count[PINNED + 1];	 /* nodes by heat */
	uint32_t limit;			 /* heat up to which nodes go */
	uint64_t most_ticks, most_calls; /* of one that went */
};

static struct probe_node *parent_of(struct probe_thread *t, const struct probe_node *node)
{
	return node->parent ? node_at(node->parent) : &t->root;
}

static bool is_kind(const struct probe_node *node, uint32_t kind)
{
	return ((uint32_t)node->key & kind) != 0;
}

static bool is_context(const struct probe_node *node)
{
	return !is_kind(node, KID_FREE | KID_PRUNED);
}

/* What counts of a node: nothing when its method was reset since.  Hidden calls are no figures, but
 * cost as much to find again. */
static struct probe_figures figures_now(const struct probe_node *node)
{
	struct probe_figures f = { .min = UINT64_MAX };
	uint32_t id = is_context(node) ? node_id(node) : 0;

	figures_of_node(&f, node, LOAD(probe.methods[id].epoch));
	return f;
}

/* ---- heat -------------------------------------------------------------------------------- */

static void mark_frames(struct probe_thread *t)
{
	for (struct probe_frame *f = t->frames + 1; f <= t->frames + PROBE_DEPTH; f++) {
		if (frame_is_unused(f))
			break;
		if (f->node != &t->root && f->node != &probe_nowhere)
			f->node->hash_next = PINNED;
	}
}

/* hash_next is the greatest heat known yet, prune.heat the number of children. */
static void begin(struct round *r)
{
	struct probe_thread *t = r->t;
	uint64_t now = tick_now(), began = t->frames[1].token >> 1;
	double ticks = began && began < now ? (double)(now - began) : 0, calls = 0;
	uint32_t page = 0;

	t->root.prune.pruned = t->root.prune.heat = 0;
	for (uint32_t i = 0; i < t->nodes_n; i++) {
		struct probe_node *node = nodes_at(t, i, &page);

		if (is_kind(node, KID_FREE))
			continue;
		node->hash_next = node->prune.pruned = node->prune.heat = 0;
		calls += (double)(node->begun + node->counted);
		if (!node->parent)
			ticks += (double)(node->sum + node->weighted);
		r->contexts += is_context(node);
	}
	page = 0;
	for (uint32_t i = 0; i < t->nodes_n; i++) {
		struct probe_node *node = nodes_at(t, i, &page);

		if (is_kind(node, KID_PRUNED))
			parent_of(t, node)->prune.pruned = line_of(node);
		else if (!is_kind(node, KID_FREE))
			parent_of(t, node)->prune.heat++;
	}
	mark_frames(t);
	r->per_tick = ticks > 0 ? 1 / ticks : 0;
	r->per_call = calls > 0 ? 1 / calls : 0;
}

static uint32_t heat_of(const struct round *r, const struct probe_node *node)
{
	struct probe_figures f = figures_now(node);
	double time = (double)f.weighted * r->per_tick, calls = (double)f.calls * r->per_call;

	if (node_is_hidden(node))
		calls = (double)node->counted * r->per_call;
	time = time > calls ? time : calls;
	return 1 + histogram_bucket((uint64_t)((time < 1 ? time : 1) * (double)(1ull << 40)));
}

/* From a leaf upwards, for as long as all children of a node have been met. */
static void go_up(struct round *r, struct probe_node *node)
{
	for (;;) {
		struct probe_node *parent = parent_of(r->t, node);
		uint32_t heat = heat_of(r, node);

		heat = node->hash_next > heat ? node->hash_next : heat;
		node->prune.heat = heat;
		r->count[heat]++;
		if (r->last)
			node_at(r->last)->hash_next = line_of(node);
		else
			r->first = line_of(node);
		r->last = line_of(node);
		node->hash_next = 0;
		if (parent == &r->t->root)
			return;
		if (parent->hash_next < heat)
			parent->hash_next = heat;
		if (--parent->prune.heat > 0)
			return;
		node = parent;
	}
}

static void put_in_order(struct round *r)
{
	uint32_t page = 0;

	for (uint32_t i = 0; i < r->t->nodes_n; i++) {
		struct probe_node *node = nodes_at(r->t, i, &page);

		/* One that was met has a heat of 1 at least: so these are leaves. */
		if (is_context(node) && node->prune.heat == 0)
			go_up(r, node);
	}
}

static void choose_limit(struct round *r)
{
	uint32_t sum = 0;

	for (uint32_t heat = 1; heat < PINNED && sum <= r->contexts / SHARE; heat++) {
		sum += r->count[heat];
		if (r->count[heat])
			r->limit = heat;
	}
}

/* ---- taking out -------------------------------------------------------------------------- */

static void set_free(struct round *r, struct probe_node *node)
{
	STORE(node->key, KID_FREE);
	node->hash_next = r->t->free;
	r->t->free = line_of(node);
	r->freed++;
}

/* The child of a node that stands for what was taken out; made of `slot` when there is none. */
static struct probe_node *pruned_of(struct round *r, struct probe_node *parent,
				    struct probe_node *slot)
{
	uint32_t same_next = slot->same_next;

	if (parent->prune.pruned) {
		set_free(r, slot);
		return node_at(parent->prune.pruned);
	}
	nodes_make_pruned(slot, slot->parent);
	slot->same_next = same_next; /* it is still in its method's chain */
	parent->prune.pruned = line_of(slot);
	return slot;
}

/* What goes up is what was called in all, and the time of the outermost calls. */
static void take_out(struct round *r, struct probe_node *node)
{
	struct probe_node *below = node->prune.pruned ? node_at(node->prune.pruned) : NULL;
	struct probe_figures f = figures_now(node), sum = f, g;
	uint32_t id = node_id(node);

	if (node_is_hidden(node))
		ADD(nodes_head(r->t, id, false)->outside, node->counted);
	shared_add(id, &f);
	if (below) {
		g = figures_now(below);
		if (!f.timed)
			sum = g;
		sum.calls = f.calls + g.calls;
		sum.errors = f.errors + g.errors;
		set_free(r, below);
	}
	r->most_ticks = f.weighted > r->most_ticks ? f.weighted : r->most_ticks;
	r->most_calls = f.calls > r->most_calls ? f.calls : r->most_calls;
	r->t->pruned++;
	nodes_add_pruned(pruned_of(r, parent_of(r->t, node), node), &sum);
}

static void take_out_all(struct round *r)
{
	uint32_t next;

	for (uint32_t line = r->first; line; line = next) {
		struct probe_node *node = node_at(line);

		next = node->hash_next;
		if (node->prune.heat <= r->limit)
			take_out(r, node);
	}
}

/* ---- putting together -------------------------------------------------------------------- */

static void unlink_nodes(struct probe_head *head)
{
	uint32_t *link = &head->nodes;

	while (*link) {
		struct probe_node *node = node_at(*link);

		if (is_context(node))
			link = &node->same_next;
		else
			STORE(*link, node->same_next);
	}
}

/* Nodes first, then what no node needs any more. */
static void clean_heads(struct probe_thread *t)
{
	for (size_t i = 0; i < HEADS; i++) {
		uint32_t *link = &t->head[i];

		while (*link) {
			struct probe_head *head = line_at(*link);

			unlink_nodes(head);
			if (head->nodes || head->outside) {
				nodes_drop_old(t, head);
				link = &head->next;
				continue;
			}
			STORE(*link, head->next);
			nodes_drop_head(t, head);
		}
	}
}

/* Histograms of single threads are a comfort: methods have one for all.  When there is no room for heads of
 * new methods, they go. */
static void clean_windows(struct probe_thread *t)
{
	struct probe_head *head;

	if (nodes_has_pieces(t, t->nodes_n / ENOUGH))
		return;
	for (size_t i = 0; i < HEADS; i++)
		for (uint32_t line = t->head[i]; line; line = head->next) {
			head = line_at(line);
			nodes_drop_window(t, head);
		}
	for (struct probe_frame *f = t->frames + 1; f <= t->frames + PROBE_DEPTH; f++) {
		if (frame_is_unused(f))
			break;
		f->window = f->node->window;
	}
}

static void end(struct round *r)
{
	struct probe_thread *t = r->t;
	uint32_t page = 0;

	clean_heads(t);
	clean_windows(t);
	memset(t->hash, 0, sizeof(t->hash[0]) * (t->hash_mask + 1));
	t->root.recent = &probe_nobody;
	for (uint32_t i = 0; i < t->nodes_n; i++) {
		struct probe_node *node = nodes_at(t, i, &page);

		if (is_kind(node, KID_FREE))
			continue;
		node->recent = &probe_nobody;
		nodes_put_into_hash(t, node);
	}
}

static void add_to_bound(struct round *r)
{
	struct probe_thread *t = r->t;
	uint32_t epoch = LOAD(probe.methods[0].epoch);

	if (t->bound_epoch != epoch) {
		STORE(t->bound_ticks, 0);
		STORE(t->bound_calls, 0);
		STORE(t->bound_epoch, epoch);
	}
	ADD(t->bound_ticks, r->most_ticks);
	ADD(t->bound_calls, r->most_calls);
}

/* One round.  Gives how many contexts were taken out: each makes room unless it is the first of its
 * parent's, and then takes the place of what stands for it. */
static uint64_t do_round(struct probe_thread *t, uint32_t *freed)
{
	struct round r = { .t = t };
	uint64_t before = t->pruned;

	begin(&r);
	put_in_order(&r);
	choose_limit(&r);
	take_out_all(&r);
	end(&r);
	add_to_bound(&r);
	*freed += r.freed;
	return t->pruned - before;
}

uint32_t prune_once(struct probe_thread *t)
{
	uint32_t freed = 0;

	return (uint32_t)do_round(t, &freed);
}

bool prune_ended(struct probe_thread *t)
{
	uint32_t freed = 0;

	for (int i = 0; i < ROUNDS && (freed <= t->nodes_n / ENOUGH || !nodes_has_pieces(t, 1));
	     i++)
		if (do_round(t, &freed) == 0)
			break;
	/* With memory short for something else it must not be tried again at every call. */
	t->prune_wait = freed ? freed / 4 : WAIT;
	return freed > 0;
}

bool prune_own(struct probe_thread *t)
{
	bool good;

	if (t->busy || t->nodes_n == 0)
		return false;
	if (t->prune_wait > 0) {
		t->prune_wait--;
		return false;
	}
	__atomic_fetch_add(&probe.pruning, 1, __ATOMIC_SEQ_CST);
	good = !__atomic_load_n(&probe.reading, __ATOMIC_SEQ_CST);
	if (good) {
		STORE(t->busy, 1);
		probe_mute(true);
		good = prune_ended(t);
		probe_mute(false);
		STORE(t->busy, 0);
	}
	__atomic_fetch_sub(&probe.pruning, 1, __ATOMIC_SEQ_CST);
	return good;
}
