/* SPDX-License-Identifier: Apache-2.0 */
/* report_rows.h - the figures of hooked methods, as one answer of the agent (or a recorded file)
 * told them: kept, put in order, and written as JSON.
 *
 * report_init; then for each answer report_clear and report_take for its rows, or report_read_file;
 * then the rest.  Everything lives in the report until it is cleared.  Out of memory is sticky, in
 * report.err. */
#ifndef CLI_REPORT_REPORT_ROWS_H
#define CLI_REPORT_REPORT_ROWS_H

#include "base/arena.h"
#include "base/json.h"
#include "cli/report/states.h"
#include "cli/screen/method_name.h"
#include "plan/inplace/rounds.h"
#include "tree/tree_place.h"
#include "tree/sequence.h"
#include "wire/wire.h"

struct report_method {
	struct wire_method m; /* its name is in the report's memory */
	struct method_name name;
	bool native;	 /* a native function of a JVM, told by the agent beside */
	bool overloaded; /* another one differs in the parameters alone */
	/* From the tree: of a method that calls itself, raw and total count the outermost calls.  Without
	 * one, as the agent tells them. */
	bool compensated; /* the cost of hooks is out of total, self and all that is made of them */
	double raw_ns, raw_self_ns;
	double raw_all_ns; /* of all calls, inner ones of a recursion as well */
	struct span total, self;
	unsigned flags;	  /* TREE_* */
	double outermost; /* calls that are not within another one of the method; -1: not known */
	double inner;	  /* what the hook adds to one call */
	double least;	  /* total, with what calls that still run have called so far */
	/* Of total and self only that is known: not more than high. */
	bool bounded, self_bounded;
	bool unknown; /* no outermost call of it was timed to its end: then nothing is known of them */
};

struct report {
	struct arena mem;
	struct report_method **all; /* n of them, in order */
	size_t n, room;
	bool has_status;
	struct wire_status status;
	struct tree tree;	   /* empty: no node was told */
	struct place_alone *alone; /* by id: methods that were measured in place */
	size_t n_alone, alone_room;
	struct sequence *sequences; /* of method types, if somebody has asked for them */
	size_t n_sequences, sequences_room;
	bool with_sequences;
	bool has_program;
	struct wire_program program;
	struct buf left, left_json; /* what was left alone and why: lines, JSON objects */
	struct span program_total;  /* how long it would have taken without hooks */
	struct calibration_state {
		bool known;	  /* methods are compensated */
		struct slice jvm; /* as the agent tells it, "": not known */
	} calibration;
	int err;
};

enum report_order {
	REPORT_TOTAL,
	REPORT_SELF,
	REPORT_CALLS,
	REPORT_AVG,
	REPORT_MAX,
	REPORT_ERRORS,
	REPORT_ORDERS
};

const char *report_order_name(enum report_order order); /* "total" */

void report_init(struct report *r);
void report_clear(struct report *r);
void report_release(struct report *r);

bool report_take(void *ctx, unsigned type, struct slice payload); /* a client_row */

/* The rows that an agent wrote when its JVM ended.  CLI_DONE, or CLI_CANNOT after a message. */
int report_read_file(struct report *r, const char *path);
int report_take_frames(struct report *r, struct slice in, const char *path); /* of a recording */

/* Keeps the methods that match: a part of "com.shop.Cart.checkout", or with * and ? all of it;
 * "::" may stand before the method. */
void report_filter(struct report *r, const char *pattern);
void report_sort(struct report *r, enum report_order order); /* also sees what is overloaded */

int report_add_node(struct report *r, struct slice payload); /* of report_take */
int report_add_alone(struct report *r, struct slice payload);
void report_set_bare(struct report *r, const struct rounds *of,
		     double scatter); /* ... of a method below which nothing was woven */
enum tree_raw report_raw_of(const struct wire_node *n);
double report_interpreted(uint64_t cold, uint64_t calls); /* a share */

/* Appends those of `of`, which must not be cleared before r: native functions in a JVM. */
void report_add_native(struct report *r, const struct report *of);

/* Works out what is known of the methods from the tree; c may be NULL: no calibration.  Once, after
 * all rows. */
void report_compensate(struct report *r, const struct costs *c);

double report_avg_ns(const struct report_method *m);	  /* of a call; 0 when none was timed */
double report_avg_high_ns(const struct report_method *m); /* not more than that */

/* What single calls took that were measured to take so long: a kind of figure with avg. */
double report_one_ns(const struct report_method *m, double measured);
struct report_calls {
	double min, p50, p90, p99, max;
};
struct report_calls report_calls(const struct report_method *m);

struct states report_states(const struct report_method *m); /* of a kind with total */
struct states report_states_self(const struct report_method *m);

void report_take_raw(struct report_method *m); /* of report_take: as the agent tells them */
bool report_is_recursive(const struct report_method *m);

/* "methods": [...], "agent": {...}, for an open object. */
void report_json(const struct report *r, struct json *j);

/* What methods are run by, and sequences of such types (report_types.c). */
const char *report_type_text(unsigned type); /* "C2"; "": not known */

bool report_sequence(struct slice payload, struct sequence *out);   /* false: it is none */
int report_add_sequence(struct report *r, struct slice payload);    /* of report_take */
void report_sequences_sort(struct report *r);			    /* most frequent first */
void report_sequences_json(const struct report *r, struct json *j); /* "sequences": [...] */
void report_sequences_put(const struct report *r, struct buf *out); /* a table */

#endif
