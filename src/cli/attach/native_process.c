/* SPDX-License-Identifier: Apache-2.0 */
/* native_process.c - the checks of inject/refuse.h, and the library, for people. */
#include "cli/attach/native_process.h"

#include <stdio.h>

#include "classfile/show/show.h"
#include "cli/screen/cli.h"
#include "inject/refuse.h"
#include "jvm/proc.h"

static const char library_name[] = "libsonde-native.so";

/* ---- what stands in the way --------------------------------------------------------------- */

static void tell_doctor(void *ctx, const struct refusal *r)
{
	struct patient *p = ctx;

	doctor_say(p, r->topic, r->can_insist ? DOCTOR_WARNING : DOCTOR_WRONG, r->todo, "%s",
		   r->why);
}

static void examine_library(struct patient *p)
{
	struct fault f = { 0 };
	struct library_place place;
	struct library lib;

	if (library_open(&lib, library_name, &f) < 0)
		doctor_say(p, "library", DOCTOR_WRONG, NULL, "%s", f.text);
	else if (p->in->root >= 0 && library_place(&lib, p->in, false, &place) < 0)
		doctor_say(p, "library", DOCTOR_WRONG, NULL, "%s", place.why);
	else
		doctor_say(p, "library", DOCTOR_OK, NULL, "%s", lib.path);
	library_close(&lib);
}

void native_process_examine(struct patient *p)
{
	doctor_say(p, "process", DOCTOR_OK, NULL, "%s, no JVM: hooks go into its functions",
		   p->jvm->comm);
	if (!refuse_look(p->jvm->target.pid, tell_doctor, p))
		doctor_say(p, "ptrace", DOCTOR_OK, NULL, "a library can be loaded into it");
	examine_library(p);
}

struct first {
	struct refusal r;
	bool any, insist;
};

static void keep_first(void *ctx, const struct refusal *r)
{
	struct first *f = ctx;

	if (f->any || (r->can_insist && f->insist))
		return;
	f->r = *r;
	f->any = true;
}

/* ---- in and out --------------------------------------------------------------------------- */

static int load(const struct jvm *p, const char *shown, unsigned wait_ms, struct inside *in,
		const struct library *lib)
{
	struct fault f = { 0 };
	struct library_place place;
	struct buf why = { 0 };
	int rc;

	if (library_place(lib, in, true, &place) < 0)
		return cli_cannot("cannot attach to %s: it cannot load the library: %s", shown,
				  place.why);
	if (place.copied)
		fprintf(stderr,
			"sonde: the library is loaded from a copy, %s, in its file system\n",
			place.path);
	rc = inject_in(p->target.pid, place.path, wait_ms, &f);
	library_loaded(&place);
	if (rc >= 0)
		return CLI_DONE;
	show_name(&why, slice_str(f.text));
	cli_cannot("cannot attach to %s: %.*s", shown, SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
	return CLI_CANNOT;
}

int native_process_attach(const struct jvm *p, const char *shown, unsigned wait_ms, bool insist)
{
	struct first first = { .insist = insist };
	struct fault f = { 0 };
	struct library lib;
	struct inside in;
	int status;

	(void)refuse_look(p->target.pid, keep_first, &first);
	if (first.any)
		return cli_cannot("cannot attach to %s: %s. %s", shown, first.r.why, first.r.todo);
	if (library_open(&lib, library_name, &f) < 0)
		return cli_cannot("%s", f.text);
	inside_open(&in, p->target.pid, p->target.uid, p->target.gid);
	status = load(p, shown, wait_ms, &in, &lib);
	inside_close(&in);
	library_close(&lib);
	return status;
}

void native_process_leave(const struct target *t, unsigned wait_ms, struct inject_out *out)
{
	struct fault f = { 0 };

	if (inject_out(t->pid, wait_ms, out, &f) < 0)
		snprintf(out->why, sizeof(out->why), "%s", f.text);
}
