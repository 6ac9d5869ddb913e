/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h - a transaction as the body of an OTLP/HTTP request for traces, in JSON: one span a call. */
#ifndef EXPORT_OTLP_H
#define EXPORT_OTLP_H

#include "base/buf.h"
#include "export/transaction.h"

/* host: host.name of the resource.  Spans have the same ids whenever this is called. */
void otlp_put(const struct transaction *t, struct slice host, struct buf *out);

#endif
