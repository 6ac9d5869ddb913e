/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - one function for each message of a client; the table at the end names them.  Those
 * that change rules are in change.c, leaving is in lifecycle.c. */
#include "agent/load/command.h"

#include <sys/socket.h>

#include "agent/core/agent.h"
#include "agent/core/reading.h"
#include "agent/load/lifecycle.h"
#include "agent/natives/data.h"
#include "agent/serve/stack_stream.h"
#include "agent/sampling/code_list.h"
#include "agent/serve/callees.h"
#include "agent/serve/closing.h"
#include "agent/serve/explain.h"
#include "agent/serve/rows.h"
#include "agent/serve/in_place.h"
#include "agent/serve/lookup.h"
#include "agent/serve/sample.h"
#include "agent/serve/call_types.h"
#include "agent/serve/origin.h"
#include "agent/serve/static_value.h"
#include "agent/serve/thread_list.h"
#include "agent/serve/transactions.h"
#include "agent/serve/watch.h"
#include "agent/weaving/change.h"
#include "agent/weaving/grown.h"
#include "agent/weaving/instrument.h"
#include "base/mem.h"
#include "base/plural.h"
#include "probe/probe.h"
#include "probe/types.h"
#include "wire/wire.h"

static void run_hooks(struct conn *c, JNIEnv *jni, struct slice payload)
{
	uint64_t classes, methods, rules;

	(void)jni, (void)payload;
	rows_put_rules(&c->out);
	rows_put_missed(&c->out);
	change_put_left(&c->out);
	grown_put(&c->out);
	woven_count(&classes, &methods);
	rules = rulebook.n - closing_rules();
	conn_done(c, DONE, "Hooks now in the program: %llu method%s in %llu class%s, %zu rule%s",
		  (unsigned long long)methods, plural(methods), (unsigned long long)classes,
		  plural_es(classes), rules, plural(rules));
}

static void send_piece(void *to)
{
	conn_piece(to);
}

static void run_report(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_report m;
	int rc = 0;

	(void)jni;
	if (wire_get_report(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	rows_put_methods(&c->out, m.flags);
	if (m.flags & REPORT_TREE)
		rc = rows_put_tree(&c->out, send_piece, c);
	call_types_put(&c->out);
	in_place_put(&c->out);
	change_put_left(&c->out);
	rows_put_status(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}

static void run_tree(struct conn *c, JNIEnv *jni, struct slice payload)
{
	int rc;

	(void)jni, (void)payload;
	rc = rows_put_tree(&c->out, send_piece, c);
	call_types_put(&c->out);
	rows_put_status(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}

static void run_status(struct conn *c, JNIEnv *jni, struct slice payload)
{
	(void)jni, (void)payload;
	rows_put_status(&c->out);
	conn_done(c, DONE, "%s", "");
}

static void run_data(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct data_seen *seen = mem_alloc(sizeof(*seen));
	uint64_t names = 0, values = 0;
	const char *name;

	(void)jni, (void)payload;
	for (uint32_t slot = 0; seen && slot < DATA_SLOTS && (name = data_slot_name(slot));
	     slot++) {
		data_seen(slot, seen);
		names++;
		values += seen->n;
		wire_put_captured(&c->out, &(struct wire_captured){ .name = slice_str(name),
								    .total = seen->total,
								    .passed = seen->passed });
		for (size_t i = 0; i < seen->n; i++)
			wire_put_value(&c->out,
				       &(struct wire_value){ .name = slice_str(name),
							     .text = slice_str(seen->v[i].text),
							     .count = seen->v[i].count,
							     .error = seen->v[i].error });
	}
	mem_free(seen);
	conn_done(c, seen ? DONE : CANNOT, "%llu value%s under %llu name%s",
		  (unsigned long long)values, plural(values), (unsigned long long)names,
		  plural(names));
}

static uint64_t calls_of(const struct hooked *h)
{
	struct probe_figures f;

	reading_method(h->id, &f, NULL);
	return f.calls;
}

static void run_reset(struct conn *c, JNIEnv *jni, struct slice payload)
{
	(void)jni, (void)payload;
	for (uint32_t id = 1; id < woven_ids(); id++) {
		struct hooked *h = woven_method(id);

		if (h)
			h->forgotten += calls_of(h);
		reading_reset(id);
		if (h)
			h->before = h->jni_calls = 0;
	}
	for (size_t i = 0; i < rulebook.n; i++)
		rulebook.entries[i].unloaded = 0;
	reading_reset(0); /* what was pruned has no owner */
	types_forget();
	data_seen_reset();
	in_place_reset();
	closing_reset();
	conn_done(c, DONE, "figures count from now");
}

static void run_explain(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_explain m;
	struct buf text = { 0 };
	int rc;

	if (wire_get_explain(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	rc = explain_method(jni, m.method, &text);
	if (rc > 0)
		wire_put_text(&c->out, &(struct wire_text){ buf_slice(&text) });
	if (rc > 0)
		conn_done(c, DONE, "%s", "");
	else
		conn_done(c, rc < 0 ? USAGE : NO, "%.*s", (int)text.n, (const char *)text.p);
	buf_release(&text);
}

/* ---- the table ---------------------------------------------------------------------------- */

static const struct {
	unsigned type;
	bool needs_jvm; /* is called attached to it */
	void (*run)(struct conn *c, JNIEnv *jni, struct slice payload);
} commands[] = {
	{ WIRE_ask_stacks, false, stack_stream_run },
	{ WIRE_hook, true, closing_hook },
	{ WIRE_unhook, true, change_unhook },
	{ WIRE_hooks, false, run_hooks },
	{ WIRE_report, false, run_report },
	{ WIRE_tree, false, run_tree },
	{ WIRE_explain, true, run_explain },
	{ WIRE_watch, true, watch_run },
	{ WIRE_ask_status, false, run_status },
	{ WIRE_ask_data, false, run_data },
	{ WIRE_reset, false, run_reset },
	{ WIRE_detach, true, lifecycle_detach },
	{ WIRE_sample, false, sample_run },
	{ WIRE_callees, true, callees_run },
	{ WIRE_trace, true, transactions_run },
	{ WIRE_in_place, false, in_place_run },
	{ WIRE_resolve, true, lookup_resolve },
	{ WIRE_find, true, lookup_find },
	{ WIRE_ask_threads, true, thread_list_run },
	{ WIRE_ask_value, true, static_value_run },
	{ WIRE_ask_origin, true, origin_run },
	{ WIRE_types, true, call_types_run },
	{ WIRE_ask_code, false, code_list_run },
	{ WIRE_ask_class_bytes, true, origin_bytes },
};

bool command_answer(struct conn *c, unsigned type, struct slice payload)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		JNIEnv *jni = NULL;

		if (commands[i].type != type)
			continue;
		if (commands[i].needs_jvm && !(jni = agent_enter_jvm()))
			conn_done(c, CANNOT, "the JVM does not let the agent's thread in");
		else
			commands[i].run(c, jni, payload);
		if (jni)
			agent_leave_jvm();
		return true;
	}
	return false;
}
