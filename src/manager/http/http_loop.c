/* SPDX-License-Identifier: Apache-2.0 */
/* http_loop.c - libmicrohttpd's side: connections, bodies, answers, the table of paths.
 *
 * Paths and parameters come raw, since a decoded '/' in a name would be taken for a separator. */

#include "manager/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/bus/bus.h"
#include "manager/http/auth.h"
#include "manager/http/http_priv.h"
#include "manager/webpages.h"

enum {
	CONNECTIONS = 12000,
	OTHER_FILES = 4 * FLEET_INSTANCES + 1000, /* through relays each connection takes two */
	FILES = 65536,
	IDLE_S = 120,
	BODY_S = 30, /* for all of a body */
	BACKLOG = 512,
	THREADS = 2,
	MEMORY = 32 << 10,    /* of a connection: its longest head */
	OPEN_BODY_MAX = 4096, /* of one who has shown no token: a login */
	REFUSED_LISTED = 60,  /* a minute, in the audit log */
};

static const char csp[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
	" base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/* ---- for functions of the API ---- */

int request_fail(struct api_request *c, int status, const char *code, const char *fmt, ...)
{
	char text[500];
	struct json j;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_clear(&c->out);
	j = json_to(&c->out);
	json_open(&j, '{');
	json_put_open(&j, "error", '{');
	json_put_text(&j, "code", code);
	json_put_text(&j, "text", text);
	json_close(&j, '}');
	json_close(&j, '}');
	return status;
}

struct json request_json(struct api_request *c)
{
	struct json j;

	buf_clear(&c->out);
	j = json_to(&c->out);
	json_open(&j, '{');
	return j;
}

int request_end(struct json *j, int status)
{
	json_close(j, '}');
	return status;
}

void request_suspend(struct api_request *c)
{
	c->suspended = true;
	if (!c->call)
		MHD_suspend_connection(c->c);
}

void request_resume(struct api_request *c)
{
	c->ready = true;
	if (!c->suspended)
		return;
	c->suspended = false;
	if (c->call)
		bus_again(c->f->bus, c->call);
	else
		MHD_resume_connection(c->c);
}

struct app *request_app(struct api_request *c)
{
	struct app *a = fleet_app(c->f, c->args[0]);

	if (!a)
		request_fail(c, 404, "not_found", "there is no application '%.*s'",
			     SLICE_FMT(c->args[0]));
	return a;
}

struct slice request_instance(const struct api_request *c)
{
	return query_get(&c->query, "instance");
}

bool request_span(struct api_request *c, uint64_t *from, uint64_t *to)
{
	uint64_t now = clock_day_ms();

	*to = now;
	if (query_time(&c->query, "from", now, from) && query_time(&c->query, "to", now, to) &&
	    *from <= *to)
		return true;
	request_fail(c, 400, "usage",
		     "from and to are milliseconds since 1970, or negative: before now");
	return false;
}

/* ---- answers ---- */

void http_headers(struct MHD_Response *r, const struct api_request *c, const char *type)
{
	MHD_add_response_header(r, "Content-Security-Policy", csp);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	if (type)
		MHD_add_response_header(r, "Content-Type", type);
	if (c && c->cookie)
		MHD_add_response_header(r, "Set-Cookie", c->cookie);
}

static enum MHD_Result send_answer(struct api_request *c, int status)
{
	struct MHD_Response *r;
	enum MHD_Result rc;

	if (c->out.err)
		status = request_fail(c, 500, "memory", "out of memory");
	if (c->out.err)
		return MHD_NO;
	r = MHD_create_response_from_buffer(status == 204 ? 0 : c->out.n, c->out.p,
					    MHD_RESPMEM_MUST_COPY);
	if (!r)
		return MHD_NO;
	http_headers(r, c, status == 204 ? NULL : c->type ? c->type : "application/json");
	MHD_add_response_header(r, "Cache-Control", "no-store");
	if (status == 401)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	rc = MHD_queue_response(c->c, (unsigned)status, r);
	MHD_destroy_response(r);
	c->is_sent = true;
	return rc;
}

static bool takes_gzip(struct api_request *c)
{
	const char *accepts = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Accept-Encoding");

	return accepts && strstr(accepts, "gzip");
}

static enum MHD_Result send_page(struct api_request *c, const struct webpage *page)
{
	bool gzip = takes_gzip(c);
	struct slice bytes = gzip ? page->gzip : page->bytes;
	struct MHD_Response *r = MHD_create_response_from_buffer(
		bytes.n, (void *)(uintptr_t)bytes.p, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	http_headers(r, c, page->type);
	MHD_add_response_header(r, "Cache-Control", "no-cache");
	MHD_add_response_header(r, "Vary", "Accept-Encoding");
	if (gzip)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	rc = MHD_queue_response(c->c, 200, r);
	MHD_destroy_response(r);
	c->is_sent = true;
	return rc;
}

/* ---- who did what ---- */

/* Anybody can be refused, as often as they like: the log must not grow with that.  *before: how many
 * were not listed since the last one that was. */
static bool list_refused(struct http *h, unsigned *before)
{
	uint64_t minute = clock_steady_ms() / 60000;
	bool listed;

	pthread_mutex_lock(&h->lock);
	if (h->audit_minute != minute)
		h->audit_listed = 0;
	h->audit_minute = minute;
	listed = h->audit_listed < REFUSED_LISTED;
	h->audit_listed += listed;
	h->audit_unlisted += !listed;
	*before = listed ? h->audit_unlisted : 0;
	if (listed)
		h->audit_unlisted = 0;
	pthread_mutex_unlock(&h->lock);
	return listed;
}

/* What is sent to log in is not for the log. */
static void drop_token(struct api_request *c)
{
	if (c->route && c->route->action && strcmp(c->route->action, "login") == 0)
		buf_clear(&c->body);
}

static void audit(struct api_request *c, int status)
{
	struct job_audit *job = c->route && c->route->action ? archive_job(sizeof(*job)) : NULL;
	struct slice body = buf_slice(&c->body);

	if (!job)
		return;
	body.n = body.n < 2000 ? body.n : 2000;
	job->job.kind = JOB_AUDIT;
	job->at_ms = clock_day_ms();
	job->who = arena_dup(&job->job.mem, slice_str(c->who));
	job->role = slice_str(c->role == ROLE_OPERATE ? "operate"
			      : c->role == ROLE_VIEW  ? "view"
			      : c->role == ROLE_RELAY ? "relay"
						      : "");
	job->from = arena_dup(&job->job.mem, slice_str(c->from));
	job->action = slice_str(c->route->action);
	job->target = arena_dup(&job->job.mem, c->args[0]);
	job->detail = arena_dup(&job->job.mem, body);
	job->status = status;
	archive_put(c->f->store, &job->job);
}

static void audit_refused(struct api_request *c, int status)
{
	unsigned before;

	if (!c->route || !c->route->action || !list_refused(c->h, &before))
		return;
	if (before) {
		buf_clear(&c->body);
		buf_printf(&c->body, "(%u refused requests before it are not listed)", before);
	}
	audit(c, status);
}

/* ---- one request ---- */

static const struct route *find_route(struct api_request *c, const char *method, const char *url,
				      bool *path)
{
	*path = false;
	for (const struct route *r = api_routes; r->method; r++) {
		if (!query_match(&c->mem, r->pattern, url, c->args))
			continue;
		*path = true;
		if (strcmp(r->method, method) == 0 ||
		    (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0))
			return r;
	}
	return NULL;
}

struct raw_params {
	struct api_request *c;
	bool good;
};

static enum MHD_Result take_param(void *ctx, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct raw_params *p = ctx;

	(void)kind;
	p->good =
		query_add(&p->c->query, &p->c->mem, slice_str(name), slice_str(value ? value : ""));
	return p->good ? MHD_YES : MHD_NO;
}

static void refuse(struct api_request *c, int status, const char *why)
{
	c->refused = status;
	c->refused_why = why;
}

/* All that can be judged before the body has come. */
static void judge(struct api_request *c, const char *method, const char *url)
{
	struct raw_params p = { c, true };
	const char *why = "";
	bool path = false;
	int status;

	auth_see(c);
	MHD_get_connection_values(c->c, MHD_GET_ARGUMENT_KIND, take_param, &p);
	if (!p.good)
		refuse(c, 400, "a parameter is not well formed, or there are too many");
	if (strncmp(url, "/api/", 5) == 0 || strcmp(url, "/metrics") == 0)
		c->route = find_route(c, method, url, &path);
	status = auth_check(c, method, &why);
	if (status)
		refuse(c, status, why);
	else if (!c->route && path)
		refuse(c, 405, "this path is not for that method");
}

struct api_request *http_request_new(struct http *h, struct MHD_Connection *connection)
{
	struct api_request *c = mem_alloc(sizeof(*c));

	if (c)
		*c = (struct api_request){
			.h = h, .f = h->fleet, .c = connection, .began_ms = clock_steady_ms()
		};
	return c;
}

void http_request_free(struct api_request *c)
{
	stream_free(c->stream);
	arena_release(&c->mem);
	buf_release(&c->body);
	buf_release(&c->out);
	buf_release(&c->answer);
	mem_free(c);
}

static size_t longest_body(const struct api_request *c)
{
	return !c->route ? 0 : c->route->needs == ROLE_NONE ? OPEN_BODY_MAX : BODY_MAX;
}

static enum MHD_Result take_body(struct api_request *c, const char *data, size_t *n)
{
	if (c->body.n + *n > longest_body(c) && c->route)
		refuse(c, 413, "a body has at most 1 MiB, one of a login 4 KiB");
	else if (clock_steady_ms() - c->began_ms > BODY_S * 1000)
		refuse(c, 408, "the body took too long");
	if (!c->refused && c->route)
		buf_bytes(&c->body, data, *n);
	*n = 0;
	return MHD_YES;
}

static const char *code_of(int status)
{
	return status == 401   ? "token"
	       : status == 403 ? "forbidden"
	       : status == 404 ? "not_found"
	       : status == 429 ? "too_many"
	       : status == 413 ? "too_large"
	       : status == 426 ? "version"
			       : "usage";
}

static enum MHD_Result answer_page(struct api_request *c, const char *method, const char *url)
{
	struct webpage page;

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return send_answer(c, request_fail(c, 405, "usage", "pages are for GET"));
	if (strncmp(url, "/api/", 5) != 0 && webpages_find(url, &page))
		return send_page(c, &page);
	return send_answer(c,
			   request_fail(c, 404, "not_found", "there is nothing under this path"));
}

static enum MHD_Result answer(struct api_request *c, const char *method, const char *url)
{
	int status;

	if (c->refused) {
		drop_token(c);
		status = request_fail(c, c->refused, code_of(c->refused), "%s", c->refused_why);
		audit_refused(c, status);
		return send_answer(c, status);
	}
	if (!c->route)
		return answer_page(c, method, url);
	status = far_answer(c);
	if (status == FAR_NOT)
		status = c->route->run(c);
	if (status == REQUEST_WAITS)
		return MHD_YES;
	if (status == REQUEST_STREAMS)
		return stream_answer(c);
	drop_token(c);
	if (c->role == ROLE_NONE && status >= 400) /* a login; anybody can try */
		audit_refused(c, status);
	else
		audit(c, status == REQUEST_UPGRADES ? 101 : status);
	if (status == REQUEST_UPGRADES)
		return relay_answer(c);
	return send_answer(c, status);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n, void **state)
{
	struct http *h = ctx;
	struct api_request *c = *state;

	(void)version;
	if (!c) {
		*state = c = http_request_new(h, connection);
		if (!c)
			return MHD_NO;
		__atomic_add_fetch(&h->requests, 1, __ATOMIC_RELAXED);
		judge(c, method, url);
		if (c->refused) /* also before a body that nobody will read */
			__atomic_add_fetch(&h->refused, 1, __ATOMIC_RELAXED);
		return MHD_YES;
	}
	if (*n)
		return take_body(c, data, n);
	if (c->is_sent)
		return MHD_YES;
	return answer(c, method, url);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode how)
{
	(void)ctx, (void)connection, (void)how;
	if (*state)
		http_request_free(*state);
	*state = NULL;
}

/* Decoding is query.c's. */
static size_t keep_raw(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx, (void)connection;
	return strlen(text);
}

static void on_log(void *ctx, const char *fmt, va_list args)
{
	char text[500];

	(void)ctx;
	vsnprintf(text, sizeof(text), fmt, args);
	text[strcspn(text, "\n")] = '\0';
	log_put(LOG_DEBUG, "http: %s", text);
}

/* ---- begin and end ---- */

static int listen_on(const struct settings *c, uint16_t *port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(c->port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(c->port) };
	bool is_six = inet_pton(AF_INET6, c->address, &six.sin6_addr) == 1;
	struct sockaddr *to = is_six ? (void *)&six : (void *)&four;
	socklen_t n = is_six ? sizeof(six) : sizeof(four);
	int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (!is_six && inet_pton(AF_INET, c->address, &four.sin_addr) != 1)
		errno = EINVAL;
	else if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, to, n) == 0 && listen(fd, BACKLOG) == 0 &&
		    getsockname(fd, to, &n) == 0) {
			*port = ntohs(is_six ? six.sin6_port : four.sin_port);
			return fd;
		}
	}
	log_put(LOG_ERROR, "%s port %u: %s", c->address, (unsigned)c->port, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static char *read_pem(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = f ? calloc(1, 1 << 20) : NULL;
	bool good = text && fread(text, 1, (1 << 20) - 1, f) > 0;

	if (f)
		fclose(f);
	if (good)
		return text;
	log_put(LOG_ERROR, "%s: cannot be read", path);
	free(text);
	return NULL;
}

/* Clients must not take the descriptors that connections to agents and the store need. */
static unsigned most_connections(void)
{
	struct rlimit files = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < FILES)
		files.rlim_cur = files.rlim_max < FILES ? files.rlim_max : FILES;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < CONNECTIONS + OTHER_FILES)
		return (unsigned)files.rlim_cur / 2;
	return CONNECTIONS;
}

static int start(struct http *h, int fd)
{
	const struct settings *config = h->fleet->config;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
			 MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG |
			 (config->cert[0] ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, h->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, h->key },
		{ MHD_OPTION_END, 0, NULL },
	};

	h->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, THREADS,
		MHD_OPTION_CONNECTION_LIMIT, most_connections(), MHD_OPTION_CONNECTION_TIMEOUT,
		IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
		keep_raw, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY,
		config->cert[0] ? tls : &tls[2], MHD_OPTION_END);
	return h->daemon ? 0 : E_IO;
}

int http_start(struct http **out, struct fleet *f, uint16_t *port)
{
	struct http *h = mem_alloc(sizeof(*h));
	int rc = 0, fd;

	if (!h)
		return E_NO_MEMORY;
	*h = (struct http){ .fleet = f };
	pthread_mutex_init(&h->lock, NULL);
	if (f->config->cert[0]) {
		h->cert = read_pem(f->config->cert);
		h->key = read_pem(f->config->key);
		rc = h->cert && h->key ? 0 : E_IO;
	}
	fd = rc < 0 ? -1 : listen_on(f->config, port);
	rc = fd < 0 ? E_IO : start(h, fd);
	if (rc < 0) {
		if (fd >= 0)
			close(fd);
		http_stop(h);
		return rc;
	}
	hub_listen(&f->hub, stream_wake_all, h);
	bus_serve_by(f->bus, far_serve, h);
	*out = h;
	return 0;
}

void http_end_streams(struct http *h)
{
	pthread_mutex_lock(&h->lock);
	h->ends = true;
	pthread_mutex_unlock(&h->lock);
	stream_wake_all(h);
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	if (h->daemon) {
		hub_listen(&h->fleet->hub, NULL, NULL);
		MHD_stop_daemon(h->daemon);
	}
	free(h->cert);
	free(h->key);
	mem_free(h);
}
