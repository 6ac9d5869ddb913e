/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - GetStackTrace of the current thread, compared with what the probe or a rule says.
 *
 * The innermost frames are the probe's own; then comes the method that begins, then its caller.
 * Bridge methods, which only pass on a call, are seen through.  What a rule makes of a method is
 * remembered by jmethodID, since the same ones are on top of every stack.
 *
 * Observed threads run this, so it takes neither memory nor a lock, but for what a method is under a
 * rule, which steps.c finds out when it is met first. */
#include "agent/natives/stack.h"

#include "agent/classes/rulebook.h"
#include "agent/classes/steps.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "probe/probe.h"

enum {
	DEPTH = 1024,  /* frames that are looked at; what lies further out is not found */
	ASKING = 3,    /* the innermost are ask0, special and enter, always */
	FEW = 4,       /* enterFull, the method, a bridge, its caller: each frame has its price */
	NEAR = 16,     /* ... when there are more bridges */
	OWN = 64,      /* methods of the probe's class */
	KNOWN = 4096,  /* remembered answers, a power of two */
	BRIDGE = 0x40, /* JVMS table 4.6-A */
};

/* own: written once.  known: observed threads, without a lock; version is odd while one writes. */
static struct {
	jmethodID own[OWN];
	jint n_own;
	struct known {
		jmethodID method;
		const struct edition *edition;
		uint32_t rule;
		uint32_t version;
		uint16_t steps[CONTEXT_MAX]; /* of each sequence, those that the method is */
	} known[KNOWN];
} stack;

void stack_init(jclass probe)
{
	jmethodID *all = NULL;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, probe, &n, &all) != JVMTI_ERROR_NONE)
		return;
	stack.n_own = n < OWN ? n : OWN;
	memcpy(stack.own, all, (size_t)stack.n_own * sizeof(*all));
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
}

/* The callers of the method that begins, innermost first. */
struct callers {
	jvmtiFrameInfo frames[DEPTH];
	jint n;
	jint at; /* the first of them */
};

static bool is_own(jmethodID m)
{
	for (jint i = 0; i < stack.n_own; i++)
		if (stack.own[i] == m)
			return true;
	return false;
}

static bool callers_take(struct callers *c, jint depth)
{
	c->n = 0;
	if ((*agent.jvmti)->GetStackTrace(agent.jvmti, NULL, ASKING, depth, c->frames, &c->n) !=
	    JVMTI_ERROR_NONE)
		return false;
	c->at = 0;
	while (c->at < c->n && is_own(c->frames[c->at].method))
		c->at++;
	c->at++; /* the method itself */
	return c->at < c->n;
}

static bool is_bridge(jmethodID m)
{
	jint access = 0;

	return (*agent.jvmti)->GetMethodModifiers(agent.jvmti, m, &access) == JVMTI_ERROR_NONE &&
	       (access & BRIDGE);
}

static bool is_named(jmethodID m, const struct hooked *h, JNIEnv *jni)
{
	char *name = NULL, *desc = NULL, *class = NULL;
	jclass klass = NULL;
	bool same = false;
	size_t n;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, m, &name, &desc, NULL) != JVMTI_ERROR_NONE ||
	    (*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, m, &klass) != JVMTI_ERROR_NONE ||
	    (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &class, NULL) != JVMTI_ERROR_NONE)
		goto done;
	n = strlen(h->class->name);
	same = strncmp(h->name, name, strlen(name)) == 0 &&
	       strcmp(h->name + strlen(name), desc) == 0 && class[0] == 'L' &&
	       strncmp(class + 1, h->class->name, n) == 0 && strcmp(class + 1 + n, ";") == 0;
done:
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)class);
	if (klass)
		(*jni)->DeleteLocalRef(jni, klass);
	return same;
}

static bool is_called_by(struct callers *c, struct hooked *caller, JNIEnv *jni)
{
	jint at = c->at;
	jmethodID m;

	if (!caller)
		return false;
	/* The same ones come again and again, and the JVM wants more time for each question than
	 * for a frame. */
	m = c->frames[at].method;
	if (__atomic_load_n(&caller->java, __ATOMIC_RELAXED) == (void *)m)
		return true;
	if (__atomic_load_n(&caller->other, __ATOMIC_RELAXED) == (void *)m)
		return false;
	while (at < c->n && is_bridge(c->frames[at].method))
		at++;
	if (at >= c->n && c->n == FEW && callers_take(c, NEAR))
		for (at = c->at; at < c->n && is_bridge(c->frames[at].method);)
			at++;
	if (at >= c->n)
		return false;
	m = c->frames[at].method;
	if (__atomic_load_n(&caller->java, __ATOMIC_RELAXED) == (void *)m)
		return true;
	if (!is_named(m, caller, jni)) {
		__atomic_store_n(&caller->other, (void *)m, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&caller->java, (void *)m, __ATOMIC_RELAXED);
	return true;
}

/* ---- whole sequences ---------------------------------------------------------------------- */

struct asked {
	JNIEnv *jni;
	const struct edition *edition;
	const struct rule *rule;
	uint32_t number; /* of the rule */
};

static struct known *known_at(const struct asked *a, jmethodID method)
{
	uint64_t x = ((uint64_t)(uintptr_t)method ^ a->number) * 0x9e3779b97f4a7c15u;

	return &stack.known[(x >> 40) & (KNOWN - 1)];
}

/* A place is written by one thread at a
 * time, which makes `version` odd meanwhile; whoever finds another one on the way out has read a
 * mixture. */
static bool known_get(const struct asked *a, jmethodID method, uint16_t steps[CONTEXT_MAX])
{
	struct known *k = known_at(a, method);
	uint32_t version = __atomic_load_n(&k->version, __ATOMIC_ACQUIRE);
	bool there = __atomic_load_n(&k->method, __ATOMIC_RELAXED) == method &&
		     __atomic_load_n(&k->edition, __ATOMIC_RELAXED) == a->edition &&
		     __atomic_load_n(&k->rule, __ATOMIC_RELAXED) == a->number;

	for (size_t i = 0; i < CONTEXT_MAX; i++)
		steps[i] = __atomic_load_n(&k->steps[i], __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return there && !(version & 1) && __atomic_load_n(&k->version, __ATOMIC_RELAXED) == version;
}

static void known_put(const struct asked *a, jmethodID method, const uint16_t steps[CONTEXT_MAX])
{
	struct known *k = known_at(a, method);
	uint32_t version = __atomic_load_n(&k->version, __ATOMIC_RELAXED);

	if (version & 1 || !__atomic_compare_exchange_n(&k->version, &version, version + 1, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return; /* another thread is at it: it is found out once more */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&k->method, method, __ATOMIC_RELAXED);
	__atomic_store_n(&k->edition, a->edition, __ATOMIC_RELAXED);
	__atomic_store_n(&k->rule, a->number, __ATOMIC_RELAXED);
	for (size_t i = 0; i < CONTEXT_MAX; i++)
		__atomic_store_n(&k->steps[i], steps[i], __ATOMIC_RELAXED);
	__atomic_store_n(&k->version, version + 2, __ATOMIC_RELEASE);
}

static void steps_of(const struct asked *a, jmethodID method, uint16_t steps[CONTEXT_MAX])
{
	if (known_get(a, method, steps))
		return;
	steps_find(&(struct steps_asked){ a->jni, a->edition, a->rule }, method, steps);
	known_put(a, method, steps);
}

/* Where the walk through one sequence stands: steps that the next caller out may be. */
struct place {
	uint32_t below, next;
};

/* As in src/probe/context.c, for all sequences of the rule at once. */
static bool is_inside(const struct asked *a, const struct callers *c)
{
	const struct rule_hook *hook = &a->rule->hook;
	struct place places[CONTEXT_MAX] = { { 0, 0 } };
	uint16_t direct[CONTEXT_MAX] = { 0 }, steps[CONTEXT_MAX];

	for (size_t k = 0; k < hook->context_count; k++) {
		const struct context *s = &hook->contexts[k];
		uint32_t last = 1u << (s->n - 1);

		for (size_t i = 0; i < s->n; i++)
			direct[k] |= (uint16_t)((s->steps[i].direct ? 1u : 0u) << i);
		places[k] = (struct place){ last & ~(uint32_t)direct[k], last & direct[k] };
	}
	for (jint at = c->at; at < c->n; at++) {
		steps_of(a, c->frames[at].method, steps);
		for (size_t k = 0; k < hook->context_count; k++) {
			struct place *p = &places[k];
			uint32_t hits = steps[k] & (p->below | p->next);

			if (hits & 1)
				return true;
			if (!hits && p->next && is_bridge(c->frames[at].method))
				continue; /* the one further out may still be the next */
			hits >>= 1;
			p->below |= hits & ~(uint32_t)direct[k];
			p->next = hits & direct[k];
		}
	}
	return false;
}

static bool is_inside_rule(JNIEnv *jni, const struct callers *c, uint32_t number)
{
	struct asked a = { .jni = jni, .edition = edition_get(), .number = number };
	bool inside = false;

	for (size_t i = 0; a.edition && i < a.edition->rules->n; i++)
		if (a.edition->by_index[i].number == number)
			a.rule = a.edition->rules->all[i];
	if (a.rule && a.rule->kind == RULE_HOOK)
		inside = is_inside(&a, c);
	edition_put((struct edition *)a.edition);
	return inside;
}

uint64_t stack_ask(JNIEnv *jni, uint32_t id)
{
	struct hooked *h = woven_method(id);
	struct probe_question q;
	struct callers callers;
	bool direct = false, inside = false;

	if (!h || agent.dead || !probe_question(id, &q) || !guests_come())
		return 0;
	if (callers_take(&callers, q.by_stack ? DEPTH : FEW)) {
		direct = q.caller && is_called_by(&callers, woven_method(q.caller), jni);
		inside = q.by_stack && is_inside_rule(jni, &callers, h->rule);
	}
	guests_go();
	return probe_answer(id, direct, inside);
}
