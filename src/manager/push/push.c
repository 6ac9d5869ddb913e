/* SPDX-License-Identifier: Apache-2.0 */
/* push.c - two lanes, for traces and for metrics, each with one body under way.
 *
 * Figures are totals, so a request for metrics that failed is not kept: the next one says the same
 * and more. */
#include "manager/push/push.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "export/otlp.h"
#include "manager/figures/pack.h"
#include "manager/log.h"
#include "manager/net/post.h"
#include "manager/wait.h"

enum {
	QUEUE_MAX = 64 << 20, /* bytes */
	BATCH_MAX = 4 << 20,
	GATHER_MS = 2000,
	STEP_MS = 250,
	POST_MS = 10000,
	LAST_POST_MS = 3000,
	FIRST_RETRY_MS = 1000,
	LAST_RETRY_MS = 60000,
	ANSWER_MAX = 64 << 10,
	GZIP_BITS = 15 + 16,
};

struct waiting_trace {
	struct waiting_trace *next;
	struct arena mem;
	struct archive_trace t;
	size_t size;
};

struct lane {
	char url[SETTINGS_URL + 16];
	struct buf body; /* compressed; .n 0: none is under way */
	uint64_t due_ms;
	unsigned tries;
	size_t spans;
};

struct push {
	const struct settings *config;
	push_metrics *metrics;
	void *ctx;
	struct poster *poster;
	struct lane traces, figures;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct waiting_trace *first, **last;
	size_t size;
	struct push_counts counts;
	bool ends, runs;
};

/* ---- the queue ---- */

static void drop(struct waiting_trace *w)
{
	struct arena mem = w->mem;

	arena_release(&mem);
}

static struct waiting_trace *copy(const struct archive_trace *t)
{
	struct arena mem;
	struct waiting_trace *w;

	arena_init(&mem);
	w = arena_zero(&mem, sizeof(*w));
	if (!w)
		return NULL;
	w->t = *t;
	w->t.app = arena_dup(&mem, t->app);
	w->t.instance = arena_dup(&mem, t->instance);
	w->t.data = arena_dup(&mem, t->data);
	w->t.blob = arena_dup(&mem, t->blob);
	w->size = t->blob.n + t->data.n + sizeof(*w);
	w->mem = mem;
	return w;
}

void push_trace(struct push *p, const struct archive_trace *t)
{
	struct waiting_trace *w;

	if (!p)
		return;
	w = __atomic_load_n(&p->size, __ATOMIC_RELAXED) < QUEUE_MAX ? copy(t) : NULL;
	pthread_mutex_lock(&p->lock);
	if (w) {
		*p->last = w;
		p->last = &w->next;
		__atomic_store_n(&p->size, p->size + w->size, __ATOMIC_RELAXED);
	} else {
		p->counts.dropped++;
	}
	pthread_mutex_unlock(&p->lock);
}

static struct waiting_trace *take(struct push *p)
{
	struct waiting_trace *w;

	pthread_mutex_lock(&p->lock);
	w = p->first;
	if (w) {
		p->first = w->next;
		if (!p->first)
			p->last = &p->first;
		__atomic_store_n(&p->size, p->size - w->size, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&p->lock);
	return w;
}

/* ---- bodies ---- */

static bool compress_body(const struct buf *from, struct buf *to)
{
	z_stream z = { 0 };
	uLong room;
	bool good;

	buf_clear(to);
	if (from->err ||
	    deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	room = deflateBound(&z, from->n);
	z.next_in = from->p;
	z.avail_in = (uInt)from->n;
	z.next_out = buf_room(to, room);
	z.avail_out = (uInt)room;
	good = z.next_out && deflate(&z, Z_FINISH) == Z_STREAM_END;
	if (good)
		to->n = z.total_out;
	deflateEnd(&z);
	return good;
}

static size_t add_trace(struct json *j, struct waiting_trace *w)
{
	struct transaction t;
	size_t n = 0;

	if (pack_read(w->t.blob, &w->mem, &t) >= 0) {
		t.app = w->t.app;
		t.instance = w->t.instance;
		t.data = w->t.data;
		t.elapsed_ns = w->t.elapsed_ns;
		t.flags = w->t.flags;
		n = otlp_spans_add(j, &t, archive_host(t.instance));
	}
	return n;
}

/* Puts what waits into one request. */
static void fill_traces(struct push *p)
{
	struct lane *l = &p->traces;
	struct buf text = { 0 };
	struct json j = json_to(&text);
	struct waiting_trace *w;

	l->spans = 0;
	otlp_spans_begin(&j);
	while (text.n < BATCH_MAX && !text.err && (w = take(p))) {
		l->spans += add_trace(&j, w);
		drop(w);
	}
	otlp_spans_end(&j);
	if (l->spans && !compress_body(&text, &l->body))
		buf_clear(&l->body);
	buf_release(&text);
}

static void fill_figures(struct push *p)
{
	struct buf text = { 0 };

	p->metrics(p->ctx, &text);
	if (!compress_body(&text, &p->figures.body))
		buf_clear(&p->figures.body);
	buf_release(&text);
}

/* ---- answers ---- */

static double number_of(const cJSON *v)
{
	return cJSON_IsNumber(v) ? v->valuedouble : cJSON_IsString(v) ? atof(v->valuestring) : 0;
}

/* The receiver has taken the request, but maybe not all of what was in it. */
static void see_partial(struct push *p, const struct lane *l, const struct buf *answer)
{
	cJSON *all = cJSON_ParseWithLength((const char *)answer->p, answer->n);
	const cJSON *part = cJSON_GetObjectItem(all, "partialSuccess");
	const cJSON *text = cJSON_GetObjectItem(part, "errorMessage");
	double n = number_of(cJSON_GetObjectItem(part, "rejectedSpans")) +
		   number_of(cJSON_GetObjectItem(part, "rejectedDataPoints"));

	if (n > 0 || cJSON_IsString(text))
		log_put(LOG_WARN, "%s has refused %.0f: %s", l->url, n,
			cJSON_IsString(text) ? text->valuestring : "");
	pthread_mutex_lock(&p->lock);
	p->counts.spans += l->spans;
	p->counts.rejected += n > 0 && n < 9e15 ? (uint64_t)n : 0;
	pthread_mutex_unlock(&p->lock);
	cJSON_Delete(all);
}

static bool may_retry(const struct posted *said)
{
	return said->status == 0 || said->status == 429 ||
	       (said->status >= 502 && said->status <= 504);
}

/* Twice as long each time, and not all at the same moment. */
static uint64_t pause_of(const struct lane *l, const struct posted *said)
{
	uint64_t ms = (uint64_t)FIRST_RETRY_MS << (l->tries < 10 ? l->tries : 10);

	ms = ms < LAST_RETRY_MS ? ms : LAST_RETRY_MS;
	ms = ms / 2 + (uint64_t)random() % (ms / 2 + 1);
	return said->retry_after_s * 1000ull > ms ? said->retry_after_s * 1000ull : ms;
}

static void failed(struct push *p, struct lane *l, const struct posted *said)
{
	bool again = may_retry(said);
	char why[300];

	if (said->status)
		snprintf(why, sizeof(why), "HTTP status %d", said->status);
	else
		snprintf(why, sizeof(why), "%s", said->why);
	if (l->tries == 0 || !again)
		log_put(LOG_WARN, "%s: %s%s", l->url, why,
			again ? "; it is tried again" : "; the request is given up");
	pthread_mutex_lock(&p->lock);
	p->counts.failed++;
	pthread_mutex_unlock(&p->lock);
	l->due_ms = clock_steady_ms() + pause_of(l, said);
	l->tries++;
	if (!again) {
		l->tries = 0;
		buf_clear(&l->body);
	}
}

static void send_body(struct push *p, struct lane *l, unsigned limit_ms)
{
	struct buf answer = { 0 };
	struct post what = { .url = l->url,
			     .headers = { "Content-Type: application/json",
					  "Content-Encoding: gzip" },
			     .body = buf_slice(&l->body),
			     .limit_ms = limit_ms,
			     .answer = &answer,
			     .answer_max = ANSWER_MAX };
	struct posted said;

	for (unsigned i = 0; i < p->config->n_otlp_headers; i++)
		what.headers[2 + i] = p->config->otlp_headers[i];
	if (post_send(p->poster, &what, &said) && said.status / 100 == 2) {
		see_partial(p, l, &answer);
		if (l->tries)
			log_put(LOG_INFO, "%s answers again", l->url);
		l->tries = 0;
		buf_clear(&l->body);
	} else {
		failed(p, l, &said);
	}
	buf_release(&answer);
}

/* ---- the thread ---- */

static void step(struct push *p)
{
	uint64_t now = clock_steady_ms();

	if (now >= p->traces.due_ms) {
		p->traces.due_ms = now + GATHER_MS;
		if (!p->traces.body.n)
			fill_traces(p);
		if (p->traces.body.n)
			send_body(p, &p->traces, POST_MS);
	}
	if (now >= p->figures.due_ms) {
		p->figures.due_ms = now + p->config->otlp_interval_ms;
		fill_figures(p);
		if (p->figures.body.n)
			send_body(p, &p->figures, POST_MS);
	}
}

static void *run(void *arg)
{
	struct push *p = arg;
	bool ends = false;

	while (!ends) {
		step(p);
		pthread_mutex_lock(&p->lock);
		if (!p->ends)
			wait_ms(&p->work, &p->lock, STEP_MS);
		ends = p->ends;
		pthread_mutex_unlock(&p->lock);
	}
	if (!p->traces.body.n)
		fill_traces(p);
	if (p->traces.body.n)
		send_body(p, &p->traces, LAST_POST_MS);
	return NULL;
}

/* ---- from outside ---- */

struct push_counts push_counts(struct push *p)
{
	struct push_counts c;

	pthread_mutex_lock(&p->lock);
	c = p->counts;
	pthread_mutex_unlock(&p->lock);
	return c;
}

static void set_url(struct lane *l, const char *base, const char *path)
{
	size_t n = strlen(base);

	while (n && base[n - 1] == '/')
		n--;
	snprintf(l->url, sizeof(l->url), "%.*s%s", (int)n, base, path);
}

int push_start(struct push **out, const struct settings *c, push_metrics *metrics, void *ctx)
{
	struct push *p = NULL;

	*out = NULL;
	if (!c->otlp_url[0])
		return 0;
	p = mem_alloc(sizeof(*p));
	if (!p)
		return E_NO_MEMORY;
	*p = (struct push){ .config = c, .metrics = metrics, .ctx = ctx };
	p->last = &p->first;
	set_url(&p->traces, c->otlp_url, "/v1/traces");
	set_url(&p->figures, c->otlp_url, "/v1/metrics");
	p->figures.due_ms = clock_steady_ms() + GATHER_MS; /* agents are asked first */
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->poster = post_open();
	p->runs = p->poster && pthread_create(&p->thread, NULL, run, p) == 0;
	if (!p->runs) {
		push_stop(p);
		return E_NO_MEMORY;
	}
	*out = p;
	return 0;
}

void push_stop(struct push *p)
{
	struct waiting_trace *w;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
	if (p->runs)
		pthread_join(p->thread, NULL);
	while ((w = take(p)))
		drop(w);
	buf_release(&p->traces.body);
	buf_release(&p->figures.body);
	post_close(p->poster);
	mem_free(p);
}
