/* SPDX-License-Identifier: Apache-2.0 */
/* post.h - requests to other servers: one after the other, over connections that are kept.
 *
 * A poster belongs to one thread.  Redirects are not followed, since a body may be secret. */
#ifndef MANAGER_NET_POST_H
#define MANAGER_NET_POST_H

#include "base/buf.h"

struct poster;

enum { POST_HEADERS = 8 };

struct post {
	const char *url;
	const char *headers[POST_HEADERS]; /* "Name: value"; NULL: no more */
	struct slice body;
	unsigned limit_ms;  /* for all of it */
	struct buf *answer; /* appended to; NULL: not wanted */
	size_t answer_max;
};

struct posted {
	int status; /* of HTTP; 0: there was no answer */
	unsigned retry_after_s;
	char why[256]; /* without an answer: why; else "" */
};

struct poster *post_open(void); /* NULL: out of memory */
void post_close(struct poster *p);
/* False: there was no whole answer. */
bool post_send(struct poster *p, const struct post *what, struct posted *out);

/* Is it worth trying again?  No answer, 408, 429 and 5xx are. */
bool post_may_retry(const struct posted *p);

/* Is it an http or https URL with a host? */
bool post_is_url(const char *text);

#endif
