/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.c - reads where HotSpot keeps it what a method is run by: its Method points at its compiled
 * code (an nmethod), or at none, and that knows the level it was compiled at.  Where these lie is
 * told by the tables for debuggers.  Code may be thrown away while it is looked at, so nothing is
 * read directly: the kernel copies it, and a page that is gone is an answer, not a crash. */
#include "agent/tiers.h"

#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/probes.h"
#include "agent/vmstructs.h"
#include "agent/woven.h"
#include "classfile/class.h"
#include "probe/types.h"
#include "tree/cost.h"
#include "wire/wire.h"

enum {
	LEVEL_C2 = 4,  /* HotSpot's; 1 to 3 are C1's */
	LAST_JDK = 25, /* a jmethodID points at the Method's address */
	WATCH_MS = 20, /* for which sequences are watched each time that somebody asks */
};

static struct {
	bool asked, known;
	uint64_t code, level; /* offsets */
} tiers;

static bool copy(uint64_t from, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)from, n };

	return from && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static bool is_known(void)
{
	if (!tiers.asked)
		tiers.known = agent.jdk <= LAST_JDK &&
			      vmstructs_offset("Method", "_code", &tiers.code) &&
			      vmstructs_offset("nmethod", "_comp_level", &tiers.level);
	tiers.asked = true;
	return tiers.known;
}

static unsigned level_of(jmethodID id)
{
	uint64_t method, code;
	uint8_t level; /* of a small number in a field of one or four bytes: the lowest */

	if (!is_known() || !copy((uint64_t)(uintptr_t)id, &method, sizeof(method)) ||
	    !copy(method ? method + tiers.code : 0, &code, sizeof(code)))
		return TYPE_UNKNOWN;
	if (!code)
		return TYPE_INTERPRETED;
	if (!copy(code + tiers.level, &level, sizeof(level)) || level > LEVEL_C2)
		return TYPE_UNKNOWN;
	return level == LEVEL_C2 ? TYPE_C2 : level ? TYPE_C1 : TYPE_INTERPRETED;
}

unsigned tiers_of(jmethodID method, jint access)
{
	unsigned type = access & ACC_NATIVE ? TYPE_NATIVE : level_of(method);

	return type | (access & ACC_STATIC ? TYPE_STATIC : 0);
}

const char *tiers_text(unsigned type)
{
	static const char *const texts[] = { [TYPE_UNKNOWN] = "not known",
					     [TYPE_INTERPRETED] = "interpreted",
					     [TYPE_C1] = "compiled by C1",
					     [TYPE_C2] = "compiled by C2",
					     [TYPE_NATIVE] = "native" };
	unsigned kind = type & ~(unsigned)TYPE_STATIC;

	return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : texts[0];
}

static void look_at_method(const struct woven *w, jmethodID method)
{
	char *name = NULL, *desc = NULL;
	const struct hooked *h;
	jint access = 0;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) !=
	    JVMTI_ERROR_NONE)
		return;
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &access);
	h = woven_named(w, name, desc);
	if (h)
		types_set(h->id, tiers_of(method, access) |
					 (probe_method_settles(h->id) ? TYPE_SETTLED : 0));
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
}

static void look_at_class(JNIEnv *jni, jclass klass, const char *name, size_t n)
{
	jmethodID *methods = NULL;
	jobject loader = NULL;
	const struct woven *w;
	jint count = 0;

	(*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &loader);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(jni, name, n, loader, false);
	pthread_mutex_unlock(&agent.lock);
	if (w && w->methods &&
	    (*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &count, &methods) ==
		    JVMTI_ERROR_NONE)
		for (jint i = 0; i < count; i++)
			look_at_method(w, methods[i]);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
}

static void look(JNIEnv *jni)
{
	jclass *all = NULL;
	jint n = 0;

	(*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
	for (jint i = 0; i < n; i++) {
		char *sig = NULL;

		(*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL);
		if (sig && sig[0] == 'L')
			look_at_class(jni, all[i], sig + 1, strlen(sig) - 2);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
}

/* The least ticks of the classes of lengths that calibrations have. */
static void borders_of(uint64_t borders[TYPE_LENGTHS - 1])
{
	static const double ns[TYPE_LENGTHS - 1] = COST_BORDERS;

	for (int i = 0; i < TYPE_LENGTHS - 1; i++)
		borders[i] = (uint64_t)(ns[i] * (double)agent.scale.hz / 1e9);
}

static void put_sequence(void *ctx, const struct types_sequence *s)
{
	const struct sequence *q = &s->s;

	wire_put_sequence(ctx,
			  &(struct wire_sequence){ .caller = q->types[0],
						   .method = q->types[1],
						   .thrown = q->transitions[1] == TRANSITION_THROW,
						   .length = q->length,
						   .calls = s->calls,
						   .min_ns = agent_ns(s->min),
						   .low_ns = agent_ns(s->low),
						   .next = q->types[2],
						   .begin = q->transitions[0],
						   .end = q->transitions[1],
						   .settled = q->settled });
}

void tiers_put_sequences(struct buf *out)
{
	types_read(put_sequence, out);
}

void tiers_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	static const struct timespec a_while = { .tv_nsec = WATCH_MS * 1000000 };
	uint64_t borders[TYPE_LENGTHS - 1];
	int rc;

	(void)payload;
	borders_of(borders);
	look(jni);
	rc = types_watch(true, borders);
	if (rc >= 0) {
		nanosleep(&a_while, NULL);
		types_watch(false, NULL);
	}
	tiers_put_sequences(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}
