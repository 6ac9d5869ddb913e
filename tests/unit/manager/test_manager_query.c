/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "manager/http/query.h"

static const struct {
	const char *raw, *want; /* NULL: refused */
	bool plus;
} encoded[] = {
	{ "", "", false },
	{ "plain", "plain", false },
	{ "a%2Fb%c3%A9", "a/b\xc3\xa9", false },
	{ "a+b", "a+b", false },
	{ "a+b", "a b", true },
	{ "%", NULL, false },
	{ "%4", NULL, false },
	{ "%zz", NULL, false },
	{ "a%00b", NULL, false },
};

TEST(percent_encoding_is_decoded_or_refused)
{
	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(encoded); i++) {
		struct slice got = query_decode(&mem, slice_str(encoded[i].raw), encoded[i].plus);

		if (encoded[i].want)
			CHECK_STR((const char *)got.p, encoded[i].want, encoded[i].raw);
		else
			CHECK(!got.p);
	}
	arena_release(&mem);
}

static const struct {
	const char *pattern, *path, *first; /* first: argument, "" without one; NULL: no match */
} paths[] = {
	{ "/api/v1/applications", "/api/v1/applications", "" },
	{ "/api/v1/applications", "/api/v1/applications/", NULL },
	{ "/api/v1/applications/*/plan", "/api/v1/applications/a%2Fb/plan", "a/b" },
	{ "/api/v1/applications/*/plan", "/api/v1/applications//plan", NULL },
	{ "/api/v1/applications/*/plan", "/api/v1/applications/%00/plan", NULL },
	{ "/api/v1/applications/*", "/api/v1/applications/x/plan", NULL },
	{ "/api/v1/*/plan", "/api/v1/../plan", ".." },
};

TEST(paths_match_part_by_part)
{
	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct slice args[QUERY_ARGS] = { { NULL, 0 } };
		bool match = query_match(&mem, paths[i].pattern, paths[i].path, args);

		CHECK_INT(match, paths[i].first != NULL, paths[i].path);
		if (match && paths[i].first[0])
			CHECK_STR((const char *)args[0].p, paths[i].first, paths[i].path);
	}
	arena_release(&mem);
}

TEST(times_count_from_1970_or_back_from_now)
{
	struct arena mem;
	struct query q = { 0 };
	uint64_t t = 7;

	arena_init(&mem);
	CHECK(query_add(&q, &mem, slice_str("from"), slice_str("-1000")));
	CHECK(query_add(&q, &mem, slice_str("to"), slice_str("5000")));
	CHECK(query_add(&q, &mem, slice_str("bad"), slice_str("5x")));
	CHECK(query_time(&q, "from", 4000, &t) && t == 3000);
	CHECK(query_time(&q, "from", 400, &t) && t == 0);
	CHECK(query_time(&q, "to", 4000, &t) && t == 5000);
	CHECK(!query_time(&q, "bad", 4000, &t));
	CHECK(query_time(&q, "none", 4000, &t) && t == 5000);
	arena_release(&mem);
}

static const struct {
	const char *host, *name; /* NULL: refused */
} hosts[] = {
	{ "localhost:7117", "localhost" },
	{ "LOCALHOST", "localhost" },
	{ "[::1]:80", "::1" },
	{ "127.0.0.1", "127.0.0.1" },
	{ "[::1", NULL },
	{ "", NULL },
	{ ":80", NULL },
};

TEST(a_host_is_known_without_its_port)
{
	for (size_t i = 0; i < COUNT(hosts); i++) {
		char name[256] = "";

		CHECK_INT(query_host(slice_str(hosts[i].host), name), hosts[i].name != NULL,
			  hosts[i].host);
		if (hosts[i].name)
			CHECK_STR(name, hosts[i].name, hosts[i].host);
	}
}
