/* SPDX-License-Identifier: Apache-2.0 */
/* natives.c - what woven code, and the classes that it calls, call in C.
 *
 * Observed threads run all of this in the midst of the program's calls, so the rule of src/probe
 * holds here, too: no memory is taken, no lock, nothing is printed.  tools/check-probe knows by name
 * what this object and those that it calls may use, and which of that is dear: a look at the stack,
 * what conditions and watched calls ask of the JVM.
 *
 * The JVM finds these by name: RegisterNatives would make it warn on the program's stdout, since
 * the classes are of java.base.  The JavaCritical_ twins are found beside them. */
#include "agent/natives/natives.h"

#include <string.h>

#include "base/utf8.h"
#include "agent/natives/data.h"
#include "agent/natives/stack.h"
#include "agent/natives/value_text.h"
#include "base/tick.h"
#include "probe/probe.h"
#include "probe/solo.h"
#include "probe/trace.h"

#define NATIVE __attribute__((visibility("default"))) PROBE_NEAR
#define PLAIN(type, class, name, ...)                                                              \
	NATIVE type JNICALL Java_java_util_##class##_##name(JNIEnv *jni, jclass c, ##__VA_ARGS__); \
	NATIVE type JNICALL Java_java_util_##class##_##name(JNIEnv *jni, jclass c, ##__VA_ARGS__)
#define TWIN(type, name, ...)                                                      \
	NATIVE type JNICALL JavaCritical_java_util_SondeProbe_##name(__VA_ARGS__); \
	NATIVE type JNICALL JavaCritical_java_util_SondeProbe_##name(__VA_ARGS__)

/* ---- calls -------------------------------------------------------------------------------- */

/* Set under agent.lock, read by observed threads: a byte each, so an old one does no harm. */
static uint8_t manners[PROBE_METHODS]; /* enum natives_manner */
static uint8_t tells[PROBE_METHODS];   /* enum natives_tell */

void natives_manner(uint32_t id, enum natives_manner manner)
{
	if (id < PROBE_METHODS)
		__atomic_store_n(&manners[id], (uint8_t)manner, __ATOMIC_RELAXED);
}

void natives_tell(uint32_t id, enum natives_tell tell)
{
	if (id < PROBE_METHODS)
		__atomic_store_n(&tells[id], (uint8_t)tell, __ATOMIC_RELAXED);
}

/* Of a method whose gate is open at times. */
static PROBE_NEAR uint64_t begin(uint32_t id)
{
	switch (__atomic_load_n(&manners[id & (PROBE_METHODS - 1)], __ATOMIC_RELAXED)) {
	case CALLS_SOLO:
		return solo_enter(id);
	case CALLS_MARK:
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

static enum natives_tell tell_of(uint32_t id)
{
	return __atomic_load_n(&tells[id & (PROBE_METHODS - 1)], __ATOMIC_RELAXED);
}

/* Is a fact of that name wanted? */
static bool is_told(uint32_t id, const char *key)
{
	switch (tell_of(id)) {
	case CALLS_TELL_ALL:
		return true;
	case CALLS_TELL_ARGUMENTS:
		return strcmp(key, "this") && strcmp(key, "result") && strcmp(key, "message");
	default:
		return strcmp(key, "thrown") == 0;
	}
}

static void moved(uint32_t id, uint64_t bytes)
{
	if (tell_of(id) == CALLS_TELL_ALL)
		probe_bytes(id, bytes);
}

static void thrown(uint32_t id, uint64_t token)
{
	if (!token && tell_of(id) == CALLS_TELL_CALLS)
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

PLAIN(void, SondeProbe, count0, jint id)
{
	(void)jni, (void)c;
	probe_count((uint32_t)id);
}

PLAIN(void, SondeProbe, lane0, jint id, jlong key)
{
	(void)jni, (void)c;
	probe_lane_count((uint32_t)id, (uint64_t)key);
}

PLAIN(jlong, SondeProbe, enter0, jint id)
{
	(void)jni, (void)c;
	return (jlong)probe_enter((uint32_t)id);
}

PLAIN(jlong, SondeProbe, begin0, jint id)
{
	(void)jni, (void)c;
	return (jlong)begin((uint32_t)id);
}

PLAIN(void, SondeProbe, undo0, jint id, jlong token)
{
	(void)jni, (void)c;
	undo((uint32_t)id, (uint64_t)token);
}

PLAIN(jboolean, SondeProbe, may0, jint id)
{
	(void)jni, (void)c;
	return probe_may((uint32_t)id);
}

PLAIN(void, SondeProbe, exit0, jint id, jlong token)
{
	(void)jni, (void)c;
	probe_exit((uint32_t)id, (uint64_t)token);
}

PLAIN(void, SondeProbe, end0, jint id, jlong token)
{
	(void)jni, (void)c;
	end((uint32_t)id, (uint64_t)token);
}

PLAIN(void, SondeProbe, thrown0, jint id, jlong token)
{
	(void)jni, (void)c;
	thrown((uint32_t)id, (uint64_t)token);
}

PLAIN(void, SondeProbe, bytes0, jint id, jlong count)
{
	(void)jni, (void)c;
	moved((uint32_t)id, (uint64_t)count);
}

/* Of one fact: BYTES of SondeText and its three dots.  Each takes three bytes at most. */
enum { TEXT_CHARS = 1203 };

/* The start of a string as (modified) UTF-8; its length. */
static size_t text_of(JNIEnv *jni, jstring s, char out[3 * TEXT_CHARS + 1])
{
	jsize n = (*jni)->GetStringLength(jni, s);

	n = n > TEXT_CHARS ? TEXT_CHARS : n;
	out[0] = '\0';
	(*jni)->GetStringUTFRegion(jni, s, 0, n, out);
	return strnlen(out, 3 * TEXT_CHARS);
}

PLAIN(void, SondeProbe, data0, jint id, jstring key, jstring value)
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

PLAIN(void, SondeProbe, number0, jint id, jstring key, jlong value)
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

PLAIN(jlong, SondeProbe, ask0, jint id)
{
	(void)c;
	return (jlong)stack_ask(jni, (uint32_t)id);
}

PLAIN(void, SondeProbe, mute0, jboolean begins)
{
	(void)jni, (void)c;
	probe_mute(begins);
}

PLAIN(jlong, SondeProbe, now0)
{
	(void)jni, (void)c;
	return (jlong)probe_now();
}

PLAIN(jlong, SondeProbe, shift0, jint id, jlong token, jlong since)
{
	uint64_t mark = (uint64_t)token & PROBE_MARKS;

	(void)jni, (void)c; /* since may be a token, halved */
	return (jlong)(probe_shift((uint32_t)id, (uint64_t)token & ~PROBE_MARKS,
				   (uint64_t)since & ~(PROBE_MARKS >> 1)) |
		       mark);
}

PLAIN(jlong, SondeProbe, address0, jint which)
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

/* ---- work that changes threads ------------------------------------------------------------- */

PLAIN(jboolean, SondeHop, inside0)
{
	(void)jni, (void)c;
	return probe_trace_is_in();
}

PLAIN(jlong, SondeHop, submit0)
{
	(void)jni, (void)c;
	return (jlong)probe_trace_submit();
}

PLAIN(jboolean, SondeHop, begin0, jlong work)
{
	(void)jni, (void)c;
	return probe_trace_begin((uint64_t)work);
}

PLAIN(void, SondeHop, end0, jlong work)
{
	(void)jni, (void)c;
	probe_trace_end((uint64_t)work);
}

PLAIN(jintArray, SondeHop, steps0)
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

PLAIN(jlong, SondeHop, enter0, jintArray steps)
{
	uint32_t kids[PROBE_HANDED];

	(void)c;
	return (jlong)probe_handed_begin(kids, steps_of(jni, steps, kids));
}

PLAIN(void, SondeHop, leave0, jintArray steps, jlong token)
{
	uint32_t kids[PROBE_HANDED];

	(void)c;
	probe_handed_end(kids, steps_of(jni, steps, kids), (uint64_t)token);
}

PLAIN(void, SondeHop, cancel0, jlong work)
{
	(void)jni, (void)c;
	probe_trace_cancel((uint64_t)work);
}

/* ---- captured values and conditions -------------------------------------------------------- */

PLAIN(void, SondeHeld, seen0, jint number, jstring text)
{
	char copy[3 * SEEN_TEXT + 1] = "";
	jsize chars;
	size_t n;

	(void)c;
	if (!text) /* at the start, to be linked */
		return;
	chars = (*jni)->GetStringLength(jni, text);
	(*jni)->GetStringUTFRegion(jni, text, 0, chars > SEEN_TEXT ? SEEN_TEXT : chars, copy);
	n = strnlen(copy, SEEN_TEXT - 1);
	while (n && n == SEEN_TEXT - 1 && utf8_is_inner((uint8_t)copy[n]))
		n--; /* not in the middle of a character */
	copy[n] = '\0';
	data_see((uint32_t)number, copy, n);
}

PLAIN(void, SondeData, miss0, jint id, jint why)
{
	(void)jni, (void)c;
	data_miss((uint32_t)id, why);
}

PLAIN(jobject, SondeSite, find0, jclass of, jint number)
{
	(void)c;
	return data_find(jni, of, number);
}

PLAIN(jobjectArray, SondeKnown, fields0, jclass of)
{
	(void)c;
	return value_text_fields(jni, of);
}
