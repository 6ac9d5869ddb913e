/* SPDX-License-Identifier: Apache-2.0 */
/* bus_link.c - all calls of libnats.
 *
 * The library connects, and connects again, in threads of its own, until servers have refused our password, or we their
 * certificate: then it closes the connection for good.  The reader makes another one in place of it, itself, since
 * only so the library tells the reason.  The bucket is made by the
 * first manager that comes; it is kept by three servers when three or more are named, else by one. */
#include "manager/bus/bus_link.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
	SERVERS = 16,
	LISTENED = 4,
	WAIT_MS = 2000,
	RETRY_MS = 250,
	PING_MS = 2000,
	VALUE_MAX = 768 << 10,
	HEAD_ROOM = 1024,
	RENEW_MS = 2000
};

struct wanted {
	char subject[256];
	bus_on_message *on;
	void *ctx;
};

struct listener {
	struct session *session;
	natsSubscription *sub;
	bool is_over;
};

/* A connection with all that belongs to it. */
struct session {
	natsConnection *conn;
	jsCtx *js;
	kvStore *kv; /* set once */
	kvWatcher *watcher;
	struct listener listeners[LISTENED];
	unsigned n_listeners;
	pthread_mutex_t lock;
	pthread_cond_t over; /* a listener is */
};

struct bus_link {
	char urls[SETTINGS_URL], bucket[64];
	const char *servers[SERVERS];
	char texts[SERVERS][SETTINGS_URL + 16];
	unsigned n_servers;
	natsOptions *options;
	pthread_rwlock_t lock;
	struct session *session; /* changed by the reader alone */
	uint64_t renewed_ms;
	char why[160]; /* it could not be */
	struct wanted wanted[LISTENED];
	unsigned n_wanted;
};

/* For any thread but the reader's: the session stays until release. */
static struct session *hold(struct bus_link *l)
{
	pthread_rwlock_rdlock(&l->lock);
	return l->session;
}

static void release(struct bus_link *l)
{
	pthread_rwlock_unlock(&l->lock);
}

static bool is_connected(const struct session *s)
{
	return s && natsConnection_Status(s->conn) == NATS_CONN_STATUS_CONNECTED;
}

/* ---- the URL ---- */

/* nats://A,B/BUCKET becomes nats://A and nats://B. */
static int read_url(struct bus_link *l, const char *url)
{
	const char *rest = strstr(url, "://"), *slash;
	int scheme = rest ? (int)(rest - url) + 3 : 0;
	char *save = NULL, *one;

	slash = rest ? strchr(rest + 3, '/') : NULL;
	snprintf(l->bucket, sizeof(l->bucket), "%s", slash && slash[1] ? slash + 1 : "sonde");
	snprintf(l->urls, sizeof(l->urls), "%.*s",
		 slash ? (int)(slash - url) - scheme : (int)strlen(url) - scheme, url + scheme);
	for (one = strtok_r(l->urls, ",", &save); one && l->n_servers < SERVERS;
	     one = strtok_r(NULL, ",", &save)) {
		snprintf(l->texts[l->n_servers], sizeof(l->texts[0]), "%.*s%s", scheme, url, one);
		l->servers[l->n_servers] = l->texts[l->n_servers];
		l->n_servers++;
	}
	return l->n_servers ? 0 : E_USAGE;
}

/* ---- begin and end ---- */

static void on_error(natsConnection *nc, natsSubscription *sub, natsStatus s, void *ctx)
{
	(void)nc, (void)sub, (void)ctx;
	log_put(LOG_DEBUG, "bus: %s", natsStatus_GetText(s));
}

static void on_change(natsConnection *nc, void *ctx)
{
	(void)ctx;
	log_put(LOG_DEBUG, "bus: connection %s",
		natsConnection_Status(nc) == NATS_CONN_STATUS_CONNECTED ? "made" : "lost");
}

static natsStatus set_options(struct bus_link *l, const struct settings *c, const char *name)
{
	natsStatus s = natsOptions_Create(&l->options);

	if (s == NATS_OK)
		s = natsOptions_SetServers(l->options, l->servers, (int)l->n_servers);
	if (s == NATS_OK)
		s = natsOptions_SetName(l->options, name);
	if (s == NATS_OK)
		s = natsOptions_SetMaxReconnect(l->options, -1);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectWait(l->options, RETRY_MS);
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(l->options, WAIT_MS);
	if (s == NATS_OK)
		s = natsOptions_SetPingInterval(l->options, PING_MS);
	if (s == NATS_OK)
		s = natsOptions_SetMaxPingsOut(l->options, 2);
	if (s == NATS_OK) /* a server that is stopped must not stop us */
		s = natsOptions_SetWriteDeadline(l->options, WAIT_MS);
	if (s == NATS_OK)
		s = natsOptions_SetErrorHandler(l->options, on_error, NULL);
	if (s == NATS_OK)
		s = natsOptions_SetReconnectedCB(l->options, on_change, NULL);
	if (s == NATS_OK)
		s = natsOptions_SetDisconnectedCB(l->options, on_change, NULL);
	if (s == NATS_OK)
		s = natsOptions_SetRetryOnFailedConnect(l->options, true, on_change, NULL);
	if (s == NATS_OK && strncmp(l->servers[0], "tls://", 6) == 0)
		s = natsOptions_SetSecure(l->options, true);
	if (s == NATS_OK && c->ca[0])
		s = natsOptions_LoadCATrustedCertificates(l->options, c->ca);
	return s;
}

static void on_over(void *ctx)
{
	struct listener *to = ctx;

	pthread_mutex_lock(&to->session->lock);
	to->is_over = true;
	pthread_cond_signal(&to->session->over);
	pthread_mutex_unlock(&to->session->lock);
}

/* Not by nats_CloseAndWait: that takes down OpenSSL for all, which then ends twice and faults. */
static void end_listeners(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->n_listeners; i++)
		while (!s->listeners[i].is_over)
			pthread_cond_wait(&s->over, &s->lock);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->n_listeners; i++)
		natsSubscription_Destroy(s->listeners[i].sub);
}

static void unwatch(struct session *s)
{
	if (s->watcher) {
		kvWatcher_Stop(s->watcher);
		kvWatcher_Destroy(s->watcher);
	}
	s->watcher = NULL;
}

static void session_close(struct session *s)
{
	if (!s)
		return;
	unwatch(s);
	if (s->conn)
		natsConnection_Close(s->conn);
	end_listeners(s);
	kvStore_Destroy(s->kv);
	jsCtx_Destroy(s->js);
	natsConnection_Destroy(s->conn);
	mem_free(s);
}

static natsStatus listen_to(struct session *s, const struct wanted *w);

/* "(conn.c:733): SSL handshake error: 18:self-signed certificate:..." */
static void say_why(natsStatus rc, char *to, size_t room)
{
	natsStatus last;
	const char *text = nats_GetLastError(&last), *colon;

	if (!text || last != rc)
		text = natsStatus_GetText(rc);
	colon = text[0] == '(' ? strstr(text, "): ") : NULL;
	snprintf(to, room, "%s", colon ? colon + 3 : text);
}

/* NULL: `why` says why not. */
static struct session *session_open(const struct bus_link *l, char *why, size_t room)
{
	struct session *s = mem_alloc(sizeof(*s));
	natsStatus rc;
	jsOptions js;

	snprintf(why, room, "out of memory");
	if (!s)
		return NULL;
	*s = (struct session){ 0 };
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->over, NULL);
	rc = natsConnection_Connect(&s->conn, l->options);
	if (rc == NATS_NOT_YET_CONNECTED)
		rc = NATS_OK;
	jsOptions_Init(&js);
	js.Wait = WAIT_MS;
	if (rc == NATS_OK)
		rc = natsConnection_JetStream(&s->js, s->conn, &js);
	for (unsigned i = 0; rc == NATS_OK && i < l->n_wanted; i++)
		rc = listen_to(s, &l->wanted[i]);
	if (rc == NATS_OK)
		return s;
	say_why(rc, why, room);
	session_close(s);
	return NULL;
}

int bus_link_open(struct bus_link **out, const struct settings *c, const char *name)
{
	struct bus_link *l = mem_alloc(sizeof(*l));
	natsStatus s = NATS_INVALID_ARG;
	char why[sizeof(l->why)] = "";

	if (!l)
		return E_NO_MEMORY;
	*l = (struct bus_link){ 0 };
	pthread_rwlock_init(&l->lock, NULL);
	if (read_url(l, c->bus) >= 0)
		s = set_options(l, c, name);
	if (s == NATS_OK)
		l->session = session_open(l, why, sizeof(why));
	else
		say_why(s, why, sizeof(why));
	if (l->session) {
		*out = l;
		return 0;
	}
	log_put(LOG_ERROR, "--bus: %s", why);
	bus_link_close(l);
	return E_USAGE;
}

void bus_link_close(struct bus_link *l)
{
	if (!l)
		return;
	session_close(l->session);
	natsOptions_Destroy(l->options);
	mem_free(l);
}

/* Listeners of the one that was closed may wait for the lock, so it is closed without. */
static void renew(struct bus_link *l)
{
	uint64_t now = clock_steady_ms();
	struct session *s, *old = l->session;
	char why[sizeof(l->why)] = "";

	if (natsConnection_Status(old->conn) != NATS_CONN_STATUS_CLOSED ||
	    now - l->renewed_ms < RENEW_MS)
		return;
	l->renewed_ms = now;
	natsOptions_SetRetryOnFailedConnect(l->options, false, NULL, NULL);
	s = session_open(l, why, sizeof(why));
	pthread_rwlock_wrlock(&l->lock);
	memcpy(l->why, why, sizeof(why));
	if (s)
		l->session = s;
	pthread_rwlock_unlock(&l->lock);
	if (s)
		session_close(old);
}

bool bus_link_is_connected(struct bus_link *l)
{
	bool is = is_connected(hold(l));

	release(l);
	return is;
}

void bus_link_why(struct bus_link *l, char *to, size_t room)
{
	natsConnection *conn = hold(l)->conn;
	const char *why = l->why;

	if (natsConnection_Status(conn) != NATS_CONN_STATUS_CLOSED)
		natsConnection_GetLastError(conn, &why);
	snprintf(to, room, "%s", why && why[0] ? why : "no answer");
	release(l);
}

static size_t most(const struct session *s)
{
	int64_t n = natsConnection_GetMaxPayload(s->conn);

	return n > 4096 && n < VALUE_MAX ? (size_t)n - 2048 : VALUE_MAX;
}

size_t bus_link_most(struct bus_link *l)
{
	size_t n = most(hold(l));

	release(l);
	return n;
}

/* ---- the bucket ---- */

/* Somebody else may make it at the same time; then it is found the next time. */
static kvStore *make_bucket(const struct bus_link *l, struct session *s)
{
	kvStore *made = NULL;
	kvConfig config;

	kvConfig_Init(&config);
	config.Bucket = l->bucket;
	config.History = 1;
	config.Replicas = l->n_servers >= 3 ? 3 : 1;
	if (js_KeyValue(&made, s->js, l->bucket) != NATS_OK &&
	    js_CreateKeyValue(&made, s->js, &config) != NATS_OK)
		return NULL;
	return made;
}

static kvStore *bucket(const struct bus_link *l, struct session *s)
{
	kvStore *kv, *made;

	if (!is_connected(s))
		return NULL;
	kv = __atomic_load_n(&s->kv, __ATOMIC_ACQUIRE);
	if (kv)
		return kv;
	made = make_bucket(l, s);
	if (!made)
		return NULL;
	if (__atomic_compare_exchange_n(&s->kv, &kv, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	kvStore_Destroy(made); /* another thread was faster */
	return kv;
}

/* The server says "wrong last sequence" by a number of its own. */
static int code_of(natsStatus s)
{
	natsStatus last;
	const char *text = nats_GetLastError(&last);

	if (s == NATS_OK)
		return 0;
	if (s == NATS_ERR && text && strstr(text, "wrong last sequence"))
		return E_DUPLICATE;
	log_put(LOG_DEBUG, "bus: %s: %s", natsStatus_GetText(s), text ? text : "");
	return E_IO;
}

static natsStatus put(kvStore *kv, const char *key, struct slice value, uint64_t *revision)
{
	int n = (int)value.n;
	uint64_t got = 0;
	natsStatus s;

	if (*revision == BUS_ANY)
		s = kvStore_Put(&got, kv, key, value.p, n);
	else if (*revision == 0)
		s = kvStore_Create(&got, kv, key, value.p, n);
	else
		s = kvStore_Update(&got, kv, key, value.p, n, *revision);
	if (s == NATS_OK)
		*revision = got;
	return s;
}

int bus_link_put(struct bus_link *l, const char *key, struct slice value, uint64_t *revision)
{
	struct session *s = hold(l);
	kvStore *kv = bucket(l, s);
	int rc = kv && value.n <= most(s) ? code_of(put(kv, key, value, revision)) : E_IO;

	release(l);
	return rc;
}

int bus_link_drop(struct bus_link *l, const char *key)
{
	kvStore *kv = bucket(l, hold(l));
	int rc = kv ? code_of(kvStore_Delete(kv, key)) : E_IO;

	release(l);
	return rc;
}

int bus_link_tidy(struct bus_link *l)
{
	kvStore *kv = bucket(l, hold(l));
	kvPurgeOptions o;
	int rc;

	kvPurgeOptions_Init(&o);
	o.Timeout = WAIT_MS;
	rc = kv ? code_of(kvStore_PurgeDeletes(kv, &o)) : E_IO;
	release(l);
	return rc;
}

/* ---- watching ---- */

int bus_link_watch(struct bus_link *l)
{
	struct session *s;
	kvStore *kv;

	unwatch(l->session);
	renew(l);
	s = l->session;
	kv = bucket(l, s);
	if (kv) /* the servers may have lost all they had; what is made anew has the name that `kv` has */
		kvStore_Destroy(make_bucket(l, s));
	return kv ? code_of(kvStore_WatchAll(&s->watcher, kv, NULL)) : E_IO;
}

int bus_link_next(struct bus_link *l, int ms, bus_on_entry *on, void *ctx)
{
	kvWatcher *w = l->session->watcher;
	kvEntry *e = NULL;
	natsStatus s = w ? kvWatcher_Next(&e, w, ms) : NATS_ILLEGAL_STATE;

	if (s == NATS_TIMEOUT)
		return 0;
	if (s != NATS_OK)
		return code_of(s);
	if (!e) /* all that was there has come */
		return 1;
	on(ctx, &(struct bus_entry){ .key = kvEntry_Key(e),
				     .value = { kvEntry_Value(e), (size_t)kvEntry_ValueLen(e) },
				     .revision = kvEntry_Revision(e),
				     .created_ns = (uint64_t)kvEntry_Created(e),
				     .is_gone = kvEntry_Operation(e) != kvOp_Put });
	kvEntry_Destroy(e);
	return 1;
}

/* ---- subjects ---- */

static void on_message(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *ctx)
{
	const struct wanted *to = ctx;

	(void)nc, (void)sub;
	to->on(to->ctx, (struct slice){ (const uint8_t *)natsMsg_GetData(m),
					(size_t)natsMsg_GetDataLength(m) });
	natsMsg_Destroy(m);
}

static natsStatus listen_to(struct session *s, const struct wanted *w)
{
	struct listener *to = &s->listeners[s->n_listeners];
	natsStatus rc;

	*to = (struct listener){ .session = s };
	rc = natsConnection_Subscribe(&to->sub, s->conn, w->subject, on_message,
				      (void *)(uintptr_t)w);
	if (rc != NATS_OK)
		return rc;
	if (natsSubscription_SetOnCompleteCB(to->sub, on_over, to) != NATS_OK)
		to->is_over = true;
	s->n_listeners++;
	return NATS_OK;
}

int bus_link_listen(struct bus_link *l, const char *subject, bus_on_message *on, void *ctx)
{
	struct wanted *w = &l->wanted[l->n_wanted];
	natsStatus rc;

	if (l->n_wanted == LISTENED)
		return E_LIMIT;
	*w = (struct wanted){ .on = on, .ctx = ctx };
	snprintf(w->subject, sizeof(w->subject), "%s.%s", l->bucket, subject);
	l->n_wanted++;
	rc = listen_to(l->session, w);
	/* servers that refuse us have closed it by now; the next connection listens */
	return rc == NATS_OK || rc == NATS_CONNECTION_CLOSED ? 0 : E_IO;
}

int bus_link_send(struct bus_link *l, const char *subject, struct slice message)
{
	struct session *s = hold(l);
	char whole[256];
	int rc = E_IO;

	snprintf(whole, sizeof(whole), "%s.%s", l->bucket, subject);
	if (is_connected(s) && message.n <= most(s) + HEAD_ROOM &&
	    natsConnection_Publish(s->conn, whole, message.p, (int)message.n) == NATS_OK)
		rc = 0;
	release(l);
	return rc;
}
