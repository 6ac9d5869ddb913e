/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - of the classes that are meant by a name, one for each loader that has it: its code source,
 * its source file, and each method with its lines and the rule that hooks it; and the class file of one.
 *
 * The code source is asked for by SondeText, whose thread is the agent's: no code of the program runs. */
#include "agent/serve/origin.h"

#include <stdio.h>

#include "agent/classes/loaders.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/natives/probes.h"
#include "agent/natives/value_text.h"
#include "agent/serve/classwalk.h"
#include "agent/weaving/instrument.h"
#include "wire/wire.h"

enum { HITS_MAX = 8, BYTES_MAX = 4 << 20 /* of a class file that is sent */ };

struct origin {
	struct conn *c;
	JNIEnv *jni;
	char wanted[CLASSWALK_NAME]; /* a/b/C */
	unsigned best;
	struct classwalk_guess guess;
	struct {
		jclass class;
		char name[CLASSWALK_NAME];
	} hits[HITS_MAX];
	size_t n, names;
	struct loader *by; /* of the class that is told */
	const char *name;
};

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

static bool ask_class(void *ctx, jclass class, struct slice name)
{
	struct origin *o = ctx;
	unsigned fit = classwalk_fits(slice_str(o->wanted), name);
	bool known = false;

	if (fit == FIT_NOT)
		classwalk_guess_try(&o->guess, name);
	if (fit == FIT_NOT || fit < o->best)
		return true;
	if (fit > o->best)
		o->n = o->names = 0;
	o->best = fit;
	for (size_t i = 0; i < o->n; i++)
		known |= slice_is(name, o->hits[i].name);
	o->names += !known;
	if (o->n == HITS_MAX)
		return true;
	o->hits[o->n].class = (*o->jni)->NewLocalRef(o->jni, class);
	snprintf(o->hits[o->n++].name, CLASSWALK_NAME, "%.*s", SLICE_FMT(name));
	return true;
}

static void put_lines(jmethodID id, struct wire_origin_method *row)
{
	jvmtiLineNumberEntry *lines = NULL;
	jlocation from = 0, to = 0;
	jint n = 0;

	if ((*agent.jvmti)->GetMethodLocation(agent.jvmti, id, &from, &to) == JVMTI_ERROR_NONE &&
	    to >= from)
		row->bytes = (uint32_t)(to - from) + 1;
	if ((*agent.jvmti)->GetLineNumberTable(agent.jvmti, id, &n, &lines) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		uint32_t line = (uint32_t)lines[i].line_number;

		row->first = !i || line < row->first ? line : row->first;
		row->last = line > row->last ? line : row->last;
	}
	drop(lines);
}

static bool put_method(void *ctx, jmethodID id, const char *name, const char *desc)
{
	struct origin *o = ctx;
	struct wire_origin_method row = { .name = slice_str(name), .desc = slice_str(desc) };
	const struct hooked *h;
	struct woven *w;

	put_lines(id, &row);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(o->by, o->name, strlen(o->name), false);
	h = w ? woven_named(w, name, desc) : NULL;
	row.rule = h ? h->rule : 0;
	pthread_mutex_unlock(&agent.lock);
	wire_put_origin_method(&o->c->out, &row);
	return false;
}

static void put_class(struct origin *o, jclass class, const char *name)
{
	char loader[CLASSWALK_NAME], *file = NULL;
	struct buf place = { 0 };

	classwalk_loader(o->jni, class, loader);
	value_text_place(o->jni, class, &place);
	(*agent.jvmti)->GetSourceFileName(agent.jvmti, class, &file);
	wire_put_origin(&o->c->out, &(struct wire_origin){ .class = slice_str(name),
							   .loader = slice_str(loader),
							   .place = buf_slice(&place),
							   .file = slice_str(file ? file : "") });
	drop(file);
	buf_release(&place);
	o->name = name;
	o->by = loaders_of(o->jni, class, false);
	classwalk_method(class, put_method, o);
	loaders_give(o->by);
}

static void answer(struct origin *o)
{
	struct buf names = { 0 };

	if (!o->n) {
		text_replace(o->guess.near, '/', '.');
		conn_done(o->c, NO, "no class of that name is loaded; %s%s%s",
			  o->guess.near[0] ? "did you mean " : "'sonde find' lists them",
			  o->guess.near, o->guess.near[0] ? "?" : "");
	} else if (o->names > 1) {
		for (size_t i = 0; i < o->n; i++) {
			buf_text(&names, i ? ", " : "");
			buf_dotted(&names, slice_str(o->hits[i].name));
		}
		conn_done(o->c, USAGE, "that is %zu loaded classes: %.*s; say which", o->names,
			  SLICE_FMT(buf_slice(&names)));
	} else {
		for (size_t i = 0; i < o->n; i++)
			put_class(o, o->hits[i].class, o->hits[i].name);
		conn_done(o->c, DONE, "%s", "");
	}
	buf_release(&names);
}

/* The classes that are meant; false: not by any name. */
static bool search(struct origin *o, struct slice name)
{
	if (name.n >= sizeof(o->wanted))
		return false;
	snprintf(o->wanted, sizeof(o->wanted), "%.*s", SLICE_FMT(name));
	text_replace(o->wanted, '.', '/');
	classwalk_guess_init(&o->guess, o->wanted);
	if (probes_init(o->jni) >= 0 && o->wanted[0])
		classwalk(&(struct classwalk){ o->jni, o, ask_class });
	return true;
}

void origin_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct origin o = { .c = c, .jni = jni };
	jvmtiCapabilities want;
	struct wire_ask_origin m;

	memset(&want, 0, sizeof(want));
	want.can_get_line_numbers = 1;
	want.can_get_source_file_name = 1;
	(*agent.jvmti)->AddCapabilities(agent.jvmti, &want);
	if (wire_get_ask_origin(payload, &m) < 0 || !search(&o, m.class))
		c->closing = true;
	else
		answer(&o);
}

void origin_bytes(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct origin o = { .c = c, .jni = jni };
	struct wire_ask_class_bytes m;
	struct buf bytes = { 0 };

	if (wire_get_ask_class_bytes(payload, &m) < 0 || !search(&o, m.class)) {
		c->closing = true;
	} else if (m.nth >= o.n) {
		conn_done(c, NO, "no class of that name is loaded");
	} else if (!instrument_bytes(jni, o.hits[m.nth].class, &bytes)) {
		conn_done(c, CANNOT, "the JVM does not show the byte code of the class");
	} else if (bytes.n > BYTES_MAX) {
		conn_done(c, CANNOT, "its class file has more than %d MiB", BYTES_MAX >> 20);
	} else {
		wire_put_class_bytes(&c->out, &(struct wire_class_bytes){ buf_slice(&bytes) });
		conn_done(c, DONE, "%s", "");
	}
	buf_release(&bytes);
}
