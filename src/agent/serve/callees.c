/* SPDX-License-Identifier: Apache-2.0 */
/* callees.c - the calls in a method, and where they can arrive.
 *
 * The JVM is made to show the bytes of a class by a retransformation that is then refused
 * (instrument_bytes), once: the rows of an answer are remembered by method.  A virtual or interface
 * call is followed to the methods of that name and type in loaded classes of the program below the
 * owner; classes of the JDK are left out there, since everything would call everything.  Methods
 * that compilers make (bridges, access$000) are seen through to the one that somebody wrote. */
#include "agent/serve/callees.h"

#include <stdio.h>

#include "agent/classes/ancestry.h"
#include "agent/core/agent.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/survey.h"
#include "base/map.h"
#include "classfile/calls.h"
#include "rule/parse.h"
#include "rule/rules.h"
#include "rule/rule_target.h"
#include "wire/wire.h"

enum {
	FOUND_MAX = 16,	    /* implementations of one virtual call */
	CLASSES_MAX = 20,   /* that one question may be about */
	KEPT_MAX = 4 << 20, /* bytes of remembered answers */
	SYNTHETIC = 0x1000, /* JVMS table 4.6-A */
	ABSTRACT = 0x0400,
	NATIVE = 0x0100,
};

/* The agent's thread. */
static struct {
	struct arena mem;
	struct map answers; /* by "mask Class@loader.method(desc)": a struct slice of messages */
} kept;

struct asking {
	struct conn *c;
	JNIEnv *jni;
	const struct rule_target *target;
	struct calls_options options;
	jclass *all;
	struct slice *names; /* of all: pkg/Class; .n 0 for arrays and the like */
	jint n;
	struct map by_name; /* one more than the place in all */
	struct arena of_all;
	struct arena mem; /* of one class */
	struct buf rows;
	uint64_t found;
	unsigned classes;
	char why[200];
};

void callees_forget(void)
{
	map_release(&kept.answers);
	arena_release(&kept.mem);
}

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

static void put_name(struct buf *out, struct slice class, struct slice name, struct slice desc)
{
	buf_dotted(out, class);
	buf_u8(out, '.');
	buf_put(out, name);
	buf_put(out, desc);
}

static bool is_jdk(struct slice name)
{
	static const char *const starts[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };

	for (size_t i = 0; i < COUNT(starts); i++)
		if (slice_starts(name, slice_str(starts[i])))
			return true;
	return false;
}

/* ---- where a call arrives ------------------------------------------------------------------- */

struct called {
	struct asking *a;
	struct slice caller;
	const struct class_call *call;
	struct slice class; /* the class that was found */
	unsigned found;
	bool more;
};

static void put_row(const struct called *k, struct slice class, struct slice name,
		    struct slice desc, uint32_t flags)
{
	struct buf full = { 0 }, lines = { 0 };

	put_name(&full, class, name, desc);
	for (uint32_t i = 0; i < k->call->n_lines; i++)
		buf_printf(&lines, "%s%u", i ? "," : "", k->call->lines[i]);
	wire_put_callee(&k->a->rows, &(struct wire_callee){ .caller = k->caller,
							    .name = buf_slice(&full),
							    .kind = k->call->kind,
							    .opcode = k->call->op,
							    .flags = flags,
							    .sites = k->call->sites,
							    .lines = buf_slice(&lines),
							    .site = k->call->site_name });
	buf_release(&full);
	buf_release(&lines);
}

/* The arguments alone: a bridge differs in its result, or in the classes of its arguments. */
static bool is_like(const char *desc, struct slice wanted)
{
	size_t n = strcspn(desc, ")");
	unsigned a = 0, b = 0;

	for (size_t i = 0; i < n; i++)
		a += desc[i] == ';';
	for (size_t i = 0; i < wanted.n && wanted.p[i] != ')'; i++)
		b += wanted.p[i] == ';';
	return a == b;
}

/* JVMTI's texts of a method, for drop; false: it cannot be asked. */
static bool name_method(jmethodID m, char **name, char **desc, jint *access)
{
	*name = *desc = NULL;
	*access = 0;
	if ((*agent.jvmti)->GetMethodName(agent.jvmti, m, name, desc, NULL) != JVMTI_ERROR_NONE)
		return false;
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, m, access);
	return true;
}

/* Of a class that has the method as a bridge: the one that the bridge calls. */
static bool put_behind_bridge(struct called *k, const jmethodID *methods, jint n)
{
	for (jint i = 0; i < n; i++) {
		char *name, *desc;
		jint access;
		bool hit;

		if (!name_method(methods[i], &name, &desc, &access))
			continue;
		hit = !(access & (SYNTHETIC | ABSTRACT)) && slice_is(k->call->name, name) &&
		      is_like(desc, k->call->desc);
		if (hit)
			put_row(k, k->class, slice_str(name), slice_str(desc), CALLEE_FOUND);
		drop(name);
		drop(desc);
		if (hit)
			return true;
	}
	return false;
}

/* The class, which is below the owner of the call, may have the method itself. */
static void look_in(struct called *k, jclass klass)
{
	jmethodID *methods = NULL;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		char *name, *desc;
		jint access;

		if (!name_method(methods[i], &name, &desc, &access))
			continue;
		if (slice_is(k->call->name, name) && slice_is(k->call->desc, desc) &&
		    !(access & ABSTRACT)) {
			if (!(access & SYNTHETIC) || !put_behind_bridge(k, methods, n))
				put_row(k, k->class, k->call->name, k->call->desc,
					CALLEE_FOUND | (access & NATIVE ? CALLEE_NATIVE : 0u) |
						(access & SYNTHETIC ? CALLEE_SYNTHETIC : 0u));
			k->found++;
		}
		drop(name);
		drop(desc);
	}
	drop(methods);
}

/* Where a virtual call can arrive, among the loaded classes of the program. */
static void resolve(struct called *k)
{
	struct asking *a = k->a;
	const uintptr_t *at = map_get(&a->by_name, k->call->owner);
	jclass owner = at && *at ? a->all[*at - 1] : NULL;

	for (jint i = 0; owner && i < a->n && !k->more; i++) {
		struct slice name = a->names[i];

		if (!name.n || is_jdk(name) || memchr(name.p, '.', name.n) ||
		    memmem(name.p, name.n, "$$Lambda", 8) ||
		    !(*a->jni)->IsAssignableFrom(a->jni, a->all[i], owner))
			continue;
		k->class = name;
		look_in(k, a->all[i]);
		k->more = k->found >= FOUND_MAX;
	}
}

/* ---- one class ------------------------------------------------------------------------------- */

static struct member *method_of(const struct class *cls, struct slice name, struct slice desc)
{
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (slice_eq(member_name(cls, &cls->methods[i]), name) &&
		    slice_eq(member_desc(cls, &cls->methods[i]), desc))
			return &cls->methods[i];
	return NULL;
}

/* access$000 of the class itself: what it calls stands for it. */
static const struct class_call *through(struct class *cls, const struct class_call *c)
{
	struct member *m;
	struct fault f = { 0 };
	struct class_call *calls;
	struct code *code;
	uint32_t n = 0;

	if (!slice_starts(c->name, slice_str("access$")) || !slice_eq(c->owner, class_name(cls)))
		return c;
	m = method_of(cls, c->name, c->desc);
	if (!m || !m->code.p || code_elevate(cls, m, &code, &f) < 0 ||
	    calls_of(code, &(struct calls_options){ 0 }, &calls, &n, &f) < 0 || n != 1)
		return c;
	return calls;
}

static void put_call(struct asking *a, struct class *cls, struct slice caller,
		     const struct class_call *call)
{
	struct called k = { .a = a, .caller = caller, .call = through(cls, call) };
	bool virtual = k.call->op == OP_INVOKEVIRTUAL || k.call->op == OP_INVOKEINTERFACE;
	size_t before = a->rows.n;

	if (virtual && k.call->kind == CALL_METHOD)
		resolve(&k);
	/* What is written in the code, unless it is abstract and something was found for it. */
	if (!k.found || k.call->op != OP_INVOKEINTERFACE || before == a->rows.n)
		put_row(&k, k.call->owner, k.call->name, k.call->desc,
			(k.call->op == OP_INVOKEINTERFACE ? CALLEE_ABSTRACT : 0u) |
				(k.more ? CALLEE_MORE : 0u));
}

static int read_method(struct asking *a, struct class *cls, struct member *m)
{
	struct fault f = { 0 };
	struct class_call *calls = NULL;
	struct buf caller = { 0 };
	struct code *code;
	uint32_t n = 0;
	int rc = 0;

	put_name(&caller, class_name(cls), member_name(cls, m), member_desc(cls, m));
	if (m->code.p && m->code.n >= 8)
		wire_put_code(&a->rows, &(struct wire_code){ .method = buf_slice(&caller),
							     .bytes = get_u32(m->code.p + 4) });
	if (m->code.p) {
		rc = code_elevate(cls, m, &code, &f);
		if (rc >= 0)
			rc = calls_of(code, &a->options, &calls, &n, &f);
	}
	if (rc < 0)
		snprintf(a->why, sizeof(a->why), "%.*s: %.120s", caller.n < 70 ? (int)caller.n : 70,
			 (const char *)caller.p, f.text);
	for (uint32_t i = 0; rc >= 0 && i < n; i++)
		put_call(a, cls, buf_slice(&caller), &calls[i]);
	buf_release(&caller);
	return rc;
}

static void answer_method(struct asking *a, struct class *cls, struct member *m, uint32_t loader)
{
	struct buf key = { 0 };
	uintptr_t *at;
	struct slice *rows;

	buf_printf(&key, "%u %u ", a->options.mask, loader);
	put_name(&key, class_name(cls), member_name(cls, m), member_desc(cls, m));
	a->found++;
	buf_clear(&a->rows);
	if (read_method(a, cls, m) >= 0 && !a->rows.err && !key.err &&
	    kept.mem.total + a->rows.n < KEPT_MAX) {
		struct slice name = arena_dup(&kept.mem, buf_slice(&key));

		rows = arena_alloc(&kept.mem, sizeof(*rows));
		at = name.p && rows ? map_put(&kept.answers, name, NULL) : NULL;
		if (at) {
			*rows = arena_dup(&kept.mem, buf_slice(&a->rows));
			*at = (uintptr_t)rows;
		}
	}
	buf_put(&a->c->out, buf_slice(&a->rows));
	buf_release(&key);
}

/* The answer of before; NULL: this method was not asked about yet. */
static const struct slice *kept_answer(const struct asking *a, struct slice class,
				       const struct rule_method *m, uint32_t loader)
{
	struct buf key = { 0 };
	uintptr_t *at;

	buf_printf(&key, "%u %u ", a->options.mask, loader);
	put_name(&key, class, m->name, m->desc);
	at = key.err ? NULL : map_get(&kept.answers, buf_slice(&key));
	buf_release(&key);
	return at ? (const struct slice *)*at : NULL;
}

static bool answer_again(struct asking *a, struct slice class, const struct rule_method *m,
			 uint32_t loader)
{
	const struct slice *rows = kept_answer(a, class, m, loader);

	if (!rows)
		return false;
	a->found++;
	buf_put(&a->c->out, *rows);
	return true;
}

/* How many methods of the class are meant, and whether all were asked about before. */
static unsigned meant_in(struct asking *a, jclass klass, struct slice class, uint32_t loader,
			 bool again)
{
	jmethodID *methods = NULL;
	unsigned fresh = 0;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) != JVMTI_ERROR_NONE)
		return 1; /* not linked: its bytes will tell */
	for (jint i = 0; i < n; i++) {
		char *name, *desc;
		jint access;

		if (!name_method(methods[i], &name, &desc, &access))
			continue;
		struct rule_method m = { .name = slice_str(name),
					 .desc = slice_str(desc),
					 .access = (uint16_t)access };

		if (rule_target_test_method(a->target, &m).answer == TARGET_HIT &&
		    !(again && answer_again(a, class, &m, loader)))
			fresh++;
		drop(name);
		drop(desc);
	}
	drop(methods);
	return fresh;
}

static void read_class(struct asking *a, jclass klass, uint32_t loader)
{
	struct buf bytes = { 0 };
	struct class *cls = NULL;
	struct fault f = { 0 };

	if (!instrument_bytes(a->jni, klass, &bytes)) {
		snprintf(a->why, sizeof(a->why),
			 "the JVM does not show the byte code of the class");
		return;
	}
	if (class_read(&a->mem, buf_slice(&bytes), &cls, &f) < 0) {
		snprintf(a->why, sizeof(a->why), "%.180s", f.text);
		buf_release(&bytes);
		return;
	}
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct member *m = &cls->methods[i];
		struct rule_method facts = { .name = member_name(cls, m),
					     .desc = member_desc(cls, m),
					     .access = m->access };

		if (rule_target_test_method(a->target, &facts).answer == TARGET_HIT &&
		    !kept_answer(a, class_name(cls), &facts, loader))
			answer_method(a, cls, m, loader);
	}
	class_release(cls);
	buf_release(&bytes);
}

/* Most classes are of another name, which is known already. */
static bool is_of_that_name(const struct asking *a, struct slice name)
{
	struct rule_class facts = { .name = name };
	struct rule_lineage room;

	room.ready = false;
	return a->target->kin_count ||
	       rule_target_test(a->target, &facts, NULL, &room).answer != TARGET_NOT_CLASS;
}

static void look_at(struct asking *a, jclass klass)
{
	jobject loader = NULL;
	jboolean modifiable = JNI_FALSE;
	struct rule_lineage *room;
	struct kin_of kin;
	struct arena *mem = &a->mem;
	jint hash = 0;
	enum target_answer hit;

	arena_reset(mem);
	if (ancestry_of_class(&kin, a->jni, klass, mem, a->target->kin_count != 0) < 0)
		return;
	room = arena_alloc(mem, sizeof(*room));
	if (!room)
		return;
	room->ready = false;
	hit = rule_target_test(a->target, &kin.list[0], NULL, room).answer;
	if ((hit != TARGET_HIT && hit != TARGET_MAYBE) || a->classes >= CLASSES_MAX)
		return;
	(*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &loader);
	if (loader)
		(*agent.jvmti)->GetObjectHashCode(agent.jvmti, loader, &hash);
	if (loader)
		(*a->jni)->DeleteLocalRef(a->jni, loader);
	if (!meant_in(a, klass, kin.list[0].name, (uint32_t)hash, false))
		return;
	if (!meant_in(a, klass, kin.list[0].name, (uint32_t)hash, true))
		return; /* all were known */
	a->classes++;
	(*agent.jvmti)->IsModifiableClass(agent.jvmti, klass, &modifiable);
	if (!modifiable || survey_is_fragile(&kin))
		snprintf(a->why, sizeof(a->why), "the JVM does not let the class be looked into");
	else
		read_class(a, klass, (uint32_t)hash);
}

/* The names of all loaded classes, once: each of them is asked for again and again. */
static bool read_names(struct asking *a)
{
	a->names = arena_zero(&a->of_all, (size_t)a->n * sizeof(*a->names));
	for (jint i = 0; a->names && i < a->n; i++) {
		char *sig = NULL;
		uintptr_t *at;

		if ((*agent.jvmti)->GetClassSignature(agent.jvmti, a->all[i], &sig, NULL) !=
		    JVMTI_ERROR_NONE)
			continue;
		if (sig[0] == 'L')
			a->names[i] = arena_dup(
				&a->of_all, (struct slice){ (uint8_t *)sig + 1, strlen(sig) - 2 });
		drop(sig);
		at = a->names[i].n ? map_put(&a->by_name, a->names[i], NULL) : NULL;
		if (at && !*at)
			*at = (uintptr_t)i + 1;
	}
	return a->names != NULL;
}

static void ask(struct asking *a)
{
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &a->n, &a->all) != JVMTI_ERROR_NONE) {
		conn_done(a->c, CANNOT, "out of memory");
		return;
	}
	arena_init(&a->mem);
	arena_init(&a->of_all);
	if (!read_names(a))
		snprintf(a->why, sizeof(a->why), "out of memory");
	for (jint i = 0; a->names && i < a->n; i++)
		if (a->names[i].n && is_of_that_name(a, a->names[i]))
			look_at(a, a->all[i]);
	for (jint i = 0; i < a->n; i++)
		(*a->jni)->DeleteLocalRef(a->jni, a->all[i]);
	drop(a->all);
	map_release(&a->by_name);
	arena_release(&a->of_all);
	arena_release(&a->mem);
	buf_release(&a->rows);
	if (a->classes >= CLASSES_MAX)
		conn_warn(a->c, "only the first %d classes were looked into", CLASSES_MAX);
	if (a->found)
		conn_done(a->c, DONE, "%s", "");
	else
		conn_done(a->c, NO, "%s", a->why[0] ? a->why : "no loaded class has such a method");
}

void callees_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct asking a = { .c = c, .jni = jni };
	struct rule_errors errors = { 0 };
	struct wire_callees m;
	struct buf text = { 0 };
	struct rules *rules = NULL;
	struct arena mem;

	if (wire_get_callees(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	arena_init(&mem);
	buf_printf(&text, "hook %.*s\n", SLICE_FMT(m.method));
	if (text.err || rules_parse(&mem, buf_slice(&text), "method", &rules, &errors) < 0 ||
	    rules->n != 1) {
		conn_done(c, USAGE,
			  "a method is written as pkg.Class::name or pkg.Class::name(int, ..)");
	} else {
		a.target = &rules->all[0]->target;
		a.options.mask = m.opcodes & (CALLS_INVOKES | CALLS_CONSTANT);
		ask(&a);
	}
	arena_release(&mem);
	buf_release(&text);
}
