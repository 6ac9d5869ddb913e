/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.c - the agent's first and last acts: rules that are there from the start, the report at the
 * end of the JVM, and leaving it as it was. */
#include "agent/load/lifecycle.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/classes/cached.h"
#include "agent/classes/loaders.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "agent/core/guests.h"
#include "agent/core/scratch.h"
#include "agent/hotspot/critical.h"
#include "agent/load/earlier.h"
#include "agent/natives/data.h"
#include "agent/natives/probes.h"
#include "agent/serve/stack_stream.h"
#include "agent/serve/callees.h"
#include "agent/serve/closing.h"
#include "agent/serve/rows.h"
#include "agent/serve/in_place.h"
#include "agent/serve/sample.h"
#include "agent/serve/call_types.h"
#include "agent/serve/transactions.h"
#include "agent/weaving/recompile.h"
#include "agent/weaving/apply.h"
#include "agent/weaving/change.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/proof.h"
#include "base/plural.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum {
	RULE_FILE_MAX = 4 << 20,
	GUESTS_MS = 5000, /* so long threads of the program may take to come out */
	ROUNDS = 20,	  /* so often hooks are taken out of what comes late, after ... */
	ROUND_MS = 100,
	YOUNG_S = 10, /* what was woven longer ago and is not there will not come */
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

	if (rulebook_add(text, origin, &(struct rule_entry){ 0 }, &why) < 0)
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

void lifecycle_at_start(JNIEnv *jni)
{
	const char *file = agent.options.files;
	struct buf text = { 0 };
	bool earlier = earlier_rules(&text);

	loaders_follow(woven_unload, apply_tell);
	/* before the rules: keys of them are made with the cache's secret */
	if (earlier || *file || agent.options.rules.n)
		cached_open();
	if (earlier) /* first, so that those of today decide */
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
	probe_mute(true);
	if (agent.options.budget > 0)
		closing_set(agent.options.budget);
	if (probes_init(jni) < 0) {
		rulebook_remove(change_any, NULL);
	} else {
		bind_at_start(jni);
		change_to_rules(jni);
	}
	probe_mute(false);
}

void lifecycle_undo_start(JNIEnv *jni)
{
	if (!rulebook.n)
		return;
	rulebook_remove(change_any, NULL);
	change_to_rules_at_once(jni);
}

void lifecycle_last_report(void)
{
	struct buf out = { 0 };
	char path[1100];
	int fd;

	if (!agent.options.report[0])
		return;
	agent_scale_update();
	conn_welcome(&out);
	rows_put_methods(&out, 0);
	(void)rows_put_tree(&out, NULL, NULL); /* without it there are still the methods */
	call_types_put(&out);
	in_place_put(&out);
	change_put_left(&out);
	rows_put_status(&out);
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

/* The agent's thread. */
static bool leaving;

/* Other clients who wait for something learn why it does not come. */
static void end_sessions(const struct conn *mine)
{
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (c == mine || !(c->watch.first || transactions_is_for(c) || sample_is_for(c) ||
				   stack_stream_is_for(c) || in_place_is_for(c)))
			continue;
		conn_done(c, CANNOT, "another client takes the agent out of this program");
		c->watch = (struct watch){ 0 };
		conn_flush(c, 0);
	}
	sample_stop();
	stack_stream_stop();
	in_place_stop();
	transactions_stop();
}

static void open_door(void)
{
	guests_open();
	agent_listen(true);
}

/* No thread enters any more, and those inside leave.  Gives the number of those that do not: then all is as
 * before. */
static unsigned see_guests_out(struct conn *c)
{
	conn_progress(c, "waiting for threads in the agent's code", 0, 0);
	agent_listen(false);
	if (guests_close(GUESTS_MS))
		return 0;
	agent_listen(true);
	return guests_count() ? guests_count() : 1;
}

/* What it takes to leave. */
struct leave {
	struct conn *c;
	JNIEnv *jni;
	struct proof proof;
	struct buf rows;  /* of the proof */
	uint64_t young;	  /* tick after which a class must have been woven to be waited for */
	uint64_t in_code; /* ... of these, classes that have hooks still */
};

/* A class that a thread is about to load when the rules go is woven already and not yet there: while
 * its ancestors are loaded, say.  It can be given its original code when it has come. */
static void take_hooks_out(struct leave *l)
{
	for (int round = 0;; round++) {
		conn_progress(l->c, "taking hooks out", 0, 0);
		buf_clear(&l->rows);
		l->proof = (struct proof){ 0 };
		change_to_rules_at_once(l->jni);
		proof_take(l->jni, &l->rows, &l->proof);
		l->in_code = woven_count_in_code(l->young);
		if (round == ROUNDS || (!l->proof.differ && !l->in_code))
			break;
		usleep(ROUND_MS * 1000);
	}
}

/* False: some hooks or threads are left, the agent stays, and the client knows. */
static bool take_all_out(struct leave *l)
{
	unsigned guests;

	for (int round = 0;; round++) {
		take_hooks_out(l);
		if (l->proof.differ) {
			buf_bytes(&l->c->out, l->rows.p, l->rows.n);
			conn_done(l->c, NO,
				  "%llu of %llu class%s still %s hooks; the agent stays. Another "
				  "agent may have kept them.",
				  (unsigned long long)l->proof.differ,
				  (unsigned long long)l->proof.classes, plural_es(l->proof.classes),
				  l->proof.differ == 1 ? "has" : "have");
			return false;
		}
		guests = see_guests_out(l->c);
		if (guests) {
			conn_done(
				l->c, NO,
				"all hooks are out, but %u of the program's threads did not come "
				"out of the agent's code within %d s; a debugger may have stopped "
				"them. The agent stays, idle. Try again when they run.",
				guests, GUESTS_MS / 1000);
			return false;
		}
		/* the last of them may have woven a class while they were waited for */
		if (round == ROUNDS || woven_count_in_code(l->young) <= l->in_code)
			break;
		open_door();
	}
	buf_bytes(&l->c->out, l->rows.p, l->rows.n);
	return true;
}

static void tell_proof(struct conn *c, const struct proof *proof)
{
	static const char *const flags[] = {
		[CRITICAL_NEVER] = "",
		[CRITICAL_AS_IT_WAS] = " The JVM's flag CriticalJNINatives is what it was.",
		[CRITICAL_OTHER] = "",
	};
	enum critical_is flag = critical_look();
	uint64_t absent = woven_count_in_code(0);
	char foreign[120] = "";

	if (absent)
		conn_warn(
			c,
			"%llu class%s woven and never loaded: the loading failed or has not ended; "
			"should one come after all, its hooks are closed",
			(unsigned long long)absent, absent == 1 ? " was" : "es were");
	if (flag == CRITICAL_OTHER)
		conn_warn(c, "the JVM's flag CriticalJNINatives is not what it was: something else "
			     "has changed it");
	if (proof->foreign)
		snprintf(foreign, sizeof(foreign),
			 ", but for changes of another agent in %llu class%s",
			 (unsigned long long)proof->foreign, plural_es(proof->foreign));
	conn_done(c, DONE,
		  "detached: %llu class%s had hooks, %llu %s loaded still, %s%llu method%s "
		  "original byte code%s. Hooks now in the program: 0.%s\n"
		  "Gone: thread, socket, events. Idle until the JVM ends: the library, and "
		  "java.util.SondeProbe with its helpers (%s).",
		  (unsigned long long)proof->ever, plural_es(proof->ever),
		  (unsigned long long)proof->classes, proof->classes == 1 ? "is" : "are",
		  proof->methods == 1 ? "" : "all ", (unsigned long long)proof->methods,
		  proof->methods == 1 ? " has its" : "s have their", foreign, flags[flag],
		  proof->ever ? "all gates closed" : "never defined");
}

/* Does anybody else need the agent: a client, or one who has left rules that stay? */
static bool is_needed(const struct conn *by)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c != by && c->greeted && conn_is_alive(c))
			return true;
	for (size_t i = 0; i < rulebook.n; i++)
		if (!rulebook.entries[i].holder &&
		    strcmp(rulebook.entries[i].origin, "memory") != 0)
			return true;
	return false;
}

void lifecycle_detach(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct leave l = { .c = c, .jni = jni };
	uint64_t age = YOUNG_S * agent.scale.hz, now = tick_now();
	struct wire_detach m;
	bool out;

	if (wire_get_detach(payload, &m) >= 0 && m.flags & DETACH_IF_ALONE && is_needed(c)) {
		conn_done(c, NO, "others use the agent, so it stays; 'sonde detach' takes it out");
		return;
	}
	l.young = now > age ? now - age : 0;
	end_sessions(c);
	gates_close_all(jni);
	rulebook_remove(change_any, NULL);
	out = take_all_out(&l);
	buf_release(&l.rows);
	if (!out)
		return;
	critical_back();
	tell_proof(c, &l.proof);
	conn_flush(c, 2000);
	leaving = true;
	agent.leaving = true;
}

void lifecycle_after_stop(void)
{
	if (!leaving)
		return;
	leaving = false;
	cached_close();
	if (agent_enter_jvm()) { /* only a thread of the JVM may */
		recompile_end();
		(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
		agent_leave_jvm();
	}
	callees_forget();
	edition_free_unused();
	scratch_drop();
	agent.jvmti = NULL;
}
