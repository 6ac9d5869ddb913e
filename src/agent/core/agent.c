/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - the agent's state, and what all its parts need: notes, the JVM's environment, the clock. */
#include "agent/core/agent.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

struct agent agent = { .lock = PTHREAD_MUTEX_INITIALIZER, .notes_lock = PTHREAD_MUTEX_INITIALIZER };

void agent_note(const char *fmt, ...)
{
	char line[300];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	n = n < (int)sizeof(line) ? n : (int)sizeof(line) - 1;
	pthread_mutex_lock(&agent.notes_lock);
	if (agent.notes_n + (size_t)n + 2 <= sizeof(agent.notes)) { /* the first ones tell most */
		memcpy(agent.notes + agent.notes_n, line, (size_t)n);
		agent.notes_n += (size_t)n;
		agent.notes[agent.notes_n++] = '\n';
	}
	pthread_mutex_unlock(&agent.notes_lock);
}

const char *agent_jvmti_text(jvmtiError e)
{
	static __thread char number[32];

	switch (e) {
	case JVMTI_ERROR_FAILS_VERIFICATION:
		return "the JVM's verifier refuses the woven class";
	case JVMTI_ERROR_INVALID_CLASS_FORMAT:
		return "the JVM finds the woven class malformed";
	case JVMTI_ERROR_INVALID_CLASS:
		return "the program cannot use this class: the JVM could not link or initialise it";
	case JVMTI_ERROR_UNMODIFIABLE_CLASS:
		return "the JVM does not let this class be changed";
	case JVMTI_ERROR_OUT_OF_MEMORY:
		return "the JVM is out of memory";
	case JVMTI_ERROR_NAMES_DONT_MATCH:
		return "another agent has changed the class's name";
	case JVMTI_ERROR_INTERNAL:
		return "the JVM failed while it redefined the class";
	default:
		snprintf(number, sizeof(number), "JVMTI error %d", (int)e);
		return number;
	}
}

/* Of this thread. */
static __thread struct {
	unsigned users;
	bool attached; /* by us, so that the last user detaches it */
} in_jvm;

JNIEnv *agent_hold_jvm(void)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)"sonde", NULL };
	void *jni = NULL;

	if (agent.dead)
		return NULL;
	if ((*agent.vm)->GetEnv(agent.vm, &jni, JNI_VERSION_1_8) != JNI_OK) {
		if ((*agent.vm)->AttachCurrentThreadAsDaemon(agent.vm, &jni, &args) != JNI_OK)
			return NULL;
		in_jvm.attached = true;
	}
	in_jvm.users++;
	return jni;
}

void agent_let_jvm(void)
{
	if (--in_jvm.users || !in_jvm.attached)
		return;
	in_jvm.attached = false;
	if (!agent.dead)
		(*agent.vm)->DetachCurrentThread(agent.vm);
}

JNIEnv *agent_enter_jvm(void)
{
	enum { REFS = 64 }; /* that there is room for at once; more are made when needed */
	JNIEnv *jni = agent_hold_jvm();

	if (jni && (*jni)->PushLocalFrame(jni, REFS) < 0) {
		(*jni)->ExceptionClear(jni);
		agent_let_jvm();
		return NULL;
	}
	return jni;
}

void agent_leave_jvm(void)
{
	void *jni = NULL;

	if (!agent.dead && (*agent.vm)->GetEnv(agent.vm, &jni, JNI_VERSION_1_8) == JNI_OK) {
		(*(JNIEnv *)jni)->ExceptionClear(jni); /* the next one must not find it */
		(*(JNIEnv *)jni)->PopLocalFrame(jni, NULL);
	}
	agent_let_jvm();
}

void agent_scale_begin(void)
{
	agent.started = tick_now();
	agent.started_ns = clock_ns(CLOCK_MONOTONIC_RAW);
}

void agent_scale_update(void)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW) - agent.started_ns,
		 ticks = tick_now() - agent.started;

	if (ns < 20 * 1000000u && agent.scale.mult)
		return;
	if (ns < 20 * 1000000u)
		agent.scale = tick_scale_measure(5);
	else
		agent.scale =
			tick_scale_of((uint64_t)((unsigned __int128)ticks * 1000000000u / ns));
}

void agent_listen(bool to_all)
{
	const jvmtiEventCallbacks *which = to_all ? agent.callbacks : agent.last_callback;

	(*agent.jvmti)->SetEventCallbacks(agent.jvmti, which, sizeof(*which));
}
