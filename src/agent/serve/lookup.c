/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.c - goes through the loaded classes by name.
 *
 * A method is named a.b.C::m or a.b.C.m, with (parameters) behind it or not; of a.b. as much can be
 * left out as leaves one class.  A class of just that name goes before all whose names only end so,
 * and Outer before Other$Outer.  Whoever names nothing is told the nearest name there is. */
#include "agent/serve/lookup.h"

#include <stdio.h>

#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/serve/classwalk.h"
#include "base/arena.h"
#include "base/plural.h"
#include "rule/parse.h"
#include "rule/pattern.h"
#include "rule/text.h"
#include "wire/wire.h"

enum { SHOWN_MAX = 5, NAME_MAX_BYTES = 512, PIECE = 1 << 18 };

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

static void put_dotted(struct buf *out, struct slice class)
{
	for (size_t i = 0; i < class.n; i++)
		buf_u8(out, class.p[i] == '/' ? '.' : class.p[i]);
}

/* ---- which method is meant ---- */

struct question {
	JNIEnv *jni;
	char class[NAME_MAX_BYTES]; /* a/b/C */
	char method[NAME_MAX_BYTES];
	char params[NAME_MAX_BYTES]; /* "(int)" or "" */
	enum classwalk_fit best;     /* of the classes that have the method */
	struct buf names;	     /* of those: "a.b.C", a line each */
	unsigned classes;
	struct buf fitting; /* a class that fits and does not have it, and how well it fits */
	enum classwalk_fit fitted;
	struct text_guess of_methods; /* its best name, which is kept here: */
	char near_method[NAME_MAX_BYTES];
	struct classwalk_guess of_classes;
	char inherits[NAME_MAX_BYTES]; /* the ancestor of `fitting` that has it */
	char all[NAME_MAX_BYTES];      /* class and method as the name of a class ... */
	char is_class[NAME_MAX_BYTES]; /* ... and the class that it means, "" for none */
	uint64_t loaded;
};

/* Takes "a.b.C::m(int)" or "a.b.C.m" apart. */
static bool take_apart(struct question *q, char *text)
{
	char *params = strchr(text, '('), *split, *name;

	if (params) {
		snprintf(q->params, sizeof(q->params), "%s", params);
		*params = '\0';
	}
	split = strstr(text, "::");
	if (!split)
		split = strrchr(text, '.');
	if (!split || split == text)
		return false;
	name = split + (split[0] == ':' ? 2 : 1);
	if (*split == '.' && strlen(text) < sizeof(q->all)) {
		memcpy(q->all, text, strlen(text) + 1);
		text_replace(q->all, '.', '/');
	}
	*split = '\0';
	if (!*name || strlen(text) >= sizeof(q->class) || strlen(name) >= sizeof(q->method))
		return false;
	text_replace(text, '.', '/');
	snprintf(q->class, sizeof(q->class), "%s", text);
	snprintf(q->method, sizeof(q->method), "%s", strcmp(name, "new") == 0 ? "<init>" : name);
	return true;
}

static bool is_method(void *ctx, jmethodID id, const char *name, const char *desc)
{
	struct question *q = ctx;

	(void)id, (void)desc;
	return strcmp(name, q->method) == 0;
}

static bool guess_method(void *ctx, jmethodID id, const char *name, const char *desc)
{
	struct question *q = ctx;
	unsigned before = q->of_methods.best.p ? q->of_methods.distance : UINT32_MAX;

	(void)id, (void)desc;
	text_guess_try(&q->of_methods, slice_str(name));
	if (q->of_methods.best.p && q->of_methods.distance < before)
		snprintf(q->near_method, sizeof(q->near_method), "%s", name);
	return false;
}

/* The nearest ancestor that has the method. */
static void look_above(struct question *q, jclass klass)
{
	jclass at = (*q->jni)->GetSuperclass(q->jni, klass);

	while (at && !q->inherits[0]) {
		jclass next = (*q->jni)->GetSuperclass(q->jni, at);
		char *sig = NULL;

		if (classwalk_method(at, is_method, q) &&
		    (*agent.jvmti)->GetClassSignature(agent.jvmti, at, &sig, NULL) ==
			    JVMTI_ERROR_NONE)
			snprintf(q->inherits, sizeof(q->inherits), "%.*s", (int)strlen(sig) - 2,
				 sig + 1);
		drop(sig);
		(*q->jni)->DeleteLocalRef(q->jni, at);
		at = next;
	}
	if (at)
		(*q->jni)->DeleteLocalRef(q->jni, at);
}

/* Is it one of the lines?  Not the end of one: a.b.C is another class than b.C. */
static bool has_line(struct slice lines, struct slice line)
{
	for (size_t i = 0; i + line.n <= lines.n; i++)
		if ((i == 0 || lines.p[i - 1] == '\n') && memcmp(lines.p + i, line.p, line.n) == 0)
			return true;
	return false;
}

static void take_hit(struct question *q, struct slice name, enum classwalk_fit fit)
{
	struct buf line = { 0 };

	if (fit > q->best) {
		buf_clear(&q->names);
		q->classes = 0;
		q->best = fit;
	}
	put_dotted(&line, name);
	buf_u8(&line, '\n');
	/* One name by several loaders is one answer. */
	if (!has_line(buf_slice(&q->names), buf_slice(&line))) {
		if (q->classes < SHOWN_MAX)
			buf_put(&q->names, buf_slice(&line));
		q->classes++;
	}
	buf_release(&line);
}

static bool ask_class(void *ctx, jclass klass, struct slice name)
{
	struct question *q = ctx;
	enum classwalk_fit fit = classwalk_fits(slice_str(q->class), name);

	if (q->all[0] && !q->is_class[0] && classwalk_fits(slice_str(q->all), name) >= FIT_TAIL)
		snprintf(q->is_class, sizeof(q->is_class), "%.*s", SLICE_FMT(name));
	if (fit == FIT_NOT) {
		classwalk_guess_try(&q->of_classes, name);
	} else if (classwalk_method(klass, is_method, q)) {
		if (fit >= q->best)
			take_hit(q, name, fit);
	} else if (fit > q->fitted) {
		q->fitted = fit;
		buf_clear(&q->fitting);
		put_dotted(&q->fitting, name);
		q->inherits[0] = q->near_method[0] = '\0';
		q->of_methods = text_guess(slice_str(q->method));
		look_above(q, klass);
		classwalk_method(klass, guess_method, q);
	}
	return true;
}

/* Status NO: one that is loaded later may be it. */
static void answer_none(struct question *q, struct conn *c)
{
	text_replace(q->inherits, '/', '.');
	text_replace(q->of_classes.near, '/', '.');
	text_replace(q->is_class, '/', '.');
	text_replace(q->class, '/', '.');
	if (q->is_class[0])
		conn_done(c, USAGE,
			  "%s is a class: write %s::METHOD, or '%s::*' for all its methods",
			  q->is_class, q->is_class, q->is_class);
	else if (q->fitted && q->inherits[0])
		conn_done(c, NO, "%.*s has no method '%s' of its own; it inherits %s::%s",
			  SLICE_FMT(buf_slice(&q->fitting)), q->method, q->inherits, q->method);
	else if (q->fitted)
		conn_done(c, NO, "%.*s has no method '%s'%s%s%s", SLICE_FMT(buf_slice(&q->fitting)),
			  q->method, q->near_method[0] ? "; did you mean '" : "", q->near_method,
			  q->near_method[0] ? "'?" : "");
	else
		conn_done(c, NO, "no class '%s' is loaded (of %llu)%s%s%s", q->class,
			  (unsigned long long)q->loaded,
			  q->of_classes.near[0] ? "; did you mean " : "", q->of_classes.near,
			  q->of_classes.near[0] ? "?" : "");
}

static void answer_many(struct question *q, struct conn *c)
{
	for (size_t i = 0; i + 1 < q->names.n; i++)
		if (q->names.p[i] == '\n')
			q->names.p[i] = ',';
	conn_done(c, USAGE, "'%s::%s' is a method of %u loaded classes: %.*s%s; say which",
		  q->class, q->method, q->classes, (int)q->names.n - 1, (const char *)q->names.p,
		  q->classes > SHOWN_MAX ? " and others" : "");
}

static void answer(struct question *q, struct conn *c)
{
	struct buf text = { 0 };

	if (q->names.err || !q->classes) {
		answer_none(q, c);
		return;
	}
	if (q->classes > 1) {
		answer_many(q, c);
		return;
	}
	buf_bytes(&text, q->names.p, q->names.n - 1);
	buf_printf(&text, "::%s%s", q->method, q->params);
	wire_put_text(&c->out, &(struct wire_text){ buf_slice(&text) });
	conn_done(c, text.err ? CANNOT : DONE, "%s", "");
	buf_release(&text);
}

void lookup_resolve(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct question q = { .jni = jni };
	struct wire_resolve m;
	char text[2 * NAME_MAX_BYTES];

	if (wire_get_resolve(payload, &m) < 0 || m.method.n >= sizeof(text)) {
		c->closing = true;
		return;
	}
	snprintf(text, sizeof(text), "%.*s", SLICE_FMT(m.method));
	if (!take_apart(&q, text)) {
		conn_done(c, USAGE, "'%.*s' is no method: write it as pkg.Class::name",
			  SLICE_FMT(m.method));
	} else {
		classwalk_guess_init(&q.of_classes, q.class);
		q.loaded = classwalk(&(struct classwalk){ jni, &q, ask_class });
		answer(&q, c);
	}
	buf_release(&q.names);
	buf_release(&q.fitting);
}

/* ---- which there are ---- */

struct lookup {
	struct conn *c;
	JNIEnv *jni;
	struct pattern class, method;
	bool any_class, any_method, with_methods;
	bool no_package; /* `class` has none, so that it is compared with names without theirs, too */
	char wanted[NAME_MAX_BYTES]; /* the class as it was written, if that is a plain name */
	struct classwalk_guess guess;
	uint64_t limit, classes, methods, shown;
	struct slice name; /* of the class */
	struct loader *by;
	const char *loader;
	uint64_t in_class;
};

static bool is_meant(const struct lookup *f, struct slice name)
{
	return pattern_match(&f->class, name) ||
	       (f->no_package && pattern_match(&f->class, classwalk_simple(name)));
}

static void put_found(struct lookup *f, jmethodID id, const char *name, const char *desc,
		      uint32_t access)
{
	struct wire_found row = { .class = f->name,
				  .loader = slice_str(f->loader),
				  .access = access,
				  .methods = f->in_class };
	const struct hooked *h;
	struct woven *w;
	jlocation from = 0, to = 0;

	if (name) {
		row.method = slice_str(name);
		row.desc = slice_str(desc);
		if ((*agent.jvmti)->GetMethodLocation(agent.jvmti, id, &from, &to) ==
			    JVMTI_ERROR_NONE &&
		    to >= from)
			row.bytes = (uint64_t)(to - from) + 1;
	}
	pthread_mutex_lock(&agent.lock);
	w = woven_find(f->by, (const char *)f->name.p, f->name.n, false);
	h = w && name ? woven_named(w, name, desc) : NULL;
	row.rule = h ? h->rule : 0;
	row.hooked = w ? w->n_hooked : 0;
	pthread_mutex_unlock(&agent.lock);
	if (f->shown++ < f->limit)
		wire_put_found(&f->c->out, &row);
	if (f->c->out.n > PIECE)
		conn_piece(f->c);
}

static bool find_method(void *ctx, jmethodID id, const char *name, const char *desc)
{
	struct lookup *f = ctx;
	jint access = 0;

	if (!f->any_method && !pattern_match(&f->method, slice_str(name)))
		return false;
	f->methods++;
	f->in_class++;
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, id, &access);
	if (f->with_methods)
		put_found(f, id, name, desc, (uint32_t)access);
	return false;
}

static bool find_class(void *ctx, jclass klass, struct slice name)
{
	char loader[CLASSWALK_NAME];
	struct lookup *f = ctx;
	jint access = 0;

	if (!f->any_class && !is_meant(f, name)) {
		if (f->wanted[0])
			classwalk_guess_try(&f->guess, name);
		return true;
	}
	f->name = name;
	f->in_class = 0;
	f->by = loaders_of(f->jni, klass, false);
	classwalk_loader(f->jni, klass, loader);
	f->loader = loader;
	classwalk_method(klass, find_method, f);
	if (f->in_class || f->any_method) {
		f->classes++;
		(*agent.jvmti)->GetClassModifiers(agent.jvmti, klass, &access);
		if (!f->with_methods)
			put_found(f, NULL, NULL, NULL, (uint32_t)access);
	}
	loaders_give(f->by);
	return true;
}

/* "a.b.*", "Cart" or "a.b.C::add*". */
static int read_pattern(struct lookup *f, struct arena *mem, struct slice text)
{
	struct pattern_trouble trouble;
	struct slice method = { NULL, 0 };
	int rc = 0;

	for (size_t i = 0; i + 1 < text.n && !method.p; i++)
		if (text.p[i] == ':' && text.p[i + 1] == ':') {
			method = (struct slice){ text.p + i + 2, text.n - i - 2 };
			text.n = i;
		}
	f->no_package = !memchr(text.p, '.', text.n) && !memchr(text.p, '/', text.n);
	f->with_methods = method.p != NULL;
	f->any_class = !text.n;
	f->any_method = !method.n;
	if (text.n)
		rc = pattern_compile(mem, text, PATTERN_CLASS, &f->class, &trouble);
	if (text.n && rc >= 0 && f->class.exact && text.n < sizeof(f->wanted)) {
		snprintf(f->wanted, sizeof(f->wanted), "%.*s", SLICE_FMT(text));
		text_replace(f->wanted, '.', '/');
		classwalk_guess_init(&f->guess, f->wanted);
	}
	if (rc >= 0 && method.n)
		rc = pattern_compile(mem, method, PATTERN_METHOD, &f->method, &trouble);
	return rc;
}

static void found_none(struct lookup *f, uint64_t loaded)
{
	text_replace(f->guess.near, '/', '.');
	conn_done(f->c, NO, "none of %llu loaded classes has such a name%s%s%s%s",
		  (unsigned long long)loaded,
		  f->with_methods && !f->any_method ? " and method" : "",
		  f->guess.near[0] ? "; did you mean " : "", f->guess.near,
		  f->guess.near[0] ? "?" : "");
}

void lookup_find(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct lookup f = { .c = c, .jni = jni };
	struct wire_find m;
	struct arena mem;
	uint64_t loaded;

	if (wire_get_find(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	arena_init(&mem);
	f.limit = m.limit ? m.limit : UINT64_MAX;
	if (read_pattern(&f, &mem, m.pattern) < 0) {
		conn_done(c, USAGE, "'%.*s' is no pattern such as com.shop.**::save*",
			  SLICE_FMT(m.pattern));
	} else {
		loaded = classwalk(&(struct classwalk){ jni, &f, find_class });
		if (f.classes)
			conn_done(c, DONE, "%llu method%s in %llu class%s, of %llu loaded%s",
				  (unsigned long long)f.methods, plural(f.methods),
				  (unsigned long long)f.classes, plural_es(f.classes),
				  (unsigned long long)loaded,
				  f.shown > f.limit ? "; more than are shown: --top 0 shows all"
						    : "");
		else
			found_none(&f, loaded);
	}
	arena_release(&mem);
}
