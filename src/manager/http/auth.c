/* SPDX-License-Identifier: Apache-2.0 */
/* auth.c - tokens are compared in constant time.  Who is at the other end of a loopback connection
 * is in the kernel's table of TCP sockets, /proc/net/tcp: that of our peer is the line whose local
 * address is our remote one. */

#include "manager/http/auth.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/proc.h"
#include "manager/http/http_priv.h"

enum { CHANGES_A_SECOND = 50, TABLE_MAX = 64 << 20, ESTABLISHED = 1 };

/* ---- the peer ---- */

struct endpoint {
	uint8_t address[16]; /* IPv4 in its last four */
	uint16_t port;
	bool six;
};

static bool endpoint_of(const struct sockaddr *a, struct endpoint *out)
{
	*out = (struct endpoint){ .six = a->sa_family == AF_INET6 };
	if (a->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)a;

		memcpy(out->address + 12, &in->sin_addr, 4);
		out->port = ntohs(in->sin_port);
	} else if (out->six) {
		const struct sockaddr_in6 *in = (const void *)a;

		memcpy(out->address, &in->sin6_addr, 16);
		out->port = ntohs(in->sin6_port);
	}
	return a->sa_family == AF_INET || out->six;
}

static bool is_loopback(const struct endpoint *e)
{
	static const uint8_t one[16] = { [15] = 1 };

	return e->six ? memcmp(e->address, one, 16) == 0 : e->address[12] == 127;
}

/* As the kernel writes it: words of 32 bits in the order of the machine. */
static void print_endpoint(const struct endpoint *e, char text[48])
{
	uint32_t words[4];
	int n = 0;

	memcpy(words, e->address, 16);
	for (unsigned i = e->six ? 0 : 3; i < 4; i++)
		n += snprintf(text + n, 48 - (size_t)n, "%08" PRIX32, words[i]);
	snprintf(text + n, 48 - (size_t)n, ":%04X", e->port);
}

bool auth_peer_uid(const struct sockaddr *peer, const struct sockaddr *own, uid_t *out)
{
	struct endpoint theirs, ours;
	struct slice text, line;
	struct buf table = { 0 };
	char local[48], remote[48], a[48], b[48];
	unsigned uid = 0, state = 0;
	bool found = false;

	if (!endpoint_of(peer, &theirs) || !endpoint_of(own, &ours) || !is_loopback(&theirs))
		return false;
	print_endpoint(&theirs, local);
	print_endpoint(&ours, remote);
	if (proc_read(getpid(), theirs.six ? "net/tcp6" : "net/tcp", TABLE_MAX, &table) >= 0)
		buf_u8(&table, '\n');
	text = buf_slice(&table);
	while (!found && proc_line(&text, &line)) {
		char one[256];

		snprintf(one, sizeof(one), "%.*s", (int)(line.n < 255 ? line.n : 255),
			 (const char *)line.p);
		found = sscanf(one, " %*d: %47s %47s %x %*s %*s %*s %u", a, b, &state, &uid) == 4 &&
			strcmp(a, local) == 0 && strcmp(b, remote) == 0;
	}
	/* a socket that was closed has no owner any more, which reads as root */
	found = found && state == ESTABLISHED;
	buf_release(&table);
	if (found)
		*out = uid;
	return found;
}

/* ---- tokens ---- */

static bool same_token(struct slice given, const char *token)
{
	size_t n = strlen(token);
	uint8_t differ = n != given.n;

	for (size_t i = 0; i < n; i++)
		differ |= (uint8_t)(token[i] ^ (i < given.n ? given.p[i] : 0));
	return n && !differ;
}

static enum request_role role_of(const struct settings *c, struct slice token)
{
	bool operate = same_token(token, c->operate), view = same_token(token, c->view);
	bool relay = same_token(token, c->relay_token);

	return operate ? ROLE_OPERATE : view ? ROLE_VIEW : relay ? ROLE_RELAY : ROLE_NONE;
}

static struct slice token_of(struct api_request *c)
{
	const char *header = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Authorization");
	const char *cookie = MHD_lookup_connection_value(c->c, MHD_COOKIE_KIND, "sonde");

	if (header && strncmp(header, "Bearer ", 7) == 0)
		return slice_str(header + 7);
	return cookie ? slice_str(cookie) : (struct slice){ NULL, 0 };
}

static const struct sockaddr *address_of(struct api_request *c)
{
	return MHD_get_connection_info(c->c, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
}

static void name_peer(struct api_request *c, const struct sockaddr *peer)
{
	struct endpoint e;

	if (!endpoint_of(peer, &e))
		return;
	inet_ntop(e.six ? AF_INET6 : AF_INET, e.six ? e.address : e.address + 12, c->from,
		  sizeof(c->from));
}

/* Without a token: a process of our user, over loopback.  Behind a proxy everybody would be the proxy's
 * user. */
static bool is_ours(struct api_request *c, const struct sockaddr *peer)
{
	int fd = MHD_get_connection_info(c->c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct sockaddr_storage own = { 0 };
	socklen_t n = sizeof(own);
	uid_t uid;

	if (c->f->config->plain || getsockname(fd, (struct sockaddr *)&own, &n) < 0 ||
	    !auth_peer_uid(peer, (struct sockaddr *)&own, &uid) || (uid != geteuid() && uid != 0))
		return false;
	snprintf(c->who, sizeof(c->who), "uid %u", (unsigned)uid);
	return true;
}

void auth_see(struct api_request *c)
{
	const struct sockaddr *peer = address_of(c);
	struct slice token = token_of(c);

	name_peer(c, peer);
	c->role = role_of(c->f->config, token);
	if (c->role != ROLE_NONE)
		snprintf(c->who, sizeof(c->who), "%s token",
			 c->role == ROLE_OPERATE ? "operate"
			 : c->role == ROLE_VIEW	 ? "view"
						 : "relay");
	else if (!token.n && is_ours(c, peer)) /* a wrong token is not no token */
		c->role = ROLE_OPERATE;
}

/* ---- browsers ---- */

static bool is_own_name(const struct settings *c, const char *name)
{
	if (strcmp(name, c->address) == 0)
		return true;
	if (c->is_loopback && (strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 ||
			       strcmp(name, "::1") == 0))
		return true;
	for (unsigned i = 0; i < c->n_names; i++)
		if (strcasecmp(name, c->names[i]) == 0)
			return true;
	return false;
}

/* A page of another site can have its own name resolved to our address (DNS rebinding). */
static bool is_own_host(struct api_request *c, const char *host)
{
	char name[256];

	return host && query_host(slice_str(host), name) && is_own_name(c->f->config, name);
}

static bool is_own_origin(const char *origin, const char *host)
{
	const char *rest = strncmp(origin, "http://", 7) == 0	 ? origin + 7
			   : strncmp(origin, "https://", 8) == 0 ? origin + 8
								 : NULL;

	return rest && host && strcasecmp(rest, host) == 0;
}

static bool is_json(const char *type)
{
	return type && strncasecmp(type, "application/json", 16) == 0 &&
	       (!type[16] || type[16] == ';' || type[16] == ' ');
}

static int check_browser(struct api_request *c, const char *method, const char **why)
{
	const char *host = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Host");
	const char *origin = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Origin");
	const char *site = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Sec-Fetch-Site");
	const char *type = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Content-Type");
	bool changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
	bool acts = changes || (c->route && c->route->action); /* some that act are GET */

	*why = "Host is not a name of this manager; --host gives it one";
	if (!is_own_host(c, host))
		return 421;
	*why = "the request comes from a page of another site";
	if (origin && !is_own_origin(origin, host))
		return 403;
	if (acts && site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return 403;
	*why = "what changes something has Content-Type: application/json";
	return changes && !is_json(type) ? 415 : 0;
}

bool auth_may_change(struct http *h, const struct sockaddr *peer)
{
	uint64_t second = clock_steady_ms() / 1000;
	struct endpoint e;
	size_t at;
	bool may;

	if (!endpoint_of(peer, &e))
		return false;
	at = (e.address[15] + 31u * e.address[14] + 7u * e.address[12]) % CLIENTS;
	pthread_mutex_lock(&h->lock);
	if (h->clients[at].second != second || memcmp(h->clients[at].address, e.address, 16) != 0) {
		memcpy(h->clients[at].address, e.address, 16);
		h->clients[at].second = second;
		h->clients[at].changes = 0;
	}
	may = ++h->clients[at].changes <= CHANGES_A_SECOND;
	pthread_mutex_unlock(&h->lock);
	return may;
}

static bool may(const struct api_request *c)
{
	enum request_role needs = c->route->needs;

	return needs == ROLE_RELAY ? c->role == ROLE_RELAY : c->role >= needs;
}

int auth_check(struct api_request *c, const char *method, const char **why)
{
	bool changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
	int status = check_browser(c, method, why);

	if (status)
		return status;
	*why = "a token is needed: Authorization: Bearer TOKEN";
	if (c->route && c->route->needs == ROLE_RELAY)
		*why = "a relay's token is needed, that of --relay-token-file";
	if (c->route && !may(c))
		return c->role == ROLE_NONE ? 401 : 403;
	*why = "too many changes in one second";
	return changes && !auth_may_change(c->h, address_of(c)) ? 429 : 0;
}

/* ---- the cookie ---- */

static struct slice token_in_body(struct api_request *c)
{
	static const char before[] = "\"token\"";
	const uint8_t *at = memmem(c->body.p, c->body.n, before, sizeof(before) - 1), *end;

	at = at ? memchr(at + sizeof(before) - 1, '"',
			 (size_t)(c->body.p + c->body.n - at) - sizeof(before) + 1)
		: NULL;
	end = at ? memchr(at + 1, '"', (size_t)(c->body.p + c->body.n - at - 1)) : NULL;
	return end ? (struct slice){ at + 1, (size_t)(end - at - 1) } : (struct slice){ NULL, 0 };
}

/* A proxy with TLS in front of us says so; so does the page that logs in. */
static bool is_over_tls(struct api_request *c)
{
	const char *scheme =
		MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "X-Forwarded-Proto");
	const char *origin = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Origin");

	return c->f->config->cert[0] || (scheme && strcasecmp(scheme, "https") == 0) ||
	       (origin && strncasecmp(origin, "https://", 8) == 0);
}

int api_login(struct api_request *c)
{
	struct slice token = token_in_body(c);
	struct buf cookie = { 0 };

	if (role_of(c->f->config, token) < ROLE_VIEW)
		return request_fail(c, 401, "token", "that is no token of this manager");
	buf_printf(&cookie, "sonde=%.*s; Path=/; HttpOnly; SameSite=Strict%s", SLICE_FMT(token),
		   is_over_tls(c) ? "; Secure" : "");
	c->cookie = arena_str(&c->mem, buf_slice(&cookie));
	buf_release(&cookie);
	return 204;
}

int api_logout(struct api_request *c)
{
	c->cookie = "sonde=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
	return 204;
}
