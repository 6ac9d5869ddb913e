/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.c - each part is a thread, each call a complete event ("X") in microseconds; work that was
 * handed over is a flow ("s", "f") from the call to its part. */
#include "export/perfetto.h"

#include "base/json.h"

static void begin_event(struct json *j, const char *phase, uint32_t part)
{
	json_open(j, '{');
	json_put_text(j, "ph", phase);
	json_put_u64(j, "pid", 1);
	json_put_u64(j, "tid", part + 1);
}

/* Microseconds with three places, exactly. */
static void put_us(struct json *j, const char *key, uint64_t ns)
{
	json_key(j, key);
	buf_printf(j->out, "%llu.%03llu", (unsigned long long)(ns / 1000),
		   (unsigned long long)(ns % 1000));
	j->more = true;
}

static void put_name(struct json *j, uint32_t part, const char *what, struct slice name)
{
	begin_event(j, "M", part);
	json_put_text(j, "name", what);
	json_put_open(j, "args", '{');
	json_put_str(j, "name", name);
	json_close(j, '}');
	json_close(j, '}');
}

static void put_data(struct json *j, const struct transaction *t)
{
	struct slice rest = t->data;

	while (rest.n) {
		const uint8_t *end = memchr(rest.p, 0, rest.n), *last;
		char key[128];

		last = end ? memchr(end + 1, 0, rest.n - (size_t)(end + 1 - rest.p)) : NULL;
		if (!last || (size_t)(end - rest.p) >= sizeof(key))
			return;
		memcpy(key, rest.p, (size_t)(end - rest.p) + 1);
		json_put_str(j, key, (struct slice){ end + 1, (size_t)(last - end - 1) });
		rest = (struct slice){ last + 1, rest.n - (size_t)(last + 1 - rest.p) };
	}
}

static void put_call(struct json *j, const struct transaction *t, const struct txn_part *p,
		     const struct txn_call *c, bool root)
{
	begin_event(j, "X", p->part);
	json_put_str(j, "name", t->names[c->name].method);
	put_us(j, "ts", c->begin_ns);
	put_us(j, "dur", c->elapsed_ns);
	json_put_open(j, "args", '{');
	if (c->flags & TX_CALL_THREW)
		json_put_text(j, "thrown", "yes");
	if (c->flags & TX_CALL_RUNS)
		json_put_text(j, "end", "not seen");
	if (t->names[c->name].conditional)
		json_put_text(j, "hooked", "in a context or under a condition");
	if (root)
		put_data(j, t);
	json_close(j, '}');
	json_close(j, '}');
}

static void put_flow(struct json *j, const struct txn_part *p)
{
	if (p->from == p->part)
		return;
	begin_event(j, "s", p->from);
	json_put_text(j, "name", "handed over");
	json_put_text(j, "cat", "work");
	json_put_u64(j, "id", p->part);
	put_us(j, "ts", p->submitted_ns);
	json_close(j, '}');
	begin_event(j, "f", p->part);
	json_put_text(j, "name", "handed over");
	json_put_text(j, "cat", "work");
	json_put_text(j, "bp", "e");
	json_put_u64(j, "id", p->part);
	put_us(j, "ts", p->begin_ns);
	json_close(j, '}');
}

void perfetto_put(const struct transaction *t, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_text(&j, "displayTimeUnit", "ns");
	json_put_open(&j, "traceEvents", '[');
	put_name(&j, 0, "process_name", t->app);
	for (size_t i = 0; i < t->n_parts; i++) {
		const struct txn_part *p = &t->parts[i];

		put_name(&j, p->part, "thread_name", p->thread);
		put_flow(&j, p);
		for (size_t k = 0; k < p->n; k++)
			if (!(p->calls[k].flags & TX_CALL_UNMET))
				put_call(&j, t, p, &p->calls[k], i == 0 && k == 0);
	}
	json_close(&j, ']');
	json_close(&j, '}');
}
