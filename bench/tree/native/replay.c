/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - what a bounded tree keeps of a recorded program, against all there was.
 *
 *     replay [-l TREE] [-p PAUSES] BYTES EVENTS...
 *
 * Every file of events is one thread.  They are first gone through once into a tree without any
 * limit that is kept here, then given to the probe, with BYTES of memory, whose clock stands at
 * what it was when each event was recorded.  So both have seen the same events, and calls as well
 * as times must be the same but for what was taken out.  -l compares another tree with the events,
 * too: lines "depth method calls ns", method 0 for what was taken out.  -p writes how long it took
 * to make room, a line each: number of the event, ns.
 *
 * A context is hot by time or by calls with more than 1 % of all, and warm with more than 0.1 % of
 * the calls. */
#define _GNU_SOURCE
#include "bench/tree/native/events.h"

#include "probe/inner.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEEP = 1 << 16 };

uint64_t replay_tick;

struct trace_file {
	const uint8_t *bytes, *end;
};

struct context {
	uint32_t parent, id, next; /* next of the same chain */
	uint64_t calls, ticks;
	uint64_t shown_calls, shown_ticks; /* as the other tree has them */
};

static struct {
	struct context *all; /* 0 is the root */
	uint32_t n, room, *hash, mask;
	uint64_t calls, ticks; /* in all; of all threads from begin to end */
} truth;

static void *must(void *p)
{
	if (!p || p == MAP_FAILED) {
		fputs("replay: no memory\n", stderr);
		exit(3);
	}
	return p;
}

static uint64_t ns_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- all there was ----------------------------------------------------------------------- */

static uint32_t *chain_of(uint32_t parent, uint32_t id)
{
	uint64_t x = ((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15u;

	return &truth.hash[(uint32_t)(x >> 32) & truth.mask];
}

static void grow(void)
{
	truth.room = truth.room ? truth.room * 2 : 1 << 16;
	truth.mask = truth.room - 1;
	truth.all = must(realloc(truth.all, truth.room * sizeof(*truth.all)));
	free(truth.hash);
	truth.hash = must(calloc(truth.room, sizeof(*truth.hash)));
	for (uint32_t i = 1; i < truth.n; i++) {
		uint32_t *chain = chain_of(truth.all[i].parent, truth.all[i].id);

		truth.all[i].next = *chain;
		*chain = i;
	}
}

/* 0: there is none, and it was not to be made. */
static uint32_t child(uint32_t parent, uint32_t id, bool make)
{
	uint32_t *chain, i;

	for (i = *chain_of(parent, id); i; i = truth.all[i].next)
		if (truth.all[i].parent == parent && truth.all[i].id == id)
			return i;
	if (!make)
		return 0;
	if (truth.n == truth.room)
		grow();
	chain = chain_of(parent, id);
	i = truth.n++;
	truth.all[i] = (struct context){ .parent = parent, .id = id, .next = *chain };
	*chain = i;
	return i;
}

/* The time of a call is that of the context; what never ended has none. */
static void count(const struct trace_file *trace)
{
	static struct {
		uint32_t context;
		uint64_t begin;
	} stack[DEEP + 1];
	uint64_t tick = 0, event, id;
	uint32_t depth = 0;

	for (const uint8_t *at = trace->bytes; at < trace->end;) {
		at = events_get(at, &event);
		tick += event >> 2;
		if ((event & 3) == EVENT_ENTER) {
			uint32_t up = depth ? stack[depth].context : 0;

			at = events_get(at, &id);
			stack[++depth].context = child(up, (uint32_t)id, true);
			stack[depth].begin = tick;
			truth.all[stack[depth].context].calls++;
			truth.calls++;
			continue;
		}
		if ((event & 3) != EVENT_LOST)
			truth.all[stack[depth].context].ticks += tick - stack[depth].begin;
		depth--;
	}
	truth.ticks += tick;
}

/* ---- the probe --------------------------------------------------------------------------- */

static FILE *pauses;
static uint64_t events_n, replay_ns;

static void set_methods(void)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < truth.n; i++)
		most = truth.all[i].id > most ? truth.all[i].id : most;
	for (uint32_t id = 1; id <= most; id++)
		probe_method_set(id, &(struct probe_how){ .one_in = 1 });
}

/* The same, and how long the calls took that made room. */
static uint64_t enter_watched(uint32_t id)
{
	uint64_t before = probe_local.mine ? probe_local.mine->pruned : 0, begin = ns_now(), token;

	token = probe_enter(id);
	begin = ns_now() - begin;
	if (probe_local.mine && probe_local.mine->pruned != before)
		fprintf(pauses, "%lu %lu\n", (unsigned long)events_n, (unsigned long)begin);
	return token;
}

static void *replay(void *arg)
{
	static struct {
		uint64_t token;
		uint32_t id;
	} stack[DEEP + 1];
	const struct trace_file *trace = arg;
	uint64_t event, id, began = ns_now();
	uint32_t depth = 0;

	replay_tick = 1 << 20;
	for (const uint8_t *at = trace->bytes; at < trace->end; events_n++) {
		at = events_get(at, &event);
		replay_tick += event >> 2;
		switch (event & 3) {
		case EVENT_ENTER:
			at = events_get(at, &id);
			stack[++depth].id = (uint32_t)id;
			stack[depth].token = pauses ? enter_watched((uint32_t)id)
						    : probe_enter((uint32_t)id);
			continue;
		case EVENT_EXIT:
			probe_exit(stack[depth].id, stack[depth].token);
			break;
		case EVENT_THROWN:
			probe_thrown(stack[depth].id, stack[depth].token);
			break;
		}
		depth--;
	}
	replay_ns += ns_now() - began;
	probe_thread_end();
	return NULL;
}

/* ---- comparing --------------------------------------------------------------------------- */

struct shown {
	uint32_t path[DEEP + 1];
	uint64_t nodes, pruned, pruned_calls, strangers, calls;
};

static void show(struct shown *s, unsigned depth, uint32_t id, struct context f)
{
	uint32_t at;

	s->calls += f.calls;
	if (!id) {
		s->pruned++;
		s->pruned_calls += f.calls;
		return;
	}
	at = child(depth ? s->path[depth - 1] : 0, id, false);
	s->path[depth] = at;
	s->nodes++;
	if (!at) {
		s->strangers++;
		return;
	}
	truth.all[at].shown_calls = f.calls;
	truth.all[at].shown_ticks = f.ticks;
}

static void show_node(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	show(ctx, depth, id == PROBE_PRUNED ? 0 : id,
	     (struct context){ .calls = f->calls, .ticks = f->sum });
}

static void show_file(struct shown *s, const char *path)
{
	FILE *f = must(fopen(path, "r"));
	unsigned long depth, id, calls, ns;

	while (fscanf(f, "%lu %lu %lu %lu", &depth, &id, &calls, &ns) == 4)
		show(s, (unsigned)depth, (uint32_t)id,
		     (struct context){ .calls = calls, .ticks = ns });
	fclose(f);
}

static double off(uint64_t is, uint64_t was)
{
	return was ? (double)(is > was ? is - was : was - is) / (double)was : 0;
}

/* with_times: those of the tree are in ticks, too. */
static void compare(const char *name, const struct shown *s, bool with_times)
{
	uint32_t hot[2] = { 0 }, warm = 0, kept = 0, wrong[2] = { 0 }, any = 0;
	double worst[2] = { 0 }, worst_warm = 0, calls_of_all = 0;

	for (uint32_t i = 1; i < truth.n; i++) {
		struct context *c = &truth.all[i];
		bool by_calls = c->calls > truth.calls / 100,
		     by_time = c->ticks > truth.ticks / 100;
		double error[2] = { off(c->shown_calls, c->calls), off(c->shown_ticks, c->ticks) };

		hot[0] += by_calls;
		hot[1] += by_time;
		any += by_calls || by_time;
		if (c->calls > truth.calls / 1000) {
			warm++;
			worst_warm = error[0] > worst_warm ? error[0] : worst_warm;
		}
		kept += (by_calls || by_time) && c->shown_calls;
		if (by_calls) {
			worst[0] = error[0] > worst[0] ? error[0] : worst[0];
			wrong[0] += error[0] >= 0.02;
		}
		if (by_time && with_times) {
			worst[1] = error[1] > worst[1] ? error[1] : worst[1];
			wrong[1] += error[1] >= 0.02;
		}
		if ((by_calls || by_time) && error[0] > calls_of_all)
			calls_of_all = error[0];
		c->shown_calls = c->shown_ticks = 0;
	}
	printf("\"%s\":{\"hot\":%u,\"hot_by_calls\":%u,\"hot_by_time\":%u,\"warm_by_calls\":%u,\"warm_off\":%.5f,\"kept\":%u,"
	       "\"calls_off\":%.5f,\"calls_wrong\":%u,\"calls_off_any\":%.5f,",
	       name, any, hot[0], hot[1], warm, worst_warm, kept, worst[0], wrong[0], calls_of_all);
	if (with_times)
		printf("\"time_off\":%.5f,\"time_wrong\":%u,", worst[1], wrong[1]);
	printf("\"nodes\":%lu,\"pruned_nodes\":%lu,\"pruned_calls\":%lu,\"strangers\":%lu,\"calls\":%lu}",
	       (unsigned long)s->nodes, (unsigned long)s->pruned, (unsigned long)s->pruned_calls,
	       (unsigned long)s->strangers, (unsigned long)s->calls);
}

static struct trace_file open_trace(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	struct trace_file t = { 0 };

	if (fd < 0 || fstat(fd, &st) < 0) {
		perror(path);
		exit(3);
	}
	if (st.st_size > 0) {
		t.bytes = must(mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
				    fd, 0));
		t.end = t.bytes + st.st_size;
	}
	close(fd);
	return t;
}

int main(int argc, char **argv)
{
	static struct shown shown;
	const char *live = NULL;
	struct probe_state state;
	int option;

	while ((option = getopt(argc, argv, "l:p:")) > 0) {
		if (option == 'l')
			live = optarg;
		else if (option == 'p')
			pauses = must(fopen(optarg, "w"));
		else
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	truth.n = 1;
	grow();
	for (int i = optind + 1; i < argc; i++) {
		struct trace_file t = open_trace(argv[i]);

		count(&t);
	}
	printf("{\"calls\":%lu,\"contexts\":%u,\"ticks\":%lu,", (unsigned long)truth.calls,
	       truth.n - 1, (unsigned long)truth.ticks);
	if (probe_init(strtoul(argv[optind], NULL, 0)) < 0)
		return 3;
	set_methods();
	for (int i = optind + 1; i < argc; i++) {
		struct trace_file t = open_trace(argv[i]);
		pthread_t thread;

		if (pthread_create(&thread, NULL, replay, &t))
			return 3;
		pthread_join(thread, NULL);
		probe_state_read(&state);
		probe_sweep();
	}
	if (pauses)
		fclose(pauses);
	probe_tree(show_node, &shown);
	compare("tree", &shown, true);
	if (live) {
		memset(&shown, 0, sizeof(shown));
		show_file(&shown, live);
		putchar(',');
		compare("live", &shown, false);
	}
	probe_state_read(&state);
	printf(",\"memory\":%lu,\"limit\":%lu,\"taken_out\":%lu,\"refused\":%lu,\"too_deep\":%lu,"
	       "\"bound_calls\":%lu,\"bound_ticks\":%lu,\"ns_per_call\":%.2f}\n",
	       (unsigned long)state.bytes_used, (unsigned long)state.bytes_total,
	       (unsigned long)state.pruned, (unsigned long)state.nodes_refused,
	       (unsigned long)state.too_deep, (unsigned long)state.bound_calls,
	       (unsigned long)state.bound_ticks,
	       (double)replay_ns / (double)(truth.calls ? truth.calls : 1));
	return 0;
}
