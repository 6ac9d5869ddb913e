/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "cli/screen/term.h"
#include "cli/top/top_keys.h"
#include "cli/top/top_view.h"
#include "export/collapsed.h"

/* Samples as if an agent had sent them, and what is shown of them. */
struct fixture {
	struct sampled s;
	struct lately lately;
	struct ranking r;
	struct top_list l;
	struct top_look look;
	struct buf out;
};

static const char stacks[] = "main;work;hash 30\nmain;work 10\nmain;idle 5\nmain;Worker;hash 5\n";

static void begin(struct fixture *f, const char *text)
{
	size_t line;

	*f = (struct fixture){ 0 };
	sampled_init(&f->s);
	lately_init(&f->lately, 3);
	CHECK_INT(collapsed_read(&f->s.profile, slice_str(text), &line), 0, NULL);
	for (size_t i = 0; i < f->s.profile.n_stacks; i++)
		f->s.profile.stacks[i].thread = i == 2 ? 7 : 8;
	CHECK(lately_add(&f->lately, &f->s.profile, &(struct lately_time){ 1000, 1000, 500 }));
}

static void build(struct fixture *f)
{
	ranking_release(&f->r);
	lately_sum(&f->lately, f->look.page == TOP_THREADS ? 0 : f->look.thread, &f->s.profile);
	CHECK_INT(ranking_build(&f->r, &f->s.profile), 0, NULL);
	CHECK(top_list_build(&f->l, &f->look, &f->s, &f->r));
}

static void press(struct fixture *f, int key)
{
	if (top_keys_press(&f->look, &f->l, &f->r, key, 5) != TOP_SAME)
		build(f);
}

static void type(struct fixture *f, const char *text)
{
	while (*text)
		press(f, *text++);
}

static void end(struct fixture *f)
{
	top_list_release(&f->l);
	ranking_release(&f->r);
	lately_release(&f->lately);
	sampled_release(&f->s);
	buf_release(&f->out);
}

static struct slice name(const struct fixture *f, size_t row)
{
	return row < f->l.n ? f->r.v[f->l.v[row].id].name : slice_str("");
}

TEST(top_forgets_the_oldest_part)
{
	struct fixture f;
	size_t line;

	begin(&f, stacks);
	for (int i = 0; i < 3; i++) {
		profile_forget_stacks(&f.s.profile);
		CHECK_INT(collapsed_read(&f.s.profile, slice_str("main;late 1\n"), &line), 0, NULL);
		CHECK(lately_add(&f.lately, &f.s.profile, &(struct lately_time){ 10, 10, 1 }));
		lately_sum(&f.lately, 0, &f.s.profile);
		CHECK_INT(f.s.profile.total, i < 2 ? 50 + i + 1 : 3, NULL);
	}
	CHECK_INT(f.lately.time.seen_ns, 30, NULL);
	CHECK_INT(f.lately.time.cpu_ns, 3, NULL);
	end(&f);
}

TEST(top_sorts_and_filters_functions)
{
	struct fixture f;

	begin(&f, stacks);
	build(&f);
	CHECK(slice_is(name(&f, 0), "hash"));
	press(&f, 's');
	CHECK(slice_is(name(&f, 0), "main"));
	type(&f, "/WORK");
	CHECK_INT(f.l.n, 2, "work and Worker");
	press(&f, '\n');
	press(&f, 's'); /* a key again, no letter */
	CHECK(slice_is(name(&f, 0), "work"));
	press(&f, 033);
	CHECK_INT(f.l.n, 5, "the filter is gone");
	end(&f);
}

TEST(top_goes_into_callers_and_back)
{
	struct fixture f;

	begin(&f, stacks);
	build(&f);
	press(&f, '\n');
	CHECK_INT(f.look.page, TOP_FUNCTION, NULL);
	CHECK(slice_is(name(&f, 0), "work"));
	CHECK(!f.l.v[0].is_callee);
	CHECK_INT(f.l.v[0].value, 30, NULL);
	press(&f, TERM_DOWN);
	press(&f, '\n');
	CHECK(slice_is(f.look.trail[1], "Worker"));
	CHECK_INT(f.l.n, 2, "main calls it, it calls hash");
	press(&f, 033);
	press(&f, TERM_LEFT);
	CHECK_INT(f.look.page, TOP_FUNCTIONS, NULL);
	end(&f);
}

TEST(top_forgets_the_first_steps_of_a_long_way)
{
	struct fixture f;

	begin(&f, stacks);
	build(&f);
	for (int i = 0; i < 3 * TOP_TRAIL_MAX; i++)
		press(&f, '\n');
	CHECK_INT(f.look.depth, TOP_TRAIL_MAX, NULL);
	for (int i = 0; i < TOP_TRAIL_MAX; i++)
		press(&f, 033);
	CHECK_INT(f.look.page, TOP_FUNCTIONS, NULL);
	end(&f);
}

TEST(top_shows_threads_with_what_they_do_most)
{
	struct fixture f;

	begin(&f, stacks);
	press(&f, 't');
	CHECK_INT(f.l.n, 2, NULL);
	CHECK_INT(f.l.v[0].id, 8, NULL);
	CHECK_INT(f.l.v[0].value, 45, NULL);
	CHECK(slice_is(f.r.v[f.l.v[0].leaf].name, "hash"));
	press(&f, TERM_DOWN);
	press(&f, '\n');
	CHECK_INT(f.look.thread, 7, NULL);
	CHECK_INT(f.s.profile.total, 5, "of that thread alone");
	CHECK(slice_is(name(&f, 0), "idle"));
	press(&f, 033);
	CHECK_INT(f.look.page, TOP_THREADS, NULL);
	end(&f);
}

TEST(top_keeps_the_cursor_on_its_function)
{
	struct fixture f;
	size_t line;

	begin(&f, stacks);
	build(&f);
	press(&f, TERM_DOWN);
	CHECK(slice_is(name(&f, f.look.cursor), "work"));
	profile_forget_stacks(&f.s.profile);
	CHECK_INT(collapsed_read(&f.s.profile, slice_str("main;idle 100\n"), &line), 0, NULL);
	CHECK(lately_add(&f.lately, &f.s.profile, &(struct lately_time){ 0 }));
	build(&f);
	CHECK(slice_is(name(&f, 0), "idle"));
	CHECK_INT(f.look.cursor, 2, NULL);
	CHECK(slice_is(name(&f, f.look.cursor), "work"));
	press(&f, TERM_END);
	press(&f, TERM_PAGE_DOWN);
	CHECK_INT(f.look.cursor, f.l.n - 1, NULL);
	end(&f);
}

static bool contains(const struct buf *b, const char *text)
{
	for (size_t i = 0; i + strlen(text) <= b->n; i++)
		if (memcmp(b->p + i, text, strlen(text)) == 0)
			return true;
	return false;
}

static unsigned lines(const struct buf *b)
{
	unsigned n = 1;

	for (size_t i = 0; i < b->n; i++)
		n += b->p[i] == '\n';
	return n;
}

TEST(top_fills_the_screen_and_no_more_whatever_names_are)
{
	struct fixture f;
	struct top_view v = {
		.s = &f.s, .lately = &f.lately, .r = &f.r, .l = &f.l, .look = &f.look
	};

	begin(&f, "main;a\033[2Jb\tc 7\nmain;d\302\233x 1\n");
	f.s.state.wall_ns = 1;
	for (unsigned page = TOP_FUNCTIONS; page <= TOP_FUNCTION; page++)
		for (unsigned rows = 1; rows < 30; rows++) {
			f.look.page = (enum top_page)page;
			f.look.trail[0] = slice_str("main");
			f.look.depth = 1;
			build(&f);
			buf_clear(&f.out);
			top_view_put(&v, &f.out, 60, rows);
			CHECK(lines(&f.out) == rows || rows < 8);
			CHECK(!contains(&f.out, "\033") && !contains(&f.out, "\302\233"));
		}
	end(&f);
}
