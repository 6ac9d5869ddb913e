/* SPDX-License-Identifier: Apache-2.0 */
/* transaction.h - one kept transaction, as exporters and pages want it.
 *
 * Times are ns from the begin of the root.  Texts and arrays belong to whoever made it. */
#ifndef EXPORT_TRANSACTION_H
#define EXPORT_TRANSACTION_H

#include "base/slice.h"

enum { /* of a call */
       TX_CALL_THREW = 1,
       TX_CALL_RUNS = 2,  /* its end was not seen */
       TX_CALL_UNMET = 4, /* it did not meet its condition: stands for what it called */
};

enum { /* of the whole, and of a part */
       TX_IS_FAILED = 1,
       TX_IS_SLOW = 2,
       TX_IS_SAMPLED = 4,
       TX_IS_CUT = 8, /* calls are missing */
       TX_PART_OPEN = 16,
       TX_PART_NEVER_BEGUN = 32,
};

struct txn_name {
	struct slice method;
	bool conditional;
};

struct txn_call {
	uint32_t name;	 /* index */
	uint32_t parent; /* index in its part + 1; 0: none */
	uint32_t flags;
	uint64_t begin_ns, elapsed_ns;
};

struct txn_part {
	uint32_t part, from, tid, flags;
	uint32_t call; /* of `from`, in which it was handed over, + 1; 0: not known */
	struct slice thread;
	uint64_t submitted_ns, begin_ns, end_ns;
	struct txn_call *calls;
	size_t n;
};

struct transaction {
	struct slice id, app, instance, root, data; /* data: name NUL value NUL ... */
	uint64_t when_ns;			    /* since 1970 */
	uint64_t elapsed_ns, missed;
	uint32_t flags;
	struct txn_name *names;
	size_t n_names;
	struct txn_part *parts;
	size_t n_parts;
};

#endif
