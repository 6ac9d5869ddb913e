/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - what the agent does once in a while: takes in threads that have ended, looks for calls
 * that take too long, says how things stand.
 *
 * The figures of ended threads go into a tree that has the form of a thread's, and that only the
 * agent writes.  What it has no memory for goes to the methods' shared figures, and below its
 * caller to what stands for contexts that were taken out. */
#include "base/tick.h"
#include "probe/lane.h"
#include "probe/nodes.h"
#include "probe/tracing.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls that ran when the thread ended will never end. */
static void lose_frames(struct probe_thread *t)
{
	for (struct probe_frame *f = t->frames + 1; f <= t->frames + PROBE_DEPTH; f++) {
		uint32_t id = frame_id(f);
		struct probe_head *head;

		if (frame_is_unused(f))
			break;
		if (!frame_is_nobodys(f))
			frame_ends(f);
		if (!frame_is_nobodys(f) && !frame_is_hidden(f)) {
			SHARED_ADD(probe.lost, 1);
			head = f->node == &probe_nowhere ? NULL : nodes_head(t, id, false);
			if (head)
				ADD(head->lost, 1);
			else
				SHARED_ADD(probe.methods[id].lost, 1);
		}
		STORE(f->token, 0);
		STORE(f->id, 0);
	}
}

static void add_to_node(struct probe_thread *into, struct probe_node *to,
			const struct probe_figures *f)
{
	struct node_meter *meter = f->metered.calls ? nodes_meter(into, to) : NULL;

	ADD(to->begun, f->begun);
	ADD(to->counted, f->calls - f->begun);
	ADD(to->errors, f->errors);
	ADD(to->timed, f->timed);
	ADD(to->sum, f->sum);
	ADD(to->weighted, f->weighted - f->sum);
	ADD(to->weight, f->weight - f->timed);
	ADD(to->below, f->below);
	if (f->min < to->min)
		STORE(to->min, f->min);
	if (f->max > to->max)
		STORE(to->max, f->max);
	if (meter)
		meter_add_node(meter, &f->metered);
}

/* Adds a node that has no place below `parent`: to what stands there for such. */
static struct probe_node *merge_pruned(struct probe_thread *into, struct probe_node *parent,
				       struct probe_figures *f)
{
	bool deeper = node_is_pruned(parent); /* the time is in that of the call above */
	struct probe_node *to = deeper ? parent : &probe_nowhere;

	if (!deeper && parent != &probe_nowhere)
		to = nodes_pruned(into, parent);
	if (!to || to == &probe_nowhere) {
		SHARED_ADD(probe.nodes_refused, f->calls);
		return &probe_nowhere;
	}
	if (deeper)
		*f = (struct probe_figures){ .calls = f->calls,
					     .errors = f->errors,
					     .min = UINT64_MAX };
	nodes_add_pruned(into, to, f);
	return to;
}

/* In the nodes of a thread that has ended, `recent` says what they were merged into, NULL: not
 * yet. */
static void merge_node(struct probe_thread *into, struct probe_node *node)
{
	uint32_t kid = (uint32_t)node->key, id = kid & KID_ID;
	struct probe_figures f = { .min = UINT64_MAX };
	struct probe_node *parent = node->parent ? node_at(node->parent)->recent : &into->root;
	struct probe_node *to = NULL;
	uint32_t epoch = LOAD(probe.methods[kid & KID_PRUNED ? 0 : id].epoch);

	sums_of_node(&f, node, epoch);
	meter_of_node(&f.metered, node, epoch);
	if (kid & KID_PRUNED) { /* its methods have these already */
		node->recent = merge_pruned(into, parent, &f);
		return;
	}
	if (!node_is_pruned(parent))
		to = nodes_of_sort(into, parent, kid, node->one_in & NODE_SORT);
	if (to && !node_is_hidden(node))
		add_to_node(into, to, &f);
	if (!to) {
		shared_add(id, &f);
		to = merge_pruned(into, parent, &f);
	}
	node->recent = to;
}

/* The node and those above it that were not merged yet, innermost first; how many. */
static unsigned path_to(struct probe_node *node, struct probe_node *path[PROBE_DEPTH + 2])
{
	unsigned n = 0;

	for (; n < PROBE_DEPTH + 2; node = node_at(node->parent)) {
		path[n++] = node;
		if (!node->parent || node_at(node->parent)->recent)
			break;
	}
	return n;
}

static void forget_recent(struct probe_thread *t)
{
	uint32_t page = 0;

	for (uint32_t i = 0; i < t->nodes_n; i++)
		nodes_at(t, i, &page)->recent = NULL;
}

/* How many nodes would have to be made.  What is found is put into `recent`. */
static uint32_t nodes_wanted(struct probe_thread *into, struct probe_thread *t)
{
	uint32_t n = t->nodes_n, page = 0, wanted = 0;

	forget_recent(t);
	for (uint32_t i = 0; i < n; i++) {
		struct probe_node *path[PROBE_DEPTH + 2], *node = nodes_at(t, i, &page);
		unsigned depth =
			(uint32_t)node->key & KID_FREE || node->recent ? 0 : path_to(node, path);

		while (depth > 0) {
			struct probe_node *to = NULL, *up;

			node = path[--depth];
			up = node->parent ? node_at(node->parent)->recent : &into->root;
			if (!node_is_pruned(node))
				to = nodes_find(into, up, (uint32_t)node->key);
			node->recent = to ? to : &probe_nowhere;
			wanted += !to;
		}
	}
	return wanted;
}

/* Nodes that could be made now, about. */
static uint32_t room_for_nodes(const struct probe_thread *into)
{
	/* Half of the pages are for heads and histograms. */
	return into->free_n +
	       pages_to_come(into->pages_n) / 2 * (PAGE / (uint32_t)sizeof(struct probe_node));
}

/* Both trees are pruned until what they have together finds room. */
static void make_room(struct probe_thread *into, struct probe_thread *t)
{
	uint32_t wanted = nodes_wanted(into, t);

	if (wanted > room_for_nodes(into))
		nodes_prune_ended(into);
	for (int i = 0; i < 32 && (wanted = nodes_wanted(into, t)) > room_for_nodes(into); i++)
		if (nodes_prune_once(t) == 0)
			break;
}

static void merge_nodes(struct probe_thread *into, struct probe_thread *t)
{
	struct probe_node *path[PROBE_DEPTH + 2];
	uint32_t n = t->nodes_n, page = 0;

	make_room(into, t);
	forget_recent(t);
	for (uint32_t i = 0; i < n; i++) {
		struct probe_node *node = nodes_at(t, i, &page);
		unsigned depth =
			(uint32_t)node->key & KID_FREE || node->recent ? 0 : path_to(node, path);

		while (depth > 0)
			merge_node(into, path[--depth]);
	}
}

static void merge_counts(struct probe_thread *into, struct probe_head *to,
			 const struct probe_head *from)
{
	struct probe_method *m = &probe.methods[from->id];
	const struct probe_window *w = from->window;
	uint32_t low = w->low;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->counts[i] && !(to && nodes_bucket(into, to, low + i, w->counts[i])))
			shared_bucket(m, low + i, w->counts[i]);
}

static void merge_head(struct probe_thread *into, const struct probe_head *from)
{
	uint32_t epoch = LOAD(probe.methods[from->id].epoch);
	struct probe_head *to = nodes_head(into, from->id, false);
	struct probe_figures f = { .min = UINT64_MAX };

	if (to && to->epoch != epoch)
		to = NULL;
	sums_of_head(&f, from, epoch);
	if (from->epoch == epoch)
		merge_counts(into, to, from);
	if (!to || f.begun) { /* begun: less what was lost before a reset */
		shared_add(from->id, &f);
		return;
	}
	ADD(to->lost, f.lost);
	ADD(to->bytes, f.bytes);
}

#define SWAP(word)                               \
	do {                                     \
		__typeof__(a->word) w = a->word; \
		a->word = b->word;               \
		b->word = w;                     \
	} while (0)

/* Two trees whose threads have ended change places: then the smaller is merged into the larger,
 * which needs the least memory beside them. */
static void swap_trees(struct probe_thread *a, struct probe_thread *b)
{
	SWAP(nodes);
	SWAP(heads);
	SWAP(nodes_n);
	SWAP(pages_n);
	SWAP(head_pages);
	SWAP(hash);
	SWAP(hash_n);
	SWAP(hash_mask);
	SWAP(free);
	SWAP(free_n);
	SWAP(bound_epoch);
	SWAP(pruned);
	SWAP(bound_ticks);
	SWAP(bound_calls);
	SWAP(frames[0].below);
	for (size_t i = 0; i < PIECES; i++)
		SWAP(spare[i]);
	for (size_t i = 0; i < HEADS; i++)
		SWAP(head[i]);
	a->prune = b->prune = (struct probe_prune){ 0 };
	a->root.recent = b->root.recent = &probe_nobody;
}

/* A context that both have may have lost in both. */
static void merge_bound(struct probe_thread *into, struct probe_thread *t)
{
	uint32_t epoch = LOAD(probe.methods[0].epoch);

	ADD(into->pruned, t->pruned);
	into->frames[0].below += t->frames[0].below;
	if (into->bound_epoch != epoch)
		into->bound_ticks = into->bound_calls = 0;
	STORE(into->bound_epoch, epoch);
	if (t->bound_epoch == epoch) {
		ADD(into->bound_ticks, t->bound_ticks);
		ADD(into->bound_calls, t->bound_calls);
	}
	t->pruned = t->bound_ticks = t->bound_calls = 0;
}

static void merge_thread(struct probe_thread *t)
{
	struct probe_thread *into = &probe.threads[PROBE_THREADS];
	const struct probe_head *head;

	if (t->trace)
		trace_gone(&t->trace, tick_now());
	lose_frames(t);
	if (t->nodes_n > into->nodes_n)
		swap_trees(into, t);
	merge_nodes(into, t);
	merge_bound(into, t);
	for (size_t i = 0; i < HEADS; i++)
		for (uint32_t line = t->head[i]; line; line = head->next) {
			head = line_at(line);
			merge_head(into, head);
		}
	pages_give_all(&t->nodes);
	pages_give_all(&t->heads);
	pages_unmap(t->hash, probe_pages.chains * sizeof(*t->hash));
	t->hash = NULL;
	memset(t->head, 0, sizeof(t->head));
	memset(t->spare, 0, sizeof(t->spare));
	t->nodes_n = t->pages_n = t->facts_n = t->busy = t->trace_carrier = 0;
	t->free = t->free_n = t->head_pages = 0;
	t->prune = (struct probe_prune){ 0 };
}

/* Has it ended, perhaps without a word, as one does that a library took out of the JVM? */
static bool has_ended(uint32_t i)
{
	uint64_t owner = TAKE(probe.owner[i]);
	uint32_t tid = (uint32_t)(owner >> 32);

	if ((uint32_t)owner != OWNER_LIVES)
		return (uint32_t)owner == OWNER_ENDED;
	if (syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH)
		return false;
	return thread_change(i, owner, (uint64_t)tid << 32 | OWNER_ENDED);
}

void probe_sweep(void)
{
	for (uint32_t i = 0; probe.ready && i < TAKE(probe.owners_n); i++) {
		if (!has_ended(i))
			continue;
		lane_release(&probe.threads[i]);
		probe.threads[i].counters.reading = 0; /* it may have been killed there */
		(void)counters_close(&probe.threads[i].counters);
		merge_thread(&probe.threads[i]);
		SHARED_SUB(probe.threads_n, 1);
		PUBLISH(probe.owner[i], OWNER_NONE);
	}
}

/* Calls lie on a stack in the order in which they began, and the moment up to which they were
 * looked at only moves on: so each is seen once when it has become old enough. */
void probe_stalls(uint64_t now, uint64_t ticks)
{
	uint64_t from = probe.stalls_until, until = now - ticks;
	struct probe_thread *t;
	uint32_t i = 0;

	if (!probe.ready || now < ticks || until <= from)
		return;
	while ((t = thread_next(&i)) != NULL) {
		for (const struct probe_frame *f = t->frames + 1;
		     f <= t->frames + PROBE_DEPTH && !frame_is_unused(f); f++) {
			uint64_t token = TAKE(f->token);
			uint32_t id = TAKE(f->id);

			if (token >> 1 > from && token >> 1 <= until && id != ID_NONE &&
			    !frame_is_hidden(f) && LOAD(f->token) == token)
				SHARED_ADD(probe.methods[id & KID_ID].stalls, 1);
		}
	}
	STORE(probe.stalls_until, until);
}

/* As far as it is known: a word may be a round behind the other. */
static void read_bound(struct probe_state *out)
{
	const struct probe_thread *t;
	uint32_t i = 0, epoch;

	if (!probe.ready)
		return;
	epoch = LOAD(probe.methods[0].epoch);
	while ((t = thread_next(&i)) != NULL) {
		out->pruned += LOAD(t->pruned);
		if (LOAD(t->bound_epoch) != epoch)
			continue;
		out->bound_ticks += LOAD(t->bound_ticks);
		out->bound_calls += LOAD(t->bound_calls);
	}
}

void probe_state_read(struct probe_state *out)
{
	*out = (struct probe_state){
		.threads = LOAD(probe.threads_n),
		.threads_shared = LOAD(probe.threads_shared),
		.bytes_used = (uint64_t)LOAD(probe_pages.used) * PAGE,
		.bytes_total = (uint64_t)probe_pages.total * PAGE,
		.nodes_refused = LOAD(probe.nodes_refused),
		.too_deep = LOAD(probe.too_deep),
		.lost = LOAD(probe.lost),
		.strayed = LOAD(probe.strayed),
		.ring_dropped = ring_dropped(),
		.pulses = LOAD(probe.pulses),
		.pulse_ticks = LOAD(probe.pulse_ticks),
	};
	read_bound(out);
}
