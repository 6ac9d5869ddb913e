/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the call tree of one thread: finding a child, making one, keeping it up to date.
 *
 * A child is looked for in the thread's hash of (parent, method).  The hash is its thread's alone,
 * and grows with the tree; readers go over the nodes as they lie in memory.  Heads, one for each
 * method, are in a hash of their own that readers use, too, so it only gets new entries at the
 * front of its chains.  What nodes_prune.c has taken out, while there is no reader, is used again.
 *
 * A node is of one sort for its life: reported, closed or asking.  When the rules make another sort
 * of a place, its node is left behind out of date, with what it counted, and another one is
 * made. */
#include "probe/nodes.h"

#include "probe/context.h"
#include "probe/histogram.h"

#include <string.h>

struct probe_node *nodes_at(const struct probe_thread *t, uint32_t i, uint32_t *page)
{
	if (i % NODES_A_PAGE == 0)
		*page = *page ? TAKE(probe_pages.next[*page]) : TAKE(t->nodes.first);
	return (struct probe_node *)page_at(*page) + i % NODES_A_PAGE;
}

/* ---- how many calls to pass over --------------------------------------------------------- */

/* Uniform from 1 to 2N - 1: N on average, and no rhythm that the program could share. */
uint32_t nodes_gap(uint64_t *random, uint32_t one_in)
{
	return 1 + random_below(random, 2 * one_in - 1);
}

/* The first gap, drawn as if this had been going on forever: then each call, also the first ones
 * of a node, is timed with probability 1/N exactly.  Chances of 1, 2 ... 2N - 1 are as
 * 2N - 1, 2N - 2 ... 1, which is how often two of the numbers 0 to 2N - 1 are so far apart. */
static uint32_t first_gap(uint64_t *random, uint32_t one_in)
{
	uint32_t a = random_below(random, 2 * one_in), b = random_below(random, 2 * one_in - 1);

	if (b >= a)
		b++;
	return a > b ? a - b : b - a;
}

static uint32_t skip_for(struct probe_thread *t, uint32_t one_in)
{
	if (one_in & NODE_ASKS)
		return 1; /* every call takes the slow path */
	if ((one_in & ONE_IN_N) == 0)
		return SKIP_ALL;
	if (one_in == 1)
		return 0;
	return first_gap(&t->random, one_in & ONE_IN_N);
}

/* ---- keeping up with the agent ----------------------------------------------------------- */

/* A child, and what is wanted of it. */
struct wanted {
	uint32_t parent, kid;
	uint32_t one_in;
	uint64_t generation; /* for its key */
};

static struct wanted wanted_now(uint32_t parent, uint32_t kid)
{
	const uint32_t kept = ONE_IN_DATA | ONE_IN_SETTLE | NODE_OPENS;
	uint64_t generation = TAKE(probe.generation); /* first */
	struct context_decision d = context_decide(parent, kid);

	/* In transactions all calls are timed, and while sequences are watched. */
	if (UNLIKELY(LOAD(probe.tracing)) && d.one_in & ONE_IN_N && !(d.one_in & NODE_SORT))
		d.one_in = (d.one_in & kept) | ONE_IN_TRACE | 1;
	else if (UNLIKELY(LOAD(probe.types)) && d.one_in & ONE_IN_N &&
		 !(d.one_in & (NODE_SORT | ONE_IN_METER)))
		d.one_in = (d.one_in & kept) | ONE_IN_TYPES | 1;
	if (!d.sure)
		generation -= (uint64_t)1 << 32;
	return (struct wanted){ parent, kid, d.one_in, generation };
}

/* begun - timed - lost, summed over a method, are the calls that run: that stays.  The calls of
 * a node are begun + counted: these become 0. */
static void reset_head(struct probe_head *h, struct probe_node *node, uint32_t epoch)
{
	struct probe_window *w = h->window;

	STORE(node->begun, node->begun - h->lost);
	STORE(node->counted, node->counted + h->lost);
	STORE(h->lost, 0);
	STORE(h->bytes, 0);
	for (uint32_t i = 0; i < w->n; i++)
		STORE(w->counts[i], 0);
	PUBLISH(h->epoch, epoch);
}

static void reset_node(struct probe_node *node, uint32_t epoch)
{
	uint64_t running = node->begun - node->timed;

	STORE(node->begun, running);
	STORE(node->counted, 0 - running);
	STORE(node->errors, 0);
	STORE(node->timed, 0);
	STORE(node->sum, 0);
	STORE(node->weighted, 0);
	STORE(node->weight, 0);
	STORE(node->below, 0);
	STORE(node->min, UINT64_MAX);
	STORE(node->max, 0);
	meter_reset_node(kin_of(line_of(node))->meter);
	PUBLISH(node->epoch, epoch);
}

static void refresh(struct probe_thread *t, struct probe_node *node, struct wanted w)
{
	uint32_t id = w.kid & KID_ID, epoch = LOAD(probe.methods[id].epoch);

	if (node->epoch != epoch) {
		struct probe_head *head = nodes_head(t, id, false);

		if (head->epoch != epoch && !(w.one_in & NODE_SORT))
			reset_head(head, node, epoch);
		reset_node(node, epoch);
	}
	if (node->one_in != w.one_in) {
		node->skip = skip_for(t, w.one_in);
		STORE(node->one_in, w.one_in);
	}
	PUBLISH(node->key, w.generation | w.kid); /* last: a reader may know the place already */
}

/* ---- finding and making ------------------------------------------------------------------ */

/* Sizes of windows: what fills whole lines, and at last all buckets. */
static const uint16_t sizes[PIECES] = { 13, 29, 61, 125, PROBE_BUCKETS };

static const uint8_t lines_of[PIECES] = { 1, 2, 4, 8, 11 };
enum { METER_PIECE = 1 }; /* the size that a struct node_meter takes */
_Static_assert(sizeof(struct probe_window) + 4 * PROBE_BUCKETS <= 11 * LINE, "the last has all");

/* The first word of a free one is the next one's line. */
static void give_piece(struct probe_thread *t, uint32_t line, unsigned size)
{
	STORE(*(uint32_t *)line_at(line), t->spare[size]);
	t->spare[size] = line;
}

/* One of that size or a larger one, of which the rest is given back in lines; 0: none. */
static uint32_t take_spare(struct probe_thread *t, unsigned size)
{
	unsigned from = size;
	uint32_t line;

	while (from < PIECES && !t->spare[from])
		from++;
	if (from == PIECES)
		return 0;
	line = t->spare[from];
	t->spare[from] = *(uint32_t *)line_at(line);
	for (uint32_t i = lines_of[size]; i < lines_of[from]; i++)
		give_piece(t, line + i, 0);
	return line;
}

/* A head (of size 0) or window, zeroed; or NULL.  Where memory comes to its end, two thirds are for
 * nodes. */
static void *take_piece(struct probe_thread *t, unsigned size)
{
	uint32_t line = take_spare(t, size), before = t->pages_n;
	void *piece;

	if (line)
		return memset(line_at(line), 0, (size_t)lines_of[size] * LINE);
	if (t->head_pages > before / 3 && pages_to_come(before) < before)
		return NULL;
	piece = pages_cut(&t->heads, (uint32_t)lines_of[size] * LINE, &t->pages_n);
	t->head_pages += t->pages_n - before;
	return piece;
}

bool nodes_has_pieces(const struct probe_thread *t)
{
	unsigned size = 0;

	while (size < PIECES && !t->spare[size])
		size++;
	return size < PIECES;
}

static void give_windows(struct probe_thread *t, uint32_t line)
{
	while (line) {
		struct probe_window *w = line_at(line);
		uint32_t old = w->old;
		unsigned size = 0;

		while (sizes[size] != w->n)
			size++;
		give_piece(t, line, size);
		line = old;
	}
}

struct probe_head *nodes_head(struct probe_thread *t, uint32_t id, bool make)
{
	uint32_t *chain = &t->head[nodes_hash(0, id) % HEADS];
	struct probe_head *h;

	for (uint32_t line = TAKE(*chain); line; line = LOAD(h->next)) {
		h = line_at(line);
		if (LOAD(h->id) == id)
			return h;
	}
	if (!make)
		return NULL;
	h = take_piece(t, 0);
	if (!h)
		return NULL;
	STORE(h->id, id);
	STORE(h->next, *chain);
	STORE(h->epoch, LOAD(probe.methods[id].epoch));
	STORE(h->window, &probe_no_window);
	PUBLISH(*chain, line_of(h));
	return h;
}

void nodes_put_into_hash(struct probe_thread *t, struct probe_node *node)
{
	uint32_t *chain = nodes_chain(t, node->parent, (uint32_t)node->key);

	node->hash_next = *chain;
	*chain = line_of(node);
}

static void take_out_of_hash(struct probe_thread *t, const struct probe_node *node)
{
	uint32_t *link = nodes_chain(t, node->parent, (uint32_t)node->key), line = line_of(node);

	while (*link && *link != line)
		link = &node_at(*link)->hash_next;
	if (*link)
		*link = node->hash_next;
}

/* One chain more, which takes its part of the nodes of one that is there.  So the hash grows by a
 * bit with each node, and no thread waits for all of it. */
static void grow_hash(struct probe_thread *t)
{
	uint32_t line = t->hash[t->hash_n & t->hash_mask >> 1], next;

	t->hash[t->hash_n & t->hash_mask >> 1] = 0;
	t->hash_n++;
	for (; line; line = next) {
		next = node_at(line)->hash_next;
		nodes_put_into_hash(t, node_at(line));
	}
	if (t->hash_n > t->hash_mask)
		t->hash_mask = t->hash_mask * 2 + 1;
}

/* Memory of a node, zeroed but for KID_FREE: it has no owner until its key is published. */
static struct probe_node *take_node(struct probe_thread *t)
{
	struct probe_node *node;

	if (t->free) {
		node = node_at(t->free);
		t->free = node->hash_next;
		t->free_n--;
		memset((char *)node + sizeof(node->key), 0, sizeof(*node) - sizeof(node->key));
		return node;
	}
	node = pages_cut(&t->nodes, sizeof(*node), &t->pages_n);
	if (!node)
		return NULL;
	t->prune.reserve = nodes_prune_reserve(t);
	if (t->nodes_n / 2 >= t->hash_n && t->hash_n < probe_pages.chains)
		grow_hash(t);
	*kin_of(line_of(node)) = (struct probe_kin){ 0 };
	STORE(node->key, KID_FREE);
	PUBLISH(t->nodes_n, t->nodes_n + 1);
	return node;
}

/* The same while t is busy or has no owner. */
static struct node_meter *meter_of(struct probe_thread *t, const struct probe_node *node)
{
	struct probe_kin *kin = kin_of(line_of(node));
	struct node_meter *meter = kin->meter ? line_at(kin->meter) : take_piece(t, METER_PIECE);

	if (meter)
		PUBLISH(kin->meter, line_of(meter));
	return meter;
}

struct node_meter *nodes_meter(struct probe_thread *t, const struct probe_node *node)
{
	struct node_meter *meter;

	if (t->busy)
		return NULL;
	STORE(t->busy, 1);
	meter = meter_of(t, node);
	STORE(t->busy, 0);
	return meter;
}

void nodes_forget_kin(struct probe_thread *t, const struct probe_node *node)
{
	struct probe_kin *kin = kin_of(line_of(node));

	if (kin->meter)
		give_piece(t, kin->meter, METER_PIECE);
	*kin = (struct probe_kin){ 0 };
}

void nodes_set_free(struct probe_thread *t, struct probe_node *node)
{
	STORE(node->key, KID_FREE);
	nodes_forget_kin(t, node);
	node->hash_next = t->free;
	t->free = line_of(node);
	t->free_n++;
}

static struct probe_node *make(struct probe_thread *t, struct wanted w)
{
	struct probe_head *head = nodes_head(t, w.kid & KID_ID, true);
	struct probe_node *node = head ? take_node(t) : NULL;

	if (!node)
		return NULL;
	node->recent = &probe_nobody;
	node->parent = w.parent;
	node->one_in = 0;
	node->skip = SKIP_ALL;
	node->window = head->window;
	STORE(node->min, UINT64_MAX);
	STORE(node->epoch, head->epoch);
	refresh(t, node, w);
	STORE(node->same_next, head->nodes);
	if (head->nodes)
		kin_of(head->nodes)->same_prev = line_of(node);
	kin_of(line_of(node))->round = t->prune.round;
	if (w.parent && kin_of(w.parent)->kids < KIDS_MANY)
		kin_of(w.parent)->kids++;
	nodes_put_into_hash(t, node);
	PUBLISH(head->nodes, line_of(node));
	return node;
}

/* The one that is up to date (w.generation), or the one of that sort.  What is found goes to the
 * front of its chain, where nodes_guess() looks. */
static struct probe_node *find(struct probe_thread *t, const struct wanted *w, bool by_sort)
{
	uint32_t *chain = nodes_chain(t, w->parent, w->kid), *link = chain;

	while (*link) {
		struct probe_node *node = node_at(*link);

		if (node->parent == w->parent && (uint32_t)node->key == w->kid &&
		    (by_sort ? ((node->one_in ^ w->one_in) & NODE_SORT) == 0
			     : node->key == (w->generation | w->kid))) {
			*link = node->hash_next;
			node->hash_next = *chain;
			*chain = line_of(node);
			return node;
		}
		link = &node->hash_next;
	}
	return NULL;
}

struct probe_node *nodes_find(struct probe_thread *t, struct probe_node *parent, uint32_t kid)
{
	struct wanted w = { .kid = kid };
	struct probe_node *node;

	if (parent == &probe_nowhere || t->busy)
		return NULL;
	w.parent = nodes_line(t, parent);
	w.generation = LOAD(probe.generation);
	STORE(t->busy, 1);
	node = find(t, &w, false);
	if (!node) {
		w = wanted_now(w.parent, kid);
		node = find(t, &w, true);
	}
	STORE(t->busy, 0);
	return node;
}

/* Finds or makes it, and brings it up to date. */
static struct probe_node *provide(struct probe_thread *t, struct wanted w)
{
	struct probe_node *node = find(t, &w, true);

	if (!node)
		node = make(t, w);
	else
		refresh(t, node, w);
	return node;
}

struct probe_node *nodes_child(struct probe_thread *t, struct probe_node *parent, uint32_t kid)
{
	struct wanted w = { .kid = kid };
	struct probe_node *node;

	if (parent == &probe_nowhere || t->busy)
		return NULL;
	w.parent = nodes_line(t, parent);
	w.generation = LOAD(probe.generation);
	STORE(t->busy, 1);
	node = find(t, &w, false);
	if (!node)
		node = provide(t, wanted_now(w.parent, kid));
	STORE(t->busy, 0);
	if (UNLIKELY(nodes_prune_is_due(t, node)) && nodes_prune_own(t, node) && !node) {
		STORE(t->busy, 1);
		node = provide(t, wanted_now(w.parent, kid));
		STORE(t->busy, 0);
	}
	return node;
}

struct probe_node *nodes_of_sort(struct probe_thread *t, struct probe_node *parent, uint32_t kid,
				 uint32_t sort)
{
	struct probe_node *node;
	struct wanted w;

	if (parent == &probe_nowhere || t->busy)
		return NULL;
	STORE(t->busy, 1);
	w = wanted_now(nodes_line(t, parent), kid);
	if ((w.one_in & NODE_SORT) != sort) {
		w.one_in = sort;
		w.generation -= (uint64_t)1 << 32; /* the next call decides anew */
	}
	node = provide(t, w);
	STORE(t->busy, 0);
	if (UNLIKELY(!node) && t == probe_local.mine && nodes_prune_own(t, NULL)) {
		STORE(t->busy, 1);
		node = provide(t, w);
		STORE(t->busy, 0);
	}
	return node;
}

/* ---- what was taken out ------------------------------------------------------------------- */

void nodes_make_pruned(struct probe_node *node, uint32_t parent)
{
	uint32_t epoch = LOAD(probe.methods[0].epoch);

	memset((char *)node + sizeof(node->key), 0, sizeof(*node) - sizeof(node->key));
	node->parent = parent;
	node->skip = SKIP_ALL;
	node->window = &probe_no_window;
	STORE(node->min, UINT64_MAX);
	STORE(node->epoch, epoch);
	PUBLISH(node->key, KID_PRUNED);
}

struct probe_node *nodes_pruned(struct probe_thread *t, struct probe_node *parent)
{
	struct wanted w = { .parent = nodes_line(t, parent), .kid = KID_PRUNED };
	struct probe_node *node = find(t, &w, false);

	if (node)
		return node;
	node = take_node(t);
	if (!node)
		return NULL;
	nodes_make_pruned(node, w.parent);
	node->recent = &probe_nobody;
	nodes_put_into_hash(t, node);
	return node;
}

struct probe_node *nodes_take_pruned(struct probe_thread *t, const struct probe_node *parent)
{
	struct wanted w = { .parent = nodes_line(t, parent), .kid = KID_PRUNED };
	struct probe_node *node = find(t, &w, false);

	if (node)
		take_out_of_hash(t, node);
	return node;
}

void nodes_add_pruned(struct probe_thread *t, struct probe_node *node,
		      const struct probe_figures *f)
{
	uint32_t epoch = LOAD(probe.methods[0].epoch);
	struct node_meter *meter;

	if (node->epoch != epoch)
		reset_node(node, epoch);
	ADD(node->counted, f->calls);
	ADD(node->errors, f->errors);
	ADD(node->timed, f->timed);
	ADD(node->begun, f->timed); /* none runs */
	ADD(node->counted, 0 - f->timed);
	ADD(node->sum, f->sum);
	ADD(node->weighted, f->weighted - f->sum);
	ADD(node->weight, f->weight - f->timed);
	if (f->min < node->min)
		STORE(node->min, f->min);
	if (f->max > node->max)
		STORE(node->max, f->max);
	meter = f->metered.calls ? meter_of(t, node) : NULL;
	if (meter)
		meter_add_node(meter, &f->metered);
}

void nodes_drop_old(struct probe_thread *t, struct probe_head *head)
{
	struct probe_window *w = head->window;

	if (w != &probe_no_window && w->old) {
		give_windows(t, w->old);
		w->old = 0;
	}
}

static void counts_to_method(const struct probe_head *head, uint32_t epoch)
{
	const struct probe_window *w = head->window;

	for (uint32_t i = 0; head->epoch == epoch && i < w->n; i++)
		if (w->counts[i])
			shared_bucket(&probe.methods[head->id], w->low + i, w->counts[i]);
}

void nodes_drop_window(struct probe_thread *t, struct probe_head *head)
{
	struct probe_node *node;

	if (head->window == &probe_no_window)
		return;
	counts_to_method(head, LOAD(probe.methods[head->id].epoch));
	give_windows(t, line_of(head->window));
	STORE(head->window, &probe_no_window);
	for (uint32_t line = head->nodes; line; line = node->same_next) {
		node = node_at(line);
		node->window = &probe_no_window;
	}
}

/* The method has no node any more: its figures become the method's. */
static void drop_head(struct probe_thread *t, struct probe_head *head)
{
	struct probe_method *m = &probe.methods[head->id];
	uint32_t epoch = LOAD(m->epoch);
	struct probe_figures f = { .min = UINT64_MAX };
	struct probe_window *w = head->window;
	uint32_t *link;

	sums_of_head(&f, head, epoch);
	shared_add(head->id, &f);
	counts_to_method(head, epoch);
	if (w != &probe_no_window)
		give_windows(t, line_of(w));
	for (link = &t->head[nodes_hash(0, head->id) % HEADS]; *link != line_of(head);)
		link = &((struct probe_head *)line_at(*link))->next;
	STORE(*link, head->next);
	give_piece(t, line_of(head), 0);
}

void nodes_unlink(struct probe_thread *t, struct probe_node *node)
{
	struct probe_node *parent = node->parent ? node_at(node->parent) : &t->root;
	uint32_t prev = kin_of(line_of(node))->same_prev, next = node->same_next;
	struct probe_head *head = nodes_head(t, node_id(node), false);

	take_out_of_hash(t, node);
	if (parent->recent == node)
		parent->recent = &probe_nobody;
	if (node->parent && kin_of(node->parent)->kids < KIDS_MANY)
		kin_of(node->parent)->kids--;
	if (prev)
		STORE(node_at(prev)->same_next, next);
	else
		STORE(head->nodes, next);
	if (next)
		kin_of(next)->same_prev = prev;
	if (!head->nodes && !head->outside)
		drop_head(t, head);
}

void nodes_pin(struct probe_node *node)
{
	struct probe_kin *kin = kin_of(line_of(node));

	if (kin->kids < KIDS_MANY)
		kin->kids++;
}

void nodes_unpin(struct probe_frame *f)
{
	struct probe_kin *kin = kin_of(line_of(f->node));

	if (kin->kids < KIDS_MANY)
		kin->kids--;
	STORE(f->id, f->id & ~ID_PASSES);
}

/* ---- histograms -------------------------------------------------------------------------- */

/* A window for buckets first to last.  Times of one method spread upwards, so there is more room
 * above than below. */
static struct probe_window *window_for(struct probe_thread *t, uint32_t first, uint32_t last)
{
	struct probe_window *w;
	uint32_t n, room, low;
	unsigned i = 0;

	while (sizes[i] < last - first + 1)
		i++;
	n = sizes[i];
	room = (n - (last - first + 1)) / 3;
	low = first > room ? first - room : 0;
	if (low + n > PROBE_BUCKETS)
		low = PROBE_BUCKETS - n;
	w = take_piece(t, i);
	if (w) {
		STORE(w->low, low);
		STORE(w->n, n);
	}
	return w;
}

/* Exchanges the window for one that also has this bucket.  The old one stays where it is until the
 * tree is pruned, since somebody may be reading it. */
static struct probe_window *widen(struct probe_thread *t, struct probe_head *head, uint32_t bucket)
{
	struct probe_window *old = head->window, *w;
	uint32_t first = bucket, last = bucket, low = old->low;
	struct probe_node *node;

	for (uint32_t i = 0; i < old->n; i++) {
		if (!old->counts[i])
			continue;
		first = low + i < first ? low + i : first;
		last = low + i > last ? low + i : last;
	}
	w = window_for(t, first, last);
	if (!w)
		return NULL;
	for (uint32_t i = 0; i < old->n; i++)
		if (old->counts[i])
			STORE(w->counts[low + i - w->low], old->counts[i]);
	if (old != &probe_no_window)
		w->old = line_of(old);
	PUBLISH(head->window, w);
	for (uint32_t line = head->nodes; line; line = node->same_next) {
		node = node_at(line);
		node->window = w;
	}
	for (struct probe_frame *f = t->frames; f <= t->frames + PROBE_DEPTH; f++) {
		if (frame_is_unused(f))
			break;
		if (frame_id(f) == head->id && f->node != &probe_nowhere)
			f->window = w;
	}
	return w;
}

/* When a count is near its end all are halved: what matters is how they compare. */
void nodes_halve(struct probe_window *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		STORE(w->counts[i], w->counts[i] / 2);
}

bool nodes_bucket(struct probe_thread *t, struct probe_head *head, unsigned bucket, uint32_t count)
{
	struct probe_window *w = head->window;

	if (t->busy)
		return false;
	if (bucket - w->low >= w->n) {
		STORE(t->busy, 1);
		w = widen(t, head, bucket);
		STORE(t->busy, 0);
		if (!w)
			return false;
	}
	if ((uint64_t)w->counts[bucket - w->low] + count > UINT32_MAX / 2)
		nodes_halve(w);
	ADD(w->counts[bucket - w->low], count);
	return true;
}
