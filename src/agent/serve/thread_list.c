/* SPDX-License-Identifier: Apache-2.0 */
/* thread_list.c - one look at all threads.
 *
 * States and stacks are of one moment (GetAllStackTraces stops the threads for it); processor times
 * and locks are asked for thread by thread after it, so a thread may have gone on meanwhile.  Who
 * compares two looks can tell: one that had the same lock to wait for in both, and has used no processor
 * in between, has not.
 *
 * What threads wait for is asked of at most ASK_MAX, and for no longer than ASK_NS. */
#include "agent/serve/thread_list.h"

#include <stdio.h>

#include "agent/classes/sites.h"
#include "agent/core/agent.h"
#include "agent/hotspot/management.h"
#include "agent/hotspot/vitals.h"
#include "agent/natives/locks.h"
#include "agent/serve/state_bits.h"

enum { FRAMES_MAX = 1024, ASK_MAX = 2000, REFS = 32 };
#define ASK_NS 500000000u

struct list {
	struct conn *c;
	JNIEnv *jni;
	struct wire_ask_threads asked;
	struct sites sites;
	uint64_t begin; /* tick */
	bool cpu;
	jfieldID number;
	jobjectArray infos; /* of those that wait for monitors, in their order */
	jlong waiting[ASK_MAX];
	jsize n_waiting, at;
	struct buf lock, holder, frames; /* of the thread that is told */
};

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

/* Both cost the program nothing.  A JVM that does not know the times of threads gives lines alone. */
static bool get_capabilities(void)
{
	jvmtiCapabilities lines, cpu;

	memset(&lines, 0, sizeof(lines));
	memset(&cpu, 0, sizeof(cpu));
	lines.can_get_line_numbers = 1;
	cpu.can_get_thread_cpu_time = 1;
	(*agent.jvmti)->AddCapabilities(agent.jvmti, &lines);
	return (*agent.jvmti)->AddCapabilities(agent.jvmti, &cpu) == JVMTI_ERROR_NONE;
}

/* Thread.tid: its getter can be overridden by the program. */
static jfieldID number_field(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jfieldID field = class ? (*jni)->GetFieldID(jni, class, "tid", "J") : NULL;

	(*jni)->ExceptionClear(jni);
	return field;
}

static uint64_t number_of(const struct list *l, jthread thread)
{
	return thread && l->number ? (uint64_t)(*l->jni)->GetLongField(l->jni, thread, l->number)
				   : 0;
}

/* ---- what it waits for ---- */

static char *name_of(jthread thread)
{
	jvmtiThreadInfo info = { 0 };

	(*agent.jvmti)->GetThreadInfo(agent.jvmti, thread, &info);
	return info.name;
}

static void put_object(struct buf *out, JNIEnv *jni, jobject object)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	char *sig = NULL;
	jint hash = 0;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &sig, NULL) != JVMTI_ERROR_NONE)
		return;
	if (sig[0] == 'L')
		buf_dotted(out, (struct slice){ (uint8_t *)sig + 1, strlen(sig) - 2 });
	else
		buf_text(out, sig);
	drop(sig);
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, object, &hash) == JVMTI_ERROR_NONE)
		buf_printf(out, "@%x", (unsigned)hash);
}

static bool waits_for_monitor(unsigned state)
{
	return state == THREAD_BLOCKED || state == THREAD_WAITS;
}

/* Whom the JVM is asked about, all at once. */
static void ask_about(struct list *l, const jvmtiStackInfo *all, jint n)
{
	for (jint i = 0; i < n && l->n_waiting < ASK_MAX; i++)
		if (waits_for_monitor(state_bits_read(all[i].state)))
			l->waiting[l->n_waiting++] = (jlong)number_of(l, all[i].thread);
	l->infos = management_threads(l->jni, l->waiting, l->n_waiting);
}

static void ask_blocker(struct list *l, jthread thread, struct wire_thread *row)
{
	jthread holder;
	jobject on = locks_blocker(l->jni, thread, &holder);
	char *name;

	if (!on)
		return;
	put_object(&l->lock, l->jni, on);
	row->holder = number_of(l, holder);
	name = holder ? name_of(holder) : NULL;
	if (name)
		buf_text(&l->holder, name);
	drop(name);
}

static void fill_lock(struct list *l, jthread thread, struct wire_thread *row)
{
	bool monitor = waits_for_monitor(row->state);
	jsize i = l->at;

	if (!monitor && row->state != THREAD_PARKED)
		return;
	buf_clear(&l->lock);
	buf_clear(&l->holder);
	l->at += monitor;
	if (agent_age_ns(l->begin) > ASK_NS || (monitor && i >= l->n_waiting)) {
		row->flags |= THREAD_UNASKED;
		return;
	}
	if (!monitor)
		ask_blocker(l, thread, row);
	else if (l->infos)
		row->holder = management_waits(l->jni, l->infos, i, &l->lock, &l->holder);
	row->lock = buf_slice(&l->lock);
	row->holder_name = buf_slice(&l->holder);
}

/* ---- stacks ---- */

static int line_of(jvmtiFrameInfo frame)
{
	jvmtiLineNumberEntry *lines = NULL;
	jint n = 0;
	int line = 0;

	if ((*agent.jvmti)->GetLineNumberTable(agent.jvmti, frame.method, &n, &lines) !=
	    JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < n; i++)
		if (lines[i].start_location <= frame.location)
			line = lines[i].line_number;
	drop(lines);
	return line;
}

static void put_frames(struct list *l, const jvmtiStackInfo *info)
{
	for (jint i = 0; i < info->frame_count; i++) {
		const jvmtiFrameInfo *f = &info->frame_buffer[i];
		const struct site *site = sites_get(&l->sites, l->jni, f->method);

		buf_text(&l->frames, site ? site->name : "?");
		buf_u8(&l->frames, 0);
		if (l->asked.flags & THREADS_LINES && f->location >= 0)
			buf_printf(&l->frames, "%d", line_of(*f));
		buf_u8(&l->frames, 0);
	}
}

/* ---- rows ---- */

static void fill_cpu(const struct list *l, jthread thread, struct wire_thread *row)
{
	jlong ns = 0;

	if (l->cpu &&
	    (*agent.jvmti)->GetThreadCpuTime(agent.jvmti, thread, &ns) == JVMTI_ERROR_NONE)
		row->cpu_ns = (uint64_t)ns;
	else
		row->flags |= THREAD_NO_CPU;
}

static void put_thread(struct list *l, const jvmtiStackInfo *info)
{
	struct wire_thread row = { .number = number_of(l, info->thread),
				   .state = state_bits_read(info->state) };
	jvmtiThreadInfo thread = { 0 };
	jvmtiThreadGroupInfo group = { 0 };

	(*agent.jvmti)->GetThreadInfo(agent.jvmti, info->thread, &thread);
	if (thread.thread_group)
		(*agent.jvmti)->GetThreadGroupInfo(agent.jvmti, thread.thread_group, &group);
	buf_clear(&l->frames);
	row.name = slice_str(thread.name ? thread.name : "");
	row.group = slice_str(group.name ? group.name : "");
	row.priority = (uint32_t)thread.priority;
	row.flags = thread.is_daemon ? THREAD_DAEMON : 0;
	fill_cpu(l, info->thread, &row);
	fill_lock(l, info->thread, &row);
	put_frames(l, info);
	row.frames = buf_slice(&l->frames);
	wire_put_thread(&l->c->out, &row);
	drop(thread.name);
	drop(group.name);
}

/* All but this one, which asks. */
static jint put_all(struct list *l)
{
	jint frames = (jint)(l->asked.frames < FRAMES_MAX ? l->asked.frames : FRAMES_MAX), n = 0;
	jvmtiStackInfo *all = NULL;
	jthread own = NULL;

	(*agent.jvmti)->GetCurrentThread(agent.jvmti, &own);
	if ((*agent.jvmti)->GetAllStackTraces(agent.jvmti, frames, &all, &n) != JVMTI_ERROR_NONE)
		return -1;
	ask_about(l, all, n);
	l->begin = tick_now(); /* the JVM may have taken long to stop all threads */
	for (jint i = 0; i < n; i++) {
		if ((*l->jni)->IsSameObject(l->jni, all[i].thread, own))
			continue;
		if ((*l->jni)->PushLocalFrame(l->jni, REFS) < 0)
			break;
		put_thread(l, &all[i]);
		(*l->jni)->PopLocalFrame(l->jni, NULL);
	}
	drop(all);
	(*l->jni)->ExceptionClear(l->jni);
	return n;
}

static void put_vitals(struct buf *out)
{
	struct vitals v;

	vitals_read(&v);
	wire_put_vitals(out, &(struct wire_vitals){ .wall_ns = agent_age_ns(agent.started),
						    .cpu_ns = v.cpu,
						    .delay_ns = v.delay,
						    .gc_cpu_ns = v.gc_cpu,
						    .jit_cpu_ns = v.jit_cpu,
						    .own_cpu_ns = v.own_cpu,
						    .threads = v.threads });
}

static void release(struct list *l)
{
	sites_release(&l->sites);
	buf_release(&l->lock);
	buf_release(&l->holder);
	buf_release(&l->frames);
}

void thread_list_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct list l = { .c = c, .jni = jni };
	jint n;

	if (wire_get_ask_threads(payload, &l.asked) < 0) {
		c->closing = true;
		return;
	}
	sites_init(&l.sites);
	l.cpu = get_capabilities();
	l.number = number_field(jni);
	n = put_all(&l);
	put_vitals(&c->out);
	conn_done(c, n < 0 ? CANNOT : DONE, "%s", n < 0 ? "the JVM does not tell its threads" : "");
	release(&l);
}
