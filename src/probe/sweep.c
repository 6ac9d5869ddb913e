/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - what the agent does once in a while: takes in threads that have ended, looks for calls
 * that take too long, says how things stand.
 *
 * The figures of ended threads go into a tree that has the form of a thread's, and that only the
 * agent writes.  What it has no memory for goes to the methods' shared figures. */
#include "base/tick.h"
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

static void add_to_node(struct probe_node *to, const struct probe_figures *f)
{
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
}

/* In the nodes of a thread that has ended, `recent` says what they were merged into. */
static void merge_node(struct probe_thread *into, struct probe_node *node)
{
	uint32_t kid = (uint32_t)node->key, id = kid & KID_ID;
	struct probe_figures f = { .min = UINT64_MAX };
	struct probe_node *parent = node->parent ? node_at(node->parent)->recent : &into->root;
	struct probe_node *to = nodes_of_sort(into, parent, kid, node->one_in & NODE_SORT);

	figures_of_node(&f, node, LOAD(probe.methods[id].epoch));
	node->recent = to ? to : &probe_nowhere;
	if (node_is_hidden(node))
		return;
	if (to) {
		add_to_node(to, &f);
		return;
	}
	SHARED_ADD(probe.nodes_refused, f.calls);
	shared_add(id, &f);
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
	figures_of_head(&f, from, epoch);
	if (from->epoch == epoch)
		merge_counts(into, to, from);
	if (!to || f.begun) { /* begun: less what was lost before a reset */
		shared_add(from->id, &f);
		return;
	}
	ADD(to->lost, f.lost);
	ADD(to->bytes, f.bytes);
}

static void merge_thread(struct probe_thread *t)
{
	struct probe_thread *into = &probe.threads[PROBE_THREADS];
	uint32_t n = TAKE(t->nodes_n), page = 0;
	const struct probe_head *head;

	if (t->trace)
		trace_gone(&t->trace, tick_now());
	lose_frames(t);
	for (uint32_t i = 0; i < n; i++)
		merge_node(into, nodes_at(t, i, &page));
	for (size_t i = 0; i < HEADS; i++)
		for (uint32_t line = t->head[i]; line; line = head->next) {
			head = line_at(line);
			merge_head(into, head);
		}
	pages_give_all(&t->nodes);
	pages_give_all(&t->heads);
	memset(t->hash, 0, sizeof(t->hash[0]) * (t->hash_mask + 1));
	memset(t->head, 0, sizeof(t->head));
	t->nodes_n = t->pages_n = t->facts_n = t->busy = t->trace_carrier = 0;
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
	return threads_change(i, owner, (uint64_t)tid << 32 | OWNER_ENDED);
}

void probe_sweep(void)
{
	for (uint32_t i = 0; probe.ready && i < TAKE(probe.owners_n); i++) {
		if (!has_ended(i))
			continue;
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
	while ((t = threads_next(&i)) != NULL) {
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
	};
}
