/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - each sample is unwound from its copy of the stack, and added up at once. */
#include "cli/outside/outside.h"

#include <dirent.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"
#include "sample/walk.h"

enum { RATE = 1000, DEPTH = 1024, KERNEL_DEPTH = 128, REFRESH_MS = 200, MS = 1000000 };

int outside_begin(struct outside *o, struct sampled *s, const struct target *t, uint32_t rate)
{
	char why[EVENTS_WHY];

	*o = (struct outside){ .s = s };
	process_view_init(&o->view, s, t->pid, t->ns_pid);
	if (!perf_events_open(&o->events, t->pid, rate ? rate : RATE, why))
		return cli_cannot("%s", why);
	process_view_refresh(&o->view);
	if (!o->view.has_modules)
		return cli_cannot(
			"%d: /proc/%d/maps cannot be read: do this as its user, or as root",
			(int)t->pid, (int)t->pid);
	if (clock_getcpuclockid(t->pid, &o->clock) != 0)
		return cli_cannot("%d has ended", (int)t->pid);
	o->begin_ns = clock_steady_ns();
	o->cpu_before = clock_ns(o->clock);
	o->own_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	perf_events_start(&o->events);
	return CLI_DONE;
}

void outside_end(struct outside *o)
{
	perf_events_close(&o->events);
	process_view_release(&o->view);
}

/* ---- one sample ---------------------------------------------------------------------------- */

static void tell_thread(struct sampled *s, pid_t pid, uint32_t number)
{
	char tid[16], text[PROC_THREAD_LINE];

	if (sampled_thread_name(s, number).n)
		return;
	snprintf(tid, sizeof(tid), "%u", number);
	sampled_tell_thread(s, number, slice_str(proc_thread_line(pid, tid, "comm", text)));
}

static void walk(const struct outside *o, const struct perf_sample *k, struct stack_walk *w)
{
	const struct walk_world world = { &o->view.modules, NULL };
	size_t odd = k->regs.sp & 7, n = k->stack.n > odd ? k->stack.n : 0;

	w->at = k->regs;
	w->lo = k->regs.sp;
	w->bytes = k->stack.p;
	if (n && odd) {
		w->lo += 8 - odd;
		w->bytes += 8 - odd;
		n -= n > 8 ? 8 - odd : n;
	}
	w->hi = w->lo + n;
	w->copied_in_part = k->stack.n >= EVENTS_STACK;
	w->interrupted = true;
	if (n < 16)
		w->end = WALK_BAD_STACK;
	else
		walk_run(w, &world);
}

static void take_sample(void *ctx, const struct perf_sample *k)
{
	struct outside *o = ctx;
	uint64_t kernel[KERNEL_DEPTH], spots[DEPTH];
	uint32_t frames[KERNEL_DEPTH + DEPTH];
	size_t n = perf_sample_kernel(k, kernel, KERNEL_DEPTH);
	struct stack_walk w = { .spots = spots, .cap = DEPTH };
	struct sampled_stack stack = { .frames = frames, .thread = k->tid };

	if (k->has_regs)
		walk(o, k, &w);
	for (size_t i = 0; i < n; i++)
		frames[i] = process_view_kernel_frame(&o->view, kernel[i]);
	for (unsigned i = 0; i < w.n; i++)
		frames[n + i] = process_view_frame(&o->view, spots[i]);
	stack.n = n + w.n;
	stack.end = w.end;
	tell_thread(o->s, o->events.pid, k->tid);
	sampled_add(o->s, &stack);
	o->s->state.samples++;
}

/* ---- from time to time --------------------------------------------------------------------- */

static uint32_t count_threads(pid_t pid)
{
	DIR *dir = proc_threads(pid);
	uint32_t n = 0;

	while (proc_next_thread(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static const char *engine_name(const struct perf_events *e)
{
	if (e->machine)
		return "perf events of all processes, from outside";
	return e->kernel
		       ? "perf events, from outside"
		       : "perf events, from outside; what the kernel does for the program is not seen";
}

static void put_state(struct outside *o)
{
	struct wire_stacks_state *m = &o->s->state;
	uint32_t threads = count_threads(o->events.pid);
	uint64_t cpu = clock_ns(o->clock);

	m->lost = o->events.lost;
	m->wall_ns = clock_steady_ns() - o->begin_ns;
	if (cpu > o->cpu_before) /* else it has ended */
		m->cpu_ns = cpu - o->cpu_before;
	m->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - o->own_before;
	m->period_ns = o->events.period_ns;
	m->threads = threads ? threads : m->threads;
	m->engine = slice_str(engine_name(&o->events));
}

int outside_take(struct outside *o, int timeout_ms, char why[200])
{
	struct proc_status status;
	uint64_t now;

	if (timeout_ms)
		perf_events_wait(&o->events, timeout_ms);
	perf_events_take(&o->events, take_sample, o);
	now = clock_steady_ns();
	put_state(o);
	if (now < o->next_ns)
		return CLI_DONE;
	o->next_ns = now + (uint64_t)REFRESH_MS * MS;
	process_view_refresh(&o->view);
	if (proc_status(o->events.pid, &status) >= 0 && status.state != 'Z' && status.state != 'X')
		return CLI_DONE;
	snprintf(why, 200, "%d has ended", (int)o->events.pid);
	return CLI_CANNOT;
}
