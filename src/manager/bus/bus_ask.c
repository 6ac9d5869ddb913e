/* SPDX-License-Identifier: Apache-2.0 */
/* bus_ask.c - requests to other managers and their answers; requests of theirs, in one thread.
 *
 * Asked: the number in front of the JSON, and our name: "NUMBER NAME {...}".  Answered: a frame for each piece of the
 * compressed body: number, place, status, is it the last. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/reader.h"
#include "manager/archive/blob.h"
#include "manager/bus/bus_priv.h"

enum { WAIT_MS = 130000, REQUEST_MAX = 2 << 20, ANSWER_MAX = 64 << 20, HEAD = 15 };

/* ---- asking ---- */

static struct far_ask *unlink_ask(struct bus *b, struct far_ask **at)
{
	struct far_ask *a = *at;

	*at = a->next;
	b->n_asks--;
	return a;
}

static void free_ask(struct far_ask *a)
{
	buf_release(&a->request);
	buf_release(&a->got);
	mem_free(a);
}

static void fail(bus_on_answer *on, void *ctx, const char *why)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_open(&j, "error", '{');
	json_put_text(&j, "code", "gone");
	json_put_text(&j, "text", why);
	json_close(&j, '}');
	json_close(&j, '}');
	on(ctx, BUS_GONE, buf_slice(&out));
	buf_release(&out);
}

static struct far_ask *ask_made(struct bus *b, const char *manager, bus_on_answer *on, void *ctx)
{
	struct far_ask *a = b->n_asks < ASKS_MAX && !b->ends ? mem_alloc(sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct far_ask){ .next = b->asks,
			       .number = ++b->asked,
			       .until_ms = clock_steady_ms() + WAIT_MS,
			       .on = on,
			       .ctx = ctx };
	snprintf(a->manager, sizeof(a->manager), "%s", manager);
	b->asks = a;
	b->n_asks++;
	return a;
}

static struct far_ask *take_ask(struct bus *b, uint64_t number)
{
	struct far_ask **at = &b->asks;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return *at ? unlink_ask(b, at) : NULL;
}

void bus_ask(struct bus *b, const char *manager, struct slice request, bus_on_answer *on, void *ctx)
{
	struct far_ask *a;

	pthread_mutex_lock(&b->lock);
	a = ask_made(b, manager, on, ctx);
	if (a) {
		buf_printf(&a->request, "%llu %s ", (unsigned long long)a->number, b->name);
		buf_put(&a->request, request);
		b->has_unsent = true;
		pthread_cond_signal(&b->work);
	}
	pthread_mutex_unlock(&b->lock);
	if (!a)
		fail(on, ctx, "too many requests wait for other managers");
}

/* The first that waits to be sent: its number, or 0. */
static uint64_t next_unsent(struct bus *b, char manager[FLEET_HOLDER], struct buf *request)
{
	struct far_ask *found = NULL;

	pthread_mutex_lock(&b->lock);
	for (struct far_ask *a = b->asks; a; a = a->next)
		if (a->request.n || a->request.err)
			found = a; /* the list has the newest first */
	b->has_unsent = found != NULL;
	if (found) {
		memcpy(manager, found->manager, FLEET_HOLDER);
		*request = found->request;
		found->request = (struct buf){ 0 };
	}
	pthread_mutex_unlock(&b->lock);
	return found ? found->number : 0;
}

static bool send(struct bus *b, const char *manager, const struct buf *request)
{
	char subject[BUS_KEY];

	return !request->err && bus_key_make(subject, "ask", slice_str(manager)) &&
	       bus_link_send(b->link, subject, buf_slice(request)) >= 0;
}

static void send_all(struct bus *b)
{
	char manager[FLEET_HOLDER];
	struct buf request = { 0 };
	uint64_t number;

	while ((number = next_unsent(b, manager, &request))) {
		struct far_ask *a = NULL;
		bool sent = send(b, manager, &request);

		buf_release(&request);
		request = (struct buf){ 0 };
		if (sent)
			continue;
		pthread_mutex_lock(&b->lock);
		a = take_ask(b, number);
		pthread_mutex_unlock(&b->lock);
		if (!a)
			continue;
		fail(a->on, a->ctx, "the manager that has this process cannot be reached");
		free_ask(a);
	}
}

static void end_all(struct bus *b, bool (*ends)(const struct bus *b, const struct far_ask *a))
{
	struct far_ask *gone = NULL;

	pthread_mutex_lock(&b->lock);
	for (struct far_ask **at = &b->asks; *at;) {
		if (ends(b, *at)) {
			struct far_ask *a = unlink_ask(b, at);

			a->next = gone;
			gone = a;
		} else {
			at = &(*at)->next;
		}
	}
	pthread_mutex_unlock(&b->lock);
	while (gone) {
		struct far_ask *a = gone;

		gone = a->next;
		fail(a->on, a->ctx, "the manager that has this process does not answer");
		free_ask(a);
	}
}

static bool is_lost(const struct bus *b, const struct far_ask *a)
{
	return clock_steady_ms() > a->until_ms || !b->is_up ||
	       !bus_is_alive(b, bus_manager((struct bus *)(uintptr_t)b, a->manager));
}

static bool is_any(const struct bus *b, const struct far_ask *a)
{
	(void)b, (void)a;
	return true;
}

void bus_ask_step(struct bus *b)
{
	send_all(b);
	end_all(b, is_lost);
}

/* One piece; the ask, when it was the last, or when it is wrong. */
static struct far_ask *add_piece(struct bus *b, struct slice m, int *status)
{
	struct reader r = rd_init(m);
	uint64_t high = rd_u32(&r), number = high << 32 | rd_u32(&r);
	uint32_t piece = rd_u32(&r);
	unsigned last;
	struct far_ask **at = &b->asks;

	*status = (int)rd_u16(&r);
	last = rd_u8(&r);
	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (r.err || !*at)
		return NULL;
	if ((*at)->pieces++ != piece || (*at)->got.n + m.n > ANSWER_MAX || *status < 200 ||
	    *status > 599)
		(*at)->got.err = E_DAMAGED;
	buf_put(&(*at)->got, (struct slice){ m.p + HEAD, m.n - HEAD });
	return last || (*at)->got.err ? unlink_ask(b, at) : NULL;
}

static void on_answered(void *ctx, struct slice m)
{
	struct bus *b = ctx;
	struct buf body = { 0 };
	struct far_ask *a;
	int status;

	pthread_mutex_lock(&b->lock);
	a = add_piece(b, m, &status);
	pthread_mutex_unlock(&b->lock);
	if (!a)
		return;
	if (!a->got.err && blob_expand(buf_slice(&a->got), &body) >= 0 && body.n <= ANSWER_MAX)
		a->on(a->ctx, status, buf_slice(&body));
	else
		fail(a->on, a->ctx, "what the other manager answered cannot be read");
	free_ask(a);
	buf_release(&body);
}

/* ---- answering ---- */

static void put_call(struct bus *b, struct bus_call *call)
{
	call->next = NULL;
	*b->last_call = call;
	b->last_call = &call->next;
	pthread_cond_signal(&b->called);
}

void bus_again(struct bus *b, struct bus_call *call)
{
	pthread_mutex_lock(&b->lock);
	put_call(b, call);
	pthread_mutex_unlock(&b->lock);
}

static void call_free(struct bus_call *call)
{
	buf_release(&call->mem);
	mem_free(call);
}

static bool read_call(struct bus_call *call, struct slice m)
{
	char *end, *name, *json;

	buf_put(&call->mem, m);
	buf_u8(&call->mem, 0);
	if (call->mem.err)
		return false;
	call->number = strtoull((char *)call->mem.p, &end, 10);
	name = *end == ' ' ? end + 1 : end;
	json = strchr(name, ' ');
	if (!json || json == name || (size_t)(json - name) >= sizeof(call->from))
		return false;
	memcpy(call->from, name, (size_t)(json - name));
	call->from[json - name] = '\0';
	fleet_plain(call->from);
	call->request = slice_str(json + 1);
	return true;
}

static void on_asked(void *ctx, struct slice m)
{
	struct bus *b = ctx;
	struct bus_call *call = m.n <= REQUEST_MAX ? mem_alloc(sizeof(*call)) : NULL;
	bool taken = false;

	if (!call)
		return;
	*call = (struct bus_call){ 0 };
	if (!read_call(call, m)) {
		call_free(call);
		return;
	}
	pthread_mutex_lock(&b->lock);
	taken = b->n_calls < CALLS_MAX && !b->ends && b->serve;
	b->n_calls++; /* bus_answer takes it back */
	if (taken)
		put_call(b, call);
	pthread_mutex_unlock(&b->lock);
	if (!taken)
		bus_answer(
			b, call, BUS_GONE,
			slice_str(
				"{\"error\":{\"code\":\"busy\",\"text\":\"that manager serves too many"
				" requests of others\"}}"));
}

static void send_pieces(struct bus *b, const struct bus_call *call, int status, struct slice packed)
{
	size_t most = bus_link_most(b->link) - HEAD;
	char subject[BUS_KEY];
	uint32_t piece = 0;
	int rc = bus_key_make(subject, "answer", slice_str(call->from)) ? 0 : E_IO;

	while (rc >= 0) {
		size_t n = packed.n < most ? packed.n : most;
		struct buf out = { 0 };

		buf_u32(&out, (uint32_t)(call->number >> 32));
		buf_u32(&out, (uint32_t)call->number);
		buf_u32(&out, piece++);
		buf_u16(&out, (unsigned)status);
		buf_u8(&out, n == packed.n);
		buf_put(&out, (struct slice){ packed.p, n });
		rc = out.err ? out.err : bus_link_send(b->link, subject, buf_slice(&out));
		buf_release(&out);
		packed.p += n;
		packed.n -= n;
		if (!packed.n)
			break;
	}
}

void bus_answer(struct bus *b, struct bus_call *call, int status, struct slice body)
{
	struct buf packed = { 0 };

	if (body.n > ANSWER_MAX || blob_compress(NULL, body, &packed) < 0) {
		status = 500;
		buf_clear(&packed);
		blob_compress(
			NULL,
			slice_str("{\"error\":{\"code\":\"memory\",\"text\":\"the answer is too"
				  " long\"}}"),
			&packed);
	}
	send_pieces(b, call, status, buf_slice(&packed));
	buf_release(&packed);
	call_free(call);
	pthread_mutex_lock(&b->lock);
	b->n_calls--;
	b->answered++;
	pthread_cond_signal(&b->called);
	pthread_mutex_unlock(&b->lock);
}

/* NULL: it is over. */
static struct bus_call *next_call(struct bus *b)
{
	struct bus_call *call;

	pthread_mutex_lock(&b->lock);
	while (!b->calls && !(b->ends_serving && !b->n_calls))
		pthread_cond_wait(&b->called, &b->lock);
	call = b->calls;
	if (call)
		b->calls = call->next;
	if (!b->calls)
		b->last_call = &b->calls;
	pthread_mutex_unlock(&b->lock);
	return call;
}

static void *serve_all(void *arg)
{
	struct bus *b = arg;
	struct bus_call *call;

	while ((call = next_call(b)))
		b->serve(b->serve_ctx, call); /* which ends in bus_answer, or in bus_again */
	return NULL;
}

/* ---- begin and end ---- */

void bus_serve_by(struct bus *b, bus_serve *serve, void *ctx)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->serve_ctx = ctx;
	b->serve = serve;
	pthread_mutex_unlock(&b->lock);
}

int bus_ask_start(struct bus *b)
{
	char ask[BUS_KEY], answer[BUS_KEY];

	if (!bus_key_make(ask, "ask", slice_str(b->name)) ||
	    !bus_key_make(answer, "answer", slice_str(b->name)) ||
	    bus_link_listen(b->link, ask, on_asked, b) < 0 ||
	    bus_link_listen(b->link, answer, on_answered, b) < 0) {
		log_put(LOG_ERROR, "--bus: it cannot be listened to");
		return E_IO;
	}
	b->has_server = pthread_create(&b->server, NULL, serve_all, b) == 0;
	return b->has_server ? 0 : E_NO_MEMORY;
}

void bus_ask_quit(struct bus *b)
{
	end_all(b, is_any);
}

/* All that agents were asked for has ended by now. */
void bus_end_calls(struct bus *b)
{
	if (!b || !b->has_server)
		return;
	pthread_mutex_lock(&b->lock);
	b->ends_serving = true;
	pthread_cond_signal(&b->called);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->server, NULL);
	b->has_server = false;
}
