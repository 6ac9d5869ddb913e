/* SPDX-License-Identifier: Apache-2.0 */
/* json_in.h - numbers of JSON that came from others. */
#ifndef MANAGER_JSON_IN_H
#define MANAGER_JSON_IN_H

#include <cjson/cJSON.h>
#include <stdint.h>

/* 0: it is no number, a negative one, or larger than a double counts to one by one. */
static inline uint64_t json_in_u64(const cJSON *v)
{
	return cJSON_IsNumber(v) && v->valuedouble > 0 && v->valuedouble < 9e15
		       ? (uint64_t)v->valuedouble
		       : 0;
}

#endif
