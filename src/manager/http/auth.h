/* SPDX-License-Identifier: Apache-2.0 */
/* auth.h - who may do what: tokens, users over loopback, and requests that other sites made a browser
 * send. */
#ifndef MANAGER_HTTP_AUTH_H
#define MANAGER_HTTP_AUTH_H

#include "manager/http/request.h"

/* Sets c->role, c->who and c->from. */
void auth_see(struct api_request *c);

/* 0; or the status with which it is refused, and why. */
int auth_check(struct api_request *c, const char *method, const char **why);

/* The user of the process at the other end of a loopback connection; false: not known. */
bool auth_peer_uid(const struct sockaddr *peer, const struct sockaddr *own, uid_t *out);

/* No more than so many changes a second from one address. */
bool auth_may_change(struct http *h, const struct sockaddr *peer);

#endif
