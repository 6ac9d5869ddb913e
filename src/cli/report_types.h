/* SPDX-License-Identifier: Apache-2.0 */
/* report_types.h - what methods are run by, and sequences of such types, as text and JSON. */
#ifndef CLI_REPORT_TYPES_H
#define CLI_REPORT_TYPES_H

#include "cli/report_rows.h"

const char *report_type_text(unsigned type); /* "C2"; "": not known */

bool report_sequence(struct slice payload, struct sequence *out);   /* false: it is none */
int report_add_sequence(struct report *r, struct slice payload);    /* of report_take */
void report_sequences_sort(struct report *r);			    /* most frequent first */
void report_sequences_json(const struct report *r, struct json *j); /* "sequences": [...] */
void report_sequences_put(const struct report *r, struct buf *out); /* a table */

#endif
