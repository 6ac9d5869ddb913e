/* SPDX-License-Identifier: Apache-2.0 */
/* ours.c - Sonde's weaver as a contestant (see ../lib/contest.h).
 *
 * Modes: "timed", "light" and "full" weave every method with that template, by rules as a user
 * writes them; "check" also runs our checker over the woven class. */
#include "../lib/contest.h"
#include "classfile/check/check.h"
#include "weave/weave.h"

struct ours {
	struct arena rules, mem, work;
	struct weaver weaver;
};

static int weave(void *self, struct slice in, struct buf *out)
{
	struct ours *o = self;
	struct weave_job job = { .mem = &o->mem, .work = &o->work, .first_id = 1 };
	struct fault f = { 0 };
	int rc;

	arena_reset(&o->mem);
	rc = weave_class(&o->weaver, &job, in, out, &f);
	class_release(job.cls);
	if (rc >= 0 && !job.n_woven)
		buf_put(out, in);
	return rc;
}

static int weave_and_check(void *self, struct slice in, struct buf *out)
{
	struct ours *o = self;
	size_t start = out->n;
	struct class *cls;
	struct fault f = { 0 };
	int rc = weave(self, in, out);

	arena_reset(&o->mem);
	if (rc >= 0)
		rc = class_read(&o->mem, (struct slice){ out->p + start, out->n - start }, &cls,
				&f);
	for (uint32_t i = 0; rc >= 0 && i < cls->n_methods; i++) {
		struct code *code;

		if (!cls->methods[i].code.p)
			continue;
		rc = code_elevate(cls, &cls->methods[i], &code, &f);
		if (rc >= 0)
			rc = code_check(code, &f);
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct contest_mode modes[] = {
		{ "timed", weave },	      { "light", weave }, { "full", weave },
		{ "check", weave_and_check }, { NULL, NULL },
	};
	static struct rule_errors errors;
	const char *level = argc > 2 && strcmp(argv[2], "check") ? argv[2] : "timed";
	struct fault f = { 0 };
	struct rules *rules;
	struct ours o;
	char text[200];
	int rc;

	arena_init(&o.rules);
	arena_init(&o.mem);
	arena_init(&o.work);
	snprintf(text, sizeof(text),
		 "hook **::* %s template catch-all\nhook **::<init> %s template catch-all\n"
		 "hook **::<clinit> %s template catch-all\n",
		 level, level, level);
	if (rules_parse(&o.rules, slice_str(text), "bench", &rules, &errors) < 0 ||
	    weaver_init(&o.weaver, &o.rules, rules, NULL, NULL, &f) < 0) {
		fprintf(stderr, "weave: %s\n", f.text);
		return 3;
	}
	rc = contest_main(argc, argv, modes, &o);
	weaver_release(&o.weaver);
	arena_release(&o.rules);
	arena_release(&o.mem);
	arena_release(&o.work);
	return rc;
}
