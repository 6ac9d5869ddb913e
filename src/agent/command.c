/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - one function for each message of a client; the table at the end names them.
 *
 * A change of rules is always made in the same steps: the rulebook gets a new edition, the JVM's
 * events are set to what that needs, the loaded classes are surveyed, and those that do not look
 * right are retransformed.  When the client goes in the middle, what it asked for is undone. */
#include "agent/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cached.h"
#include "agent/callees.h"
#include "agent/data.h"
#include "agent/explain.h"
#include "agent/figures.h"
#include "agent/instrument.h"
#include "agent/probes.h"
#include "agent/proof.h"
#include "agent/reading.h"
#include "agent/rulebook.h"
#include "agent/sample.h"
#include "agent/trace.h"
#include "agent/vthread.h"
#include "agent/watch.h"
#include "base/mem.h"
#include "probe/probe.h"
#include "rule/print.h"
#include "wire/wire.h"

enum {
	DONE,
	NO,
	USAGE,
	CANNOT, /* exit status of the client */
};

enum {
	RULE_FILE_MAX = 4 << 20,
};

/* ---- a change of rules -------------------------------------------------------------------- */

struct change {
	JNIEnv *jni;
	struct conn *c;	    /* NULL: nobody waits for it */
	bool stopped;	    /* the client has gone */
	struct slice rules; /* the new ones, as they were written */
	const char *origin;
	struct survey survey;
};

static bool more(void *ctx, uint64_t at, uint64_t total)
{
	struct change *ch = ctx;

	if (!ch->c)
		return true;
	if (at)
		conn_progress(ch->c, "classes", at, total);
	ch->stopped = !conn_is_alive(ch->c);
	return !ch->stopped;
}

/* Makes the JVM's classes look as the rules in force say. */
static int follow_rules(struct change *ch)
{
	int rc;

	if (!rulebook.n)
		agent.many = agent.options.yes;
	if (rulebook.n) /* without rules, too, we want to see each class once more */
		instrument_events();
	vthread_events(rulebook.n != 0);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, rulebook.n ? JVMTI_ENABLE : JVMTI_DISABLE,
					   JVMTI_EVENT_THREAD_END, NULL);
	rc = survey_take(ch->jni, &ch->survey);
	if (rc >= 0)
		instrument_retransform(ch->jni, &ch->survey, more, ch);
	survey_release(ch->jni, &ch->survey);
	if (!rulebook.n)
		instrument_events();
	return rc;
}

static bool is_from(const struct entry *e, void *ctx)
{
	return e->number >= *(uint32_t *)ctx;
}

/* Takes out what a command had just put in. */
static void undo(struct change *ch, uint32_t first)
{
	struct change back = { .jni = ch->jni };

	rulebook_remove(is_from, &first);
	follow_rules(&back);
}

int command_remove(bool (*meant)(const struct entry *e, void *ctx), void *ctx)
{
	struct change ch = { 0 };
	bool attached;
	int n = rulebook_remove(meant, ctx);

	if (n <= 0)
		return n;
	ch.jni = agent_enter_jvm(&attached);
	if (!ch.jni)
		return E_UNSUPPORTED;
	follow_rules(&ch);
	agent_leave_jvm(attached);
	return n;
}

void command_follow(void)
{
	struct change ch = { 0 };
	bool attached;

	ch.jni = agent_enter_jvm(&attached);
	if (!ch.jni)
		return;
	follow_rules(&ch);
	agent_leave_jvm(attached);
}

static bool is_held_by(const struct entry *e, void *ctx)
{
	return e->holder == *(uint32_t *)ctx;
}

void command_client_gone(uint32_t number)
{
	sample_client_gone(number);
	trace_client_gone(number);
	if (!agent.dead && agent.jvmti)
		command_remove(is_held_by, &number);
}

/* Methods and classes hooked by rules from `first` on. */
static void count_from(uint32_t first, uint64_t *classes, uint64_t *methods)
{
	*classes = *methods = 0;
	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = woven_first(); w; w = w->all) {
		uint64_t n = 0;

		for (const struct hooked *h = w->methods; h; h = h->next)
			n += h->rule >= first && h->rule;
		*classes += n != 0;
		*methods += n;
	}
	pthread_mutex_unlock(&agent.lock);
}

static void put_left(struct buf *out)
{
	struct left_row rows[LEFT_KINDS];

	instrument_left(rows);
	for (int k = 0; k < LEFT_KINDS; k++)
		if (rows[k].count)
			wire_put_left(out,
				      &(struct wire_left){ .reason = slice_str(rows[k].reason),
							   .count = rows[k].count,
							   .example = slice_str(rows[k].example),
							   .why = slice_str(rows[k].why) });
}

/* The class and the method that the first new rule names, if they are plain names. */
static void set_wanted(struct survey *s, uint32_t first)
{
	for (size_t i = 0; i < rulebook.n; i++) {
		const struct rule *r = rulebook.entries[i].rule;

		if (rulebook.entries[i].number >= first && r->kind == RULE_HOOK &&
		    !r->target.any_class && r->target.class.exact) {
			s->wanted = r->target.class.literal;
			if (!r->target.any_method && r->target.method.exact)
				s->wanted_method = r->target.method.literal;
			return;
		}
	}
}

static void done_none(struct change *ch, uint32_t first)
{
	char hint[300] = "";

	if (ch->survey.near[0])
		snprintf(hint, sizeof(hint), "; the nearest name is %s", ch->survey.near);
	for (char *p = hint; *p; p++)
		*p = *p == '/' ? '.' : *p;
	conn_done(ch->c, NO,
		  "nothing is hooked yet: of %llu loaded classes none has such a method%s.\n"
		  "Rule #%u stays for classes that are loaded later; `sonde unhook` takes it out.",
		  (unsigned long long)ch->survey.looked_at, hint, first);
}

static bool is_about_data(const struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = rules->all[i];

		if (r->kind == RULE_CAPTURE || (r->kind == RULE_HOOK && r->hook.condition))
			return true;
	}
	return false;
}

/* Conditions and captures of the new rules: are they possible?  The rules are read once more, so
 * that messages show them as they were written. */
static int prepare_data(struct change *ch, struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct rules *rules;
	struct arena mem;
	int rc;

	arena_init(&mem);
	rules = rules_new(&mem);
	rc = rules ? rules_add(rules, ch->rules, ch->origin, &errors) : E_NO_MEMORY;
	if (rc >= 0 && is_about_data(rules)) {
		rc = data_init(ch->jni);
		if (rc < 0)
			buf_printf(why, "conditions cannot be decided in this JVM\n");
		if (rc >= 0)
			rc = data_check(ch->jni, rules, why);
		if (rc >= 0)
			rc = data_bind(ch->jni, rules, why);
	}
	arena_release(&mem);
	return rc;
}

/* Everything from the new rules in the book to the answer. */
static void put_in(struct change *ch, uint32_t first, uint32_t flags)
{
	uint64_t classes, methods;
	struct buf why = { 0 };
	int rc;

	agent.many |= (flags & HOOK_YES) != 0;
	if (probes_init(ch->jni) < 0) {
		undo(ch, first);
		conn_done(ch->c, CANNOT, "the probe could not be set up: %.*s", (int)agent.notes_n,
			  agent.notes);
		return;
	}
	if (prepare_data(ch, &why) < 0) {
		undo(ch, first);
		conn_done(ch->c, USAGE, "%.*s", why.n ? (int)why.n - 1 : 13,
			  why.n ? (const char *)why.p : "out of memory");
		buf_release(&why);
		return;
	}
	instrument_events();
	vthread_events(true);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, NULL);
	set_wanted(&ch->survey, first);
	rc = survey_take(ch->jni, &ch->survey);
	methods = rc < 0 ? 0 : survey_methods(&ch->survey);
	if (rc < 0 || (flags & HOOK_DRY) || (methods > MANY_METHODS && !(flags & HOOK_YES))) {
		uint64_t n = ch->survey.n;

		survey_release(ch->jni, &ch->survey);
		undo(ch, first);
		if (rc < 0)
			conn_done(ch->c, CANNOT, "out of memory");
		else if (flags & HOOK_DRY)
			conn_done(ch->c, n ? DONE : NO,
				  "would change %llu of %llu loaded classes, with about %llu "
				  "methods in all",
				  (unsigned long long)n, (unsigned long long)ch->survey.looked_at,
				  (unsigned long long)methods);
		else
			conn_done(ch->c, USAGE,
				  "this would hook up to %llu methods in %llu classes; --yes if "
				  "that is meant",
				  (unsigned long long)methods, (unsigned long long)n);
		return;
	}
	instrument_retransform(ch->jni, &ch->survey, more, ch);
	survey_release(ch->jni, &ch->survey);
	if (ch->stopped) {
		undo(ch, first);
		return;
	}
	count_from(first, &classes, &methods);
	put_left(&ch->c->out);
	if (!methods)
		done_none(ch, first);
	else
		conn_done(ch->c, DONE, "#%u: %llu methods in %llu classes hooked", first,
			  (unsigned long long)methods, (unsigned long long)classes);
}

struct held_before {
	uint32_t holder, first;
};

static bool is_held_before(const struct entry *e, void *ctx)
{
	const struct held_before *h = ctx;

	return e->holder == h->holder && e->number < h->first;
}

static void run_hook(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct change ch = { .jni = jni, .c = c };
	struct wire_hook m;
	struct entry as = { 0 };
	struct buf why = { 0 };
	char origin[256];
	int first;

	if (wire_get_hook(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	snprintf(origin, sizeof(origin), "%.*s", SLICE_FMT(m.origin));
	as.holder = m.flags & HOOK_HELD ? c->number : 0;
	first = rulebook_add(m.rules, origin[0] ? origin : "rule", &as, &why);
	if (first < 0)
		conn_done(c, first == E_NO_MEMORY ? CANNOT : USAGE, "%.*s",
			  why.n ? (int)why.n - 1 : 13,
			  why.n ? (const char *)why.p : "out of memory");
	if (first >= 0 && m.flags & HOOK_INSTEAD)
		rulebook_remove(is_held_before,
				&(struct held_before){ c->number, (uint32_t)first });
	if (first >= 0) {
		ch.rules = m.rules;
		ch.origin = origin[0] ? origin : "rule";
		put_in(&ch, (uint32_t)first, m.flags);
	}
	buf_release(&why);
}

/* ---- unhook ------------------------------------------------------------------------------- */

struct pattern_of {
	struct slice text;
	uint32_t number; /* of "#3"; 0: another pattern */
	bool all;
};

static bool is_meant(const struct entry *e, void *ctx)
{
	struct pattern_of *p = ctx;
	struct buf target = { 0 };
	bool same = false;

	if (p->all || (p->number && p->number == e->number))
		return true;
	if (p->number || e->rule->kind == RULE_TEMPLATE)
		return false;
	target_print(&e->rule->target, &target);
	same = !target.err && slice_eq(buf_slice(&target), p->text);
	buf_release(&target);
	return same || slice_is(p->text, e->text);
}

static bool any_hook_left(void)
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (rulebook.entries[i].rule->kind == RULE_HOOK)
			return true;
	return false;
}

static bool is_any(const struct entry *e, void *ctx)
{
	(void)e, (void)ctx;
	return true;
}

/* The target of a rule in the form in which the book prints it. */
static void normalise(struct pattern_of *p, struct buf *out)
{
	struct rule_errors errors = { 0 };
	struct buf text = { 0 };
	struct rules *rules;
	struct arena mem;

	arena_init(&mem);
	buf_printf(&text, "skip %.*s", SLICE_FMT(p->text));
	if (!text.err && rules_parse(&mem, buf_slice(&text), "pattern", &rules, &errors) >= 0 &&
	    rules->n == 1) {
		target_print(&rules->all[0]->target, out);
		if (!out->err)
			p->text = buf_slice(out);
	}
	arena_release(&mem);
	buf_release(&text);
}

static void run_unhook(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct change ch = { .jni = jni, .c = c };
	struct wire_unhook m;
	struct pattern_of p = { 0 };
	struct buf normal = { 0 }, skip = { 0 }, why = { 0 };
	uint64_t classes, before, methods;
	char number[16] = "";
	int n;

	if (wire_get_unhook(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	woven_count(&classes, &before);
	p.text = m.pattern;
	p.all = slice_is(m.pattern, "all");
	if (m.pattern.n > 1 && m.pattern.n < sizeof(number) && m.pattern.p[0] == '#') {
		memcpy(number, m.pattern.p + 1, m.pattern.n - 1);
		p.number = (uint32_t)strtoul(number, NULL, 10);
	}
	if (!p.all && !p.number)
		normalise(&p, &normal);
	n = rulebook_remove(is_meant, &p);
	if (n == 0 && !p.all && !p.number && rulebook.n) {
		buf_printf(&skip, "skip %.*s", SLICE_FMT(p.text));
		n = rulebook_add(buf_slice(&skip), "unhook", &(struct entry){ 0 }, &why);
	}
	if (rulebook.n && !any_hook_left())
		rulebook_remove(is_any, NULL);
	if (n < 0) {
		buf_text(&why, why.n ? "" : "a rule that stays needs one that would be gone\n");
		conn_done(c, USAGE, "%.*s", (int)why.n - 1, (const char *)why.p);
	} else if (n == 0) {
		conn_done(c, NO, "no rule of that name or number is in force");
	} else {
		ch.c = NULL; /* goes through to the end, also when the client goes */
		follow_rules(&ch);
		woven_count(&classes, &methods);
		conn_done(c, DONE,
			  "%lld methods unhooked; hooked now: %llu methods in %llu classes",
			  (long long)before - (long long)methods, (unsigned long long)methods,
			  (unsigned long long)classes);
	}
	buf_release(&normal);
	buf_release(&skip);
	buf_release(&why);
}

/* ---- reading ------------------------------------------------------------------------------ */

static void run_hooks(struct conn *c, JNIEnv *jni, struct slice payload)
{
	uint64_t classes, methods;

	(void)jni, (void)payload;
	figures_put_rules(&c->out);
	figures_put_missed(&c->out);
	put_left(&c->out);
	woven_count(&classes, &methods);
	conn_done(c, DONE, "Hooks now in the program: %llu methods in %llu classes, %zu rules",
		  (unsigned long long)methods, (unsigned long long)classes, rulebook.n);
}

static void run_report(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_report m;
	int rc = 0;

	(void)jni;
	if (wire_get_report(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	figures_put_methods(&c->out, m.flags);
	if (m.flags & REPORT_TREE)
		rc = figures_put_tree(&c->out);
	figures_put_status(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}

static void run_tree(struct conn *c, JNIEnv *jni, struct slice payload)
{
	int rc;

	(void)jni, (void)payload;
	rc = figures_put_tree(&c->out);
	conn_done(c, rc < 0 ? CANNOT : DONE, "%s", rc < 0 ? "out of memory" : "");
}

static void run_status(struct conn *c, JNIEnv *jni, struct slice payload)
{
	(void)jni, (void)payload;
	figures_put_status(&c->out);
	conn_done(c, DONE, "%s", "");
}

static void run_data(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct seen *seen = mem_alloc(sizeof(*seen));
	uint64_t names = 0, values = 0;
	const char *name;

	(void)jni, (void)payload;
	for (uint32_t slot = 0; seen && slot < DATA_SLOTS && (name = data_slot_name(slot));
	     slot++) {
		data_seen(slot, seen);
		names++;
		values += seen->n;
		wire_put_captured(&c->out, &(struct wire_captured){ .name = slice_str(name),
								    .total = seen->total,
								    .passed = seen->passed });
		for (size_t i = 0; i < seen->n; i++)
			wire_put_value(&c->out,
				       &(struct wire_value){ .name = slice_str(name),
							     .text = slice_str(seen->v[i].text),
							     .count = seen->v[i].count,
							     .error = seen->v[i].error });
	}
	mem_free(seen);
	conn_done(c, seen ? DONE : CANNOT, "%llu values under %llu names",
		  (unsigned long long)values, (unsigned long long)names);
}

static uint64_t calls_of(const struct hooked *h)
{
	struct probe_figures f;

	reading_method(h->id, &f, NULL);
	return f.calls;
}

static void run_reset(struct conn *c, JNIEnv *jni, struct slice payload)
{
	(void)jni, (void)payload;
	for (uint32_t id = 1; id < woven_ids(); id++) {
		struct hooked *h = woven_method(id);

		if (h)
			h->forgotten += calls_of(h);
		reading_reset(id);
		if (h)
			h->before = h->jni_calls = 0;
	}
	data_seen_reset();
	conn_done(c, DONE, "figures count from now");
}

static void run_explain(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_explain m;
	struct buf text = { 0 };
	int rc;

	if (wire_get_explain(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	rc = explain_method(jni, m.method, &text);
	if (rc > 0)
		wire_put_text(&c->out, &(struct wire_text){ buf_slice(&text) });
	if (rc > 0)
		conn_done(c, DONE, "%s", "");
	else
		conn_done(c, rc < 0 ? USAGE : NO, "%.*s", (int)text.n, (const char *)text.p);
	buf_release(&text);
}

/* ---- rules that a client holds ------------------------------------------------------------ */

int command_hold(struct conn *c, JNIEnv *jni, const struct command_rules *r)
{
	struct change ch = { .jni = jni, .c = c, .rules = r->rules, .origin = r->origin };
	struct wire_done done = { 0 };
	struct buf why = { 0 }, answer;
	struct slice rest, frame;
	unsigned type;
	long n;
	int first = rulebook_add(r->rules, r->origin, &r->as, &why);

	if (first < 0) {
		conn_done(c, USAGE, "%.*s", why.n ? (int)why.n - 1 : 13,
			  why.n ? (const char *)why.p : "out of memory");
		buf_release(&why);
		return first;
	}
	buf_release(&why);
	answer = c->out; /* the usual answer of a hook, as a warning: more comes behind it */
	c->out = (struct buf){ 0 };
	put_in(&ch, (uint32_t)first, r->flags);
	rest = buf_slice(&c->out);
	while (!c->closing && (n = wire_frame(rest, &type, &frame)) > 0) {
		if (type == WIRE_done)
			wire_get_done(frame, &done);
		else if (type == WIRE_left && !r->quiet)
			buf_bytes(&answer, rest.p, (size_t)n);
		rest.p += n, rest.n -= (size_t)n;
	}
	if (done.status > NO)
		wire_put_done(&answer, &done);
	else if (!c->closing && !r->quiet)
		wire_put_warning(&answer, &(struct wire_warning){ done.text });
	buf_release(&c->out);
	c->out = answer;
	return c->closing || ch.stopped || done.status > NO ? E_UNSUPPORTED : first;
}

/* ---- leaving ------------------------------------------------------------------------------ */

static bool leaving;

static void run_detach(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct change ch = { .jni = jni };
	struct proof proof = { 0 };
	char foreign[120] = "";

	(void)payload;
	sample_stop();
	trace_stop();
	probes_close_all(jni);
	rulebook_remove(is_any, NULL);
	conn_progress(c, "taking hooks out", 0, 0);
	follow_rules(&ch);
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

void command_after_stop(void)
{
	bool attached;

	if (!leaving)
		return;
	leaving = false;
	cached_close();
	if (agent_enter_jvm(&attached)) /* only a thread of the JVM may */
		(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
	callees_forget();
	agent.jvmti = NULL;
	agent_leave_jvm(attached);
}

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

	if (e && is_about_data(e->rules) && data_init(jni) >= 0 &&
	    data_bind(jni, e->rules, &why) < 0)
		agent_note("%.*s", (int)why.n, (const char *)why.p);
	buf_release(&why);
	edition_put(e);
}

void command_at_start(JNIEnv *jni)
{
	struct change ch = { .jni = jni };
	const char *file = agent.options.files;
	struct buf text = { 0 };

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
		rulebook_remove(is_any, NULL);
	} else {
		bind_at_start(jni);
		follow_rules(&ch);
	}
	probe_mute(false);
}

void command_last_report(void)
{
	struct buf out = { 0 };
	char path[1100];
	int fd;

	if (!agent.options.report[0])
		return;
	agent_scale_update();
	conn_welcome(&out);
	figures_put_methods(&out, 0);
	(void)figures_put_tree(&out); /* without it there are still the methods */
	put_left(&out);
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

/* ---- the table ---------------------------------------------------------------------------- */

static const struct {
	unsigned type;
	bool needs_jvm; /* is called attached to it */
	void (*run)(struct conn *c, JNIEnv *jni, struct slice payload);
} commands[] = {
	{ WIRE_hook, true, run_hook },	     { WIRE_unhook, true, run_unhook },
	{ WIRE_hooks, false, run_hooks },    { WIRE_report, false, run_report },
	{ WIRE_tree, false, run_tree },	     { WIRE_explain, true, run_explain },
	{ WIRE_watch, true, watch_run },     { WIRE_ask_status, false, run_status },
	{ WIRE_ask_data, false, run_data },  { WIRE_reset, false, run_reset },
	{ WIRE_detach, true, run_detach },   { WIRE_sample, false, sample_run },
	{ WIRE_callees, true, callees_run }, { WIRE_trace, true, trace_run },
};

bool command_run(struct conn *c, unsigned type, struct slice payload)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		bool attached = false;
		JNIEnv *jni = NULL;

		if (commands[i].type != type)
			continue;
		if (commands[i].needs_jvm && !(jni = agent_enter_jvm(&attached)))
			conn_done(c, CANNOT, "the JVM does not let the agent's thread in");
		else
			commands[i].run(c, jni, payload);
		agent_leave_jvm(attached);
		return true;
	}
	return false;
}
