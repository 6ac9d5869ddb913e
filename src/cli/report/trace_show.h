/* SPDX-License-Identifier: Apache-2.0 */
/* trace_show.h - a transaction as a line, as a drawing of time (across) by depth (down), as JSON,
 * and several as a page.  Errors are the buf's (sticky). */
#ifndef CLI_REPORT_TRACE_SHOW_H
#define CLI_REPORT_TRACE_SHOW_H

#include "cli/report/trace_set.h"

void trace_draw_line(struct buf *out, const struct trace_set *s, const struct trace_tx *t);
void trace_draw(struct buf *out, const struct trace_set *s, const struct trace_tx *t,
		unsigned width);
void trace_page_json(struct buf *out, const struct trace_set *s, const struct trace_tx *t);
void trace_page(struct buf *out, const struct trace_set *s);

#endif
