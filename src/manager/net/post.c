/* SPDX-License-Identifier: Apache-2.0 */
/* post.c - libcurl's easy interface. */
#include "manager/net/post.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/version.h"

enum { CONNECT_MS = 5000 };

struct poster {
	CURL *curl;
	struct buf *answer;
	size_t room; /* of the answer */
	char error[CURL_ERROR_SIZE];
};

struct poster *post_open(void)
{
	struct poster *p = mem_alloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct poster){ .curl = curl_easy_init() };
	if (p->curl)
		return p;
	mem_free(p);
	return NULL;
}

void post_close(struct poster *p)
{
	if (!p)
		return;
	curl_easy_cleanup(p->curl);
	mem_free(p);
}

/* More than there is room for ends the request. */
static size_t take(char *from, size_t size, size_t n, void *ctx)
{
	struct poster *p = ctx;

	n *= size;
	if (!p->answer)
		return n;
	if (n > p->room)
		return 0;
	p->room -= n;
	buf_bytes(p->answer, from, n);
	return p->answer->err ? 0 : n;
}

static void prepare(struct poster *p, const struct post *what)
{
	CURL *c = p->curl;

	curl_easy_reset(c); /* connections stay */
	curl_easy_setopt(c, CURLOPT_URL, what->url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)what->limit_ms);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "sonded/" SONDE_VERSION);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	curl_easy_setopt(c, CURLOPT_POSTFIELDS, what->body.n ? (const char *)what->body.p : "");
	curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)what->body.n);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->error);
}

static struct curl_slist *headers_of(const struct post *what)
{
	/* else libcurl waits a second for "100 Continue" before it sends a larger body */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (unsigned i = 0; i < POST_HEADERS && what->headers[i]; i++)
		list = curl_slist_append(list, what->headers[i]);
	return list;
}

bool post_send(struct poster *p, const struct post *what, struct posted *out)
{
	struct curl_slist *headers = headers_of(what);
	curl_off_t after = 0;
	long status = 0;
	CURLcode rc;

	*out = (struct posted){ 0 };
	p->answer = what->answer;
	p->room = what->answer_max;
	p->error[0] = '\0';
	prepare(p, what);
	curl_easy_setopt(p->curl, CURLOPT_HTTPHEADER, headers);
	rc = curl_easy_perform(p->curl);
	curl_slist_free_all(headers);
	if (rc != CURLE_OK) {
		snprintf(out->why, sizeof(out->why), "%s",
			 p->error[0] ? p->error : curl_easy_strerror(rc));
		return false;
	}
	curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(p->curl, CURLINFO_RETRY_AFTER, &after);
	out->status = (int)status;
	out->retry_after_s = after > 0 && after < 3600 ? (unsigned)after : 0;
	return true;
}

bool post_may_retry(const struct posted *p)
{
	return p->status == 0 || p->status == 408 || p->status == 429 || p->status >= 500;
}

bool post_is_url(const char *text)
{
	CURLU *u = curl_url();
	char *scheme = NULL, *host = NULL;
	bool good = u && curl_url_set(u, CURLUPART_URL, text, 0) == CURLUE_OK &&
		    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		    curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		    (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);

	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return good;
}
