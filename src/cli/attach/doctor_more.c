/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_more.c - what does not stand in the way, but is good to know: other agents, and what the
 * kernel lets us measure. */
#define _GNU_SOURCE /* memmem() */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/doctor.h"
#include "jvm/jvm_args.h"
#include "jvm/proc.h"

enum { LIBRARY_MAX = 32 << 20, AGENTS_SHOWN = 400 };

/* What was listed already is not listed again; what is too much is left out. */
static void list(struct buf *out, struct slice text)
{
	if (text.n > 200)
		text.n = 200;
	if (out->n + text.n > AGENTS_SHOWN || (out->n && memmem(out->p, out->n, text.p, text.n)))
		return;
	buf_text(out, out->n ? ", " : "");
	buf_put(out, text);
}

/* Those that were named when it was started. */
static void agents_of_args(const struct jvm *j, struct buf *out)
{
	static const char *const heads[] = { "-javaagent:", "-agentpath:", "-agentlib:", "-Xrun" };
	struct slice args = j->vm_args, word;

	while (jvm_args_word(&args, &word)) {
		const uint8_t *equals = memchr(word.p, '=', word.n);

		for (size_t i = 0; i < COUNT(heads); i++) {
			if (!slice_starts(word, slice_str(heads[i])) ||
			    memmem(word.p, word.n, "libsonde", 8))
				continue;
			if (equals) /* options may hold secrets */
				word.n = (size_t)(equals - word.p);
			list(out, word);
		}
	}
}

/* Is that library an agent? */
static bool is_agent(const struct inside *in, const char *path)
{
	int fd = inside_file(in, path, O_RDONLY | O_NONBLOCK, 0);
	struct buf bytes = { 0 };
	struct stat st;
	bool found = false;
	uint8_t *to;
	ssize_t n;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < LIBRARY_MAX &&
	    (to = buf_room(&bytes, (size_t)st.st_size)) != NULL) {
		n = pread(fd, to, (size_t)st.st_size, 0);
		found = n > 0 && (memmem(to, (size_t)n, "\0Agent_OnAttach", 16) ||
				  memmem(to, (size_t)n, "\0Agent_OnLoad", 14));
	}
	buf_release(&bytes);
	close(fd);
	return found;
}

/* Those that are mapped; libinstrument.so is there for any agent written in Java. */
static void agents_of_maps(const struct patient *p, struct buf *out)
{
	struct buf maps = { 0 };
	struct slice text, line;
	char last[512] = "", path[512];

	if (proc_read(p->jvm->target.pid, "maps", 32 << 20, &maps) < 0)
		goto done;
	text = buf_slice(&maps);
	while (proc_line(&text, &line)) {
		const uint8_t *slash = memchr(line.p, '/', line.n);
		size_t n = slash ? line.n - (size_t)(slash - line.p) : 0;

		if (n < 4 || n >= sizeof(path) || !memmem(slash, n, ".so", 3))
			continue;
		memcpy(path, slash, n);
		path[n] = '\0';
		if (strcmp(path, last) == 0 || strstr(path, "libsonde") || strstr(path, "libjvm."))
			continue;
		memcpy(last, path, n + 1);
		if (is_agent(p->in, path))
			list(out, slice_str(strrchr(path, '/') + 1));
	}
done:
	buf_release(&maps);
}

static void other_agents(struct patient *p)
{
	struct buf names = { 0 };

	agents_of_args(p->jvm, &names);
	agents_of_maps(p, &names);
	if (names.n)
		doctor_say(p, "others", DOCTOR_NOTE, NULL, "other agents in it: %.*s",
			   SLICE_FMT(buf_slice(&names)));
	else
		doctor_say(p, "others", DOCTOR_OK, NULL, "no other agents are in it");
	buf_release(&names);
}

/* Hooks need none of it; samples do. */
static void perf_events(struct patient *p)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	if (!*text)
		doctor_say(p, "perf", DOCTOR_NOTE, NULL, "this kernel has no perf events");
	else
		doctor_say(p, "perf", DOCTOR_NOTE, NULL,
			   "perf_event_paranoid is %s: %s. Hooks do not need perf events.", text,
			   strtol(text, NULL, 10) > 2
				   ? "only root may use perf events"
				   : "programs may use perf events on themselves");
}

void doctor_more(struct patient *p)
{
	if (p->in->root < 0 || p->jvm->kind != JVM_HOTSPOT)
		return;
	other_agents(p);
	perf_events(p);
}
