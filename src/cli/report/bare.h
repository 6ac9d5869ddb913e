/* SPDX-License-Identifier: Apache-2.0 */
/* bare.h - how fast a program is without any hook, found by taking them out for a while.
 *
 * Even closed hooks make methods larger, and the JVM compiles less of them into one.  So all hooks
 * are taken out but for a few that count (plan/inplace/pace.h), by rules that this client holds: when it
 * ends, however it does, everything is as it was.  With hooks, without, and with hooks again; after
 * each change the JVM compiles anew, which is waited for.  Methods that no hooked one calls may be
 * measured in place meanwhile: then there is no hook below them, not even a closed one. */
#ifndef CLI_REPORT_BARE_H
#define CLI_REPORT_BARE_H

#include "base/json.h"
#include "cli/client/client.h"
#include "cli/report/report_rows.h"
#include "plan/stats/stats.h"

enum { BARE_SPANS = 8 };

struct bare_span {	   /* of windows that count, one after the other */
	uint64_t from, to; /* clock_steady_ns() */
	size_t n;
	bool hooked;
};

struct bare {
	struct estimated speed; /* with hooks, as a share of that without; margin < 0: not known */
	double hooked_ns, bare_ns; /* of windows that count */
	double change_ns;	   /* how long it took to take hooks out and to put them in again */
	unsigned marks,
		roots; /* methods that were counted; that were measured with nothing below */
	bool waited;   /* ... until the program did not become faster any more */
	struct bare_span spans[BARE_SPANS];
	size_t n_spans;
};

void bare_text(const struct bare *b, bool utf8, struct buf *out); /* two lines */
void bare_json(const struct bare *b, struct json *j); /* "bare": {...}, for an open object */

/* Takes about five times for_ns, and up to four times as long where windows differ: the rounds of a
 * program that takes ten seconds for one have parts that are hooked more or less densely.  Not when
 * methods are measured.  CLI_DONE; CLI_NO: no method is called moderately often; else after a
 * message. */
struct bare_ask {
	struct client *client;
	const struct target *target;
	uint64_t for_ns;
	uint64_t in_place_ns;  /* 0: methods are not measured */
	struct report *report; /* that was told before; methods' figures in place are replaced */
};
int bare_measure(const struct bare_ask *ask, struct bare *out);

#endif
