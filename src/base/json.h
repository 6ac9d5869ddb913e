/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - writes JSON into a buf as a stream; commas are put by themselves.
 *
 *	json_open(&j, '{'); json_put_u64(&j, "n", 1); json_close(&j, '}');
 *
 * Errors are the buf's (sticky).  Bytes that are not valid UTF-8 come out as U+FFFD. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

struct json {
	struct buf *out;
	bool more; /* a value stands before: the next needs a comma */
};

static inline struct json json_to(struct buf *out)
{
	return (struct json){ out, false };
}

void json_open(struct json *j, char bracket);  /* '{' or '[' */
void json_close(struct json *j, char bracket); /* '}' or ']' */
void json_key(struct json *j, const char *key);
void json_str(struct json *j, struct slice s);
void json_text(struct json *j, const char *s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v); /* not finite: null */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* A key and its value at once. */
void json_put_str(struct json *j, const char *key, struct slice s);
void json_put_text(struct json *j, const char *key, const char *s);
void json_put_nonempty(struct json *j, const char *key,
		       const char *s); /* nothing when NULL or "" */
void json_put_u64(struct json *j, const char *key, uint64_t v);
void json_put_i64(struct json *j, const char *key, int64_t v);
void json_put_double(struct json *j, const char *key, double v);
void json_put_bool(struct json *j, const char *key, bool v);
void json_put_open(struct json *j, const char *key, char bracket);

#endif
