/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_weave.c - any bytes, woven by any of these rules: no crash, and what comes out can be read.
 *
 * The last byte of the input chooses the rules.  A method of a well-formed class that our checker
 * accepted must be accepted again. */
#include <stdlib.h>

#include "classfile/check/check.h"
#include "weave/weave.h"

static const char *const texts[] = {
	"hook **::* timed\nhook **::<init> timed\nhook **::<clinit> timed\n",
	"hook **::* full template catch-all\nhook **::<init> full template catch-all\n",
	"hook **::* light\nskip **::a*\nhook **::b* template arguments\n",
	"hook **::* full\n",
	"hook **::* template web\nhook **::e* template database\n",
	"hook **::* template socket\nhook **::*(int) template file\n",
	"hook **::* template messaging\nhook annotated **::* light\n",
	"hook extends java.lang.Object::* timed\nhook implements **::* full\n",
};

enum { RULES = sizeof(texts) / sizeof(texts[0]) };

static struct weaver weavers[RULES];
static struct arena keep, mem, work, again;

static void prepare(void)
{
	static struct rule_errors errors;

	arena_init(&keep);
	arena_init(&mem);
	arena_init(&work);
	arena_init(&again);
	for (int i = 0; i < RULES; i++) {
		struct rules *rules;

		if (rules_parse(&keep, slice_str(texts[i]), "fuzz", &rules, &errors) < 0 ||
		    weaver_init(&weavers[i], &keep, rules, NULL, NULL, NULL) < 0)
			abort();
	}
}

static int check(struct class *cls, uint32_t method)
{
	struct code *code;
	int rc = code_elevate(cls, &cls->methods[method], &code, NULL);

	return rc < 0 ? rc : code_check(code, NULL);
}

/* The woven class against the one it was made of. */
static void compare(const struct weave_job *job, struct slice before, struct slice after)
{
	struct class *old, *new;

	arena_reset(&again);
	if (class_read(&again, before, &old, NULL) < 0 || class_read(&again, after, &new, NULL) < 0)
		abort();
	for (uint32_t i = 0; class_check(old, NULL) >= 0 && i < job->n_outcomes; i++) {
		uint32_t m = job->outcomes[i].method;
		int rc;

		if (job->outcomes[i].rc < 0 || check(old, m) < 0)
			continue;
		rc = check(new, m);
		if (rc < 0 && rc != E_LIMIT)
			abort();
	}
	class_release(old);
	class_release(new);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weave_job job = { .mem = &mem, .work = &work, .first_id = 1 };
	struct slice bytes = { data, size - 1 };
	struct buf out = { 0 };

	if (!keep.chunks)
		prepare();
	if (size < 2)
		return 0;
	arena_reset(&mem);
	if (weave_class(&weavers[data[size - 1] % RULES], &job, bytes, &out, NULL) >= 0 &&
	    job.n_woven)
		compare(&job, bytes, buf_slice(&out));
	class_release(job.cls);
	buf_release(&out);
	return 0;
}
