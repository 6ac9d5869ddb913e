/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - the agent's first and last acts: rules that are there from the start, the report at the
 * end of the JVM, and leaving it as it was. */
#include "agent/life.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/anew.h"
#include "agent/cached.h"
#include "agent/callees.h"
#include "agent/change.h"
#include "agent/data.h"
#include "agent/earlier.h"
#include "agent/figures.h"
#include "agent/in_place.h"
#include "agent/instrument.h"
#include "agent/probes.h"
#include "agent/proof.h"
#include "agent/room.h"
#include "agent/sample.h"
#include "agent/tiers.h"
#include "agent/trace.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum {
	RULE_FILE_MAX = 4 << 20,
};

/* ---- rules from the start, and the last report -------------------------------------------- */

static bool read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : 1;
	uint8_t *p;

	while (n > 0 && out->n <= RULE_FILE_MAX && (p = buf_room(out, 64 << 10))) {
		n = read(fd, p, 64 << 10);
		out->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n == 0 && !out->err;
}

static void add_noting(struct slice text, const char *origin)
{
	struct buf why = { 0 };

	if (rulebook_add(text, origin, &(struct entry){ 0 }, &why) < 0)
		agent_note("%.*s", (int)why.n, (const char *)why.p);
	buf_release(&why);
}

/* The program's classes are not there yet: what does not fit them is left alone when they come. */
static void bind_at_start(JNIEnv *jni)
{
	struct edition *e = edition_get();
	struct buf why = { 0 };

	if (e && change_is_about_data(e->rules) && data_init(jni) >= 0 &&
	    data_bind(jni, e->rules, &why) < 0)
		agent_note("%.*s", (int)why.n, (const char *)why.p);
	buf_release(&why);
	edition_put(e);
}

void life_at_start(JNIEnv *jni)
{
	const char *file = agent.options.files;
	struct buf text = { 0 };

	if (earlier_rules(&text)) /* first, so that those of today decide */
		add_noting(buf_slice(&text), "memory");
	for (; *file; file += strlen(file) + 1) {
		buf_clear(&text);
		if (read_file(file, &text))
			add_noting(buf_slice(&text), file);
		else
			agent_note("%s: cannot be read", file);
	}
	buf_release(&text);
	if (agent.options.rules.n)
		add_noting(buf_slice(&agent.options.rules), "options");
	if (!rulebook.n)
		return;
	cached_open();
	probe_mute(true);
	if (probes_init(jni) < 0) {
		rulebook_remove(change_any, NULL);
	} else {
		bind_at_start(jni);
		change_to_rules(jni);
	}
	probe_mute(false);
}

void life_last_report(void)
{
	struct buf out = { 0 };
	char path[1100];
	int fd;

	if (!agent.options.report[0])
		return;
	agent_scale_update();
	conn_welcome(&out);
	figures_put_methods(&out, 0);
	(void)figures_put_tree(&out, NULL, NULL); /* without it there are still the methods */
	tiers_put_sequences(&out);
	in_place_put(&out);
	change_put_left(&out);
	figures_put_status(&out);
	snprintf(path, sizeof(path), "%s.%d", agent.options.report, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && !out.err)
		for (size_t at = 0; at < out.n;) {
			ssize_t n = write(fd, out.p + at, out.n - at);

			if (n <= 0)
				break;
			at += (size_t)n;
		}
	if (fd >= 0)
		close(fd);
	buf_release(&out);
}

/* ---- leaving ------------------------------------------------------------------------------ */

static bool leaving;

void life_detach(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct proof proof = { 0 };
	char foreign[120] = "";

	(void)payload;
	sample_stop();
	in_place_stop();
	trace_stop();
	probes_close_all(jni);
	rulebook_remove(change_any, NULL);
	conn_progress(c, "taking hooks out", 0, 0);
	change_to_rules_at_once(jni);
	proof_take(jni, &c->out, &proof);
	if (proof.foreign)
		snprintf(foreign, sizeof(foreign),
			 ", but for changes of another agent in %llu classes",
			 (unsigned long long)proof.foreign);
	if (proof.differ)
		conn_done(
			c, NO,
			"%llu of %llu classes still have hooks; the agent stays. Another agent may "
			"have kept them.",
			(unsigned long long)proof.differ, (unsigned long long)proof.classes);
	else
		conn_done(
			c, DONE,
			"detached: %llu classes had hooks, %llu are loaded still, all %llu methods "
			"have their original byte code%s. Hooks now in the program: 0.\n"
			"Gone: thread, socket, events. Idle until the JVM ends: the library, and "
			"java.util.SondeProbe with its helpers (%s).",
			(unsigned long long)proof.ever, (unsigned long long)proof.classes,
			(unsigned long long)proof.methods, foreign,
			proof.ever ? "all gates closed" : "never defined");
	if (proof.differ)
		return;
	conn_flush(c, 2000);
	leaving = true;
	server_stop();
}

void life_after_stop(void)
{
	bool attached;

	if (!leaving)
		return;
	leaving = false;
	cached_close();
	if (agent_enter_jvm(&attached)) { /* only a thread of the JVM may */
		anew_end();
		(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
	}
	callees_forget();
	room_drop();
	agent.jvmti = NULL;
	agent_leave_jvm(attached);
}
