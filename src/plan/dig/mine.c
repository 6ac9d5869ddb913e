/* SPDX-License-Identifier: Apache-2.0 */
/* mine.c - the methods that dig has hooked, by the text of its rules; figures less earlier ones. */
#define _GNU_SOURCE /* memmem() */
#include "plan/dig/mine.h"

#include "plan/dig/find.h"

bool mine_has_rule(const struct dig *d, struct slice name)
{
	struct buf target = { 0 };
	bool there;

	buf_text(&target, "hook ");
	dig_put_target(&target, name);
	buf_u8(&target, ' ');
	there = target.err ||
		(d->rules.n && memmem(d->rules.p, d->rules.n, target.p, target.n) != NULL);
	buf_release(&target);
	return there;
}

bool mine_is_hooked(const struct dig *d, struct slice name)
{
	if (!d->dug.n && d->options.method.n) /* that rule may have wildcards */
		return find_is_asked_for(d, name);
	return !d->rules.n || mine_has_rule(d, name);
}

void mine_begin(struct dig *d)
{
	d->before = NULL;
}

static void take_off(struct dig_figures *f, const struct dig_figures *before)
{
	f->calls -= before->calls;
	f->timed -= before->timed;
	f->total_ns -= before->total_ns < f->total_ns ? before->total_ns : f->total_ns;
	for (size_t i = 0, k = 0; i < f->n; i++) {
		while (k < before->n && before->low[k] < f->low[i])
			k++;
		if (k < before->n && before->low[k] == f->low[i])
			f->count[i] -= before->count[k] < f->count[i] ? before->count[k]
								      : f->count[i];
	}
}

void mine_since(struct dig *d, struct dig_figures *f)
{
	const struct dig_figures *before = d->before;
	struct dig_figures *kept;
	double seconds = (d->read_at - d->begun_at) / 1e9;

	if (d->dug.n)
		return; /* of the branch only rates are wanted */
	if (!d->measure.readings) {
		d->begun_at = d->read_at;
		kept = f->calls ? arena_copy(&d->mem, f, sizeof(*f)) : NULL;
		if (!f->calls)
			return;
		if (!kept) {
			d->err = E_NO_MEMORY;
			return;
		}
		kept->name = dig_keep(d, f->name);
		kept->next = d->before;
		d->before = kept;
		return;
	}
	while (before && !slice_eq(before->name, f->name))
		before = before->next;
	if (!before || f->calls < before->calls || f->timed < before->timed)
		return; /* its figures began anew */
	take_off(f, before);
	if (seconds > 0)
		f->rate = (double)f->calls / seconds;
}
