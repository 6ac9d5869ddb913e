/* SPDX-License-Identifier: Apache-2.0 */
/* inject.c - finds the moment and the thread, makes the calls, looks at what came of them. */
#include "inject/inject.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "inject/thread_call.h"
#include "inject/safe_point.h"
#include "inject/presence.h"
#include "native/attached.h"

enum {
	STOP_MS = 2000, /* for all threads to stop */
	AGAIN_MS = 10,	/* until the next try, and longer each time */
	AGAIN_MAX = 200,
	SHORT_MS = 2000, /* for a call that has little to do */
	TEXT_N = 150,	 /* of a message of the dynamic linker */
};

struct inject {
	pid_t pid;
	unsigned wait_ms;
	uint64_t until;
	struct tracee tracee;
	struct libraries libraries;
	struct presence_view *leaves; /* what no thread may be in; NULL: nothing */
	char busy[200];
	struct fault *f;
	sigset_t signals; /* of this thread before */
};

/* ---- the moment --------------------------------------------------------------------------- */

/* The best thread, or NULL; i->busy says why there is none. */
static struct tracee_thread *choose(struct inject *i)
{
	struct tracee_thread *best = NULL;
	bool waits = false;
	struct safe_point m;

	i->busy[0] = '\0';
	for (size_t k = 0; k < i->tracee.n; k++) {
		struct tracee_thread *th = &i->tracee.all[k];

		if (th->ended)
			continue;
		safe_point_look(&i->tracee, th, &i->libraries, &m);
		if (!m.good && (!i->busy[0] || m.loads))
			snprintf(i->busy, sizeof(i->busy), "thread %d %s", th->tid, m.why);
		if (m.loads)
			return NULL;
		if (i->leaves && !presence_is_clear(i->leaves, &i->tracee, th, &i->libraries)) {
			snprintf(i->busy, sizeof(i->busy),
				 "thread %d may still come back to Sonde's code", th->tid);
			return NULL;
		}
		if (m.good && (!best || (m.waits && !waits))) {
			best = th;
			waits = m.waits;
		}
	}
	return best;
}

static int look_again(struct inject *i)
{
	if (i->libraries.maps.n && !libraries_changed(&i->libraries))
		return 0;
	libraries_release(&i->libraries);
	return libraries_read(&i->libraries, i->pid, i->tracee.mem, i->f);
}

/* All threads run again but the one that was chosen. */
static int find_thread(struct inject *i, struct tracee_thread **out)
{
	unsigned pause = AGAIN_MS;
	int rc;

	for (;;) {
		rc = look_again(i);
		if (rc >= 0)
			rc = tracee_stop(&i->tracee, STOP_MS, i->f);
		*out = rc < 0 ? NULL : choose(i);
		if (*out && i->leaves) { /* of the others none may come before */
			return 0;
		}
		tracee_resume(&i->tracee, *out);
		if (rc < 0 || *out)
			return rc;
		if (clock_steady_ns() > i->until)
			return fault_set(
				i->f, E_LIMIT, -1,
				"no thread was where it could be asked: %.120s; try again, "
				"with a longer --wait",
				i->busy);
		usleep(pause * 1000);
		pause = pause < AGAIN_MAX ? 2 * pause : AGAIN_MAX;
	}
}

static uint64_t find_return(const struct inject *i)
{
	uint64_t at = 0;

	for (size_t k = 0; !at && k < i->libraries.n; k++)
		if (i->libraries.all[k].role == LIBRARY_LIBC ||
		    strcmp(i->libraries.all[k].path, "[vdso]") == 0)
			at = libraries_code(&i->libraries.all[k], sigframe_return_code());
	return at;
}

static uint64_t find_function(const struct inject *i, const char *name)
{
	uint64_t at = 0;

	for (size_t k = 0; !at && k < i->libraries.n; k++)
		if (i->libraries.all[k].role == LIBRARY_LIBC)
			at = libraries_symbol(&i->libraries.all[k], name);
	return at;
}

/* ---- in ----------------------------------------------------------------------------------- */

/* What the dynamic linker has to say: in the same thread. */
static int not_loaded(struct inject *i, struct thread_call *c)
{
	uint64_t text = 0;
	struct thread_call_function say = { .at = find_function(i, "dlerror"),
					    .ms = SHORT_MS,
					    .result = &text };
	char why[TEXT_N] = "";

	if (say.at && thread_call_run(c, &say, i->f) >= 0 && text)
		for (size_t n = 0;
		     n + 1 < sizeof(why) && tracee_read(&i->tracee, text + n, why + n, 1) && why[n];
		     n++)
			continue;
	why[sizeof(why) - 1] = '\0';
	return fault_set(i->f, E_IO, -1, "its dynamic linker does not load the library%s%s",
			 *why ? ": " : "", why);
}

static int begin_agent(struct inject *i, struct thread_call *c)
{
	const struct library_file *lib = presence_library(&i->libraries);
	struct thread_call_function begin = { .ms = SHORT_MS };

	if (!lib)
		return not_loaded(i, c);
	begin.at = libraries_symbol(lib, NATIVE_ATTACH);
	return thread_call_run(c, &begin, i->f);
}

static int open_library(struct inject *i, struct thread_call *c, const char *path)
{
	struct thread_call_function open = { .at = find_function(i, "dlopen"), .ms = i->wait_ms };
	uint64_t internal = 0;
	int rc;

	if (!open.at) {
		open.at = find_function(i, "__libc_dlopen_mode");
		internal = UINT64_C(1) << 31;
	}
	if (!open.at)
		return fault_set(i->f, E_UNSUPPORTED, -1, "its libc has no dlopen");
	open.args[0] = thread_call_text(c, path);
	open.args[1] = RTLD_NOW | internal;
	rc = open.args[0] ? thread_call_run(c, &open, i->f)
			  : fault_set(i->f, E_IO, -1, "the thread's stack cannot be written");
	return rc < 0 ? rc : libraries_update(&i->libraries, i->f);
}

static int call_in(struct inject *i, struct tracee_thread *th, const char *path)
{
	const struct library_file *lib = presence_library(&i->libraries);
	struct thread_call c;
	int rc, end;

	rc = thread_call_begin(&c, &i->tracee, th, find_return(i), i->f);
	if (rc < 0)
		return rc;
	if (!c.code)
		return fault_set(i->f, E_UNSUPPORTED, -1, "its libc is not known here");
	if (!lib)
		rc = open_library(i, &c, path);
	if (rc >= 0)
		rc = begin_agent(i, &c);
	if (rc == E_LIMIT || rc == E_NOT_FOUND)
		return rc;
	end = thread_call_end(&c, i->f);
	return rc < 0 ? rc : end;
}

/* The agent's thread does the rest. */
static int await_agent(struct inject *i)
{
	struct native_state s = { .phase = NATIVE_STARTING };

	while (presence_state(&i->libraries, &i->tracee, &s) && s.phase == NATIVE_STARTING &&
	       clock_steady_ns() < i->until)
		usleep(1000);
	if (s.phase == NATIVE_RUNNING)
		return 0;
	return fault_set(
		i->f, E_IO, -1,
		s.phase == NATIVE_FAILED
			? "the library is in it, but got no socket in its /tmp, or no thread"
			: "the library is in it, but does not listen");
}

static int run_in(struct inject *i, const char *path)
{
	struct tracee_thread *th;
	int rc = find_thread(i, &th);

	if (rc < 0)
		return rc;
	rc = call_in(i, th, path);
	tracee_resume(&i->tracee, NULL);
	return rc < 0 ? rc : await_agent(i);
}

/* Ctrl-C and the like come when no thread hangs on us. */
static int begin(struct inject *i, pid_t pid, unsigned wait_ms, struct fault *f)
{
	sigset_t most;

	*i = (struct inject){ .pid = pid,
			      .wait_ms = wait_ms,
			      .until = clock_steady_ns() + wait_ms * UINT64_C(1000000),
			      .tracee = { .mem = -1 },
			      .f = f };
	sigfillset(&most);
	sigprocmask(SIG_BLOCK, &most, &i->signals);
	return tracee_open(&i->tracee, pid, f);
}

static void end(struct inject *i)
{
	tracee_close(&i->tracee);
	libraries_release(&i->libraries);
	sigprocmask(SIG_SETMASK, &i->signals, NULL);
}

int inject_in(pid_t pid, const char *path, unsigned wait_ms, struct fault *f)
{
	struct inject i;
	int rc = begin(&i, pid, wait_ms, f);

	if (rc >= 0)
		rc = run_in(&i, path);
	end(&i);
	return rc;
}

/* ---- out ---------------------------------------------------------------------------------- */

static int call_out(struct inject *i, struct tracee_thread *th)
{
	const struct library_file *lib = presence_library(&i->libraries);
	struct thread_call_function release = { .ms = SHORT_MS },
				    close = { .at = find_function(i, "dlclose"), .ms = i->wait_ms };
	struct thread_call c;
	int rc, end;

	if (!close.at)
		close.at = find_function(i, "__libc_dlclose");
	rc = thread_call_begin(&c, &i->tracee, th, find_return(i), i->f);
	if (rc < 0)
		return rc;
	if (!c.code || !close.at)
		return fault_set(i->f, E_UNSUPPORTED, -1, "its libc is not known here");
	release.at = libraries_symbol(lib, NATIVE_RELEASE);
	close.args[0] = i->leaves->state.handle;
	rc = thread_call_run(&c, &release, i->f);
	if (rc >= 0)
		rc = thread_call_run(&c, &close, i->f);
	if (rc == E_LIMIT || rc == E_NOT_FOUND)
		return rc;
	end = thread_call_end(&c, i->f);
	return rc < 0 ? rc : end;
}

static bool calls_return(const struct inject *i, const struct presence_view *p,
			 struct inject_out *out)
{
	unsigned n;

	while ((n = presence_open_calls(p, &i->tracee)) && clock_steady_ns() < i->until)
		usleep(AGAIN_MS * 1000);
	if (n)
		snprintf(out->why, sizeof(out->why), "%u hooked call%s not returned yet", n,
			 n == 1 ? " has" : "s have");
	return !n;
}

static int run_out(struct inject *i, struct inject_out *out)
{
	struct presence_view p;
	struct tracee_thread *th;
	int rc = look_again(i);

	if (rc < 0 || !(out->was_there = presence_library(&i->libraries) != NULL))
		return rc;
	rc = presence_read(&p, &i->libraries, &i->tracee, i->f);
	if (rc >= 0 &&
	    (presence_must_stay(&p, out->why, sizeof(out->why)) || !calls_return(i, &p, out)))
		rc = 0;
	else if (rc >= 0) {
		i->leaves = &p;
		rc = find_thread(i, &th);
		if (rc >= 0) {
			tracee_resume(&i->tracee, th);
			rc = call_out(i, th);
			tracee_resume(&i->tracee, NULL);
		}
		if (rc >= 0)
			out->gone = presence_is_gone(&p, i->pid, out->why, sizeof(out->why));
	}
	presence_release(&p);
	return rc;
}

int inject_out(pid_t pid, unsigned wait_ms, struct inject_out *out, struct fault *f)
{
	struct inject i;
	int rc;

	*out = (struct inject_out){ .gone = false };
	rc = begin(&i, pid, wait_ms, f);
	if (rc >= 0)
		rc = run_out(&i, out);
	end(&i);
	return rc;
}
