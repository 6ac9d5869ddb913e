/* SPDX-License-Identifier: Apache-2.0 */
/* data_check.c - do conditions fit the classes that are there?
 *
 * A rule with a pattern may be meant for more methods than its condition is possible for; those
 * are left alone.  It is wrong when it is possible for none. */
#include <stdio.h>

#include "agent/classes/ancestry.h"
#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "agent/natives/data.h"
#include "agent/natives/side_effects.h"
#include "agent/natives/members.h"
#include "rule/rules.h"

enum { METHODS_MAX = 2000 }; /* looked at for one rule */

struct fitting {
	JNIEnv *jni;
	struct members book;
	struct arena mem, work;
	const struct rule *rule;
	size_t fits, misfits;
	struct cond_trouble first; /* of the misfits */
};

static void look_at_method(struct fitting *f, const struct rule_class *facts,
			   const struct cond_member *m)
{
	struct rule_method method = { .name = m->name, .desc = m->desc, .access = m->access };
	struct cond_method cm = { facts->name, m->name, m->desc, m->access };
	struct cond_trouble t = { 0 };
	int rc;

	if (f->fits + f->misfits >= METHODS_MAX ||
	    rule_target_test(&f->rule->target, facts, &method, facts->lineage).answer != TARGET_HIT)
		return;
	rc = f->rule->kind == RULE_CAPTURE
		     ? cond_check_value(f->rule->capture.value, &cm, &f->book.classes, &t)
		     : cond_check(f->rule->hook.condition, &cm, &f->book.classes, &t);
	if (rc >= 0) {
		f->fits++;
		return;
	}
	if (!f->misfits++)
		f->first = t;
}

static void look_at_class(struct fitting *f, jclass klass)
{
	const struct cond_class *c;
	struct rule_lineage *room;
	struct kin_of kin;

	arena_reset(&f->work);
	if (ancestry_of_class(&kin, f->jni, klass, &f->work, f->rule->target.kin_count != 0) < 0)
		return;
	room = arena_alloc(&f->work, sizeof(*room));
	if (!room)
		return;
	room->ready = false;
	kin.list[0].lineage = room;
	if (rule_target_test(&f->rule->target, &kin.list[0], NULL, room).answer > TARGET_MAYBE)
		return;
	c = members_class(&f->book, klass);
	(*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &f->book.loader);
	for (size_t i = 0; c && i < c->n_methods; i++)
		look_at_method(f, &kin.list[0], &c->methods[i]);
	if (f->book.loader)
		(*f->jni)->DeleteLocalRef(f->jni, f->book.loader);
	f->book.loader = NULL;
}

static bool is_about_data(const struct rule *r)
{
	return r->kind == RULE_CAPTURE || (r->kind == RULE_HOOK && r->hook.condition);
}

int data_check(JNIEnv *jni, const struct rules *rules, struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct fitting f = { .jni = jni };
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < rules->n; i++)
		n += is_about_data(rules->all[i]);
	if (!n)
		return 0;
	arena_init(&f.mem);
	arena_init(&f.work);
	rc = members_open(&f.book, jni, &f.mem);
	f.book.classes.harm = side_effects_of;
	for (size_t i = 0; i < rules->n && rc >= 0; i++) {
		f.rule = rules->all[i];
		f.fits = f.misfits = 0;
		if (!is_about_data(f.rule))
			continue;
		for (jint k = 0; k < f.book.n; k++)
			look_at_class(&f, f.book.all[k]);
		if (f.misfits && !f.fits)
			rule_error_add(&errors, f.rule->source, f.first.at,
				       f.first.hint[0] ? f.first.hint : NULL, "%s", f.first.text);
	}
	if (rc >= 0) {
		members_close(&f.book);
		rc = errors.n ? E_CONDITION : 0;
	}
	rule_errors_print(&errors, why);
	arena_release(&f.work);
	arena_release(&f.mem);
	return rc;
}

/* { the class, the first letter of the field's type and its name } */
static jobject as_field(JNIEnv *jni, const struct cond_class *c, const struct cond_member *field)
{
	jclass object = (*jni)->FindClass(jni, "java/lang/Object");
	jobjectArray pair = object ? (*jni)->NewObjectArray(jni, 2, object, NULL) : NULL;
	char name[512];

	snprintf(name, sizeof(name), "%c%.*s", field->desc.p[0], SLICE_FMT(field->name));
	if (pair) {
		(*jni)->SetObjectArrayElement(jni, pair, 0, c->id);
		(*jni)->SetObjectArrayElement(jni, pair, 1, (*jni)->NewStringUTF(jni, name));
	}
	return pair;
}

/* Any thread; a leaf lock. */
static struct {
	pthread_mutex_t lock;
	char text[256];
} refused = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A getter that is not called; what it does is remembered, for people who wonder. */
static jobject refuse(JNIEnv *jni, const struct cond_class *c, const struct cond_member *m,
		      const char *why)
{
	char text[sizeof(refused.text)];

	snprintf(text, sizeof(text), "%.*s.%.*s %s", SLICE_FMT(c->name), SLICE_FMT(m->name), why);
	bytes_replace(text, c->name.n < sizeof(text) ? c->name.n : sizeof(text), '/', '.');
	pthread_mutex_lock(&refused.lock);
	memcpy(refused.text, text, sizeof(text));
	pthread_mutex_unlock(&refused.lock);
	return (*jni)->NewStringUTF(jni, "refused");
}

void data_refused(char *out, size_t cap)
{
	pthread_mutex_lock(&refused.lock);
	snprintf(out, cap, "%s", refused.text);
	pthread_mutex_unlock(&refused.lock);
}

jobject data_find(JNIEnv *jni, jclass c, int32_t number)
{
	const struct cond_site *site = data_site(number);
	const struct cond_class *cls, *owner = NULL;
	const struct cond_member *m = NULL, *field;
	struct cond_trouble t = { 0 };
	struct members book;
	struct arena mem;
	char why[160] = "";
	jobject out = NULL;

	if (!site || agent.dead || !guests_come())
		return NULL;
	arena_init(&mem);
	if (members_open_one(&book, jni, &mem, c) >= 0) {
		cls = members_class(&book, c);
		if (cls)
			m = cond_find_method(cls, site, &book.classes, &owner, &t);
		field = m ? side_effects_plain(owner, m) : NULL;
		if (field)
			out = as_field(jni, owner, field);
		else if (m && !site->trusted && side_effects_of(&book, owner, m, why, sizeof(why)))
			out = refuse(jni, owner, m, why);
		else if (m)
			out = (*jni)->ToReflectedMethod(jni, owner->id, m->id,
							(m->access & ACC_STATIC) != 0);
		members_close(&book);
	}
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		out = NULL;
	}
	arena_release(&mem);
	guests_go();
	return out;
}
