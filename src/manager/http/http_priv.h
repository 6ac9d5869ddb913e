/* SPDX-License-Identifier: Apache-2.0 */
/* http_priv.h - the server's own data. */
#ifndef MANAGER_HTTP_HTTP_PRIV_H
#define MANAGER_HTTP_HTTP_PRIV_H

#include "manager/http/request.h"
#include "manager/http/http.h"

enum { CLIENTS = 256 };

struct http {
	struct fleet *fleet;
	struct MHD_Daemon *daemon;
	char *cert, *key;
	pthread_mutex_t lock;
	struct stream *streams;
	bool ends;
	struct {
		uint8_t address[16];
		uint64_t second;
		unsigned changes;
	} clients[CLIENTS];
	uint64_t requests, refused;
	uint64_t audit_minute;		       /* of refused requests that were written down */
	unsigned audit_listed, audit_unlisted; /* ... in it; those that were not */
	uint64_t wakes;			       /* of streams */
};

/* http_loop.c */
void http_headers(struct MHD_Response *r, const struct api_request *c, const char *type);

struct api_request *http_request_new(struct http *h, struct MHD_Connection *connection);
void http_request_free(struct api_request *c);

/* api_far.c: REQUEST_WAITS, the status of an answer that is there, or FAR_NOT. */
enum { FAR_NOT = -10 };
int far_answer(struct api_request *c);
bool far_serve(void *http, struct bus_call *call);

/* api_relay.c */
enum MHD_Result relay_answer(struct api_request *c);

/* stream.c */
enum MHD_Result stream_answer(struct api_request *c);
void stream_wake_all(void *h);
void stream_free(struct stream *s);

#endif
