/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool probe_test_good = true;

bool probe_test(void (*run)(void), size_t bytes)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(300);
		MUST_INT(probe_init(bytes), 0);
		run();
		exit(probe_test_good ? 0 : 1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

struct task {
	void (*run)(unsigned number);
	unsigned number;
	pthread_t thread;
	pid_t tid;
};

static void *begin(void *task)
{
	struct task *t = task;

	t->tid = (pid_t)syscall(SYS_gettid);
	t->run(t->number);
	return NULL;
}

void probe_test_threads(unsigned n, void (*run)(unsigned number))
{
	struct task *tasks = calloc(n, sizeof(*tasks));

	for (unsigned i = 0; i < n; i++) {
		tasks[i] = (struct task){ .run = run, .number = i };
		if (pthread_create(&tasks[i].thread, NULL, begin, &tasks[i]) != 0)
			abort();
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(tasks[i].thread, NULL);
		/* An emulator lets a thread be joined before the kernel has seen it end. */
		for (int wait = 0; wait < 5000; wait++) {
			if (syscall(SYS_tgkill, getpid(), tasks[i].tid, 0) != 0)
				break;
			usleep(1000);
		}
	}
	free(tasks);
}

void timed(uint32_t id, uint32_t one_in)
{
	probe_method_set(id, &(struct probe_how){ .one_in = one_in });
}

void call(uint32_t id)
{
	uint64_t token = probe_enter(id);

	if (token)
		probe_exit(id, token);
}

struct probe_figures figures(uint32_t id)
{
	struct probe_figures f;

	probe_method_read(id, &f, NULL);
	return f;
}

uint64_t active(uint32_t id)
{
	struct probe_figures f = figures(id);

	return f.begun - f.timed - f.lost;
}

uint64_t histogram_total(uint32_t id)
{
	uint32_t counts[PROBE_BUCKETS] = { 0 };
	struct probe_figures f;
	uint64_t total = 0;

	probe_method_read(id, &f, counts);
	for (size_t i = 0; i < PROBE_BUCKETS; i++)
		total += counts[i];
	return total;
}

static char tree_text[4096];
static unsigned tree_depth;

static void print(const char *text)
{
	strncat(tree_text, text, sizeof(tree_text) - strlen(tree_text) - 1);
}

static void visit(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	char text[64];

	(void)ctx;
	for (; tree_depth > depth; tree_depth--)
		print(")");
	if (tree_depth < depth)
		print("(");
	else if (*tree_text)
		print(" ");
	tree_depth = depth;
	snprintf(text, sizeof(text), "%u*%llu", id, (unsigned long long)f->calls);
	print(text);
}

const char *tree(void)
{
	*tree_text = '\0';
	tree_depth = 0;
	if (probe_tree(visit, NULL) < 0)
		return "no memory";
	for (; tree_depth > 0; tree_depth--)
		print(")");
	return tree_text;
}
