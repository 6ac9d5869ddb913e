/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - members of JSON objects, as answers of the API have them. */
#ifndef MANAGER_HTTP_PUT_H
#define MANAGER_HTTP_PUT_H

#include "base/json.h"

static inline void put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

static inline void put_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

static inline void put_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

static inline void put_str(struct json *j, const char *key, struct slice v)
{
	json_key(j, key);
	json_str(j, v);
}

/* "" is left out. */
static inline void put_text(struct json *j, const char *key, const char *v)
{
	if (!v || !v[0])
		return;
	json_key(j, key);
	json_text(j, v);
}

static inline void put_list(struct json *j, const char *key)
{
	json_key(j, key);
	json_open(j, '[');
}

#endif
