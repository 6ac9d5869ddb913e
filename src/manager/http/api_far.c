/* SPDX-License-Identifier: Apache-2.0 */
/* api_far.c - requests about processes that another manager has: sent there, and served for others.
 *
 * A request travels as its row of the table of paths, with what it was called with.  The client's connection is
 * suspended until the answer has come. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "manager/bus/bus.h"
#include "manager/fleet/digs.h"
#include "manager/http/http_priv.h"

/* ---- whose it is ---- */

static bool is_ours(const struct fleet *f, struct slice id)
{
	const struct instance *i = fleet_instance((struct fleet *)(uintptr_t)f, id);

	return i && i->hold != HOLD_OTHERS && i->hold != HOLD_WANTED;
}

static bool is_of_process(const struct api_request *c)
{
	return c->route->run == api_stacks || c->route->run == api_hotspots ||
	       c->route->run == api_instance;
}

/* What is answered by the figures of now, or by the agent. */
static bool is_of_application(const struct api_request *c)
{
	return c->route->run == api_methods || c->route->run == api_tree ||
	       c->route->run == api_callees || c->route->run == api_explain;
}

static bool is_of_dig(const struct api_request *c)
{
	return c->route->run == api_dig || c->route->run == api_dig_cancel ||
	       c->route->run == api_dig_push;
}

static struct slice instance_in_body(struct api_request *c)
{
	cJSON *body = cJSON_ParseWithLength((const char *)c->body.p, c->body.n);
	const cJSON *id = cJSON_GetObjectItem(body, "instance");
	struct slice copy = { NULL, 0 };

	if (cJSON_IsString(id))
		copy = arena_dup(&c->mem, slice_str(id->valuestring));
	cJSON_Delete(body);
	return copy;
}

/* Under the fleet's lock. */
static bool is_far(struct api_request *c, char manager[FLEET_HOLDER])
{
	struct fleet *f = c->f;
	struct slice id = { NULL, 0 };
	struct app *a;

	if (is_of_dig(c))
		return !digs_find(f, c->args[0]) && bus_digger(f->bus, c->args[0], manager);
	if (is_of_process(c))
		id = c->args[0];
	else if (is_of_application(c))
		id = request_instance(c);
	else if (c->route->run == api_dig_start)
		id = instance_in_body(c);
	else
		return false;
	if (id.n)
		return !is_ours(f, id) && bus_holder(f->bus, id, manager);
	a = is_of_application(c) ? fleet_app(f, c->args[0]) : NULL;
	return a && !fleet_connected(f, a, id) && bus_any_holder(f->bus, c->args[0], manager);
}

/* ---- sent there ---- */

static void put_request(struct api_request *c, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_text(&j, "method", c->route->method);
	json_put_text(&j, "path", c->route->pattern);
	json_put_open(&j, "args", '[');
	for (unsigned i = 0; i < QUERY_ARGS; i++)
		json_str(&j, c->args[i]);
	json_close(&j, ']');
	json_put_open(&j, "query", '[');
	for (size_t i = 0; i < c->query.n; i++) {
		json_str(&j, c->query.v[i].name);
		json_str(&j, c->query.v[i].value);
	}
	json_close(&j, ']');
	json_put_u64(&j, "role", c->role);
	json_put_text(&j, "who", c->who);
	json_put_str(&j, "body", buf_slice(&c->body));
	json_close(&j, '}');
}

static void take_answer(void *ctx, int status, struct slice body)
{
	struct api_request *c = ctx;
	struct fleet *f = c->f;

	pthread_mutex_lock(&f->lock);
	c->ask_status = status;
	c->is_far = true;
	buf_put(&c->out, body);
	request_resume(c); /* from here on c may be gone */
	pthread_mutex_unlock(&f->lock);
}

int far_answer(struct api_request *c)
{
	char manager[FLEET_HOLDER];
	struct buf out = { 0 };
	bool far;

	if (c->is_far)
		return c->ask_status;
	if (c->ready || c->call || !c->f->bus)
		return FAR_NOT;
	pthread_mutex_lock(&c->f->lock);
	far = is_far(c, manager);
	if (far) {
		put_request(c, &out);
		buf_clear(&c->out);
		request_suspend(c);
	}
	pthread_mutex_unlock(&c->f->lock);
	if (!far)
		return FAR_NOT;
	bus_ask(c->f->bus, manager, buf_slice(&out), take_answer,
		c); /* from here on c may be gone */
	buf_release(&out);
	return REQUEST_WAITS;
}

/* ---- served for others ---- */

static struct slice text_of(struct api_request *c, const cJSON *v)
{
	return cJSON_IsString(v) ? arena_dup(&c->mem, slice_str(v->valuestring))
				 : (struct slice){ NULL, 0 };
}

static const struct route *route_of(const cJSON *all)
{
	const char *method = cJSON_GetStringValue(cJSON_GetObjectItem(all, "method"));
	const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(all, "path"));

	for (const struct route *r = api_routes; method && path && r->method; r++)
		if (strcmp(r->method, method) == 0 && strcmp(r->pattern, path) == 0)
			return r;
	return NULL;
}

static void read_query(struct api_request *c, const cJSON *list)
{
	int n = cJSON_GetArraySize(list);

	for (int k = 0; k + 1 < n && c->query.n < QUERY_PARAMS; k += 2)
		c->query.v[c->query.n++] = (struct query_param){
			text_of(c, cJSON_GetArrayItem(list, k)),
			text_of(c, cJSON_GetArrayItem(list, k + 1)),
		};
}

static bool read_request(struct api_request *c, struct slice doc)
{
	cJSON *all = cJSON_ParseWithLength((const char *)doc.p, doc.n);
	const cJSON *role = cJSON_GetObjectItem(all, "role");
	const cJSON *args = cJSON_GetObjectItem(all, "args");
	const char *who = cJSON_GetStringValue(cJSON_GetObjectItem(all, "who"));

	c->route = route_of(all);
	for (int k = 0; k < QUERY_ARGS; k++)
		c->args[k] = text_of(c, cJSON_GetArrayItem(args, k));
	read_query(c, cJSON_GetObjectItem(all, "query"));
	buf_put(&c->body, text_of(c, cJSON_GetObjectItem(all, "body")));
	snprintf(c->who, sizeof(c->who), "%s", who ? who : "");
	c->role = cJSON_IsNumber(role) && role->valueint == ROLE_OPERATE ? ROLE_OPERATE : ROLE_VIEW;
	cJSON_Delete(all);
	if (!c->route)
		return false;
	if (is_of_process(c) || is_of_application(c) || is_of_dig(c))
		return c->args[0].n > 0;
	return c->route->run == api_dig_start;
}

static int run(struct api_request *c, struct slice doc, bool fresh)
{
	if (fresh && !read_request(c, doc))
		return request_fail(c, 400, "usage", "managers do not ask each other for that");
	if (c->role < c->route->needs)
		return request_fail(c, 403, "forbidden", "that is for who may operate");
	return c->route->run(c);
}

bool far_serve(void *ctx, struct bus_call *call)
{
	struct http *h = ctx;
	struct api_request *c = call->state;
	bool fresh = !c;
	int status;

	if (fresh)
		c = call->state = http_request_new(h, NULL);
	if (!c) {
		bus_answer(h->fleet->bus, call, 500, slice_str("{}"));
		return true;
	}
	c->call = call;
	status = run(c, call->request, fresh);
	if (status == REQUEST_WAITS) /* request_resume calls bus_again */
		return false;
	bus_answer(h->fleet->bus, call, status > 0 ? status : 500, buf_slice(&c->out));
	http_request_free(c);
	return true;
}
