/* SPDX-License-Identifier: Apache-2.0 */
/* truth.c - a program whose hot spots are known: three quarters of each thread in one function, a quarter in
 * another; below a deep stack; in a thread that comes later; beside a child process that computes as well. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define HOT __attribute__((noinline, noclone))

static volatile unsigned long sink;

HOT static void three_parts(unsigned long n)
{
	for (unsigned long i = 0; i < 3 * n; i++)
		sink = sink * 31 + i;
}

HOT static void one_part(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}

HOT static void both(void)
{
	three_parts(20000);
	one_part(20000);
	sink++;
}

/* Deeper than the part of the stack that a sample has. */
HOT static void deep(unsigned n)
{
	volatile char room[200];

	memset((char *)room, (int)n, sizeof(room));
	if (n)
		deep(n - 1);
	else
		for (;;)
			both();
	sink += (unsigned long)room[n % 200];
}

HOT static void *late(void *unused)
{
	pthread_setname_np(pthread_self(), "late one");
	for (;;)
		both();
	return unused;
}

HOT static void in_child(void)
{
	for (;;)
		sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "plain";
	pthread_t thread;

	puts("ready");
	fflush(stdout);
	if (strcmp(what, "deep") == 0)
		deep(1000);
	if (strcmp(what, "child") == 0 && fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		in_child();
	}
	if (strcmp(what, "late") == 0) {
		usleep(2500000); /* by then it is sampled */
		pthread_create(&thread, NULL, late, NULL);
		for (;;)
			pause();
	}
	for (;;)
		both();
}
