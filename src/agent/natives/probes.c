/* SPDX-License-Identifier: Apache-2.0 */
/* probes.c - defines java.util.SondeProbe with its helpers in java.base and binds its natives.
 *
 * Three ways lead from woven code into src/probe.  Plain JNI works everywhere.  On JDK 17 the JVM
 * can call `JavaCritical_*` twins of static natives that take only numbers, without changing the
 * thread's state, when its flag CriticalJNINatives is on; it reads the flag when it makes the
 * wrapper of a native method, so these are made as soon as they stay, and the flag goes back.  From
 * JDK 22 on SondeFast does the same by java.lang.foreign. */
#include "agent/natives/probes.h"

#include <time.h>

#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "agent/core/own.h"
#include "agent/hotspot/critical.h"
#include "agent/hotspot/tiers.h"
#include "agent/natives/usage.h"
#include "agent/natives/stack.h"
#include "probe/probe.h"
#include "probe/types.h"

extern const uint8_t probe_class_main[], probe_class_main_end[];
extern const uint8_t probe_class_fast[], probe_class_fast_end[];
extern const uint8_t probe_class_text[], probe_class_text_end[];
extern const uint8_t probe_class_known[], probe_class_known_end[];

/* The agent's thread, and before it runs the one that starts the VM. */
static struct {
	jclass main; /* global references, which stay */
	jclass fast_class;
	jclass text_class;
	bool critical;	     /* the flag was switched on for the twins' wrappers ... */
	bool tried, wrapped; /* ... which were to be made, and were: it went back */
	bool fast, fast_failed;
} probes;

/* ---- classes ------------------------------------------------------------------------------ */

static const struct native {
	const char *name, *desc;
	bool has_twin;
} natives[] = { { "count0", "(I)V", true },
		{ "lane0", "(IJ)V", true },
		{ "enter0", "(I)J", true },
		{ "begin0", "(I)J", true },
		{ "may0", "(I)Z", true },
		{ "undo0", "(IJ)V", true },
		{ "exit0", "(IJ)V", true },
		{ "end0", "(IJ)V", true },
		{ "thrown0", "(IJ)V", true },
		{ "bytes0", "(IJ)V", true },
		{ "ask0", "(I)J", false },
		{ "mute0", "(Z)V", true },
		{ "now0", "()J", false },
		{ "shift0", "(IJJ)J", false },
		{ "data0", "(ILjava/lang/String;Ljava/lang/String;)V", false },
		{ "number0", "(ILjava/lang/String;J)V", false } };

/* Calls it with zeros: method 0 does not exist.  mute0 comes in pairs. */
static bool call_native(JNIEnv *jni, const struct native *n, jmethodID id)
{
	static const jvalue nothing[3], begins[1] = { { .z = JNI_TRUE } };

	if (strcmp(n->name, "mute0") == 0)
		(*jni)->CallStaticVoidMethodA(jni, probes.main, id, begins);
	(*jni)->CallStaticVoidMethodA(jni, probes.main, id, nothing);
	return !(*jni)->ExceptionCheck(jni);
}

/* Calls every native once, so that it is linked before woven code needs it: the JVM looks for it
 * by running Java code, which may be woven itself. */
static bool link_natives(JNIEnv *jni)
{
	jmethodID id = (*jni)->GetStaticMethodID(jni, probes.main, "address0", "(I)J");

	if (!id ||
	    (*jni)->CallStaticLongMethod(jni, probes.main, id, 0) != (jlong)(uintptr_t)probe_count)
		return false; /* an older library of ours is bound already */
	for (size_t i = 0; i < COUNT(natives); i++) {
		id = (*jni)->GetStaticMethodID(jni, probes.main, natives[i].name, natives[i].desc);
		if (!id || !call_native(jni, &natives[i], id))
			return false;
	}
	return true;
}

static int bind(JNIEnv *jni)
{
	jfieldID field;
	jobject local;

	if (!link_natives(jni))
		goto failed;
	field = (*jni)->GetStaticFieldID(jni, probes.main, "OPEN", "[B");
	local = field ? (*jni)->GetStaticObjectField(jni, probes.main, field) : NULL;
	if (!local || (*jni)->GetArrayLength(jni, local) != PROBE_METHODS)
		goto failed;
	stack_init(probes.main);
	gates_init((*jni)->NewGlobalRef(jni, local));
	(*jni)->DeleteLocalRef(jni, local);
	return gates_are_there() ? 0 : E_NO_MEMORY;
failed:
	(*jni)->ExceptionClear(jni);
	agent_note("another build of Sonde has been in this JVM; it has to be restarted");
	return E_UNSUPPORTED;
}

static bool has_compiler(void)
{
	char *info = NULL;
	bool compiles = true;

	(*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.info", &info);
	if (info)
		compiles = strstr(info, "interpreted mode") == NULL;
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info);
	return compiles;
}

/* The JVM makes a native's wrapper when it was called some hundred times; in thousands without C1. */
enum { WRAPPED_BY = 12000, LOOKED_AT = 64 };

static bool has_wrapper(JNIEnv *jni, const struct native *n)
{
	jmethodID id = (*jni)->GetStaticMethodID(jni, probes.main, n->name, n->desc);

	bool has = false;

	for (int i = 0; id && i < WRAPPED_BY && !has; i++) {
		if (!call_native(jni, n, id))
			break;
		has = i % LOOKED_AT == 0 && tiers_has_code(id);
	}
	(*jni)->ExceptionClear(jni);
	return has;
}

/* The flag must be on when wrappers are made, and in a JVM that the agent has come into late these
 * go when a class is redefined for the first time, with all other compiled code.  When they cannot
 * be made it stays on until the agent leaves. */
static void critical_begin(void)
{
	if (!probes.wrapped && has_compiler())
		probes.critical = critical_on();
}

void probes_settle(JNIEnv *jni)
{
	bool made = true;

	if (!probes.critical || probes.tried || !__atomic_load_n(&agent.recorded, __ATOMIC_RELAXED))
		return;
	probes.tried = true;
	for (size_t i = 0; i < COUNT(natives); i++)
		made &= !natives[i].has_twin || has_wrapper(jni, &natives[i]);
	probes.wrapped = made;
	if (made)
		critical_back();
}

int probes_init(JNIEnv *jni)
{
	jclass known;
	int rc;

	if (gates_are_there()) {
		critical_begin(); /* the agent may have left meanwhile */
		return 0;
	}
	rc = probe_init(agent.options.memory ? agent.options.memory : AGENT_MEMORY);
	if (rc < 0) {
		agent_note("no memory for the figures");
		return rc;
	}
	usage_prepare(jni);
	critical_begin();
	probes.fast_class =
		own_define(jni, "java/util/SondeFast", probe_class_fast, probe_class_fast_end);
	probes.text_class =
		own_define(jni, "java/util/SondeText", probe_class_text, probe_class_text_end);
	probes.main =
		own_define(jni, "java/util/SondeProbe", probe_class_main, probe_class_main_end);
	known = own_define(jni, "java/util/SondeKnown", probe_class_known, probe_class_known_end);
	if (!probes.main || !probes.fast_class || !probes.text_class || !known)
		return E_UNSUPPORTED;
	return bind(jni);
}

/* ---- the cheaper way ---------------------------------------------------------------------- */

static bool warm_up(JNIEnv *jni)
{
	jmethodID warm = (*jni)->GetStaticMethodID(jni, probes.fast_class, "warm", "()V");
	jfieldID flag = (*jni)->GetStaticFieldID(jni, probes.main, "fast", "Z");

	if (warm && flag)
		(*jni)->CallStaticVoidMethod(jni, probes.fast_class, warm);
	if (!warm || !flag || (*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		agent_note("critical foreign calls are not to be had; going on with JNI");
		return false;
	}
	(*jni)->SetStaticBooleanField(jni, probes.main, flag, JNI_TRUE);
	return true;
}

void probes_warm_blanks(JNIEnv *jni)
{
	jmethodID warm = (*jni)->GetStaticMethodID(jni, probes.main, "warm", "()V");

	if (warm)
		(*jni)->CallStaticVoidMethod(jni, probes.main, warm);
	(*jni)->ExceptionClear(jni);
}

/* Calls that are interpreted teach the compilers nothing: so there are pauses, until C1 has come to
 * it, and some more after that. */
enum { TRAININGS = 10, TRAININGS_MAX = 100, TRAINING_NS = 5000000 };

static bool is_compiled(JNIEnv *jni, const char *name, const char *desc)
{
	jmethodID method = (*jni)->GetStaticMethodID(jni, probes.main, name, desc);
	unsigned type = method ? tiers_of(method, 0) : TYPE_UNKNOWN;

	return type != TYPE_INTERPRETED;
}

void probes_train(JNIEnv *jni)
{
	static bool done;
	jmethodID train = NULL;

	if (done || !probes.main)
		return;
	done = true;
	train = (*jni)->GetStaticMethodID(jni, probes.main, "train", "()V");
	for (int i = 0, left = TRAININGS; train && i < TRAININGS_MAX && left; i++) {
		(*jni)->CallStaticVoidMethod(jni, probes.main, train);
		if ((*jni)->ExceptionCheck(jni))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = TRAINING_NS }, NULL);
		left -= is_compiled(jni, "isOpen", "(BJ)Z") &&
			is_compiled(jni, "exit", "(IJLjava/lang/Throwable;)V");
	}
	(*jni)->ExceptionClear(jni);
}

bool probes_go_fast(JNIEnv *jni)
{
	if (agent.jdk < 22 || probes.fast || probes.fast_failed || !gates_are_there() ||
	    agent.options.jni)
		return true;
	/* Without a compiler each foreign call takes a dozen interpreted ones: Tomcat with all
	 * methods hooked took eight minutes to start. */
	probes.fast = has_compiler() && warm_up(jni);
	probes.fast_failed = !probes.fast;
	if (probes.fast)
		probes_warm_blanks(jni);
	return true;
}

jclass probes_text_class(void)
{
	return probes.text_class;
}

bool probes_is_fast(void)
{
	return probes.fast || agent.jdk < 22 || probes.fast_failed || agent.options.jni;
}

const char *probes_mechanism(void)
{
	if (probes.fast)
		return "FFM critical";
	return probes.critical ? "JNI critical" : "JNI";
}
