/* SPDX-License-Identifier: Apache-2.0 */
/* hops.c - which methods of the JDK hand work over and take it up, and the natives of SondeHop.
 *
 * A task is remembered where it enters an executor, a pool or a thread, and found again where that
 * runs it.  ThreadPoolExecutor runs a task between beforeExecute and its next getTask; both exist
 * in all JDKs from 17 on.  A platform thread is met by the JVM's own event of its start, since its
 * run() may be anybody's; a virtual one in Thread.runWith, since java.lang.VirtualThread itself is
 * not woven: it begins on one stack and ends on another. */
#include "agent/hops.h"

#include "agent/agent.h"
#include "agent/probes.h"
#include "probe/probe.h"
#include "probe/trace.h"

extern const uint8_t probe_class_hop[], probe_class_hop_end[];
extern const uint8_t probe_class_hop_entry[], probe_class_hop_entry_end[];
extern const uint8_t probe_class_hop_part[], probe_class_hop_part_end[];

static struct {
	jclass class;
	jmethodID started, clear;
} hops;

#define POOL "java.util.concurrent."
#define RULES_ALL                                                                            \
	"capture sonde_submit = $1 at " POOL "ThreadPoolExecutor::execute\n"                 \
	"capture sonde_begin = $2 at " POOL "ThreadPoolExecutor::beforeExecute\n"            \
	"capture sonde_end = $this at " POOL "ThreadPoolExecutor::getTask\n"                 \
	"capture sonde_end = $this at " POOL "ThreadPoolExecutor::processWorkerExit\n"       \
	"capture sonde_submit = $1 at " POOL "ScheduledThreadPoolExecutor::delayedExecute\n" \
	"capture sonde_run = $this at " POOL "FutureTask::run\n"                             \
	"capture sonde_run = $this at " POOL "ForkJoinTask::doExec\n"                        \
	"capture sonde_submit = $this at " POOL "ForkJoinTask::fork\n"                       \
	"capture sonde_submit = $1 at " POOL "ForkJoinPool::externalSubmit\n"                \
	"capture sonde_submit = $1 at " POOL "CompletableFuture::unipush\n"                  \
	"capture sonde_submit = $2 at " POOL "CompletableFuture::bipush\n"                   \
	"capture sonde_submit = $2 at " POOL "CompletableFuture::orpush\n"                   \
	"capture sonde_run = $this at " POOL "CompletableFuture$*::tryFire\n"                \
	"capture sonde_submit = $this at java.lang.Thread::start\n"

#define RULES_NEW                                                                \
	"capture sonde_submit = $2 at " POOL "ForkJoinPool::poolSubmit\n"        \
	"capture sonde_submit = $this at java.lang.Thread::setThreadContainer\n" \
	"capture sonde_run = $this at java.lang.Thread::runWith\n"

struct slice hops_rules(void)
{
	return slice_str(agent.jdk >= 21 ? RULES_ALL RULES_NEW : RULES_ALL);
}

int hops_define(JNIEnv *jni)
{
	if (!probes_define(jni, "java/util/SondeHop$Entry", probe_class_hop_entry,
			   probe_class_hop_entry_end) ||
	    !probes_define(jni, "java/util/SondeHop$Part", probe_class_hop_part,
			   probe_class_hop_part_end))
		return E_UNSUPPORTED;
	hops.class = probes_define(jni, "java/util/SondeHop", probe_class_hop, probe_class_hop_end);
	if (!hops.class)
		return E_UNSUPPORTED;
	hops.started =
		(*jni)->GetStaticMethodID(jni, hops.class, "started", "(Ljava/lang/Thread;)V");
	hops.clear = hops.started ? (*jni)->GetStaticMethodID(jni, hops.class, "clear", "()V")
				  : NULL;
	if (hops.clear)
		return 0;
	(*jni)->ExceptionClear(jni);
	return E_UNSUPPORTED;
}

static void set_event(jvmtiEventMode mode)
{
	(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, mode, JVMTI_EVENT_THREAD_START, NULL);
}

void hops_on(void)
{
	if (hops.clear)
		set_event(JVMTI_ENABLE);
}

void hops_off(void)
{
	bool attached;
	JNIEnv *jni = hops.clear && !agent.dead && agent.jvmti ? agent_enter_jvm(&attached) : NULL;

	if (!jni)
		return;
	set_event(JVMTI_DISABLE);
	(*jni)->CallStaticVoidMethod(jni, hops.class, hops.clear);
	(*jni)->ExceptionClear(jni);
	agent_leave_jvm(attached);
}

void JNICALL hops_on_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti;
	if (!hops.started || agent.dead)
		return;
	(*jni)->CallStaticVoidMethod(jni, hops.class, hops.started, thread);
	(*jni)->ExceptionClear(jni);
}

/* ---- natives ------------------------------------------------------------------------------ */

#define NATIVE __attribute__((visibility("default")))
#define HOP(type, name, ...)                                                                      \
	NATIVE type JNICALL Java_java_util_SondeHop_##name(JNIEnv *jni, jclass c, ##__VA_ARGS__); \
	NATIVE type JNICALL Java_java_util_SondeHop_##name(JNIEnv *jni, jclass c, ##__VA_ARGS__)

HOP(jboolean, inside0)
{
	(void)jni, (void)c;
	return probe_trace_is_in();
}

HOP(jlong, submit0)
{
	(void)jni, (void)c;
	return (jlong)probe_trace_submit();
}

HOP(jboolean, begin0, jlong work)
{
	(void)jni, (void)c;
	return probe_trace_begin((uint64_t)work);
}

HOP(void, end0, jlong work)
{
	(void)jni, (void)c;
	probe_trace_end((uint64_t)work);
}

HOP(jintArray, steps0)
{
	uint32_t kids[PROBE_HANDED];
	size_t n = probe_handed_take(kids);
	jintArray out = n ? (*jni)->NewIntArray(jni, (jsize)n) : NULL;

	(void)c;
	if (out)
		(*jni)->SetIntArrayRegion(jni, out, 0, (jsize)n, (const jint *)kids);
	return out;
}

/* What steps0 has given, in kids; their number. */
static size_t steps_of(JNIEnv *jni, jintArray steps, uint32_t kids[PROBE_HANDED])
{
	jsize n = steps ? (*jni)->GetArrayLength(jni, steps) : 0;

	if (n > PROBE_HANDED)
		return 0;
	if (n)
		(*jni)->GetIntArrayRegion(jni, steps, 0, n, (jint *)kids);
	return (size_t)n;
}

HOP(jlong, enter0, jintArray steps)
{
	uint32_t kids[PROBE_HANDED];

	(void)c;
	return (jlong)probe_handed_begin(kids, steps_of(jni, steps, kids));
}

HOP(void, leave0, jintArray steps, jlong token)
{
	uint32_t kids[PROBE_HANDED];

	(void)c;
	probe_handed_end(kids, steps_of(jni, steps, kids), (uint64_t)token);
}

HOP(void, cancel0, jlong work)
{
	(void)jni, (void)c;
	probe_trace_cancel((uint64_t)work);
}
