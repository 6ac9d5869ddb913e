/* SPDX-License-Identifier: Apache-2.0 */
/* grown.c - compares the sizes of hooked methods before and after with HotSpot's limits. */
#include "agent/weaving/grown.h"

#include <stdio.h>

#include "agent/core/agent.h"
#include "agent/hotspot/limits.h"
#include "wire/wire.h"

/* The largest limit that its hook took the method past; NULL: none. */
static const struct limits_inlining *passed(const struct hooked *h)
{
	const struct limits_inlining *l = limits_inlining();

	for (int i = 0; i < LIMITS_INLINING && h->in_code; i++)
		if (h->code_was <= l[i].bytes && h->code_now > l[i].bytes)
			return &l[i];
	return NULL;
}

void grown_tell(const struct hooked *h, struct buf *out)
{
	const struct limits_inlining *l = passed(h);

	if (l)
		buf_printf(out, "  %u -> %u bytes: %s (%s %d)\n", h->code_was, h->code_now,
			   l->effect, l->flag, l->bytes);
}

void grown_put(struct buf *out)
{
	struct wire_grown rows[LIMITS_INLINING] = { 0 };
	char examples[LIMITS_INLINING][256];

	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = woven_first(); w; w = w->all) {
		for (const struct hooked *h = w->methods; h; h = h->next) {
			const struct limits_inlining *l = woven_is_in(h) ? passed(h) : NULL;
			size_t i = l ? (size_t)(l - limits_inlining()) : 0;

			if (l && !rows[i].count++)
				snprintf(examples[i], sizeof(examples[i]), "%s.%.*s", w->name,
					 (int)strcspn(h->name, "("), h->name);
		}
	}
	pthread_mutex_unlock(&agent.lock);
	for (int i = 0; i < LIMITS_INLINING; i++) {
		if (!rows[i].count)
			continue;
		rows[i].flag = slice_str(limits_inlining()[i].flag);
		rows[i].effect = slice_str(limits_inlining()[i].effect);
		rows[i].bytes = (uint32_t)limits_inlining()[i].bytes;
		text_replace(examples[i], '/', '.');
		rows[i].example = slice_str(examples[i]);
		wire_put_grown(out, &rows[i]);
	}
}
