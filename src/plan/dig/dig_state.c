/* SPDX-License-Identifier: Apache-2.0 */
/* dig_state.c - what all parts of dig need: copies that live as long as dig, figures by name, and
 * names, times and shares as text. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/dig/dig_state.h"

#include "rule/spell.h"

struct slice dig_keep(struct dig *d, struct slice s)
{
	struct slice copy = arena_dup(&d->mem, s);

	if (!copy.p && s.n) {
		d->err = E_NO_MEMORY;
		copy.n = 0;
	}
	return copy;
}

const struct dig_figures *dig_figures_of(const struct dig *d, struct slice name)
{
	for (const struct dig_figures *f = d->figures; f; f = f->next)
		if (slice_eq(f->name, name))
			return f;
	return NULL;
}

void dig_put_target(struct buf *out, struct slice name)
{
	spell_target(out, sample_node_class(name), sample_node_method(name),
		     sample_node_desc(name));
}

void dig_put_name(struct buf *out, struct slice name)
{
	struct slice plain = sample_node_plain(name), class = sample_node_class(name);
	const uint8_t *dot = class.n ? memrchr(class.p, '.', class.n) : NULL;
	size_t skip = dot ? (size_t)(dot - plain.p) + 1 : 0;

	for (size_t i = skip; i < plain.n; i++)
		buf_u8(out, plain.p[i] < ' ' || plain.p[i] == 127 ? '?' : plain.p[i]);
}

void dig_put_time(struct buf *out, double ns)
{
	if (ns < 1e3)
		buf_printf(out, "%.0f ns", ns);
	else if (ns < 1e6)
		buf_printf(out, "%.3g us", ns / 1e3);
	else if (ns < 1e9)
		buf_printf(out, "%.3g ms", ns / 1e6);
	else
		buf_printf(out, "%.3g s", ns / 1e9);
}

void dig_put_share(struct buf *out, double share)
{
	buf_printf(out, share < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
}

struct slice dig_waiter_of(const struct dig *d, struct slice task)
{
	for (unsigned i = 0; i < d->n_links; i++)
		if (slice_eq(d->links[i].task, task))
			return d->links[i].waiter;
	return (struct slice){ NULL, 0 };
}
