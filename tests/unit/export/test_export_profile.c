/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cli/hot/compare.h"
#include "export/collapsed.h"
#include "export/pprof.h"

static const char text[] = "main;work;hash 30\nmain;work 10\nmain;idle 5\nmain;work;hash;work 5\n";

TEST(collapsed_stacks_are_written_as_they_were_read)
{
	struct profile p;
	struct buf out = { 0 };
	size_t line;

	profile_init(&p);
	CHECK_INT(collapsed_read(&p, slice_str(text), &line), 0, NULL);
	CHECK_INT(p.total, 50, NULL);
	CHECK_INT(p.n_frames, 4, NULL);
	collapsed_put(&out, &p);
	CHECK_MEM(out.p, out.n, text, sizeof(text) - 1, NULL);
	buf_release(&out);
	profile_release(&p);
}

TEST(collapsed_stacks_that_are_none_are_told_by_line)
{
	static const char *const wrong[] = { "a;b\n", "a;b x\n", " 3\n",
					     "a 99999999999999999999\n" };
	struct profile p;
	size_t line;

	for (size_t i = 0; i < COUNT(wrong); i++) {
		profile_init(&p);
		CHECK_INT(collapsed_read(&p, slice_str(wrong[i]), &line), E_SYNTAX, wrong[i]);
		CHECK_INT(line, 1, wrong[i]);
		profile_release(&p);
	}
}

TEST(a_hostile_name_stays_one_frame_of_one_line)
{
	static const char name[] = "a;b\nc";
	struct profile p;
	struct buf out = { 0 };
	uint32_t f;

	profile_init(&p);
	f = profile_frame(&p, &(struct profile_frame){ .name = slice_str(name) });
	profile_add(&p, &(struct profile_stack){ .frames = &f, .n = 1, .value = 1 });
	collapsed_put(&out, &p);
	CHECK_MEM(out.p, out.n, "a:b c 1\n", 8, NULL);
	buf_release(&out);
	profile_release(&p);
}

TEST(ranking_counts_recursion_once)
{
	struct ranked_line lines[RANKING_LINES];
	struct profile p;
	struct ranking r;
	size_t line;

	profile_init(&p);
	CHECK_INT(collapsed_read(&p, slice_str(text), &line), 0, NULL);
	CHECK_INT(ranking_build(&r, &p), 0, NULL);
	CHECK(slice_is(r.v[0].name, "hash"));
	CHECK_INT(r.v[0].self, 30, NULL);
	CHECK(slice_is(r.v[1].name, "work"));
	CHECK_INT(r.v[1].self, 15, NULL);
	CHECK_INT(r.v[1].total, 45, NULL);
	CHECK_INT(ranking_callers(&r, &p, 0, lines), 1, NULL);
	CHECK_INT(lines[0].of, 1, NULL);
	CHECK_INT(lines[0].value, 35, NULL);
	CHECK_INT(ranking_callees(&r, &p, 1, lines), 2, NULL);
	CHECK_INT(lines[0].value, 30, NULL);
	ranking_release(&r);
	profile_release(&p);
}

TEST(a_profile_survives_every_failed_allocation)
{
	for (long n = 0;; n++) {
		struct profile p;
		size_t line;
		int rc;

		profile_init(&p);
		mem_fail_at(n);
		rc = collapsed_read(&p, slice_str(text), &line);
		mem_fail_at(-1);
		profile_release(&p);
		if (rc >= 0)
			break;
		CHECK_INT(rc, E_NO_MEMORY, NULL);
	}
}

/* The first field is a sample type, with the strings' numbers. */
TEST(a_profile_keeps_no_more_frames_than_it_may)
{
	static const uint32_t frames[4];
	struct profile_stack s = { .frames = frames, .n = 3, .value = 7 };
	struct profile p;

	profile_init(&p);
	p.kept = PROFILE_KEPT_MAX - 3; /* as after very many deep stacks */
	CHECK(profile_add(&p, &s) != PROFILE_NONE);
	s.n = 4;
	CHECK(profile_add(&p, &s) == PROFILE_NONE);
	CHECK(p.lost == 7 && p.total == 7 && p.n_stacks == 1 && !p.err);
	s.n = 3;
	CHECK(profile_add(&p, &s) != PROFILE_NONE && p.total == 14);
	profile_forget_stacks(&p);
	s.n = 4;
	CHECK(profile_add(&p, &s) != PROFILE_NONE);
	profile_release(&p);
}

TEST(pprof_begins_with_the_type_of_its_values)
{
	static const uint8_t begin[] = { 0x0a, 4, 0x08, 3, 0x10, 4, 0x0a, 4, 0x08, 1, 0x10, 2 };
	struct profile p;
	struct buf out = { 0 };
	size_t line;

	profile_init(&p);
	CHECK_INT(collapsed_read(&p, slice_str(text), &line), 0, NULL);
	pprof_put(&out, &p,
		  &(struct pprof_about){ "cpu", "nanoseconds", "samples", 1000000, 1000000, 1, 2 });
	CHECK(!out.err && out.n > 100);
	CHECK_MEM(out.p, sizeof(begin), begin, sizeof(begin), NULL);
	buf_release(&out);
	profile_release(&p);
}

static void rank(struct profile *p, struct ranking *r, const char *stacks)
{
	size_t line;

	profile_init(p);
	CHECK_INT(collapsed_read(p, slice_str(stacks), &line), 0, NULL);
	CHECK_INT(ranking_build(r, p), 0, NULL);
}

TEST(compared_profiles_show_what_changed_most_first)
{
	struct profile a, b;
	struct ranking now, before;
	struct compared *c;
	size_t n;

	rank(&a, &now, "main;work 60\nmain;idle 20\nmain;new 20\n");
	rank(&b, &before, "main;work 2\nmain;idle 2\nmain;gone 6\n"); /* a shorter time */
	c = compare_rankings(&now, &before, &n);
	CHECK_INT(n, 5, NULL);
	CHECK(slice_is(c[0].name, "gone") && c[0].now < 0.001 && c[0].before > 0.599);
	CHECK(slice_is(c[1].name, "work") && c[1].now > 0.599 && c[1].before < 0.201);
	CHECK(slice_is(c[2].name, "new") && c[2].before < 0.001);
	CHECK(c[4].total_now > 0.999 && c[4].total_before > 0.999);
	mem_free(c);
	ranking_release(&now);
	ranking_release(&before);
	profile_release(&a);
	profile_release(&b);
}

TEST(compared_with_nothing_all_is_new)
{
	struct profile a, b;
	struct ranking now, before;
	struct compared *c;
	size_t n;

	rank(&a, &now, "main;work 1\n");
	rank(&b, &before, "");
	c = compare_rankings(&now, &before, &n);
	CHECK_INT(n, 2, NULL);
	CHECK(slice_is(c[0].name, "work") && c[0].now > 0.999 && c[0].before < 0.001);
	mem_free(c);
	ranking_release(&now);
	ranking_release(&before);
	profile_release(&a);
	profile_release(&b);
}
