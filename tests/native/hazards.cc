// SPDX-License-Identifier: Apache-2.0
// What is hard on hooks, in C++: exceptions through hooked functions with destructors on the way,
// pthread_exit, cancellation and longjmp out of them, tail calls, signal handlers on stacks of their own, also
// such that leave by siglongjmp, children of vfork, and many threads.  Prints what happened, which must be
// the same with hooks and without.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#define HAZARD __attribute__((noinline, noclone))

static long destroyed, caught, wrong, jumped, handled, left, children;
static volatile long sink;
static thread_local jmp_buf back;
static thread_local sigjmp_buf back_from_handler;

static void add(long *to) { __atomic_fetch_add(to, 1, __ATOMIC_RELAXED); }

struct Guard {
	~Guard() { add(&destroyed); }
};

extern "C" {
HAZARD long hazard_throw(long n)
{
	Guard g;

	if (n == 0)
		throw std::runtime_error("the bottom");
	return hazard_throw(n - 1) + 1;
}

HAZARD long hazard_catch(long n)
{
	Guard g;

	try {
		return hazard_throw(n);
	} catch (const std::runtime_error &e) {
		add(&caught);
		return n;
	}
}

HAZARD void hazard_end(long n)
{
	Guard g;

	if (n == 0)
		pthread_exit(&destroyed);
	hazard_end(n - 1);
	add(&wrong);
}

HAZARD void hazard_wait(long n)
{
	Guard g;

	if (n == 0)
		for (;;)
			sleep(100);
	hazard_wait(n - 1);
	add(&wrong);
}

HAZARD void hazard_jump(long n)
{
	if (n == 0)
		longjmp(back, 1);
	hazard_jump(n - 1);
	add(&wrong); // not reached; and so the call above is no tail call
}

HAZARD long hazard_last(long n)
{
	sink = n;
	return n + 1;
}

HAZARD long hazard_tail(long n)
{
	sink = n;
	return hazard_last(2 * n);
}

HAZARD void hazard_handle(long leaves)
{
	add(&handled);
	if (leaves)
		siglongjmp(back_from_handler, 1);
	sink = 1;
}

HAZARD void hazard_raise(int sig)
{
	pthread_kill(pthread_self(), sig);
	sink = sig;
}

HAZARD void hazard_child(int status)
{
	sink = status;
	_exit(status);
}

HAZARD int hazard_vfork(int status)
{
	int got = 0;
	pid_t child = vfork();

	if (child == 0)
		hazard_child(status);
	if (child < 0 || waitpid(child, &got, 0) != child || !WIFEXITED(got))
		return -1;
	return WEXITSTATUS(got);
}
}

static void *throws(void *)
{
	for (long i = 0; i < 300; i++)
		if (hazard_catch(i % 7) != i % 7)
			add(&wrong);
	return nullptr;
}

static void *ends(void *)
{
	hazard_end(5);
	return nullptr;
}

static void *waits(void *)
{
	hazard_wait(3);
	return nullptr;
}

static void jump_over(long n)
{
	if (setjmp(back) == 0)
		hazard_jump(n);
	else
		add(&jumped);
}

static void raise_and_leave()
{
	if (sigsetjmp(back_from_handler, 1) == 0)
		hazard_raise(SIGUSR2);
	else
		add(&left);
}

static void *leaves(void *)
{
	stack_t s = {};

	s.ss_size = 64 << 10;
	s.ss_sp = malloc(s.ss_size);
	sigaltstack(&s, nullptr);
	for (int i = 0; i < 100; i++) {
		jump_over(4);
		if (hazard_tail(i) != 2 * i + 1)
			add(&wrong);
		hazard_raise(SIGUSR1);
		raise_and_leave();
		if (i % 10 == 0 && hazard_vfork(i) == i)
			add(&children);
	}
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, nullptr);
	free(s.ss_sp);
	return nullptr;
}

static void on_signal(int sig) { hazard_handle(sig == SIGUSR2); }

static void handle_signals()
{
	struct sigaction act = {};

	act.sa_handler = on_signal;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, nullptr);
	sigaction(SIGUSR2, &act, nullptr);
}

static void leave_in_every_way()
{
	pthread_t t[4];

	handle_signals();
	for (pthread_t &one : t)
		pthread_create(&one, nullptr, leaves, nullptr);
	for (pthread_t &one : t)
		pthread_join(one, nullptr);
}

int main()
{
	pthread_t t[16];

	for (int i = 0; i < 16; i++)
		pthread_create(&t[i], nullptr, i % 4 == 0 ? ends : i % 4 == 1 ? waits : throws, nullptr);
	for (int i = 0; i < 16; i++) {
		void *end;

		if (i % 4 == 1)
			pthread_cancel(t[i]);
		pthread_join(t[i], &end);
		if (i % 4 == 0 && end != &destroyed)
			wrong++;
		if (i % 4 == 1 && end != PTHREAD_CANCELED)
			wrong++;
	}
	leave_in_every_way();
	printf("caught %ld jumped %ld handled %ld left %ld children %ld wrong %ld\n", caught, jumped, handled, left,
	       children, wrong);
}
