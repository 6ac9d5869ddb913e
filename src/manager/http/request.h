/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one request of the API, and what functions that answer it need.
 *
 * A function of the API fills request.out with JSON and gives the status, or gives request_fail(...).  One
 * that has to wait for an agent gives REQUEST_WAITS and is called again when request.ready is set. */
#ifndef MANAGER_HTTP_REQUEST_H
#define MANAGER_HTTP_REQUEST_H

#include <microhttpd.h>

#include "base/json.h"
#include "manager/fleet/fleet.h"
#include "manager/http/query.h"

/* The higher may what the lower may, but for relaying, which ROLE_RELAY alone may. */
enum request_role { ROLE_NONE, ROLE_RELAY, ROLE_VIEW, ROLE_OPERATE };
enum { REQUEST_WAITS = -1, REQUEST_STREAMS = -2, REQUEST_UPGRADES = -3, BODY_MAX = 1 << 20 };

struct bus_call;
struct http;
struct stream;

struct api_request {
	struct http *h;
	struct fleet *f;
	struct MHD_Connection *c;
	struct arena mem;
	const struct route *route;
	struct query query;
	struct slice args[QUERY_ARGS];
	struct buf body, out;
	enum request_role role;
	char who[64], from[64]; /* for the audit log */
	const char *type;	/* of the answer; JSON unless it is set */
	const char *cookie;	/* to be set; NULL */
	int refused;		/* status of an answer that is to come when the body is there */
	const char *refused_why;
	uint64_t began_ms;
	/* of one that waits */
	bool ready, suspended;
	int ask_status;
	struct buf answer;
	bool is_far;	       /* another manager has answered */
	struct bus_call *call; /* NULL: of a client of ours, else of another manager */
	struct stream *stream;
	bool is_sent;
};

struct route {
	const char *method, *pattern;
	enum request_role needs;
	int (*run)(struct api_request *c);
	const char *action; /* for the audit log; NULL: changes nothing */
};

extern const struct route api_routes[]; /* ends with .method NULL */

/* {"error": ...} with that status, which it gives. */
int request_fail(struct api_request *c, int status, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct json request_json(struct api_request *c); /* begins an answer with '{' */
int request_end(struct json *j, int status);

void request_suspend(struct api_request *c);
void request_resume(struct api_request *c); /* also of one that is not suspended */

/* Sends a question, under the fleet's lock, for which the client waits. */
void request_ask(struct api_request *c, struct ask *a);

/* Unless the answer is there already, calls `ask` under the fleet's lock.  0: it is there; or the status
 * to give. */
typedef int request_question(struct api_request *c, const void *wish);
int request_asked(struct api_request *c, request_question *ask, const void *wish);

/* The application of the first argument, under the fleet's lock; NULL: request_fail was called. */
struct app *request_app(struct api_request *c);
/* `instance=`; .n 0: all. */
struct slice request_instance(const struct api_request *c);
/* from= and to=; false: request_fail was called.  Without `from` it stays. */
bool request_span(struct api_request *c, uint64_t *from, uint64_t *to);

/* ---- the functions, by file ---- */

int api_manager(struct api_request *c); /* api_fleet.c */
int api_health(struct api_request *c);
int api_applications(struct api_request *c);
int api_application(struct api_request *c);
int api_instances(struct api_request *c);
int api_instance(struct api_request *c);
int api_overhead(struct api_request *c);
int api_audit(struct api_request *c);
int api_metrics(struct api_request *c); /* api_metrics.c */
int api_methods(struct api_request *c); /* api_figures.c */
int api_series(struct api_request *c);
int api_tree(struct api_request *c);	/* api_tree.c */
int api_callees(struct api_request *c); /* api_ask.c */
int api_explain(struct api_request *c);
int api_hotspots(struct api_request *c);
int api_stacks(struct api_request *c); /* api_stacks.c */
int api_plan(struct api_request *c);   /* api_plan.c */
int api_plan_put(struct api_request *c);
int api_plan_rules(struct api_request *c);
int api_plan_history(struct api_request *c);
int api_plan_version(struct api_request *c);
int api_plan_undo(struct api_request *c);
int api_rules_check(struct api_request *c);
int api_traces(struct api_request *c); /* api_trace.c */
int api_heatmap(struct api_request *c);
int api_trace(struct api_request *c);
int api_trace_perfetto(struct api_request *c);
int api_trace_otlp(struct api_request *c);
int api_digs(struct api_request *c); /* api_dig.c */
int api_dig_start(struct api_request *c);
int api_dig(struct api_request *c);
int api_dig_cancel(struct api_request *c);
int api_dig_push(struct api_request *c);
int api_dig_events(struct api_request *c); /* stream.c */
int api_events(struct api_request *c);
int api_alerts(struct api_request *c); /* api_alert.c */
int api_alert(struct api_request *c);
int api_relay(struct api_request *c); /* api_relay.c */
int api_relays(struct api_request *c);
int api_login(struct api_request *c); /* auth.c */
int api_logout(struct api_request *c);

#endif
