/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - server-sent events: of the whole fleet, and the reasoning of one dig.
 *
 * A stream that has nothing to send is suspended; whatever happens in the hub wakes all of them, and
 * so does a tick every 15 seconds, on which they send a comment to find out whether anybody is
 * there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/fleet/digs.h"
#include "manager/http/http_priv.h"
#include "jvm/proc.h"

enum { BLOCK = 16 << 10, STREAMS_MAX = 1000 };

struct stream {
	struct stream *next;
	struct http *h;
	struct MHD_Connection *c;
	bool suspended, over;
	uint64_t at, said_ms;
	char app[HUB_APP];
	char dig[40]; /* "": events of the fleet */
	size_t told;  /* bytes of its lines */
	unsigned line;
	struct buf out;
	size_t sent;
};

void stream_free(struct stream *s)
{
	if (!s)
		return;
	buf_release(&s->out);
	mem_free(s);
}

void stream_wake_all(void *ctx)
{
	struct http *h = ctx;

	pthread_mutex_lock(&h->lock);
	__atomic_add_fetch(&h->wakes, 1, __ATOMIC_RELEASE);
	for (struct stream *s = h->streams; s; s = s->next) {
		if (!s->suspended)
			continue;
		s->suspended = false;
		MHD_resume_connection(s->c);
	}
	pthread_mutex_unlock(&h->lock);
}

/* ---- what is sent ---- */

static void put_line(struct stream *s, struct slice line)
{
	struct json j = json_to(&s->out);

	buf_text(&s->out, "event: line\ndata: ");
	json_open(&j, '{');
	json_put_u64(&j, "n", s->line++);
	json_put_str(&j, "text", line);
	json_close(&j, '}');
	buf_text(&s->out, "\n\n");
}

static void put_dig(struct stream *s, const struct dug *d)
{
	struct slice text = { d->lines.p + s->told, d->lines.n - s->told }, line;
	struct json j = json_to(&s->out);

	if (digs_runs(d)) /* its last line may not be whole */
		while (text.n && text.p[text.n - 1] != '\n')
			text.n--;
	s->told += text.n;
	while (proc_line(&text, &line))
		if (line.n)
			put_line(s, line);
	if (digs_runs(d))
		return;
	buf_text(&s->out, "event: done\ndata: ");
	j = json_to(&s->out);
	digs_json(d, &j);
	buf_text(&s->out, "\n\n");
	s->over = true;
}

static void read_dig(struct stream *s)
{
	struct fleet *f = s->h->fleet;
	struct dug *d;

	pthread_mutex_lock(&f->lock);
	d = digs_find(f, slice_str(s->dig));
	if (d)
		put_dig(s, d);
	else
		s->over = true;
	pthread_mutex_unlock(&f->lock);
}

static void read_hub(struct stream *s)
{
	if (!hub_read(&s->h->fleet->hub, &s->at, s->app[0] ? s->app : NULL, &s->out))
		buf_text(&s->out, "event: hello\ndata: {\"missed\":true}\n\n");
}

static void fill(struct stream *s)
{
	uint64_t now = clock_steady_ms();

	buf_clear(&s->out);
	s->sent = 0;
	if (s->dig[0])
		read_dig(s);
	else
		read_hub(s);
	if (!s->out.n && now - s->said_ms >= 14000)
		buf_text(&s->out, ": here\n\n");
	if (s->out.n)
		s->said_ms = now;
}

/* Sleeps until it is woken, unless that has happened since `wakes` was read. */
static void doze(struct stream *s, uint64_t wakes)
{
	pthread_mutex_lock(&s->h->lock);
	s->over |= s->h->ends;
	s->suspended = !s->over && s->h->wakes == wakes;
	if (s->suspended)
		MHD_suspend_connection(s->c);
	pthread_mutex_unlock(&s->h->lock);
}

/* Called by libmicrohttpd when the client can take more.  0: nothing now. */
static ssize_t on_read(void *ctx, uint64_t pos, char *to, size_t max)
{
	struct stream *s = ctx;
	size_t n;

	(void)pos;
	if (s->sent == s->out.n && !s->over) {
		uint64_t wakes = __atomic_load_n(&s->h->wakes, __ATOMIC_ACQUIRE);

		fill(s);
		if (!s->out.n && !s->over) {
			doze(s, wakes);
			return s->over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
		}
	}
	if (s->out.err)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = s->out.n - s->sent < max ? s->out.n - s->sent : max;
	if (!n)
		return MHD_CONTENT_READER_END_OF_STREAM;
	memcpy(to, s->out.p + s->sent, n);
	s->sent += n;
	return (ssize_t)n;
}

/* The response has gone, and with it the call's own end is near: nobody wakes it any more. */
static void on_gone(void *ctx)
{
	struct stream *s = ctx;
	struct stream **at = &s->h->streams;

	pthread_mutex_lock(&s->h->lock);
	while (*at && *at != s)
		at = &(*at)->next;
	if (*at)
		*at = s->next;
	pthread_mutex_unlock(&s->h->lock);
	stream_free(s);
}

/* ---- begin ---- */

static struct stream *make(struct api_request *c)
{
	struct stream *s = mem_alloc(sizeof(*s));

	if (s)
		*s = (struct stream){ .h = c->h,
				      .c = c->c,
				      .at = hub_now(&c->f->hub),
				      .said_ms = clock_steady_ms() };
	return s;
}

enum MHD_Result stream_answer(struct api_request *c)
{
	struct stream *s = c->stream;
	struct MHD_Response *r;
	enum MHD_Result rc;

	c->stream = NULL;
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, s, on_gone);
	if (!r) {
		stream_free(s);
		return MHD_NO;
	}
	http_headers(r, NULL, "text/event-stream");
	MHD_add_response_header(r, "Cache-Control", "no-store");
	MHD_add_response_header(r, "X-Accel-Buffering", "no");
	pthread_mutex_lock(&c->h->lock);
	s->next = c->h->streams;
	c->h->streams = s;
	pthread_mutex_unlock(&c->h->lock);
	rc = MHD_queue_response(c->c, 200, r);
	MHD_destroy_response(r);
	c->is_sent = true;
	return rc;
}

static bool too_many(struct http *h)
{
	size_t n = 0;

	pthread_mutex_lock(&h->lock);
	for (struct stream *s = h->streams; s; s = s->next)
		n++;
	pthread_mutex_unlock(&h->lock);
	return n >= STREAMS_MAX;
}

int api_events(struct api_request *c)
{
	struct slice app = query_get(&c->query, "application");
	struct stream *s = too_many(c->h) ? NULL : make(c);
	struct json j;

	if (!s)
		return request_fail(c, 503, "too_many", "too many streams are open");
	snprintf(s->app, sizeof(s->app), "%.*s", SLICE_FMT(app));
	buf_text(&s->out, "event: hello\ndata: ");
	j = json_to(&s->out);
	json_open(&j, '{');
	json_put_u64(&j, "now_ms", clock_day_ms());
	json_put_text(&j, "role", c->role == ROLE_OPERATE ? "operate" : "view");
	json_close(&j, '}');
	buf_text(&s->out, "\n\n");
	c->stream = s;
	return REQUEST_STREAMS;
}

int api_dig_events(struct api_request *c)
{
	struct stream *s;
	bool there;

	pthread_mutex_lock(&c->f->lock);
	there = digs_find(c->f, c->args[0]) != NULL;
	pthread_mutex_unlock(&c->f->lock);
	if (!there)
		return request_fail(c, 404, "not_found", "no such dig runs, or has run lately");
	s = too_many(c->h) ? NULL : make(c);
	if (!s)
		return request_fail(c, 503, "too_many", "too many streams are open");
	snprintf(s->dig, sizeof(s->dig), "%.*s", SLICE_FMT(c->args[0]));
	c->stream = s;
	return REQUEST_STREAMS;
}
