/* SPDX-License-Identifier: Apache-2.0 */
/* states.h - what metered calls did with their time: on a processor, blocked, waiting, standing in
 * line for a processor.  The four add up to the time that they took, as measured. */
#ifndef CLI_REPORT_STATES_H
#define CLI_REPORT_STATES_H

#include <stdbool.h>

#include "base/json.h"
#include "wire/wire.h"

enum { STATES_COUNTS = 4 };

struct states {
	bool known;					      /* calls were metered */
	unsigned unknown;				      /* METER_NO_*: those parts are 0 */
	uint64_t metered;				      /* calls */
	uint64_t elapsed, run, blocked, waiting, descheduled; /* ns */
	uint64_t allocated;				      /* bytes */
	uint64_t counts
		[STATES_COUNTS]; /* instructions, cache misses, branches, branch misses; of methods only */
};

struct states states_of_method(const struct wire_method *m);
struct states states_of_method_self(const struct wire_method *m); /* less metered calls below */
struct states states_of_node(const struct wire_node *m);
struct states states_of_node_self(const struct wire_node *m);

/* The states of calls that took `now` once hooks are taken out, of `before`: hooks compute. */
struct states states_without_hooks(struct states s, double before, double now);

/* The columns of a table, one cell each: the processor, blocked, waiting, descheduled. */
enum { STATES_CELLS = 4 };
struct table;
void states_cells(struct table *t, const struct states *s);
void states_count_cells(struct table *t, const struct states *s, bool exact); /* STATES_COUNTS */

/* "metered": ..., "self_descheduled_ns": ..., for an open object; nothing when no call was
 * metered. */
void states_json(struct json *j, const struct states *all, const struct states *own);
void states_counts_json(struct json *j,
			const struct states *s); /* "instructions" and so on, likewise */

#endif
