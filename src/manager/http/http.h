/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - the server of pages and API, with threads of its own. */
#ifndef MANAGER_HTTP_HTTP_H
#define MANAGER_HTTP_HTTP_H

#include <pthread.h>

#include "manager/fleet/fleet.h"

struct http;

/* 0; or negative after a line in the log.  The port it got is in *port. */
int http_start(struct http **out, struct fleet *f, uint16_t *port);
void http_end_streams(struct http *h); /* before the fleet ends; no new ones begin */
void http_stop(struct http *h);	       /* after it; NULL is fine */

#endif
