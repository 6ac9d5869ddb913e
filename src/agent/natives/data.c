/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - numbers for sites and slots, and their counterparts in Java.
 *
 * The same step gets the same number, whichever rule it stands in, so a class that is woven again
 * looks the same, and tables in Java stay small. */
#include "agent/natives/data.h"

#include "agent/core/agent.h"
#include "agent/core/own.h"
#include "agent/natives/handover.h"
#include "base/map.h"
#include "probe/probe.h"
#include "rule/print.h"
#include "rule/rules.h"

extern const uint8_t probe_class_access[], probe_class_access_end[];
extern const uint8_t probe_class_chars[], probe_class_chars_end[];
extern const uint8_t probe_class_site[], probe_class_site_end[];
extern const uint8_t probe_class_held[], probe_class_held_end[];
extern const uint8_t probe_class_data[], probe_class_data_end[];

static struct {
	pthread_mutex_t lock; /* of the tables; never held while the JVM is called */
	bool ready, defined;
	struct arena mem;
	struct map numbers; /* the site as text -> number + 1 */
	struct cond_site sites[DATA_SITES];
	bool bound[DATA_SITES]; /* the agent's thread alone */
	int32_t n_sites;
	char *slots[DATA_SLOTS];
	int32_t n_slots;
	jclass site_class, held_class, main;
	jfieldID guard;
} data = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Counted by observed threads; atomic. */
static uint32_t missed[MISS_KINDS][PROBE_METHODS];

/* ---- numbers ------------------------------------------------------------------------------ */

static void key_of(const struct cond_site *site, struct buf *out)
{
	buf_printf(out, "%d%s%.*s", (int)site->kind, site->trusted ? "!" : "",
		   SLICE_FMT(site->name));
	for (const struct value *v = site->args; v; v = v->next) {
		buf_u8(out, ',');
		value_print(v, out);
	}
}

static struct value *copy_values(const struct value *v)
{
	struct value *first = NULL, **link = &first;

	for (; v; v = v->next) {
		*link = arena_copy(&data.mem, v, sizeof(*v));
		if (!*link)
			return NULL;
		(*link)->text = arena_dup(&data.mem, v->text);
		(*link)->next = NULL;
		link = &(*link)->next;
	}
	return first;
}

/* With the lock. */
static int32_t add_site(const struct cond_site *site, struct slice key)
{
	struct cond_site *own = &data.sites[data.n_sites];
	struct slice kept;
	uintptr_t *place;
	bool fresh;

	if (!data.ready) {
		arena_init(&data.mem);
		map_init(&data.numbers);
		data.ready = true;
	}
	place = map_get(&data.numbers, key);
	if (place)
		return (int32_t)*place - 1;
	if (data.n_sites == DATA_SITES)
		return E_LIMIT;
	*own = *site;
	own->name = arena_dup(&data.mem, site->name);
	own->args = copy_values(site->args);
	kept = arena_dup(&data.mem, key);
	if ((site->args && !own->args) || !kept.p)
		return E_NO_MEMORY;
	place = map_put(&data.numbers, kept, &fresh);
	if (!place)
		return E_NO_MEMORY;
	*place = (uintptr_t)++data.n_sites;
	return data.n_sites - 1;
}

static int32_t number_of_site(void *ctx, const struct cond_site *site)
{
	struct buf key = { 0 };
	int32_t n;

	(void)ctx;
	key_of(site, &key);
	pthread_mutex_lock(&data.lock);
	n = key.err ? key.err : add_site(site, buf_slice(&key));
	pthread_mutex_unlock(&data.lock);
	buf_release(&key);
	return n;
}

static const char *const hops[] = { "sonde_submit", "sonde_run", "sonde_begin", "sonde_end" };

bool data_is_hop(struct slice name)
{
	for (size_t i = 0; i < sizeof(hops) / sizeof(hops[0]); i++)
		if (slice_is(name, hops[i]))
			return true;
	return false;
}

static int32_t number_of_slot(void *ctx, struct slice name)
{
	int32_t n = 0;

	(void)ctx;
	for (int32_t i = 0; i < (int32_t)(sizeof(hops) / sizeof(hops[0])); i++)
		if (slice_is(name, hops[i]))
			return DATA_HOP + i;
	pthread_mutex_lock(&data.lock);
	while (n < data.n_slots && !slice_is(name, data.slots[n]))
		n++;
	if (n == data.n_slots && n < DATA_HOP) {
		if (!data.ready) {
			arena_init(&data.mem);
			map_init(&data.numbers);
			data.ready = true;
		}
		data.slots[n] = arena_str(&data.mem, name);
		if (data.slots[n]) /* observed threads read it without the lock */
			__atomic_store_n(&data.n_slots, n + 1, __ATOMIC_RELEASE);
		else
			n = E_NO_MEMORY;
	} else if (n == DATA_HOP) {
		n = E_LIMIT;
	}
	pthread_mutex_unlock(&data.lock);
	return n;
}

const struct cond_numbers *data_ready(void)
{
	static const struct cond_numbers numbers = { .site = number_of_site,
						     .slot = number_of_slot };

	return __atomic_load_n(&data.defined, __ATOMIC_ACQUIRE) ? &numbers : NULL;
}

const struct cond_site *data_site(int32_t number)
{
	return number >= 0 && number < __atomic_load_n(&data.n_sites, __ATOMIC_ACQUIRE)
		       ? &data.sites[number]
		       : NULL;
}

const char *data_slot_name(uint32_t slot)
{
	return (int32_t)slot < __atomic_load_n(&data.n_slots, __ATOMIC_ACQUIRE) ? data.slots[slot]
										: NULL;
}

/* ---- classes ------------------------------------------------------------------------------ */

int data_init(JNIEnv *jni)
{
	jmethodID warm;

	if (data.defined)
		return 0;
	/* Each is defined before those that need it are linked. */
	if (!own_define(jni, "java/util/SondeChars", probe_class_chars, probe_class_chars_end) ||
	    !own_define(jni, "java/util/SondeAccess", probe_class_access, probe_class_access_end))
		return E_UNSUPPORTED;
	data.site_class =
		own_define(jni, "java/util/SondeSite", probe_class_site, probe_class_site_end);
	data.main = own_define(jni, "java/util/SondeData", probe_class_data, probe_class_data_end);
	data.held_class =
		own_define(jni, "java/util/SondeHeld", probe_class_held, probe_class_held_end);
	if (!data.site_class || !data.main || !data.held_class || handover_define(jni) < 0)
		return E_UNSUPPORTED;
	warm = (*jni)->GetStaticMethodID(jni, data.main, "warm", "()V");
	if (warm)
		(*jni)->CallStaticVoidMethod(jni, data.main, warm);
	if (warm && !(*jni)->ExceptionCheck(jni))
		data.guard = (*jni)->GetStaticFieldID(jni, data.main, "isGuarded", "Z");
	if (!(*jni)->ExceptionCheck(jni)) {
		__atomic_store_n(&data.defined, true, __ATOMIC_RELEASE);
		return 0;
	}
	(*jni)->ExceptionClear(jni);
	agent_note("conditions cannot be decided in this JVM");
	return E_UNSUPPORTED;
}

void data_guard(JNIEnv *jni)
{
	if (data.guard)
		(*jni)->SetStaticBooleanField(jni, data.main, data.guard, JNI_TRUE);
}

/* ---- binding ------------------------------------------------------------------------------ */

struct binding {
	JNIEnv *jni;
	const struct rule *rule;
	struct rule_errors errors;
	struct arena mem;
};

static jstring java_string(struct binding *b, struct slice text)
{
	struct slice java = cond_java_text(&b->mem, text);
	char *s = java.p ? arena_str(&b->mem, java) : NULL;

	return s ? (*b->jni)->NewStringUTF(b->jni, s) : NULL;
}

static jobject box(struct binding *b, const char *class, const char *desc, jvalue v)
{
	jclass c = (*b->jni)->FindClass(b->jni, class);
	jmethodID id = c ? (*b->jni)->GetStaticMethodID(b->jni, c, "valueOf", desc) : NULL;

	return id ? (*b->jni)->CallStaticObjectMethodA(b->jni, c, id, &v) : NULL;
}

static jobject java_literal(struct binding *b, const struct value *v)
{
	switch (v->kind) {
	case VALUE_STRING:
		return java_string(b, v->text);
	case VALUE_CHAR:
		return box(b, "java/lang/Character", "(C)Ljava/lang/Character;",
			   (jvalue){ .c = (jchar)v->number });
	case VALUE_INT:
		return box(b, "java/lang/Integer", "(I)Ljava/lang/Integer;",
			   (jvalue){ .i = (jint)v->number });
	case VALUE_LONG:
		return box(b, "java/lang/Long", "(J)Ljava/lang/Long;", (jvalue){ .j = v->number });
	case VALUE_DOUBLE:
		return box(b, "java/lang/Double", "(D)Ljava/lang/Double;",
			   (jvalue){ .d = v->real });
	case VALUE_BOOL:
		return box(b, "java/lang/Boolean", "(Z)Ljava/lang/Boolean;",
			   (jvalue){ .z = (jboolean)v->number });
	default:
		return NULL;
	}
}

static jobjectArray java_literals(struct binding *b, const struct value *args)
{
	JNIEnv *jni = b->jni;
	jclass object = (*jni)->FindClass(jni, "java/lang/Object");
	jobjectArray all;
	jsize n = 0;

	for (const struct value *v = args; v; v = v->next)
		n++;
	all = object ? (*jni)->NewObjectArray(jni, n, object, NULL) : NULL;
	n = 0;
	for (const struct value *v = args; all && v; v = v->next) {
		jobject x = java_literal(b, v);

		(*jni)->SetObjectArrayElement(jni, all, n++, x);
		(*jni)->DeleteLocalRef(jni, x);
	}
	return all;
}

/* What a PatternSyntaxException says. */
static void tell_exception(struct binding *b, struct rule_pos at)
{
	JNIEnv *jni = b->jni;
	jthrowable e = (*jni)->ExceptionOccurred(jni);
	char text[160] = "it could not be made";
	jmethodID id;
	jstring s;

	(*jni)->ExceptionClear(jni);
	id = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, e), "getDescription",
				 "()Ljava/lang/String;");
	s = id ? (*jni)->CallObjectMethod(jni, e, id) : NULL;
	(*jni)->ExceptionClear(jni);
	if (s) {
		jsize n = (*jni)->GetStringLength(jni, s);

		(*jni)->GetStringUTFRegion(jni, s, 0, n > 50 ? 50 : n, text);
	}
	rule_error_add(&b->errors, b->rule->source, at, NULL,
		       id ? "Java does not understand the regular expression: %s"
			  : "the condition cannot be set up: %s",
		       text);
}

static int bind_site(void *ctx, const struct cond_site *site, struct rule_pos at)
{
	struct binding *b = ctx;
	JNIEnv *jni = b->jni;
	int32_t number = number_of_site(NULL, site);
	jmethodID bind;
	struct slice name = site->name;

	if (number < 0)
		return rule_error_add(&b->errors, b->rule->source, at, NULL,
				      "there are too many conditions");
	if (data.bound[number])
		return 0;
	if ((*jni)->PushLocalFrame(jni, 32) < 0)
		return E_NO_MEMORY;
	if (site->kind == SITE_TYPE) {
		uint8_t *p = arena_copy(&b->mem, name.p, name.n);

		bytes_replace(p, p ? name.n : 0, '/', '.');
		name.p = p;
	}
	bind = (*jni)->GetStaticMethodID(jni, data.site_class, "bind",
					 "(IILjava/lang/String;[Ljava/lang/Object;)V");
	if (bind && name.p)
		(*jni)->CallStaticVoidMethod(jni, data.site_class, bind, (jint)number,
					     (jint)site->kind, java_string(b, name),
					     java_literals(b, site->args));
	else if (bind)
		(*jni)->CallStaticVoidMethod(jni, data.site_class, bind, (jint)number,
					     (jint)site->kind, NULL, java_literals(b, site->args));
	data.bound[number] = bind && !(*jni)->ExceptionCheck(jni);
	if (!data.bound[number])
		tell_exception(b, at);
	(*jni)->PopLocalFrame(jni, NULL);
	return data.bound[number] ? 0 : E_SYNTAX;
}

/* A captured value whose name, or the way to which, looks like a secret's is counted, not shown. */
static int bind_capture(struct binding *b)
{
	const struct rule_capture *capture = &b->rule->capture;
	int32_t slot = number_of_slot(NULL, capture->name);
	JNIEnv *jni = b->jni;
	jmethodID id;
	struct buf way = { 0 };

	if (slot < 0)
		return rule_error_add(&b->errors, b->rule->source, b->rule->at, NULL,
				      "more than %d names are captured under", (int)DATA_HOP);
	buf_put(&way, capture->name);
	buf_u8(&way, ' ');
	value_print(capture->value, &way);
	id = (*jni)->GetStaticMethodID(jni, data.held_class, "name", "(ILjava/lang/String;)V");
	if (id && !way.err && (*jni)->PushLocalFrame(jni, 8) == 0) {
		(*jni)->CallStaticVoidMethod(jni, data.held_class, id, (jint)slot,
					     java_string(b, buf_slice(&way)));
		(*jni)->PopLocalFrame(jni, NULL);
	}
	(*jni)->ExceptionClear(jni);
	buf_release(&way);
	return 0;
}

int data_bind(JNIEnv *jni, const struct rules *rules, struct buf *why)
{
	struct binding b = { .jni = jni };
	int rc = 0;

	arena_init(&b.mem);
	for (size_t i = 0; i < rules->n && rc >= 0; i++) {
		b.rule = rules->all[i];
		if (b.rule->kind == RULE_HOOK && b.rule->hook.condition)
			rc = cond_sites(b.rule->hook.condition, bind_site, &b);
		else if (b.rule->kind == RULE_CAPTURE)
			rc = cond_value_sites(b.rule->capture.value, bind_site, &b);
		if (rc >= 0 && b.rule->kind == RULE_CAPTURE)
			rc = bind_capture(&b);
	}
	rule_errors_print(&b.errors, why);
	arena_release(&b.mem);
	return rc;
}

jobject data_reach(JNIEnv *jni, jobject x, int32_t site)
{
	jmethodID reach = (*jni)->GetStaticMethodID(jni, data.main, "reach",
						    "(Ljava/lang/Object;I)Ljava/lang/Object;");

	if (reach)
		x = (*jni)->CallStaticObjectMethod(jni, data.main, reach, x, (jint)site);
	(*jni)->ExceptionClear(jni);
	return reach ? x : NULL;
}

/* ---- what could not be had ---------------------------------------------------------------- */

void data_miss(uint32_t id, int why)
{
	if (why >= 0 && why < MISS_KINDS && id > 0 && id < PROBE_METHODS)
		__atomic_fetch_add(&missed[why][id], 1, __ATOMIC_RELAXED);
}

void data_missed(uint32_t id, uint64_t out[MISS_KINDS])
{
	for (int k = 0; k < MISS_KINDS; k++)
		out[k] = id < PROBE_METHODS ? __atomic_load_n(&missed[k][id], __ATOMIC_RELAXED) : 0;
}

void data_forget(uint32_t id)
{
	for (int k = 0; k < MISS_KINDS; k++)
		if (__atomic_load_n(&missed[k][id], __ATOMIC_RELAXED))
			__atomic_store_n(&missed[k][id], 0, __ATOMIC_RELAXED);
}

const char *data_miss_text(enum data_miss kind)
{
	static const char *const texts[] = { [MISS_NULL] = "null on the way",
					     [MISS_THROWN] = "a getter threw",
					     [MISS_NO_MEMBER] = "no such field or method",
					     [MISS_REFUSED] = "a getter that is not called" };

	return texts[kind];
}
