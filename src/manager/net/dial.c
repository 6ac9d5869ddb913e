/* SPDX-License-Identifier: Apache-2.0 */
/* dial.c - libcurl connects (TLS, proxies), and hands over a connection without having asked for
 * anything; the request and its answer are written and read here, since libcurl has no Upgrade but
 * its own. */
#include "manager/net/dial.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/version.h"
#include "manager/net/pump.h"

enum { CONNECT_MS = 10000, ANSWER_MS = 10000, ANSWER_MAX = 16 << 10 };

struct dial {
	CURL *curl;
	struct buf in; /* the answer, and what comes behind it */
	size_t head;   /* bytes of it that are the answer's */
	curl_socket_t fd;
	char error[CURL_ERROR_SIZE];
};

void dial_close(struct dial *d)
{
	if (!d)
		return;
	curl_easy_cleanup(d->curl);
	buf_release(&d->in);
	mem_free(d);
}

struct slice dial_first(const struct dial *d)
{
	return (struct slice){ d->in.p + d->head, d->in.n - d->head };
}

int dial_fd(const struct dial *d)
{
	return d->fd;
}

long dial_send(void *dial, const void *p, size_t n)
{
	struct dial *d = dial;
	size_t sent = 0;
	CURLcode rc = curl_easy_send(d->curl, p, n, &sent);

	return rc == CURLE_AGAIN || (rc == CURLE_OK && !sent) ? PUMP_AGAIN
	       : rc == CURLE_OK				      ? (long)sent
							      : PUMP_FAILED;
}

long dial_recv(void *dial, void *to, size_t n)
{
	struct dial *d = dial;
	size_t got = 0;
	CURLcode rc = curl_easy_recv(d->curl, to, n, &got);

	return rc == CURLE_AGAIN ? PUMP_AGAIN : rc == CURLE_OK ? (long)got : PUMP_FAILED;
}

/* ---- the URL ---- */

static char *part_of(const char *url, CURLUPart part, unsigned flags)
{
	CURLU *u = curl_url();
	char *text = NULL;

	if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK)
		curl_url_get(u, part, &text, flags);
	curl_url_cleanup(u);
	return text;
}

bool dial_is_tls(const char *url)
{
	char *scheme = part_of(url, CURLUPART_SCHEME, 0);
	bool tls = scheme && strcmp(scheme, "https") == 0;

	curl_free(scheme);
	return tls;
}

bool dial_is_loopback(const char *url)
{
	char *host = part_of(url, CURLUPART_HOST, 0);
	unsigned a, b, c, d;
	char more;
	bool is = host && (strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
			   (sscanf(host, "%u.%u.%u.%u%c", &a, &b, &c, &d, &more) == 4 && a == 127));

	curl_free(host);
	return is;
}

/* ---- connecting ---- */

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const bool *ends = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return __atomic_load_n(ends, __ATOMIC_ACQUIRE);
}

static CURLcode connect_to(struct dial *d, const struct dial_wish *w)
{
	CURL *c = d->curl;
	CURLcode rc;

	curl_easy_setopt(c, CURLOPT_URL, w->url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); /* no "h2" */
	curl_easy_setopt(c, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, d->error);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, w->ends);
	if (w->ca[0])
		curl_easy_setopt(c, CURLOPT_CAINFO, w->ca);
	rc = curl_easy_perform(c);
	if (rc == CURLE_OK)
		rc = curl_easy_getinfo(c, CURLINFO_ACTIVESOCKET, &d->fd);
	if (rc == CURLE_OK)
		fcntl(d->fd, F_SETFD, FD_CLOEXEC); /* a child must not keep it */
	return rc;
}

/* ---- request and answer ---- */

static void put_request(const struct dial_wish *w, struct buf *out)
{
	char *host = part_of(w->url, CURLUPART_HOST, 0), *port = part_of(w->url, CURLUPART_PORT, 0);
	char *path = part_of(w->url, CURLUPART_PATH, 0);
	size_t n = path ? strlen(path) : 0;

	while (n && path[n - 1] == '/')
		n--;
	buf_printf(out, "GET %.*s%s HTTP/1.1\r\nHost: %s%s%s\r\n", (int)n, path ? path : "",
		   w->path, host ? host : "", port ? ":" : "", port ? port : "");
	buf_printf(out, "Connection: Upgrade\r\nUpgrade: %s\r\nAuthorization: Bearer %s\r\n",
		   w->protocol, w->token);
	buf_text(out, "User-Agent: sonded/" SONDE_VERSION "\r\n\r\n");
	curl_free(host);
	curl_free(port);
	curl_free(path);
}

/* False: it takes too long, or we end. */
static bool wait_for(struct dial *d, short what, uint64_t until, const bool *ends)
{
	struct pollfd p = { d->fd, what, 0 };

	while (clock_steady_ms() < until && !__atomic_load_n(ends, __ATOMIC_ACQUIRE))
		if (poll(&p, 1, 100) > 0)
			return true;
	return false;
}

static bool send_all(struct dial *d, struct slice text, uint64_t until, const bool *ends)
{
	while (text.n) {
		long n = dial_send(d, text.p, text.n);

		if (n == PUMP_FAILED || (n == PUMP_AGAIN && !wait_for(d, POLLOUT, until, ends)))
			return false;
		text.p += n > 0 ? n : 0;
		text.n -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool has_head(const struct dial *d)
{
	return d->in.n && memmem(d->in.p, d->in.n, "\r\n\r\n", 4);
}

/* Reads until `enough` is there, 0: the head; false: it did not come. */
static bool read_until(struct dial *d, size_t enough, uint64_t until, const bool *ends)
{
	while (enough ? d->in.n < enough : !has_head(d)) {
		uint8_t *to = d->in.n < ANSWER_MAX ? buf_room(&d->in, 4096) : NULL;
		long n = to ? dial_recv(d, to, 4096) : PUMP_FAILED;

		if (n == PUMP_AGAIN && wait_for(d, POLLIN, until, ends))
			continue;
		if (n <= 0)
			return false;
		d->in.n += (size_t)n;
	}
	return true;
}

static size_t length_of(struct slice head)
{
	static const char name[] = "\r\ncontent-length:";

	for (size_t i = 0; i + sizeof(name) < head.n; i++)
		if (strncasecmp((const char *)head.p + i, name, sizeof(name) - 1) == 0)
			return strtoul((const char *)head.p + i + sizeof(name) - 1, NULL, 10);
	return 0;
}

/* What the manager says when it refuses. */
static void explain(struct dial *d, int status, uint64_t until, const bool *ends, char why[300])
{
	size_t n = length_of((struct slice){ d->in.p, d->head });
	const cJSON *text = NULL;
	cJSON *all = NULL;

	if (n && n < ANSWER_MAX - d->head && read_until(d, d->head + n, until, ends))
		all = cJSON_ParseWithLength((const char *)d->in.p + d->head, n);
	text = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(all, "error"),
						"text");
	if (cJSON_IsString(text))
		snprintf(why, 300, "it refuses (%d): %s%s", status, text->valuestring,
			 status == 404 ? "; is it an older sonded?" : "");
	else
		snprintf(why, 300, "it answers with status %d; is it a sonded?", status);
	cJSON_Delete(all);
}

static bool ask(struct dial *d, const struct dial_wish *w, char why[300])
{
	uint64_t until = clock_steady_ms() + ANSWER_MS;
	struct buf request = { 0 };
	const uint8_t *end;
	int status = 0;
	bool good;

	put_request(w, &request);
	good = !request.err && send_all(d, buf_slice(&request), until, w->ends) &&
	       read_until(d, 0, until, w->ends);
	buf_release(&request);
	snprintf(why, 300, "there is no answer from it");
	if (!good)
		return false;
	end = memmem(d->in.p, d->in.n, "\r\n\r\n", 4);
	d->head = (size_t)(end - d->in.p) + 4;
	if (d->head < 20 || sscanf((const char *)d->in.p, "HTTP/1.1 %3d", &status) != 1) {
		snprintf(why, 300, "it does not answer in HTTP");
		return false;
	}
	if (status != 101)
		explain(d, status, until, w->ends, why);
	return status == 101;
}

struct dial *dial_open(const struct dial_wish *w, char why[300])
{
	struct dial *d = mem_alloc(sizeof(*d));
	CURLcode rc;

	snprintf(why, 300, "out of memory");
	if (!d)
		return NULL;
	*d = (struct dial){ .curl = curl_easy_init(), .fd = -1 };
	if (!d->curl) {
		mem_free(d);
		return NULL;
	}
	rc = connect_to(d, w);
	if (rc != CURLE_OK)
		snprintf(why, 300, "%s", d->error[0] ? d->error : curl_easy_strerror(rc));
	if (rc == CURLE_OK && ask(d, w, why))
		return d;
	dial_close(d);
	return NULL;
}
