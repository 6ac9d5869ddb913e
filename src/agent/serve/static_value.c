/* SPDX-License-Identifier: Apache-2.0 */
/* static_value.c - "a.b.C.FIELD.path" is taken apart where a loaded class has such a field.
 *
 * Nothing is loaded, initialised or written.  The steps below the field are those of conditions,
 * read by the same parser and taken by the same code (SondeSite); getters that do more than give a
 * value, and collections that take a lock or belong to the program, are refused, since this is the
 * agent's thread. */
#include "agent/serve/static_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/core/agent.h"
#include "agent/natives/data.h"
#include "agent/natives/probes.h"
#include "agent/natives/value_text.h"
#include "agent/serve/classwalk.h"
#include "base/arena.h"
#include "base/plural.h"
#include "classfile/access.h"
#include "classfile/desc.h"
#include "rule/rules.h"
#include "rule/text.h"
#include "wire/wire.h"

enum { SPLITS_MAX = 24, HITS_MAX = 16, TEXT_MAX = 2000, FIELDS_MAX = 1000, DEPTH = 2 };

struct field {
	jfieldID id;
	char *name, *desc; /* JVMTI's */
	jint access;
};

struct reading_of {		    /* one way to read the text */
	char class[CLASSWALK_NAME]; /* a/b/C */
	struct slice field, rest;   /* FIELD; .path.below[0] */
};

struct hit {
	jclass class;
	char name[CLASSWALK_NAME];
	const struct reading_of *split;
};

struct search {
	JNIEnv *jni;
	struct conn *c;
	struct wire_ask_value asked;
	char text[TEXT_MAX];
	struct reading_of splits[SPLITS_MAX];
	size_t n_splits;
	struct hit hits[HITS_MAX];
	size_t n_hits, classes; /* classes: names that differ */
	unsigned best;		/* of the hits */
	struct arena mem;
	/* For who has named nothing. */
	char fitting[CLASSWALK_NAME]; /* a class that is meant, but has no such static field */
	char near[CLASSWALK_NAME];
	char unused[CLASSWALK_NAME]; /* ... or has no fields yet */
	struct text_guess guess;     /* of its fields */
	bool in_objects;	     /* it is a field, but not a static one */
	char near_class[CLASSWALK_NAME];
	struct text_guess classes_guess;
	uint64_t loaded;
	bool missing; /* a step could not be taken */
};

/* ---- reading the text ---- */

static void add_split(struct search *s, struct slice class, struct slice rest)
{
	struct reading_of *p = &s->splits[s->n_splits];
	size_t n = 0;

	if (s->n_splits == SPLITS_MAX || !class.n || class.n >= sizeof(p->class))
		return;
	while (n < rest.n && rest.p[n] != '.' && rest.p[n] != '[' && rest.p[n] != '(')
		n++;
	if (n < rest.n && rest.p[n] == '(')
		return; /* no field */
	snprintf(p->class, sizeof(p->class), "%.*s", SLICE_FMT(class));
	text_replace(p->class, '.', '/');
	p->field = (struct slice){ rest.p, n };
	p->rest = (struct slice){ rest.p + n, rest.n - n };
	s->n_splits++;
}

static void read_text(struct search *s)
{
	struct slice all = slice_str(s->text);
	char *at = strstr(s->text, "::");

	if (at) {
		size_t n = (size_t)(at - s->text);

		add_split(s, (struct slice){ all.p, n },
			  (struct slice){ all.p + n + 2, all.n - n - 2 });
		return;
	}
	for (size_t i = 0; i < all.n && all.p[i] != '[' && all.p[i] != '('; i++)
		if (all.p[i] == '.')
			add_split(s, (struct slice){ all.p, i },
				  (struct slice){ all.p + i + 1, all.n - i - 1 });
	if (!memchr(all.p, '[', all.n) && !memchr(all.p, '(', all.n))
		add_split(s, all, (struct slice){ all.p + all.n, 0 });
}

/* ---- fields ---- */

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

/* Calls visit for each field of the class itself; true: it has said so of one. */
static bool any_field(jclass class, bool (*visit)(void *ctx, const struct field *f), void *ctx)
{
	jfieldID *ids = NULL;
	bool hit = false;
	jint n = 0;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, class, &n, &ids) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < n && i < FIELDS_MAX && !hit; i++) {
		struct field f = { .id = ids[i] };

		(*agent.jvmti)->GetFieldModifiers(agent.jvmti, class, f.id, &f.access);
		if ((*agent.jvmti)
			    ->GetFieldName(agent.jvmti, class, f.id, &f.name, &f.desc, NULL) !=
		    JVMTI_ERROR_NONE)
			continue;
		hit = visit(ctx, &f);
		drop(f.name);
		drop(f.desc);
	}
	drop(ids);
	return hit;
}

struct wanted {
	struct search *s;
	struct slice name;
};

static bool is_wanted(void *ctx, const struct field *f)
{
	struct wanted *w = ctx;
	struct search *s = w->s;

	if (slice_is(w->name, f->name) && f->access & ACC_STATIC)
		return true;
	s->in_objects |= slice_is(w->name, f->name);
	if (f->access & ACC_STATIC) {
		unsigned before = s->guess.best.p ? s->guess.distance : UINT32_MAX;

		text_guess_try(&s->guess, slice_str(f->name));
		if (s->guess.best.p && s->guess.distance < before)
			snprintf(s->near, sizeof(s->near), "%s", f->name);
	}
	return false;
}

/* ---- which class is meant ---- */

static bool is_known_name(const struct search *s, struct slice name)
{
	for (size_t i = 0; i < s->n_hits; i++)
		if (slice_is(name, s->hits[i].name))
			return true;
	return false;
}

static void take_hit(struct search *s, jclass class, struct slice name, const struct reading_of *p,
		     unsigned fit)
{
	if (fit > s->best) {
		s->best = fit;
		s->n_hits = s->classes = 0;
	}
	s->classes += !is_known_name(s, name);
	if (s->n_hits == HITS_MAX)
		return;
	s->hits[s->n_hits] = (struct hit){ (*s->jni)->NewLocalRef(s->jni, class), "", p };
	snprintf(s->hits[s->n_hits++].name, CLASSWALK_NAME, "%.*s", SLICE_FMT(name));
}

/* The class, or the nearest ancestor, that has the field; a local reference, or NULL. */
static jclass declares(struct search *s, jclass class, struct slice field)
{
	struct wanted w = { s, field };

	class = (*s->jni)->NewLocalRef(s->jni, class);
	while (class && !any_field(class, is_wanted, &w)) {
		jclass up = (*s->jni)->GetSuperclass(s->jni, class);

		(*s->jni)->DeleteLocalRef(s->jni, class);
		class = up;
	}
	return class;
}

static void ask_field(struct search *s, jclass class, struct slice name, const struct reading_of *p,
		      unsigned fit)
{
	jint status = 0;
	jclass in;

	(*agent.jvmti)->GetClassStatus(agent.jvmti, class, &status);
	if (!(status & JVMTI_CLASS_STATUS_PREPARED)) {
		snprintf(s->unused, sizeof(s->unused), "%.*s", SLICE_FMT(name));
		return;
	}
	if (!s->fitting[0])
		s->guess = text_guess(p->field);
	in = declares(s, class, p->field);
	if (!in) {
		snprintf(s->fitting, sizeof(s->fitting), "%.*s", SLICE_FMT(name));
		return;
	}
	if (fit + FIT_WHOLE >= s->best)
		take_hit(s, in, name, p, fit + FIT_WHOLE);
	(*s->jni)->DeleteLocalRef(s->jni, in);
}

static void guess_class(struct search *s, struct slice name)
{
	unsigned before = s->classes_guess.best.p ? s->classes_guess.distance : UINT32_MAX;

	text_guess_try(&s->classes_guess, classwalk_simple(name));
	if (s->classes_guess.best.p && s->classes_guess.distance < before)
		snprintf(s->near_class, sizeof(s->near_class), "%.*s", SLICE_FMT(name));
}

/* Whoever has named a field does not mean a class of that name. */
static bool ask_class(void *ctx, jclass class, struct slice name)
{
	struct search *s = ctx;

	guess_class(s, name);
	for (size_t i = 0; i < s->n_splits; i++) {
		const struct reading_of *p = &s->splits[i];
		unsigned fit = classwalk_fits(slice_str(p->class), name);

		if (fit != FIT_NOT && p->field.n)
			ask_field(s, class, name, p, fit);
		else if (fit != FIT_NOT && fit >= s->best)
			take_hit(s, class, name, p, fit);
	}
	return true;
}

/* ---- values ---- */

static jobject boxed(JNIEnv *jni, char type, jvalue v)
{
	const struct desc_box *box = desc_box((uint8_t)type);
	jclass c = box ? (*jni)->FindClass(jni, box->class) : NULL;
	jmethodID id = c ? (*jni)->GetStaticMethodID(jni, c, "valueOf", box->value_of) : NULL;

	return id ? (*jni)->CallStaticObjectMethodA(jni, c, id, &v) : NULL;
}

static jobject get_static(JNIEnv *jni, jclass class, const struct field *f)
{
	jvalue v = { .j = 0 };

	switch (f->desc[0]) {
	case 'Z':
		v.z = (*jni)->GetStaticBooleanField(jni, class, f->id);
		break;
	case 'B':
		v.b = (*jni)->GetStaticByteField(jni, class, f->id);
		break;
	case 'C':
		v.c = (*jni)->GetStaticCharField(jni, class, f->id);
		break;
	case 'S':
		v.s = (*jni)->GetStaticShortField(jni, class, f->id);
		break;
	case 'I':
		v.i = (*jni)->GetStaticIntField(jni, class, f->id);
		break;
	case 'J':
		v.j = (*jni)->GetStaticLongField(jni, class, f->id);
		break;
	case 'F':
		v.f = (*jni)->GetStaticFloatField(jni, class, f->id);
		break;
	case 'D':
		v.d = (*jni)->GetStaticDoubleField(jni, class, f->id);
		break;
	default:
		return (*jni)->GetStaticObjectField(jni, class, f->id);
	}
	return boxed(jni, f->desc[0], v);
}

/* The parser reads paths where they can stand: in a condition.  NULL: it is more or less than a path. */
static const struct value *path_of(const struct rules *rules)
{
	const struct cond *c = rules->n == 1 && rules->all[0]->kind == RULE_HOOK
				       ? rules->all[0]->hook.condition
				       : NULL;

	return c && c->op == COND_EQ && c->right->kind == VALUE_NULL && c->left->kind == VALUE_PATH
		       ? c->left
		       : NULL;
}

static const struct value *parse_rest(struct search *s, struct slice rest, struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct rules *rules = NULL;
	struct buf text = { 0 };
	const struct value *path = NULL;

	buf_text(&text, "hook a.B::c if $this");
	buf_put(&text, rest);
	buf_text(&text, " == null");
	if (!text.err && rules_parse(&s->mem, buf_slice(&text), "the path", &rules, &errors) >= 0)
		path = path_of(rules);
	if (!path)
		buf_printf(why, "'%.*s' is no path such as .name, .size(), [0] or [\"key\"]",
			   SLICE_FMT(rest));
	else if (data_bind(s->jni, rules, why) < 0)
		path = NULL;
	buf_release(&text);
	return path;
}

/* What SondeAccess says instead of a value. */
static const char *refusal(JNIEnv *jni, jobject got)
{
	jclass class = got ? (*jni)->GetObjectClass(jni, got) : NULL;
	char *sig = NULL;
	const char *why = NULL;
	jfieldID field;

	if (class &&
	    (*agent.jvmti)->GetClassSignature(agent.jvmti, class, &sig, NULL) == JVMTI_ERROR_NONE &&
	    strcmp(sig, "Ljava/util/SondeAccess;") == 0) {
		field = (*jni)->GetFieldID(jni, class, "why", "I");
		why = data_miss_text((enum data_miss)(*jni)->GetIntField(jni, got, field));
	}
	drop(sig);
	return why;
}

static void tell_refusal(const struct step *step, const char *no, struct buf *why)
{
	char getter[300] = "";

	if (step->kind == STEP_INDEX) {
		buf_text(why, no == data_miss_text(MISS_NULL) ? "there is no such element"
			      : no == data_miss_text(MISS_REFUSED)
				      ? "[] is only for arrays and for lists and maps of the JDK "
					"that take no lock and do not ask the program"
				      : "[] is only for arrays, lists and maps");
		return;
	}
	if (no == data_miss_text(MISS_REFUSED))
		data_refused(getter, sizeof(getter));
	if (step->next)
		buf_printf(why, ".%.*s: ", SLICE_FMT(step->name));
	buf_text(why, getter[0] ? getter : no);
}

/* Takes the steps from *x on.  False, with a reason, when one of them cannot be taken. */
static bool follow(struct search *s, const struct value *path, jobject *x, struct buf *why)
{
	for (const struct step *step = path->steps; step; step = step->next) {
		struct cond_site site = cond_site_of_step(step);
		int32_t number = data_ready()->site(NULL, &site);
		const char *no;

		if (step->trusted || number < 0) {
			buf_text(why, step->trusted ? "here nothing is called that may change "
						      "something, also not with !"
						    : "its steps cannot be taken in this JVM");
			return false;
		}
		*x = data_reach(s->jni, *x, number);
		no = refusal(s->jni, *x);
		if (!no)
			continue;
		tell_refusal(step, no, why);
		return false;
	}
	return true;
}

/* ---- rows ---- */

struct showing {
	struct search *s;
	const struct hit *hit;
	const struct value *path; /* or NULL */
	bool initialised;
	uint32_t flags;
	struct buf text, name;
};

static void put_text(struct showing *w, const struct field *f)
{
	struct search *s = w->s;
	struct buf why = { 0 }, way = { 0 };
	jobject x = get_static(s->jni, w->hit->class, f);

	buf_text(&way, f->name);
	if (w->path)
		buf_put(&way, w->hit->split->rest);
	buf_u8(&way, 0);
	if (w->path && !follow(s, w->path, &x, &why)) {
		buf_put(&w->text, buf_slice(&why));
		w->flags = VALUE_NONE;
	} else if (way.err ||
		   !value_text_put(s->jni,
				   &(struct value_text){ x, (const char *)way.p,
							 s->asked.depth ? s->asked.depth : DEPTH,
							 s->asked.redact },
				   &w->text)) {
		buf_text(&w->text, "?");
	}
	buf_release(&why);
	buf_release(&way);
}

static bool show_field(void *ctx, const struct field *f)
{
	struct showing *w = ctx;
	struct search *s = w->s;
	struct slice wanted = w->hit->split->field;
	char loader[CLASSWALK_NAME];

	if (!(f->access & ACC_STATIC) || (wanted.n && !slice_is(wanted, f->name)) ||
	    (!wanted.n && f->access & ACC_SYNTHETIC))
		return false;
	if ((*s->jni)->PushLocalFrame(s->jni, 32) < 0)
		return true;
	buf_clear(&w->text);
	buf_clear(&w->name);
	buf_text(&w->name, f->name);
	buf_put(&w->name, w->hit->split->rest);
	w->flags = w->initialised ? 0 : VALUE_NONE;
	if (w->initialised)
		put_text(w, f);
	else
		buf_text(&w->text, "the class is not initialised yet");
	s->missing |= w->flags & VALUE_NONE;
	(*s->jni)->ExceptionClear(s->jni);
	classwalk_loader(s->jni, w->hit->class, loader);
	wire_put_static_value(&s->c->out,
			      &(struct wire_static_value){ .class = slice_str(w->hit->name),
							   .loader = slice_str(loader),
							   .name = buf_slice(&w->name),
							   .type = slice_str(f->desc),
							   .text = buf_slice(&w->text),
							   .flags = w->flags });
	(*s->jni)->PopLocalFrame(s->jni, NULL);
	return false;
}

static void show(struct search *s)
{
	struct buf why = { 0 };

	for (size_t i = 0; i < s->n_hits && !why.n; i++) {
		struct showing w = { .s = s, .hit = &s->hits[i] };
		jint status = 0;

		if (w.hit->split->rest.n && !(w.path = parse_rest(s, w.hit->split->rest, &why)))
			break;
		(*agent.jvmti)->GetClassStatus(agent.jvmti, w.hit->class, &status);
		w.initialised = status & JVMTI_CLASS_STATUS_INITIALIZED;
		any_field(w.hit->class, show_field, &w);
		buf_release(&w.text);
		buf_release(&w.name);
	}
	conn_done(s->c, why.n ? USAGE : s->missing ? NO : DONE, "%.*s", SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
}

static void answer_none(struct search *s)
{
	text_replace(s->fitting, '/', '.');
	text_replace(s->unused, '/', '.');
	text_replace(s->near_class, '/', '.');
	if (s->unused[0])
		conn_done(s->c, NO, "%s is loaded, but was never used: its fields have no values",
			  s->unused);
	else if (s->fitting[0] && s->in_objects)
		conn_done(s->c, NO,
			  "that field of %s is one of its objects, not static; 'sonde watch' shows "
			  "objects as they are used",
			  s->fitting);
	else if (s->fitting[0])
		conn_done(s->c, NO, "%s has no such static field%s%s%s", s->fitting,
			  s->near[0] ? "; did you mean '" : "", s->near, s->near[0] ? "'?" : "");
	else
		conn_done(s->c, NO, "no class of that name is loaded (of %llu)%s%s%s",
			  (unsigned long long)s->loaded, s->near_class[0] ? "; did you mean " : "",
			  s->near_class, s->near_class[0] ? "?" : "");
}

static void answer(struct search *s)
{
	struct buf names = { 0 };

	if (!s->n_hits) {
		answer_none(s);
	} else if (s->classes > 1) {
		for (size_t i = 0; i < s->n_hits; i++) {
			buf_text(&names, i ? ", " : "");
			buf_dotted(&names, slice_str(s->hits[i].name));
		}
		conn_done(s->c, USAGE, "that is in %zu loaded class%s: %.*s; say which", s->classes,
			  plural_es(s->classes), SLICE_FMT(buf_slice(&names)));
	} else {
		show(s);
	}
	buf_release(&names);
}

/* The name that stands before the field; or the only one. */
static void guess_begin(struct search *s)
{
	const char *name =
		s->n_splits ? s->splits[s->n_splits > 1 ? s->n_splits - 2 : 0].class : "";

	s->classes_guess = text_guess(classwalk_simple(slice_str(name)));
}

void static_value_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct search *s = calloc(1, sizeof(*s));
	struct wire_ask_value m;

	if (!s || wire_get_ask_value(payload, &m) < 0 || m.path.n >= TEXT_MAX) {
		c->closing = true;
		free(s);
		return;
	}
	s->jni = jni;
	s->c = c;
	s->asked = m;
	arena_init(&s->mem);
	snprintf(s->text, sizeof(s->text), "%.*s", SLICE_FMT(m.path));
	read_text(s);
	guess_begin(s);
	if (probes_init(jni) < 0 || data_init(jni) < 0) {
		conn_done(c, CANNOT, "values cannot be shown in this JVM");
	} else {
		s->loaded = classwalk(&(struct classwalk){ jni, s, ask_class });
		answer(s);
	}
	arena_release(&s->mem);
	free(s);
}
