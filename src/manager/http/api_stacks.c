/* SPDX-License-Identifier: Apache-2.0 */
/* api_stacks.c - samples of one process, taken now: stacks of Java and native functions by thread and
 * by what the thread did.
 *
 * The agent's rows are kept as they come.  They are read in the client's thread, since names of native
 * functions are read from files. */
#include <pthread.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/reader.h"
#include "manager/http/request.h"
#include "outside/symbols.h"
#include "sample/walk.h"

enum { PATIENCE_S = 60, ROWS_MAX = 32 << 20, FILES_MAX = 512 << 20 };

/* ---- asking ---- */

static void keep_row(struct ask *a, unsigned type, struct slice payload)
{
	struct api_request *c = a->ctx;

	if (c->answer.n + payload.n > ROWS_MAX)
		return;
	buf_u32(&c->answer, type);
	buf_u32(&c->answer, (uint32_t)payload.n);
	buf_put(&c->answer, payload);
}

static void end_rows(struct ask *a, int status, struct slice text)
{
	struct api_request *c = a->ctx;

	c->ask_status = status;
	if (status != 0) {
		buf_clear(&c->answer);
		buf_put(&c->answer, text);
	}
	request_resume(c);
}

struct wish {
	uint64_t seconds, rate;
	unsigned mode;
};

static bool read_wish(struct api_request *c, struct wish *w)
{
	struct slice mode = query_get(&c->query, "mode");

	*w = (struct wish){ .seconds = 2 };
	w->mode = slice_is(mode, "wall") ? STACKS_WALL : STACKS_CPU;
	return query_number(&c->query, "seconds", 1, 60, &w->seconds) &&
	       query_number(&c->query, "rate", 1, 1000, &w->rate) &&
	       (!mode.n || slice_is(mode, "wall") || slice_is(mode, "cpu"));
}

static int ask_stacks(struct api_request *c, const void *wish)
{
	const struct wish *w = wish;
	struct instance *i = fleet_connected(c->f, NULL, c->args[0]);
	struct ask *a = i ? session_ask(i, PATIENCE_S) : NULL;

	if (!i)
		return request_fail(c, 404, "not_found", "no such process is connected");
	if (!a)
		return request_fail(c, 500, "memory", "out of memory");
	a->ctx = c;
	a->row = keep_row;
	a->done = end_rows;
	a->patience_ms += w->seconds * 1000;
	wire_put_ask_stacks(&a->frame,
			    &(struct wire_ask_stacks){ .for_ns = w->seconds * 1000000000u,
						       .rate = (uint32_t)w->rate,
						       .mode = w->mode });
	request_ask(c, a);
	return REQUEST_WAITS;
}

/* ---- names of native functions ---- */

/* Of the process that was asked last: whoever looks at it asks again soon. */
static struct {
	pthread_mutex_t lock;
	char of[FLEET_ID];
	struct symbols symbols;
} files = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The lock is held until files_leave. */
static struct symbols *files_of(struct slice id, pid_t pid)
{
	pthread_mutex_lock(&files.lock);
	if (!slice_is(id, files.of) || !files.of[0]) {
		symbols_release(&files.symbols);
		symbols_init(&files.symbols, pid);
		files.symbols.left = FILES_MAX;
		snprintf(files.of, sizeof(files.of), "%.*s", SLICE_FMT(id));
	}
	return &files.symbols;
}

static void files_leave(void)
{
	pthread_mutex_unlock(&files.lock);
}

static pid_t pid_of(struct api_request *c)
{
	struct instance *i;
	pid_t pid;

	pthread_mutex_lock(&c->f->lock);
	i = fleet_connected(c->f, NULL, c->args[0]);
	pid = i && !i->relay ? i->peer.pid : 0; /* files of other machines are not here */
	pthread_mutex_unlock(&c->f->lock);
	return pid;
}

/* ---- reading what came ---- */

struct seen_stack {
	uint64_t hash;
	struct slice places; /* of the request's answer */
	uint64_t count, amount;
	uint32_t thread, state, end;
};

struct seen {
	struct buf list; /* of struct seen_stack */
	struct map told; /* hash -> number in the list, from 1 */
	struct wire_stacks_state state;
};

static struct seen_stack *stack_at(const struct seen *s, size_t n)
{
	return (struct seen_stack *)(void *)s->list.p + n;
}

static void add_row(struct seen *s, const struct wire_stack_row *m)
{
	struct seen_stack k = { .hash = m->hash,
				.places = m->places,
				.count = m->count,
				.amount = m->amount,
				.thread = m->thread,
				.state = m->state < STACK_STATES ? m->state : STACK_RUNS,
				.end = m->end };
	size_t n;
	uintptr_t *at;

	buf_bytes(&s->list, &k, sizeof(k));
	n = s->list.n / sizeof(k);
	if (s->list.err || !k.hash)
		return;
	/* The key lies in the request's answer, behind the places. */
	at = map_put(&s->told, (struct slice){ m->places.p + m->places.n + 8, 8 }, NULL);
	if (at)
		*at = n;
}

static void add_again(struct seen *s, const struct wire_stack_again *m, struct slice payload)
{
	const uintptr_t *at = map_get(&s->told, (struct slice){ payload.p, 8 });
	struct seen_stack *k = at ? stack_at(s, *at - 1) : NULL;

	if (!k)
		return;
	k->count += m->count;
	k->amount += m->amount;
}

typedef void on_row(void *ctx, unsigned type, struct slice payload);

static void each_row(const struct buf *kept, on_row *on, void *ctx)
{
	struct reader r = rd_init(buf_slice(kept));

	while (!r.err && rd_left(&r)) {
		unsigned type = rd_u32(&r);
		uint32_t n = rd_u32(&r);
		const uint8_t *p = rd_take(&r, n);

		if (p || !n)
			on(ctx, type, (struct slice){ p, n });
	}
}

static void read_row(void *ctx, unsigned type, struct slice payload)
{
	struct seen *s = ctx;
	struct wire_stack_row row;
	struct wire_stack_again again;

	if (type == WIRE_stack_row && wire_get_stack_row(payload, &row) == 0)
		add_row(s, &row);
	else if (type == WIRE_stack_again && wire_get_stack_again(payload, &again) == 0)
		add_again(s, &again, payload);
	else if (type == WIRE_stacks_state)
		(void)wire_get_stacks_state(payload, &s->state);
}

/* ---- the answer ---- */

struct writing {
	struct json j;
	struct symbols *symbols;
};

static const char *kind_text(unsigned kind)
{
	static const char *const texts[] = {
		[PLACE_UNKNOWN] = "unknown", [PLACE_INTERPRETED] = "interpreted",
		[PLACE_C1] = "C1",	     [PLACE_C2] = "C2",
		[PLACE_INLINED] = "inlined", [PLACE_JNI] = "JNI",
		[PLACE_STUB] = "stub",	     [PLACE_NATIVE] = "native",
		[PLACE_KERNEL] = "kernel",
	};

	return texts[kind < COUNT(texts) ? kind : PLACE_UNKNOWN];
}

static void put_place(void *ctx, unsigned type, struct slice payload)
{
	struct writing *w = ctx;
	struct wire_stack_place m;
	struct buf name = { 0 };

	if (type != WIRE_stack_place || wire_get_stack_place(payload, &m) < 0)
		return;
	if (m.kind == PLACE_NATIVE) {
		symbols_put(w->symbols, m.name, m.address, &name);
		m.name = buf_slice(&name);
	}
	json_open(&w->j, '{');
	json_put_u64(&w->j, "id", m.id);
	json_put_text(&w->j, "kind", kind_text(m.kind));
	json_put_str(&w->j, "name", m.name);
	json_close(&w->j, '}');
	buf_release(&name);
}

static void put_thread(void *ctx, unsigned type, struct slice payload)
{
	struct writing *w = ctx;
	struct wire_stack_thread m;

	if (type != WIRE_stack_thread || wire_get_stack_thread(payload, &m) < 0)
		return;
	json_open(&w->j, '{');
	json_put_u64(&w->j, "id", m.thread);
	json_put_str(&w->j, "name", m.name);
	json_close(&w->j, '}');
}

static void put_stack(struct json *j, const struct seen_stack *k)
{
	static const char *const states[STACK_STATES] = { "running", "calls",	"blocked",
							  "parked",  "waiting", "sleeping" };
	struct reader r = rd_init(k->places);

	json_open(j, '{');
	json_put_u64(j, "thread", k->thread);
	json_put_text(j, "state", states[k->state]);
	json_put_u64(j, "count", k->count);
	json_put_u64(j, "ns", k->amount);
	if (!walk_end_is_good((enum walk_end)k->end))
		json_put_bool(j, "broken", true);
	json_put_open(j, "places", '[');
	while (rd_left(&r) >= 4)
		json_u64(j, rd_u32(&r));
	json_close(j, ']');
	json_close(j, '}');
}

static void put_state(struct json *j, const struct wire_stacks_state *m)
{
	json_put_u64(j, "samples", m->samples);
	json_put_u64(j, "lost", m->lost);
	json_put_u64(j, "wall_ns", m->wall_ns);
	json_put_u64(j, "cpu_ns", m->cpu_ns);
	json_put_u64(j, "own_ns", m->own_ns);
	json_put_u64(j, "period_ns", m->period_ns);
	json_put_str(j, "engine", m->engine);
	json_put_str(j, "note", m->note);
}

static int put_answer(struct api_request *c, const struct wish *w, pid_t pid)
{
	struct seen s = { 0 };
	struct writing out = { .j = request_json(c) };

	each_row(&c->answer, read_row, &s);
	json_put_str(&out.j, "instance", c->args[0]);
	json_put_u64(&out.j, "seconds", w->seconds);
	json_put_text(&out.j, "mode", w->mode == STACKS_WALL ? "wall" : "cpu");
	put_state(&out.j, &s.state);
	json_put_open(&out.j, "places", '[');
	out.symbols = files_of(c->args[0], pid);
	each_row(&c->answer, put_place, &out);
	files_leave();
	json_close(&out.j, ']');
	json_put_open(&out.j, "threads", '[');
	each_row(&c->answer, put_thread, &out);
	json_close(&out.j, ']');
	json_put_open(&out.j, "stacks", '[');
	for (size_t i = 0; i < s.list.n / sizeof(struct seen_stack); i++)
		put_stack(&out.j, stack_at(&s, i));
	json_close(&out.j, ']');
	map_release(&s.told);
	buf_release(&s.list);
	return request_end(&out.j, 200);
}

int api_stacks(struct api_request *c)
{
	struct wish w;
	int status;
	pid_t pid;

	if (!read_wish(c, &w))
		return request_fail(
			c, 400, "usage",
			"seconds is up to 60, rate up to 1000 a second, mode is cpu or wall");
	status = request_asked(c, ask_stacks, &w);
	if (status)
		return status;
	pid = pid_of(c);
	return pid ? put_answer(c, &w, pid) : request_fail(c, 503, "gone", "the process has ended");
}
