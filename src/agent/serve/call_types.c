/* SPDX-License-Identifier: Apache-2.0 */
/* call_types.c - sets the types of all hooked methods, has the probe watch for a moment, and gives what
 * it saw. */
#include "agent/serve/call_types.h"

#include <time.h>

#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/hotspot/tiers.h"
#include "probe/probe.h"
#include "probe/types.h"
#include "tree/cost.h"
#include "wire/wire.h"

enum {
	WATCH_MS = 20, /* for which sequences are watched each time that somebody asks */
};

static void look_at_method(int memory, const struct woven *w, jmethodID method)
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
		types_set(h->id, tiers_look(memory, method, access) |
					 (probe_method_settles(h->id) ? TYPE_SETTLED : 0));
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
}

static void look_at_class(int memory, JNIEnv *jni, jclass klass, const char *name, size_t n)
{
	jmethodID *methods = NULL;
	struct loader *by;
	const struct woven *w;
	jint count = 0;

	by = loaders_of(jni, klass, false);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, name, n, false);
	pthread_mutex_unlock(&agent.lock);
	if (w && w->methods &&
	    (*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &count, &methods) ==
		    JVMTI_ERROR_NONE)
		for (jint i = 0; i < count; i++)
			look_at_method(memory, w, methods[i]);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	loaders_give(by);
}

static void look(JNIEnv *jni)
{
	int memory = tiers_open();
	jclass *all = NULL;
	jint n = 0;

	(*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
	for (jint i = 0; i < n; i++) {
		char *sig = NULL;

		(*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL);
		if (sig && sig[0] == 'L')
			look_at_class(memory, jni, all[i], sig + 1, strlen(sig) - 2);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
	tiers_close(memory);
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

void call_types_put(struct buf *out)
{
	types_read(put_sequence, out);
}

void call_types_run(struct conn *c, JNIEnv *jni, struct slice payload)
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
	call_types_put(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}
