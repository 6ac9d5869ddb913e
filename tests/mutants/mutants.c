/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.c - our weaver and our checker against the JVM's verifier, over mutated classes.
 *
 *	mutants SEED WANTED JAVA-COMMAND... -- CLASS-FILE...
 *
 * Takes class files, changes each a little in many ways (bytes, or edits of the list), and asks a
 * JVM (VerifyAll --accepts -) which of the mutants it takes.  Those are woven with the timed, the
 * full or the light template.  What our checker says of the woven class must then be what the JVM
 * says: accepted by both.  Ends when WANTED mutants were accepted unwoven.  The JVM is asked in
 * batches, through pipes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "classfile/check/check.h"
#include "classfile/insn.h"
#include "weave/weave.h"

enum { BATCH = 256, ANSWER_MAX = 4096 };

static const char *const rule_texts[] = {
	"hook **::* timed\nhook **::<init> timed\nhook **::<clinit> timed\n",
	"hook **::* full template catch-all\nhook **::<init> full template catch-all\n",
	"hook **::* light\nhook **::<init> light\n",
	"hook **::* template arguments timed\nhook **::<init> template arguments full\n",
	"hook **::* full\nhook **::<clinit> full\nskip **::a*\n",
};

struct jvm {
	FILE *to, *from;
	pid_t pid;
};

struct run {
	struct jvm jvm;
	uint64_t random;
	struct weaver weavers[COUNT(rule_texts)];
	struct arena keep, mem, work;
	struct slice *seeds;
	int n_seeds;
	struct buf mutants[BATCH], woven[BATCH];
	bool accepted[BATCH];
	uint64_t made, taken, methods, untouched, disagreements, refused_by_us;
};

static uint32_t draw(struct run *r, uint32_t below)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return below ? (uint32_t)((r->random >> 11) % below) : 0;
}

static void die(const char *what)
{
	perror(what);
	exit(3);
}

/* ---- the JVM at the other end ---- */

static void start_jvm(struct jvm *jvm, char **command)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	jvm->pid = fork();
	if (jvm->pid < 0)
		die("fork");
	if (jvm->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execvp(command[0], command);
		die(command[0]);
	}
	close(in[0]);
	close(out[1]);
	jvm->to = fdopen(in[1], "w");
	jvm->from = fdopen(out[0], "r");
}

/* Sends the classes that are not empty; accepts[i] tells what came back. */
static void ask(struct jvm *jvm, const struct buf *classes, bool *accepts, char (*why)[200])
{
	char line[ANSWER_MAX];

	for (int i = 0; i < BATCH; i++) {
		uint8_t head[4];

		if (!classes[i].n)
			continue;
		put_u32(head, (uint32_t)classes[i].n);
		if (fwrite(head, 4, 1, jvm->to) != 1 ||
		    fwrite(classes[i].p, classes[i].n, 1, jvm->to) != 1)
			die("writing to the JVM");
	}
	fflush(jvm->to);
	for (int i = 0; i < BATCH; i++) {
		accepts[i] = false;
		if (!classes[i].n)
			continue;
		if (!fgets(line, sizeof(line), jvm->from))
			die("the JVM does not answer");
		accepts[i] = strncmp(line, "accept", 6) == 0;
		if (why)
			snprintf(why[i], sizeof(why[i]), "%.*s", (int)strcspn(line, "\n"), line);
	}
}

/* ---- mutations ---- */

/* Changes one to three bytes, most often near the code. */
static void change_bytes(struct run *r, struct slice seed, struct buf *out)
{
	struct class *cls;
	size_t from = 10, to = seed.n;

	buf_put(out, seed);
	if (draw(r, 4) && class_read(&r->mem, seed, &cls, NULL) >= 0 && cls->n_methods) {
		const struct member *m = &cls->methods[draw(r, cls->n_methods)];

		if (m->code.n) {
			from = (size_t)(m->code.p - seed.p);
			to = from + m->code.n;
		}
		class_release(cls);
	}
	for (uint32_t n = 1 + draw(r, 2); n; n--) {
		uint8_t *p = &out->p[from + draw(r, (uint32_t)(to - from))];

		*p = draw(r, 2) ? (uint8_t)(*p + draw(r, 3) - 1) : (uint8_t)draw(r, 256);
	}
}

static struct insn *any(struct run *r, struct code *code, bool labels)
{
	struct insn *n = code->start->next;

	for (uint32_t steps = draw(r, 64); steps && n->next && n->next != code->end; steps--)
		n = n->next;
	while (n && n != code->end && (n->op == OP_LABEL) != labels)
		n = n->next;
	return n == code->end ? NULL : n;
}

static void edit_once(struct run *r, struct code *code)
{
	static const uint8_t harmless[] = { OP_NOP,	    OP_ICONST_0, OP_POP,  OP_DUP,
					    OP_ACONST_NULL, OP_LCONST_1, OP_POP2, OP_SWAP };
	struct insn *n = any(r, code, false), *label = any(r, code, true);
	struct insn *twin;

	if (!n)
		return;
	switch (draw(r, 9)) {
	case 0:
		insn_remove(code, n);
		break;
	case 1:
		insn_before(code, n, insn_new(code, harmless[draw(r, sizeof(harmless))]));
		break;
	case 2: /* a push and a pop: always fits */
		insn_before(code, n, insn_int(code, (int32_t)draw(r, 70000)));
		insn_before(code, n, insn_new(code, OP_POP));
		code->max_stack++;
		break;
	case 3:
		if (label && op_is_branch(n->op))
			n->target = label;
		break;
	case 4:
		if (code->n_handlers) {
			struct handler *h = &code->handlers[draw(r, code->n_handlers)];

			h->type = draw(r, 2) ? 0 : h->type;
			if (label)
				*(draw(r, 2) ? &h->start : &h->end) = label;
		}
		break;
	case 5:
		if (op_table[n->op].format == OP_FORMAT_NONE)
			n->flags &= (uint8_t)~INSN_COPY,
				n->op = harmless[draw(r, sizeof(harmless))];
		break;
	case 6: /* the same instruction twice */
		if (!op_is_branch(n->op) && !op_is_switch(n->op)) {
			twin = arena_copy(code->mem, n, sizeof(*n));
			twin->flags &= INSN_WIDE;
			twin->size = 0;
			insn_after(code, n, twin);
		}
		break;
	case 7: /* a branch to where it would have gone anyway */
		label = insn_after(code, n, insn_label(code));
		insn_before(code, label, insn_branch(code, OP_GOTO, label));
		check_frames_at(code, &label, 1, NULL);
		break;
	default:
		if (insn_has_local(n) && n->index) {
			n->flags &= (uint8_t)~INSN_COPY;
			if (op_table[n->op].format == OP_FORMAT_LOCAL0)
				n->op = (uint8_t)(n->op - 1);
			n->index--;
		}
	}
}

static void edit_list(struct run *r, struct slice seed, struct buf *out)
{
	struct class *cls;
	struct code *code;
	struct member *m;

	if (class_read(&r->mem, seed, &cls, NULL) < 0)
		return;
	m = cls->n_methods ? &cls->methods[draw(r, cls->n_methods)] : NULL;
	if (m && m->code.p && code_elevate(cls, m, &code, NULL) >= 0) {
		for (uint32_t n = 1 + draw(r, 3); n; n--)
			edit_once(r, code);
		code_lower(code, NULL);
	}
	class_write(cls, out);
	class_release(cls);
}

/* ---- weaving ---- */

static bool passes(struct run *r, struct slice bytes, struct fault *f)
{
	struct class *cls;
	bool good = class_read(&r->mem, bytes, &cls, f) >= 0;

	for (uint32_t i = 0; good && i < cls->n_methods; i++) {
		struct code *code;

		if (cls->methods[i].code.p)
			good = code_elevate(cls, &cls->methods[i], &code, f) >= 0 &&
			       code_check(code, f) >= 0;
	}
	return good;
}

static void save(struct run *r, const struct buf *b, const char *kind)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "mutant-%llu-%s.class", (unsigned long long)r->disagreements,
		 kind);
	file = fopen(name, "w");
	if (!file)
		return;
	fwrite(b->p, b->n, 1, file);
	fclose(file);
}

static void disagree(struct run *r, int i, const char *ours, const char *theirs)
{
	r->disagreements++;
	printf("disagreement %llu: ours: %s; JVM: %s\n", (unsigned long long)r->disagreements, ours,
	       theirs);
	save(r, &r->mutants[i], "before");
	save(r, &r->woven[i], "woven");
}

static void weave_accepted(struct run *r)
{
	for (int i = 0; i < BATCH; i++) {
		struct weave_job job = { .mem = &r->mem, .work = &r->work, .first_id = 1 };
		struct fault f = { 0 };

		buf_clear(&r->woven[i]);
		if (!r->accepted[i])
			continue;
		arena_reset(&r->mem);
		r->taken++;
		if (!passes(r, buf_slice(&r->mutants[i]), &f))
			disagree(r, i, f.text, "accept (unwoven)");
		f.code = 0;
		arena_reset(&r->mem);
		if (weave_class(&r->weavers[draw(r, COUNT(rule_texts))], &job,
				buf_slice(&r->mutants[i]), &r->woven[i], &f) < 0)
			r->refused_by_us++;
		r->methods += job.n_woven;
		r->untouched += !job.n_woven;
		class_release(job.cls);
	}
}

static void compare_woven(struct run *r)
{
	static char why[BATCH][200];
	bool accepted[BATCH];

	ask(&r->jvm, r->woven, accepted, why);
	for (int i = 0; i < BATCH; i++) {
		struct fault f = { 0 };
		bool ours;

		if (!r->woven[i].n)
			continue;
		arena_reset(&r->mem);
		ours = passes(r, buf_slice(&r->woven[i]), &f);
		if (strncmp(why[i], "unresolved", 10) == 0)
			continue;
		if (!ours || !accepted[i])
			disagree(r, i, ours ? "accept" : f.text, why[i]);
	}
}

static void one_batch(struct run *r)
{
	for (int i = 0; i < BATCH; i++) {
		struct slice seed = r->seeds[draw(r, (uint32_t)r->n_seeds)];

		arena_reset(&r->mem);
		buf_clear(&r->mutants[i]);
		if (draw(r, 2))
			change_bytes(r, seed, &r->mutants[i]);
		else
			edit_list(r, seed, &r->mutants[i]);
		r->made++;
	}
	ask(&r->jvm, r->mutants, r->accepted, NULL);
	weave_accepted(r);
	compare_woven(r);
}

static void load_seeds(struct run *r, char **names, int n)
{
	r->seeds = mem_alloc((size_t)n * sizeof(*r->seeds));
	for (int i = 0; i < n; i++) {
		static uint8_t bytes[32 << 10];
		FILE *file = fopen(names[i], "r");
		size_t size;

		if (!file)
			die(names[i]);
		size = fread(bytes, 1, sizeof(bytes), file);
		fclose(file);
		if (size < sizeof(bytes))
			r->seeds[r->n_seeds++] = arena_dup(&r->keep, (struct slice){ bytes, size });
	}
}

int main(int argc, char **argv)
{
	static struct run r;
	uint64_t wanted;
	int split = 3;

	while (split < argc && strcmp(argv[split], "--") != 0)
		split++;
	if (split + 1 >= argc) {
		fprintf(stderr, "usage: mutants SEED WANTED JAVA-COMMAND... -- CLASS-FILE...\n");
		return 2;
	}
	argv[split] = NULL;
	r.random = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15u + 1;
	wanted = strtoull(argv[2], NULL, 10);
	arena_init(&r.keep);
	arena_init(&r.mem);
	arena_init(&r.work);
	for (size_t i = 0; i < COUNT(rule_texts); i++) {
		static struct rule_errors errors;
		struct fault f = { 0 };
		struct rules *rules;

		if (rules_parse(&r.keep, slice_str(rule_texts[i]), "mutants", &rules, &errors) <
			    0 ||
		    weaver_init(&r.weavers[i], &r.keep, rules, NULL, NULL, &f) < 0)
			die(f.text[0] ? f.text : rule_texts[i]);
	}
	load_seeds(&r, argv + split + 1, argc - split - 1);
	start_jvm(&r.jvm, argv + 3);
	while (r.taken < wanted && r.disagreements < 20)
		one_batch(&r);
	fclose(r.jvm.to);
	waitpid(r.jvm.pid, NULL, 0);
	printf("%llu mutants, %llu accepted by the JVM, %llu of their methods woven, %llu with none to "
	       "weave, %llu refused by the weaver, %llu disagreements\n",
	       (unsigned long long)r.made, (unsigned long long)r.taken,
	       (unsigned long long)r.methods, (unsigned long long)r.untouched,
	       (unsigned long long)r.refused_by_us, (unsigned long long)r.disagreements);
	return r.disagreements ? 1 : 0;
}
