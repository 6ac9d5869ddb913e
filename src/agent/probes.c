/* SPDX-License-Identifier: Apache-2.0 */
/* probes.c - defines java.util.SondeProbe with its helpers in java.base and binds its natives.
 *
 * Three ways lead from woven code into src/probe.  Plain JNI works everywhere.  On JDK 17 the JVM
 * can call `JavaCritical_*` twins of static natives that take only numbers, without changing the
 * thread's state, when its flag CriticalJNINatives is on; it reads the flag when it makes the
 * wrapper of a native method, so it must be on before these are first called.  From JDK 22 on
 * SondeFast does the same by java.lang.foreign. */
#include "agent/probes.h"

#include <time.h>

#include "agent/agent.h"
#include "agent/meter.h"
#include "agent/stack.h"
#include "agent/tiers.h"
#include "agent/vmstructs.h"
#include "base/tick.h"
#include "probe/probe.h"
#include "probe/solo.h"
#include "probe/types.h"

extern const uint8_t probe_class_main[], probe_class_main_end[];
extern const uint8_t probe_class_fast[], probe_class_fast_end[];
extern const uint8_t probe_class_text[], probe_class_text_end[];
extern const uint8_t probe_class_known[], probe_class_known_end[];

static struct {
	jclass main; /* global references, which stay */
	jclass fast_class;
	jclass text_class;
	jclass own[16]; /* all that were defined */
	size_t n_own;
	jbyteArray open;
	bool critical, fast, fast_failed;
} probes;

/* ---- natives ------------------------------------------------------------------------------ */

/* The JVM finds these by name: RegisterNatives would make it warn on the program's stdout, since
 * the class is one of java.base.  The JavaCritical_ twins are found beside them. */
#define NATIVE __attribute__((visibility("default"))) PROBE_NEAR
#define PLAIN(type, name, ...)                                                      \
	NATIVE type JNICALL Java_java_util_SondeProbe_##name(JNIEnv *jni, jclass c, \
							     ##__VA_ARGS__);        \
	NATIVE type JNICALL Java_java_util_SondeProbe_##name(JNIEnv *jni, jclass c, ##__VA_ARGS__)
#define TWIN(type, name, ...)                                                      \
	NATIVE type JNICALL JavaCritical_java_util_SondeProbe_##name(__VA_ARGS__); \
	NATIVE type JNICALL JavaCritical_java_util_SondeProbe_##name(__VA_ARGS__)

static uint8_t manners[PROBE_METHODS]; /* PROBES_* */

/* Of a method whose gate is open at times. */
static PROBE_NEAR uint64_t begin(uint32_t id)
{
	switch (__atomic_load_n(&manners[id & (PROBE_METHODS - 1)], __ATOMIC_RELAXED)) {
	case PROBES_SOLO:
		return solo_enter(id);
	case PROBES_MARK:
		solo_mark(id);
		return 0;
	default:
		return probe_enter(id);
	}
}

static bool is_marked(uint64_t token, uint64_t with)
{
	return (token & with) == with;
}

static uint64_t settled(uint64_t token)
{
	if (is_marked(token, PROBE_SETTLED))
		tick_settle();
	return token & ~PROBE_MARKS;
}

static void undo(uint32_t id, uint64_t token)
{
	if (is_marked(token, SOLO_TOKEN))
		solo_forget(id, token);
	else
		probe_undo(id, token & ~PROBE_MARKS);
}

/* Of a token that is below 0 for Java. */
static PROBE_NEAR void end(uint32_t id, uint64_t token)
{
	if (is_marked(token, SOLO_TOKEN)) {
		solo_exit(id, token);
	} else if (is_marked(token, PROBE_SETTLED)) {
		probe_exit(id, settled(token));
		probe_pulse_count(id);
	} else {
		undo(id, token); /* SondeProbe.passBy() */
	}
}

static uint8_t tells[PROBE_METHODS]; /* enum probes_tell */

static enum probes_tell tell_of(uint32_t id)
{
	return __atomic_load_n(&tells[id & (PROBE_METHODS - 1)], __ATOMIC_RELAXED);
}

/* Is a fact of that name wanted? */
static bool is_told(uint32_t id, const char *key)
{
	switch (tell_of(id)) {
	case PROBES_TELL_ALL:
		return true;
	case PROBES_TELL_ARGUMENTS:
		return strcmp(key, "this") && strcmp(key, "result") && strcmp(key, "message");
	default:
		return strcmp(key, "thrown") == 0;
	}
}

static void moved(uint32_t id, uint64_t bytes)
{
	if (tell_of(id) == PROBES_TELL_ALL)
		probe_bytes(id, bytes);
}

static void thrown(uint32_t id, uint64_t token)
{
	if (!token && tell_of(id) == PROBES_TELL_CALLS)
		return;
	if (is_marked(token, SOLO_TOKEN))
		solo_exit(id, token);
	else
		probe_thrown(id, settled(token));
}

TWIN(void, count0, jint id)
{
	probe_count((uint32_t)id);
}

TWIN(void, lane0, jint id, jlong key)
{
	probe_lane_count((uint32_t)id, (uint64_t)key);
}

TWIN(jlong, enter0, jint id)
{
	return (jlong)probe_enter((uint32_t)id);
}

TWIN(jlong, begin0, jint id)
{
	return (jlong)begin((uint32_t)id);
}

TWIN(jboolean, may0, jint id)
{
	return probe_may((uint32_t)id);
}

TWIN(void, undo0, jint id, jlong token)
{
	undo((uint32_t)id, (uint64_t)token);
}

TWIN(void, mute0, jboolean begins)
{
	probe_mute(begins);
}

TWIN(void, exit0, jint id, jlong token)
{
	probe_exit((uint32_t)id, (uint64_t)token);
}

TWIN(void, end0, jint id, jlong token)
{
	end((uint32_t)id, (uint64_t)token);
}

TWIN(void, thrown0, jint id, jlong token)
{
	thrown((uint32_t)id, (uint64_t)token);
}

TWIN(void, bytes0, jint id, jlong count)
{
	moved((uint32_t)id, (uint64_t)count);
}

PLAIN(void, count0, jint id)
{
	(void)jni, (void)c;
	probe_count((uint32_t)id);
}

PLAIN(void, lane0, jint id, jlong key)
{
	(void)jni, (void)c;
	probe_lane_count((uint32_t)id, (uint64_t)key);
}

PLAIN(jlong, enter0, jint id)
{
	(void)jni, (void)c;
	return (jlong)probe_enter((uint32_t)id);
}

PLAIN(jlong, begin0, jint id)
{
	(void)jni, (void)c;
	return (jlong)begin((uint32_t)id);
}

PLAIN(void, undo0, jint id, jlong token)
{
	(void)jni, (void)c;
	undo((uint32_t)id, (uint64_t)token);
}

PLAIN(jboolean, may0, jint id)
{
	(void)jni, (void)c;
	return probe_may((uint32_t)id);
}

PLAIN(void, exit0, jint id, jlong token)
{
	(void)jni, (void)c;
	probe_exit((uint32_t)id, (uint64_t)token);
}

PLAIN(void, end0, jint id, jlong token)
{
	(void)jni, (void)c;
	end((uint32_t)id, (uint64_t)token);
}

PLAIN(void, thrown0, jint id, jlong token)
{
	(void)jni, (void)c;
	thrown((uint32_t)id, (uint64_t)token);
}

PLAIN(void, bytes0, jint id, jlong count)
{
	(void)jni, (void)c;
	moved((uint32_t)id, (uint64_t)count);
}

enum { TEXT_CHARS = 1200 }; /* of one fact; three bytes each at most */

/* The start of a string as (modified) UTF-8; its length. */
static size_t text_of(JNIEnv *jni, jstring s, char out[3 * TEXT_CHARS + 1])
{
	jsize n = (*jni)->GetStringLength(jni, s);

	n = n > TEXT_CHARS ? TEXT_CHARS : n;
	out[0] = '\0';
	(*jni)->GetStringUTFRegion(jni, s, 0, n, out);
	return strnlen(out, 3 * TEXT_CHARS);
}

PLAIN(void, data0, jint id, jstring key, jstring value)
{
	char name[3 * TEXT_CHARS + 1], text[3 * TEXT_CHARS + 1];
	size_t n;

	(void)c;
	if (!key || !value)
		return;
	n = text_of(jni, key, name);
	if (is_told((uint32_t)id, name))
		probe_fact((uint32_t)id, name, n > 32 ? 32 : n, text, text_of(jni, value, text));
}

PLAIN(void, number0, jint id, jstring key, jlong value)
{
	char name[3 * TEXT_CHARS + 1], text[24];
	char *p = text + sizeof(text);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	size_t n;

	(void)c;
	if (!key)
		return;
	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--p = '-';
	n = text_of(jni, key, name);
	if (is_told((uint32_t)id, name))
		probe_fact((uint32_t)id, name, n > 32 ? 32 : n, p,
			   (size_t)(text + sizeof(text) - p));
}

PLAIN(jlong, ask0, jint id)
{
	(void)c;
	return (jlong)stack_ask(jni, (uint32_t)id);
}

PLAIN(void, mute0, jboolean begins)
{
	(void)jni, (void)c;
	probe_mute(begins);
}

PLAIN(jlong, now0)
{
	(void)jni, (void)c;
	return (jlong)probe_now();
}

PLAIN(jlong, shift0, jint id, jlong token, jlong since)
{
	uint64_t mark = (uint64_t)token & PROBE_MARKS;

	(void)jni, (void)c; /* since may be a token, halved */
	return (jlong)(probe_shift((uint32_t)id, (uint64_t)token & ~PROBE_MARKS,
				   (uint64_t)since & ~(PROBE_MARKS >> 1)) |
		       mark);
}

PLAIN(jlong, address0, jint which)
{
	(void)jni, (void)c;
	switch (which) {
	case 0:
		return (jlong)(uintptr_t)probe_count;
	case 1:
		return (jlong)(uintptr_t)probe_enter;
	case 3:
		return (jlong)(uintptr_t)probe_may;
	case 5:
		return (jlong)(uintptr_t)&probe_words;
	case 4:
		return (jlong)(uintptr_t)probe_mute;
	case 6:
		return (jlong)(uintptr_t)probe_lanes();
	case 7:
		return (jlong)(uintptr_t)begin;
	case 8:
		return (jlong)(uintptr_t)end;
	default:
		return (jlong)(uintptr_t)probe_exit;
	}
}

/* ---- classes ------------------------------------------------------------------------------ */

static void keep_own(JNIEnv *jni, jclass class)
{
	for (size_t i = 0; i < probes.n_own; i++)
		if ((*jni)->IsSameObject(jni, probes.own[i], class))
			return;
	if (probes.n_own < COUNT(probes.own))
		probes.own[probes.n_own++] = class;
}

/* The class of that name in java.base: the one there from an earlier attach, or a new one. */
jclass probes_define(JNIEnv *jni, const char *name, const uint8_t *from, const uint8_t *to)
{
	jclass local = (*jni)->FindClass(jni, name);
	jclass global;

	if (!local) {
		(*jni)->ExceptionClear(jni);
		local = (*jni)->DefineClass(jni, name, NULL, (const jbyte *)from,
					    (jsize)(to - from));
	}
	if (!local) {
		(*jni)->ExceptionClear(jni);
		agent_note("%s could not be defined", name);
		return NULL;
	}
	global = (*jni)->NewGlobalRef(jni, local);
	(*jni)->DeleteLocalRef(jni, local);
	if (global)
		keep_own(jni, global);
	return global;
}

const jclass *probes_own(size_t *n)
{
	*n = probes.n_own;
	return probes.own;
}

/* Calls every native once, so that it is linked before woven code needs it: the JVM looks for it
 * by running Java code, which may be woven itself.  Method 0 is nobody's. */
static bool link_natives(JNIEnv *jni)
{
	static const struct {
		const char *name, *desc;
	} natives[] = { { "count0", "(I)V" },
			{ "lane0", "(IJ)V" },
			{ "enter0", "(I)J" },
			{ "begin0", "(I)J" },
			{ "may0", "(I)Z" },
			{ "undo0", "(IJ)V" },
			{ "exit0", "(IJ)V" },
			{ "end0", "(IJ)V" },
			{ "thrown0", "(IJ)V" },
			{ "bytes0", "(IJ)V" },
			{ "ask0", "(I)J" },
			{ "mute0", "(Z)V" },
			{ "now0", "()J" },
			{ "shift0", "(IJJ)J" },
			{ "data0", "(ILjava/lang/String;Ljava/lang/String;)V" },
			{ "number0", "(ILjava/lang/String;J)V" } };
	static const jvalue nothing[3];
	jmethodID id = (*jni)->GetStaticMethodID(jni, probes.main, "address0", "(I)J");

	if (!id ||
	    (*jni)->CallStaticLongMethod(jni, probes.main, id, 0) != (jlong)(uintptr_t)probe_count)
		return false; /* an older library of ours is bound already */
	for (size_t i = 0; i < sizeof(natives) / sizeof(natives[0]); i++) {
		id = (*jni)->GetStaticMethodID(jni, probes.main, natives[i].name, natives[i].desc);
		if (!id)
			return false;
		(*jni)->CallStaticVoidMethodA(jni, probes.main, id, nothing);
		if ((*jni)->ExceptionCheck(jni))
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
	probes.open = (*jni)->NewGlobalRef(jni, local);
	(*jni)->DeleteLocalRef(jni, local);
	return probes.open ? 0 : E_NO_MEMORY;
failed:
	(*jni)->ExceptionClear(jni);
	agent_note("another build of Sonde has been in this JVM; it has to be restarted");
	return E_UNSUPPORTED;
}

/* The flag is gone from JDK 18 on. */
static void critical_switch_on(void)
{
	bool *flag = agent.jdk == 17 ? vmstructs_flag("CriticalJNINatives") : NULL;

	if (flag)
		*flag = true;
	probes.critical = flag != NULL;
}

int probes_init(JNIEnv *jni)
{
	jclass known;
	int rc;

	if (probes.open)
		return 0;
	rc = probe_init(agent.options.memory ? agent.options.memory : AGENT_MEMORY);
	if (rc < 0) {
		agent_note("no memory for the figures");
		return rc;
	}
	meter_prepare(jni);
	critical_switch_on();
	probes.fast_class =
		probes_define(jni, "java/util/SondeFast", probe_class_fast, probe_class_fast_end);
	probes.text_class =
		probes_define(jni, "java/util/SondeText", probe_class_text, probe_class_text_end);
	probes.main =
		probes_define(jni, "java/util/SondeProbe", probe_class_main, probe_class_main_end);
	known = probes_define(jni, "java/util/SondeKnown", probe_class_known,
			      probe_class_known_end);
	if (!probes.main || !probes.fast_class || !probes.text_class || !known)
		return E_UNSUPPORTED;
	return bind(jni);
}

/* ---- gates -------------------------------------------------------------------------------- */

/* What the gates are when no window has closed them, and whether one has.  A thread that loads a
 * class and the agent's both set gates, so the lock is held while the JVM is called; it takes no
 * other one. */
static struct {
	pthread_mutex_t lock;
	jbyte wanted[PROBE_METHODS];
	bool shut;
} gates = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Gates of this thread that the JVM has not been told of yet. */
static __thread struct {
	bool on;
	uint32_t from, to;
} held;

static void set_gates(JNIEnv *jni, uint32_t from, uint32_t to)
{
	if (!gates.shut)
		(*jni)->SetByteArrayRegion(jni, probes.open, (jsize)from, (jsize)(to - from),
					   gates.wanted + from);
}

static void set_gate(JNIEnv *jni, uint32_t id, jbyte value)
{
	if (id >= PROBE_METHODS)
		return;
	pthread_mutex_lock(&gates.lock);
	gates.wanted[id] = value;
	if (!held.on)
		set_gates(jni, id, id + 1);
	else if (held.to == held.from)
		held.from = id, held.to = id + 1;
	else if (id < held.from)
		held.from = id;
	else if (id >= held.to)
		held.to = id + 1;
	pthread_mutex_unlock(&gates.lock);
}

void probes_hold(void)
{
	held.on = true;
	held.from = held.to = 0;
}

void probes_let(JNIEnv *jni)
{
	held.on = false;
	if (held.to == held.from)
		return;
	pthread_mutex_lock(&gates.lock);
	set_gates(jni, held.from, held.to);
	pthread_mutex_unlock(&gates.lock);
}

int probes_gate(uint32_t id)
{
	return id < PROBE_METHODS ? gates.wanted[id] : 0;
}

void probes_shut(JNIEnv *jni, const int8_t *all, uint32_t n)
{
	pthread_mutex_lock(&gates.lock);
	gates.shut = true;
	(*jni)->SetByteArrayRegion(jni, probes.open, 0, (jsize)n, all);
	pthread_mutex_unlock(&gates.lock);
}

void probes_reopen(JNIEnv *jni, uint32_t n)
{
	pthread_mutex_lock(&gates.lock);
	gates.shut = false;
	(*jni)->SetByteArrayRegion(jni, probes.open, 0, (jsize)n, gates.wanted);
	pthread_mutex_unlock(&gates.lock);
}

void probes_tell(uint32_t id, enum probes_tell tell)
{
	if (id < PROBE_METHODS)
		__atomic_store_n(&tells[id], (uint8_t)tell, __ATOMIC_RELAXED);
}

void probes_manner(uint32_t id, enum probes_manner manner)
{
	__atomic_store_n(&manners[id], (uint8_t)manner, __ATOMIC_RELAXED);
}

void probes_open(JNIEnv *jni, uint32_t id, bool ask, bool inside)
{
	jbyte gate = ask ? 3 : 1;

	set_gate(jni, id, inside ? (jbyte)-gate : gate);
}

void probes_close(JNIEnv *jni, uint32_t id)
{
	set_gate(jni, id, 0);
}

void probes_close_all(JNIEnv *jni)
{
	static const jbyte closed[4096];

	pthread_mutex_lock(&gates.lock);
	memset(gates.wanted, 0, sizeof(gates.wanted));
	for (jsize at = 0; probes.open && at < PROBE_METHODS; at += (jsize)sizeof(closed))
		(*jni)->SetByteArrayRegion(jni, probes.open, at, (jsize)sizeof(closed), closed);
	pthread_mutex_unlock(&gates.lock);
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

/* Without one, each foreign call takes a dozen interpreted ones: Tomcat with all methods hooked took
 * eight minutes to start. */
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

bool probes_go_fast(JNIEnv *jni)
{
	if (agent.jdk < 22 || probes.fast || probes.fast_failed || !probes.open ||
	    agent.options.jni)
		return true;
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
