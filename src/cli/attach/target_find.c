/* SPDX-License-Identifier: Apache-2.0 */
/* target_find.c - which JVM is meant.  When that is not clear, the answer is a list, not a
 * guess. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "classfile/show/show.h"
#include "cli/attach/jvms.h"
#include "cli/attach/target.h"
#include "cli/screen/cli.h"
#include "jvm/jvm_args.h"

enum { LIST_MAX = 20 };
static void print_line(const struct jvm *jvm)
{
	struct buf line = { 0 };
	char user[64];

	buf_printf(&line, "  %7d  ", jvm->target.pid);
	show_name(&line, slice_str(jvm->target.name));
	if (!jvm_is_ours(jvm))
		buf_printf(&line, "  (of user %s)", jvm_user(jvm->target.uid, user));
	fprintf(stderr, "%.*s\n", SLICE_FMT(buf_slice(&line)));
	buf_release(&line);
}

/* Those that match the text; all when it is NULL. */
static void print_list(const struct jvms *all, const char *text)
{
	size_t shown = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct jvm *jvm = &all->v[i];

		if (text && !jvm_args_match(slice_str(jvm->target.name), text))
			continue;
		if (shown++ == LIST_MAX) {
			fputs("  ...: 'sonde ps' lists all\n", stderr);
			return;
		}
		print_line(jvm);
	}
}

/* Is there anything a command can do with it? */
static int accept(const struct jvm *jvm, bool native, struct target *out)
{
	char user[64], name[300];
	struct buf shown = { 0 };
	int status = CLI_CANNOT;

	show_name(&shown, slice_str(jvm->target.name));
	snprintf(name, sizeof(name), "%d (%.*s)", jvm->target.pid, SLICE_FMT(buf_slice(&shown)));
	buf_release(&shown);
	if (!jvm_is_ours(jvm))
		cli_cannot("%s belongs to user %s: do this as that user or as root", name,
			   jvm_user(jvm->target.uid, user));
	else if (jvm->state == 'Z' || jvm->state == 'X')
		cli_cannot("%s has ended", name);
	else if (jvm->kind == JVM_NATIVE_IMAGE)
		cli_cannot("%s is a native image: there is no JVM in it", name);
	else if (jvm->kind == JVM_OPENJ9)
		cli_cannot("%s is an OpenJ9 JVM; Sonde works with HotSpot (OpenJDK) only", name);
	else if (jvm->kind == JVM_HIDDEN && getegid() != jvm->target.gid)
		cli_cannot(
			"%s runs with group %u, you with %u; do this with that group, or as root",
			name, jvm->target.gid, getegid());
	else if (jvm->kind == JVM_HIDDEN)
		cli_cannot("%s may not be looked into, though it is yours: try as root", name);
	else if (jvm->kind == JVM_NOT && !native && !target_is_observed(&jvm->target))
		cli_cannot("%s is no JVM, and Sonde is not in it; 'sonde attach %d' would load it",
			   name, jvm->target.pid);
	else
		status = CLI_DONE;
	if (status != CLI_DONE)
		return status;
	*out = jvm->target;
	out->is_native = jvm->kind == JVM_NOT;
	if (!out->name[0])
		snprintf(out->name, sizeof(out->name), "%s", jvm->comm);
	return status;
}

/* How many JVMs are meant; the last of them in *found.  With an exact match, the others that only
 * end so are not meant. */
static size_t matches(const struct jvms *all, const char *text, const struct jvm **found)
{
	size_t n[3] = { 0 };
	const struct jvm *last[3] = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct jvm *jvm = &all->v[i];
		int how = text ? jvm_args_match(slice_str(jvm->target.name), text)
			       : 1 + (jvm_is_ours(jvm) && jvm->kind != JVM_HIDDEN);

		last[how] = jvm;
		n[how]++;
	}
	*found = n[2] ? last[2] : last[1];
	return n[2] ? n[2] : n[1];
}

static int pick_name(const char *text, pid_t *pid)
{
	const struct jvm *found;
	struct jvms all;
	int status;
	size_t n;

	if (jvms_read(&all) < 0) {
		jvms_release(&all);
		return cli_cannot("cannot look for JVMs in /proc");
	}
	n = matches(&all, text, &found);
	if (n == 1) {
		*pid = found->target.pid;
		status = CLI_DONE;
	} else if (text && strstr(text, "::")) {
		cli_cannot("'%s' is no program, but names methods; the target comes before them",
			   text);
		status = CLI_USAGE;
	} else if (!all.n) {
		status = cli_cannot("no JVM is running here");
	} else if (n == 0) {
		status = cli_cannot("no JVM has the main class or jar '%s'; there are:", text);
		print_list(&all, NULL);
	} else if (text) {
		status = cli_cannot("'%s' fits %zu JVMs; say which by its number:", text, n);
		print_list(&all, text);
	} else {
		status = cli_cannot("there are %zu JVMs; say which:", n);
		print_list(&all, NULL);
	}
	jvms_release(&all);
	return status;
}

int target_pick(const char *text, pid_t *pid)
{
	uint64_t number;

	if (!text || !cli_parse_number(text, 1, INT32_MAX, &number))
		return pick_name(text, pid);
	*pid = (pid_t)number;
	return CLI_DONE;
}

static int find(const char *text, bool native, struct target *out)
{
	struct arena mem;
	struct jvm jvm;
	pid_t pid;
	int status = target_pick(text, &pid);

	if (status != CLI_DONE)
		return status;
	arena_init(&mem);
	if (jvm_read(pid, &mem, &jvm) < 0)
		status = cli_cannot("no process %d; 'sonde ps' lists the JVMs", pid);
	else if (jvm.target.pid != pid)
		status = cli_cannot("%d is a thread of process %d", pid, jvm.target.pid);
	else
		status = accept(&jvm, native, out);
	arena_release(&mem);
	return status;
}

int target_find(const char *text, struct target *out)
{
	return find(text, false, out);
}

int target_find_any(const char *text, struct target *out)
{
	return find(text, true, out);
}
