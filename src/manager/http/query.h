/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - paths and parameters of requests, taken apart.  Pure; trusts nothing. */
#ifndef MANAGER_HTTP_QUERY_H
#define MANAGER_HTTP_QUERY_H

#include "base/arena.h"
#include "base/buf.h"

enum { QUERY_PARAMS = 40, QUERY_ARGS = 2 };

struct query_param {
	struct slice name, value;
};

struct query {
	struct query_param v[QUERY_PARAMS];
	size_t n;
};

/* %41 and, in parameters, '+'; NUL behind it.  .p NULL: it is not well formed, has a NUL in it, or
 * memory is out. */
struct slice query_decode(struct arena *mem, struct slice raw, bool plus);

/* One raw pair; false: there are too many, or it is not well formed. */
bool query_add(struct query *q, struct arena *mem, struct slice name, struct slice value);

struct slice query_get(const struct query *q, const char *name); /* .n 0: not there */
/* A whole number; a negative one counts back from `now`.  False: it is none. */
bool query_time(const struct query *q, const char *name, uint64_t now, uint64_t *out);
bool query_number(const struct query *q, const char *name, uint64_t least, uint64_t most,
		  uint64_t *out); /* *out stays when it is not there */

/* Does a raw path look like `pattern`, where * stands for one part?  Parts are decoded into args. */
bool query_match(struct arena *mem, const char *pattern, const char *path,
		 struct slice args[QUERY_ARGS]);

/* "NAME:PORT", "NAME" or "[::1]:PORT": the name alone, in lower case. */
bool query_host(struct slice host, char name[256]);

#endif
