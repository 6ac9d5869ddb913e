/* SPDX-License-Identifier: Apache-2.0 */
/* tree_figures.c - the call tree without the cost of its hooks: the rows go through src/tree and
 * back. */
#include "base/map.h"
#include "base/mem.h"
#include "cli/report_rows.h"
#include "cli/tree_rows.h"

/* The nodes by their place in the arithmetic. */
struct places {
	struct call_tree *t;
	struct tree tree;
	struct call_node **nodes;
	size_t n;
	struct map calls; /* of a method, by its id */
};

static struct slice key_of(const uint32_t *id)
{
	return (struct slice){ (const uint8_t *)id, sizeof(*id) };
}

static void count_calls(struct places *p, struct call_node *first)
{
	for (; first; first = first->next) {
		uintptr_t *sum = map_put(&p->calls, key_of(&first->m.id), NULL);

		if (!sum) {
			p->t->err = E_NO_MEMORY;
			return;
		}
		*sum += first->m.calls;
		count_calls(p, first->first);
	}
}

static void add_nodes(struct places *p, struct call_node *first)
{
	for (; first; first = first->next) {
		const struct wire_node *m = &first->m;
		uintptr_t *calls = map_put(&p->calls, key_of(&m->id), NULL);

		tree_add(&p->tree,
			 &(struct tree_figures){
				 .id = m->id,
				 .depth = m->depth,
				 .kind = m->flags & NODE_SETTLED ? COST_SETTLED : COST_EVERY,
				 .light = m->flags & NODE_LIGHT,
				 .calls = (double)m->calls,
				 .timed = (double)m->timed,
				 .raw = (double)m->total_ns,
				 .interpreted =
					 report_interpreted(m->cold, calls ? *calls : m->calls),
				 .jni = m->jni >= 0 && m->jni <= 1 ? m->jni : 0,
				 .type = m->type });
		p->nodes[p->n++] = first;
		add_nodes(p, first->first);
	}
}

static uint64_t whole(double v)
{
	return v > 0 ? (uint64_t)(v + 0.5) : 0;
}

static void take_figures(struct call_node *n, const struct tree_node *from, bool compensated)
{
	n->m.calls = whole(from->f.calls);
	n->m.timed = whole(from->f.timed);
	n->raw_ns = from->f.raw;
	n->total = from->total;
	n->self = from->self;
	n->flags = from->flags;
	n->compensated = compensated && n->m.timed;
	n->m.total_ns = whole(n->compensated ? from->total.mid : from->f.raw);
	n->m.self_ns = whole(n->compensated ? from->self.mid : from->raw_self);
}

/* A node that came up in the arithmetic: of the method of another one. */
static struct call_node *make_node(struct places *p, const struct tree_node *from)
{
	struct call_node *n = arena_zero(&p->t->mem, sizeof(*n)), *up = p->nodes[from->parent];

	for (size_t i = 0; n && i < p->n; i++) {
		if (p->nodes[i]->m.id != from->f.id)
			continue;
		n->m = p->nodes[i]->m;
		n->m.min_ns = n->m.max_ns = n->m.errors = n->m.metered = 0;
		n->name = p->nodes[i]->name;
		break;
	}
	if (!n)
		return NULL;
	n->m.depth = up->m.depth + 1;
	n->parent = up;
	n->next = up->first;
	up->first = n;
	up->n_children++;
	p->t->n++;
	return n;
}

/* Takes out what has no calls left. */
static void drop_empty(struct call_tree *t, struct call_node *parent)
{
	struct call_node **link = &parent->first;

	while (*link) {
		struct call_node *n = *link;

		drop_empty(t, n);
		if (n->m.calls || n->m.timed || n->m.errors || n->first) {
			link = &n->next;
			continue;
		}
		*link = n->next;
		parent->n_children--;
		t->n--;
	}
}

static void take_back(struct places *p, bool compensated)
{
	size_t known = p->n;
	void *more = mem_realloc(p->nodes, (p->tree.n + (size_t)1) * sizeof(*p->nodes));

	if (!more) {
		p->t->err = E_NO_MEMORY;
		return;
	}
	p->nodes = more;
	for (uint32_t i = 0; i < p->tree.n; i++) {
		if (i >= known) {
			p->nodes[i] = make_node(p, &p->tree.nodes[i]);
			if (!p->nodes[i]) {
				p->t->err = E_NO_MEMORY;
				return;
			}
			p->n++;
		}
		take_figures(p->nodes[i], &p->tree.nodes[i], compensated);
	}
	drop_empty(p->t, &p->t->root);
}

void call_tree_compensate(struct call_tree *t, const struct costs *c)
{
	static const struct costs nothing;
	struct costs costs;
	struct places p = { .t = t, .nodes = mem_alloc((t->n + 1) * sizeof(*p.nodes)) };

	cost_at(c ? c : &nothing, t->pulse_ns, &costs);
	costs.seen = &t->seen;
	tree_init(&p.tree);
	if (!p.nodes)
		t->err = E_NO_MEMORY;
	else
		count_calls(&p, t->root.first);
	if (!t->err)
		add_nodes(&p, t->root.first);
	if (!t->err) {
		tree_gather(&p.tree);
		tree_compensate(&p.tree, &costs);
		t->err = p.tree.err;
	}
	if (!t->err)
		take_back(&p, c != NULL);
	map_release(&p.calls);
	tree_release(&p.tree);
	mem_free(p.nodes);
}
