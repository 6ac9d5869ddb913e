/* SPDX-License-Identifier: Apache-2.0 */
/* victim.c - threads that wait in every way, and threads that work: until SIGTERM comes.  Each checks that
 * nothing happened to it that could not have happened without Sonde: no call ends early, none is
 * interrupted unless its own signal came, no result is wrong.  Prints "fine", or what was wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static atomic_bool ending;
static char wrong[200];
static _Thread_local volatile sig_atomic_t signals; /* that came to this thread */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static atomic_ulong turns[16];

__attribute__((format(printf, 1, 2))) static void bad(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&lock);
	va_start(ap, fmt);
	if (!wrong[0])
		vsnprintf(wrong, sizeof(wrong), fmt, ap);
	va_end(ap);
	pthread_mutex_unlock(&lock);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_usr1(int sig)
{
	(void)sig;
	signals++;
}

/* What a call of `seconds` gave, and how long it took. */
static void check(const char *name, int rc, double begin, double seconds, int came)
{
	int error = errno;
	double took = now() - begin;

	if (rc < 0 && error == EINTR && !came)
		bad("%s: interrupted though no signal came", name);
	else if (rc < 0 && error != EINTR)
		bad("%s: %s", name, strerror(error));
	else if (rc == 0 && took < seconds)
		bad("%s: took %f s, not %f", name, took, seconds);
}

static void *sleeps(void *unused)
{
	while (!ending) {
		struct timespec t = { 0, 50000000 };
		double begin = now();
		int before = signals, rc = nanosleep(&t, NULL);

		check("nanosleep", rc, begin, 0.05, signals != before);
		turns[0]++;
	}
	return unused;
}

static void *selects(void *unused)
{
	while (!ending) {
		struct timeval t = { 0, 40000 };
		double begin = now();
		int before = signals, rc = select(0, NULL, NULL, NULL, &t);

		check("select", rc, begin, 0.04, signals != before);
		turns[1]++;
	}
	return unused;
}

static void *polls(void *unused)
{
	while (!ending) {
		double begin = now();
		int before = signals, rc = poll(NULL, 0, 30);

		check("poll", rc, begin, 0.03, signals != before);
		turns[2]++;
	}
	return unused;
}

static int idle_pipe[2];

static void *reads(void *unused)
{
	char byte;
	ssize_t n = read(idle_pipe[0], &byte, 1);

	if (n != 1)
		bad("read: %zd, %s", n, n < 0 ? strerror(errno) : "end");
	return unused;
}

static int idle_pipe_2[2];

static void *epolls(void *unused)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd = epoll_create1(0), n;

	epoll_ctl(fd, EPOLL_CTL_ADD, idle_pipe_2[0], &e);
	n = epoll_wait(fd, &e, 1, -1);
	if (n != 1)
		bad("epoll_wait: %d, %s", n, n < 0 ? strerror(errno) : "nothing");
	close(fd);
	return unused;
}

static void *waits(void *unused)
{
	pthread_mutex_lock(&lock);
	while (!ending)
		pthread_cond_wait(&never, &lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *suspends(void *unused)
{
	sigset_t none, usr1;

	sigemptyset(&none);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	while (!ending) {
		int before = signals;
		sigset_t is;

		sigsuspend(&none);
		if (signals == before)
			bad("sigsuspend: returned though no signal came");
		pthread_sigmask(SIG_BLOCK, NULL, &is);
		if (!sigismember(&is, SIGUSR1))
			bad("sigsuspend: the mask has changed");
		turns[3]++;
	}
	return unused;
}

static void *allocates(void *unused)
{
	void *all[64] = { 0 };

	for (unsigned i = 0; !ending; i++) {
		free(all[i % 64]);
		all[i % 64] = malloc(i % 20 ? i * 37 % 5000 : 200000);
		memset(all[i % 64], 1, 16);
		turns[4]++;
	}
	return unused;
}

static void *loads(void *unused)
{
	while (!ending) {
		void *h = dlopen("libm.so.6", RTLD_NOW);

		usleep(2000);
		if (!h || dlclose(h) != 0)
			bad("dlopen: %s", dlerror());
		usleep(500);
		turns[5]++;
	}
	return unused;
}

/* With vector registers and the x87's, which are kept across everything. */
static void *computes(void *unused)
{
	while (!ending) {
		long double a = 1;
		double sum[8] = { 0 };

		for (int i = 1; i < 20000; i++) {
			a = a * 1.0000001L + 1e-7L;
			for (int k = 0; k < 8; k++)
				sum[k] += (double)i * k;
		}
		for (int k = 0; k < 8; k++)
			if (sum[k] != 199990000.0 * k)
				bad("wrong sum: %f", sum[k]);
		if (a < 1.004 || a > 1.005)
			bad("wrong product: %Lf", a);
		turns[6]++;
	}
	return unused;
}

static void *(*const work[])(void *) = { sleeps, selects,  polls,     reads, epolls,
					 waits,	 suspends, allocates, loads, computes };
enum { N = sizeof(work) / sizeof(work[0]) };

int main(void)
{
	struct sigaction usr1 = { .sa_handler = on_usr1 };
	pthread_t t[N];
	sigset_t term;
	struct timespec tick = { 0, 7000000 };

	sigaction(SIGUSR1, &usr1, NULL);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);
	if (pipe(idle_pipe) || pipe(idle_pipe_2))
		return 1;
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, work[i], NULL);
	/* Signals to those that wait for a while, and to the one that waits for them. */
	for (unsigned i = 0; sigtimedwait(&term, NULL, &tick) != SIGTERM; i++)
		pthread_kill(t[i % 4 == 3 ? 6 : i % 4], SIGUSR1);
	ending = true;
	for (int k = 0; k < 2; k++)
		if (write((k ? idle_pipe_2 : idle_pipe)[1], "", 1) != 1)
			return 1;
	pthread_cond_broadcast(&never);
	pthread_kill(t[6], SIGUSR1);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 7; i++)
		if (!turns[i])
			bad("thread %d has done nothing", i);
	puts(wrong[0] ? wrong : "fine");
	return wrong[0] != '\0';
}
