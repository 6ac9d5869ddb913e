/* SPDX-License-Identifier: Apache-2.0 */
/* presence.h - Sonde's library in another process: where it is, and whether a thread is in it. */
#ifndef INJECT_PRESENCE_H
#define INJECT_PRESENCE_H

#include "inject/libraries.h"
#include "inject/tracee.h"
#include "native/attached.h"

struct presence_view {
	struct native_state state;
	struct native_range library;
	struct native_range *ranges; /* what else is executable */
	size_t n;
	char *path;
};

const struct library_file *presence_library(const struct libraries *l); /* NULL: it is not mapped */
bool presence_state(const struct libraries *l, const struct tracee *t, struct native_state *out);

/* Give it back in any case. */
int presence_read(struct presence_view *p, const struct libraries *l, const struct tracee *t,
		  struct fault *f);
void presence_release(struct presence_view *p);

/* How many hooked calls have not returned yet. */
unsigned presence_open_calls(const struct presence_view *p, const struct tracee *t);

/* Something that will not change says that it has to stay mapped. */
bool presence_must_stay(const struct presence_view *p, char *why, size_t cap);

/* Will this stopped thread never come to Sonde's code again? */
bool presence_is_clear(const struct presence_view *p, const struct tracee *t,
		       const struct tracee_thread *th, const struct libraries *l);

/* Afterwards: is nothing of it mapped any more? */
bool presence_is_gone(const struct presence_view *p, pid_t pid, char *why, size_t cap);

#endif
