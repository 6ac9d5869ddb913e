/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto.h - a transaction as a trace file in JSON (Chrome's trace events), which ui.perfetto.dev,
 * chrome://tracing and speedscope open. */
#ifndef EXPORT_PERFETTO_H
#define EXPORT_PERFETTO_H

#include "base/buf.h"
#include "export/transaction.h"

void perfetto_put(const struct transaction *t, struct buf *out);

#endif
