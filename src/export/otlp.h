/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h - transactions as the body of an OTLP/HTTP request for traces, in JSON: one span a call. */
#ifndef EXPORT_OTLP_H
#define EXPORT_OTLP_H

#include "base/json.h"
#include "export/transaction.h"

/* host: host.name of the resource.  Spans have the same ids whenever this is called. */
void otlp_put(const struct transaction *t, struct slice host, struct buf *out);

/* The same of several: begin, add, ..., end. */
void otlp_spans_begin(struct json *j);
size_t otlp_spans_add(struct json *j, const struct transaction *t, struct slice host); /* spans */
void otlp_spans_end(struct json *j);

/* ---- parts that metrics have as well ---- */

void otlp_attribute(struct json *j, struct slice key, struct slice value);
void otlp_number(struct json *j, const char *key, uint64_t v); /* as text */
void otlp_resource(struct json *j, struct slice app, struct slice instance, struct slice host);
void otlp_scope(struct json *j, const char *scopes, const char *what);
void otlp_scope_end(struct json *j);

#endif
