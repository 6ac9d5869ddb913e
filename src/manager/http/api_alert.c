/* SPDX-License-Identifier: Apache-2.0 */
/* api_alert.c - alerts, with what digs have found; all of them are in the store. */
#include "base/json.h"
#include "manager/http/request.h"

static void put_doc(void *ctx, struct slice doc)
{
	struct json *j = ctx;

	if (j->more)
		buf_u8(j->out, ',');
	buf_put(j->out, doc);
	j->more = true;
}

int api_alerts(struct api_request *c)
{
	struct archive_alerts which = { .app = query_get(&c->query, "application") };
	uint64_t limit = 50, open = 0;
	struct json j;

	if (!query_number(&c->query, "limit", 1, 1000, &limit) ||
	    !query_number(&c->query, "open", 0, 1, &open))
		return request_fail(c, 400, "usage", "limit is a number up to 1000, open 0 or 1");
	which.limit = (unsigned)limit;
	which.open = open != 0;
	j = request_json(c);
	json_put_open(&j, "alerts", '[');
	if (archive_alerts(c->f->store, &which, put_doc, &j) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	json_close(&j, ']');
	return request_end(&j, 200);
}

int api_alert(struct api_request *c)
{
	struct archive_alerts which = { .id = c->args[0], .limit = 1 };
	struct json j = json_to(&c->out);

	if (archive_alerts(c->f->store, &which, put_doc, &j) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	return c->out.n ? 200 : request_fail(c, 404, "not_found", "there is no such alert");
}
