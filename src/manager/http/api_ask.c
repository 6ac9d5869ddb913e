/* SPDX-License-Identifier: Apache-2.0 */
/* api_ask.c - questions that an agent has to answer while the client waits: what a method calls, why
 * it is or is not hooked, where the threads are.
 *
 * The connection of the client is suspended until the agent has answered, so no thread waits. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "classfile/calls.h"
#include "manager/http/request.h"

enum { PATIENCE_S = 60, ANSWER_MAX = 64 << 20 };

/* ---- asking ---- */

/* Rows are written as JSON values, one after the other, into request.answer. */
struct question {
	struct api_request *call;
	struct json rows;
	struct map hooked; /* names of methods with figures -> calls */
	struct buf warnings, vitals;
	struct json warnings_json;
	uint64_t stack[WIRE_DEPTH_MAX + 1];
	struct slice caller;
};

static void end_question(struct ask *a, int status, struct slice text)
{
	struct question *q = a->ctx;
	struct api_request *c = q->call;

	c->ask_status = status;
	if (status != 0) {
		buf_clear(&c->answer);
		buf_put(&c->answer, text);
	} else {
		buf_text(&c->answer, "],");
		buf_put(&c->answer, buf_slice(&q->vitals));
		buf_text(&c->answer, "\"warnings\":[");
		buf_put(&c->answer, buf_slice(&q->warnings));
		buf_text(&c->answer, "]");
	}
	map_release(&q->hooked);
	buf_release(&q->warnings);
	buf_release(&q->vitals);
	mem_free(q);
	request_resume(c);
}

/* What an agent sends beyond that is left out. */
static bool is_full(const struct question *q)
{
	return q->call->answer.n + q->warnings.n > ANSWER_MAX;
}

static void take_warning(struct question *q, unsigned type, struct slice payload)
{
	struct wire_warning m;

	if (type == WIRE_warning && !is_full(q) && wire_get_warning(payload, &m) == 0)
		json_str(&q->warnings_json, m.text);
}

/* To the instance of the second argument, or any of the application.  REQUEST_WAITS; or it failed. */
static int begin(struct api_request *c, struct instance *i, struct ask **out)
{
	struct ask *a = session_ask(i, PATIENCE_S);
	struct question *q = a ? mem_alloc(sizeof(*q)) : NULL;

	if (!q) {
		mem_free(a);
		return request_fail(c, 500, "memory", "out of memory");
	}
	*q = (struct question){ .call = c };
	q->rows = json_to(&c->answer);
	q->warnings_json = json_to(&q->warnings);
	a->ctx = q;
	a->done = end_question;
	*out = a;
	return REQUEST_WAITS;
}

/* It may be answered at once, when the agent has just gone: then nobody waits. */
void request_ask(struct api_request *c, struct ask *a)
{
	session_send(c->f, a);
	if (!c->ready)
		request_suspend(c);
}

static int unanswered(struct api_request *c)
{
	struct slice why = buf_slice(&c->answer);

	if (c->ask_status == ASK_GONE)
		return request_fail(c, 503, "gone", "%.*s", SLICE_FMT(why));
	return request_fail(c, c->ask_status == 1 ? 404 : 400,
			    c->ask_status == 1 ? "not_found" : "usage", "%.*s", SLICE_FMT(why));
}

int request_asked(struct api_request *c, request_question *ask, const void *wish)
{
	bool waits = false;
	int status = 0;

	if (!c->ready) {
		pthread_mutex_lock(&c->f->lock);
		status = ask(c, wish);
		waits = !c->ready; /* without the lock it may be answered, and be resumed, any time */
		pthread_mutex_unlock(&c->f->lock);
	}
	if (waits)
		return status;
	return c->ask_status == 0 ? 0 : unanswered(c);
}

static struct instance *find(struct api_request *c, struct app *a)
{
	struct instance *i = a ? fleet_connected(c->f, a, request_instance(c)) : NULL;

	if (a && !i)
		request_fail(c, 503, "gone", "no process of this application is connected");
	return i;
}

/* To a process of the application of the first argument. */
static int begin_in_app(struct api_request *c, struct instance **i, struct ask **a)
{
	*i = find(c, request_app(c));
	if (*i)
		return begin(c, *i, a);
	return fleet_app(c->f, c->args[0]) ? 503 : 404;
}

/* ---- callees ---- */

static void put_flag(struct json *j, const char *key, uint32_t flags, uint32_t flag)
{
	if (flags & flag)
		json_put_bool(j, key, true);
}

static void callee_row(struct ask *a, unsigned type, struct slice payload)
{
	struct question *q = a->ctx;
	struct wire_callee m;
	uintptr_t *at;

	take_warning(q, type, payload);
	if (type != WIRE_callee || is_full(q) || wire_get_callee(payload, &m) < 0)
		return;
	at = map_get(&q->hooked, m.name);
	json_open(&q->rows, '{');
	json_put_str(&q->rows, "method", m.name);
	json_put_str(&q->rows, "caller", m.caller);
	json_put_nonempty(&q->rows, "kind", call_kind_text(m.kind));
	json_put_u64(&q->rows, "sites", m.sites);
	json_put_str(&q->rows, "lines", m.lines);
	json_put_bool(&q->rows, "found", m.flags & CALLEE_FOUND);
	put_flag(&q->rows, "abstract", m.flags, CALLEE_ABSTRACT);
	put_flag(&q->rows, "native", m.flags, CALLEE_NATIVE);
	put_flag(&q->rows, "synthetic", m.flags, CALLEE_SYNTHETIC);
	put_flag(&q->rows, "more", m.flags, CALLEE_MORE);
	json_put_bool(&q->rows, "hooked", at != NULL);
	json_put_bool(&q->rows, "has_data", at && *at);
	json_close(&q->rows, '}');
}

static void see_hooked(struct question *q, const struct instance *i)
{
	for (size_t k = 0; k < i->n; k++) {
		const struct figure *g = &i->figures[k];
		uintptr_t *at = g->flags & (METHOD_GONE | METHOD_ANCHOR)
					? NULL
					: map_put(&q->hooked, g->name->text, NULL);

		if (at)
			*at = g->sums[SUM_CALLS] != 0;
	}
}

static bool read_opcodes(struct slice list, uint32_t *out)
{
	static const struct {
		const char *word;
		uint32_t bit;
	} words[] = { { "virtual", 1u },
		      { "special", 2u },
		      { "static", 4u },
		      { "interface", 8u },
		      { "dynamic", 16u } };

	*out = 0;
	while (list.n) {
		const uint8_t *comma = memchr(list.p, ',', list.n);
		struct slice word = { list.p, comma ? (size_t)(comma - list.p) : list.n };
		bool known = false;

		for (size_t i = 0; i < COUNT(words); i++) {
			known |= slice_is(word, words[i].word);
			*out |= slice_is(word, words[i].word) ? words[i].bit : 0;
		}
		if (!known)
			return false;
		list = (struct slice){ list.p + word.n + (comma != NULL),
				       list.n - word.n - (comma != NULL) };
	}
	return true;
}

/* "com.shop.Cart.checkout(Lx;)V" is written a.b.C::m(...) in rules. */
static struct slice as_in_rules(struct api_request *c, struct slice method)
{
	const uint8_t *paren = memchr(method.p, '(', method.n);
	size_t n = paren ? (size_t)(paren - method.p) : method.n, dot = n;
	struct buf out = { 0 };
	struct slice text;

	while (dot > 0 && method.p[dot - 1] != '.' && method.p[dot - 1] != ':')
		dot--;
	if (dot == 0 || method.p[dot - 1] == ':')
		return method;
	buf_bytes(&out, method.p, dot - 1);
	buf_text(&out, "::");
	buf_bytes(&out, method.p + dot, n - dot);
	text = arena_dup(&c->mem, buf_slice(&out));
	buf_release(&out);
	return text;
}

struct callees_wish {
	struct slice method;
	uint32_t opcodes;
};

static int ask_callees(struct api_request *c, const void *wish)
{
	const struct callees_wish *w = wish;
	struct instance *i;
	struct ask *a = NULL;
	int status = begin_in_app(c, &i, &a);

	if (status != REQUEST_WAITS)
		return status;
	see_hooked(a->ctx, i);
	a->row = callee_row;
	wire_put_callees(&a->frame,
			 &(struct wire_callees){ as_in_rules(c, w->method), w->opcodes, 0 });
	request_ask(c, a);
	return REQUEST_WAITS;
}

static int put_answer(struct api_request *c, const char *list, struct slice method)
{
	struct json j = request_json(c);

	json_put_str(&j, "method", method);
	json_key(&j, list);
	buf_u8(&c->out, '[');
	buf_put(&c->out, buf_slice(&c->answer));
	return request_end(&j, 200);
}

int api_callees(struct api_request *c)
{
	struct callees_wish w = { .method = query_get(&c->query, "method") };
	int status;

	if (!w.method.n || !read_opcodes(query_get(&c->query, "opcodes"), &w.opcodes))
		return request_fail(
			c, 400, "usage",
			"method is needed; opcodes are of virtual,special,static,interface,dynamic");
	status = request_asked(c, ask_callees, &w);
	return status ? status : put_answer(c, "callees", w.method);
}

/* ---- explain ---- */

static void explain_row(struct ask *a, unsigned type, struct slice payload)
{
	struct question *q = a->ctx;
	struct wire_text m;

	if (type == WIRE_text && !is_full(q) && wire_get_text(payload, &m) == 0)
		json_str(&q->rows, m.text);
}

static int ask_explain(struct api_request *c, const void *wish)
{
	const struct slice *method = wish;
	struct instance *i;
	struct ask *a = NULL;
	int status = begin_in_app(c, &i, &a);

	if (status != REQUEST_WAITS)
		return status;
	a->row = explain_row;
	wire_put_explain(&a->frame, &(struct wire_explain){ as_in_rules(c, *method) });
	request_ask(c, a);
	return REQUEST_WAITS;
}

int api_explain(struct api_request *c)
{
	struct slice method = query_get(&c->query, "method");
	int status;

	if (!method.n)
		return request_fail(c, 400, "usage", "method is needed");
	status = request_asked(c, ask_explain, &method);
	return status ? status : put_answer(c, "texts", method);
}

/* ---- hot spots ---- */

static uint64_t frame_id(struct question *q, const struct wire_frame *m)
{
	uint64_t h = m->depth ? q->stack[m->depth - 1] : 0xcbf29ce484222325u;

	for (size_t i = 0; i < m->name.n; i++)
		h = (h ^ m->name.p[i]) * 0x100000001b3u;
	return q->stack[m->depth] = h;
}

static void put_hex(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)v);
	json_put_nonempty(j, key, text);
}

static void put_vitals(struct question *q, const struct wire_vitals *v)
{
	buf_clear(&q->vitals);
	buf_printf(
		&q->vitals,
		"\"samples\":%llu,\"wall_ns\":%llu,\"cpu_ns\":%llu,\"gc_ns\":%llu,\"threads\":%u,",
		(unsigned long long)v->samples, (unsigned long long)v->wall_ns,
		(unsigned long long)v->cpu_ns, (unsigned long long)v->gc_ns, v->threads);
}

static void frame_row(struct ask *a, unsigned type, struct slice payload)
{
	struct question *q = a->ctx;
	struct wire_vitals v;
	struct wire_frame m;
	struct json *j = &q->rows;

	if (type == WIRE_vitals && wire_get_vitals(payload, &v) == 0)
		put_vitals(q, &v);
	if (type != WIRE_frame || is_full(q) || wire_get_frame(payload, &m) < 0 ||
	    m.depth > WIRE_DEPTH_MAX)
		return;
	json_open(j, '{');
	put_hex(j, "id", frame_id(q, &m));
	if (m.depth)
		put_hex(j, "parent", q->stack[m.depth - 1]);
	json_put_u64(j, "depth", m.depth);
	json_put_str(j, "method", m.name);
	json_put_bool(j, "native", m.flags & FRAME_NATIVE);
	json_put_u64(j, "running", m.running);
	json_put_u64(j, "in_native", m.native);
	json_put_u64(j, "blocked", m.blocked);
	json_put_u64(j, "waiting", m.waiting);
	json_put_u64(j, "parked", m.parked);
	json_put_u64(j, "sleeping", m.sleeping);
	json_put_u64(j, "threads", m.threads);
	json_close(j, '}');
}

struct frames_wish {
	uint64_t seconds, rate;
};

static int ask_frames(struct api_request *c, const void *wish)
{
	const struct frames_wish *w = wish;
	struct instance *i = fleet_connected(c->f, NULL, c->args[0]);
	struct ask *a = NULL;
	int status = i ? begin(c, i, &a)
		       : request_fail(c, 404, "not_found", "no such process is connected");

	if (status != REQUEST_WAITS)
		return status;
	a->patience_ms += w->seconds * 1000;
	a->row = frame_row;
	wire_put_sample(&a->frame,
			&(struct wire_sample){ w->seconds * 1000000000u, (uint32_t)w->rate, 0 });
	request_ask(c, a);
	return REQUEST_WAITS;
}

int api_hotspots(struct api_request *c)
{
	struct frames_wish w = { .seconds = 4, .rate = 25 };
	struct json j;
	int status;

	if (!query_number(&c->query, "seconds", 1, 60, &w.seconds) ||
	    !query_number(&c->query, "rate", 1, 100, &w.rate))
		return request_fail(c, 400, "usage",
				    "seconds is up to 60, rate up to 100 a second");
	status = request_asked(c, ask_frames, &w);
	if (status)
		return status;
	j = request_json(c);
	json_put_str(&j, "instance", c->args[0]);
	json_put_u64(&j, "seconds", w.seconds);
	json_put_nonempty(&j, "kind", "safepoint");
	json_key(&j, "frames");
	buf_u8(&c->out, '[');
	buf_put(&c->out, buf_slice(&c->answer));
	return request_end(&j, 200);
}
