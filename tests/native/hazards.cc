// SPDX-License-Identifier: Apache-2.0
// What is hard on hooks, in C++: exceptions through hooked functions with destructors on the way,
// pthread_exit and cancellation out of them, and many threads.  Prints what happened, which must be
// the same with hooks and without.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <stdexcept>

static long destroyed, caught, wrong;

struct Guard {
	~Guard() { __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED); }
};

extern "C" {
__attribute__((noinline)) long hazard_throw(long n)
{
	Guard g;

	if (n == 0)
		throw std::runtime_error("the bottom");
	return hazard_throw(n - 1) + 1;
}

__attribute__((noinline)) long hazard_catch(long n)
{
	Guard g;

	try {
		return hazard_throw(n);
	} catch (const std::runtime_error &e) {
		__atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
		return n;
	}
}

__attribute__((noinline)) void hazard_end(long n)
{
	Guard g;

	if (n == 0)
		pthread_exit(&destroyed);
	hazard_end(n - 1);
	__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void hazard_wait(long n)
{
	Guard g;

	if (n == 0)
		for (;;)
			sleep(100);
	hazard_wait(n - 1);
	__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}
}

static void *throws(void *)
{
	for (long i = 0; i < 300; i++)
		if (hazard_catch(i % 7) != i % 7)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
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
	printf("caught %ld wrong %ld\n", caught, wrong);
}
