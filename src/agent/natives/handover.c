/* SPDX-License-Identifier: Apache-2.0 */
/* handover.c - which methods of the JDK hand work over and take it up.
 *
 * A task is remembered where it enters an executor, a pool or a thread, and found again where that
 * runs it.  ThreadPoolExecutor runs a task between beforeExecute and its next getTask; both exist
 * in all JDKs from 17 on.  A platform thread is met by the JVM's own event of its start, since its
 * run() may be anybody's; a virtual one in Thread.runWith, since java.lang.VirtualThread itself is
 * not woven: it begins on one stack and ends on another. */
#include "agent/natives/handover.h"

#include "agent/core/agent.h"
#include "agent/core/own.h"

extern const uint8_t probe_class_hop[], probe_class_hop_end[];
extern const uint8_t probe_class_hop_entry[], probe_class_hop_entry_end[];
extern const uint8_t probe_class_hop_part[], probe_class_hop_part_end[];

/* The agent's thread, and before it runs the one that starts the VM. */
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

struct slice handover_rules(void)
{
	return slice_str(agent.jdk >= 21 ? RULES_ALL RULES_NEW : RULES_ALL);
}

int handover_define(JNIEnv *jni)
{
	if (!own_define(jni, "java/util/SondeHop$Entry", probe_class_hop_entry,
			probe_class_hop_entry_end) ||
	    !own_define(jni, "java/util/SondeHop$Part", probe_class_hop_part,
			probe_class_hop_part_end))
		return E_UNSUPPORTED;
	hops.class = own_define(jni, "java/util/SondeHop", probe_class_hop, probe_class_hop_end);
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

void handover_on(void)
{
	if (hops.clear)
		set_event(JVMTI_ENABLE);
}

void handover_off(void)
{
	JNIEnv *jni = hops.clear && !agent.dead && agent.jvmti ? agent_enter_jvm() : NULL;

	if (!jni)
		return;
	set_event(JVMTI_DISABLE);
	(*jni)->CallStaticVoidMethod(jni, hops.class, hops.clear);
	(*jni)->ExceptionClear(jni);
	agent_leave_jvm();
}

void JNICALL handover_on_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti;
	if (!hops.started || agent.dead)
		return;
	(*jni)->CallStaticVoidMethod(jni, hops.class, hops.started, thread);
	(*jni)->ExceptionClear(jni);
}
