/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "test.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "native/objects.h"
#include "native/native.h"
#include "native/near.h"
#include "native/site.h"
#include "native/swap.h"
#include "native/threads.h"
#include "native/trap.h"

/* ---- victims ------------------------------------------------------------------------------ */

#define VICTIM __attribute__((noinline, visibility("default")))

volatile long native_sink;
VICTIM long victim_add(long a, long b);
VICTIM long victim_add(long a, long b)
{
	native_sink += a;
	return a + b + native_sink * 0;
}

VICTIM double victim_many(int a, double b, int c, double d, long e, long f, long g, long h, long i,
			  long j, const char *text);
VICTIM double victim_many(int a, double b, int c, double d, long e, long f, long g, long h, long i,
			  long j, const char *text)
{
	return a + b + c + d + (double)(e + f + g + h + i + j) + (double)strlen(text);
}

VICTIM long victim_sum(int n, ...);
VICTIM long victim_sum(int n, ...)
{
	double sum = 0;
	va_list ap;

	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(ap, double);
	va_end(ap);
	return (long)sum;
}

struct big {
	long v[6];
};
VICTIM struct big victim_big(long seed);
VICTIM struct big victim_big(long seed)
{
	struct big b;

	for (int i = 0; i < 6; i++)
		b.v[i] = seed + i;
	return b;
}

VICTIM long victim_fib(long n);
static long (*volatile fib)(long n) =
	victim_fib; /* compilers make a loop of some calls otherwise */
VICTIM long victim_fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static jmp_buf out_of_there;
VICTIM void victim_jump(int depth);
VICTIM void victim_jump(int depth)
{
	native_sink++;
	if (depth == 0)
		longjmp(out_of_there, 1);
	if (native_sink) /* always, which a compiler cannot know */
		victim_jump(depth - 1);
	native_sink++;
}

VICTIM long victim_tail(long n);
VICTIM long victim_tail(long n)
{
	native_sink++;
	return victim_add(n, 1);
}

/* ---- help --------------------------------------------------------------------------------- */

static struct objects modules;

/* The hook's number; 0: it could not be had, and the test has failed. */
static uint32_t hook(const char *name, enum site_mode mode)
{
	struct site_function f = { .name = name };
	const struct function *found;
	struct object *in;
	const char *why = NULL;
	uint32_t number;

	if (!modules.n)
		objects_read(&modules);
	in = objects_at(&modules, (uintptr_t)victim_add);
	if (!CHECK(in != NULL) || !CHECK_INT(object_open(in), 0, name))
		return 0;
	found = functions_named(&in->functions, slice_str(name));
	if (!CHECK(found != NULL))
		return 0;
	f.at = in->bias + found->addr;
	f.size = found->size;
	f.module = in->name;
	number = site_hook(&f, mode, &why);
	CHECK_STR(why ? why : "", "", name);
	return number;
}

struct sums {
	uint64_t calls, timed, ticks, self;
};

static struct sums sums_of(uint32_t number)
{
	struct sums s = { .calls = native_sites[number].spilled };

	for (size_t t = 0; t < THREADS_MAX; t++)
		for (size_t i = 0; i < CELLS; i++) {
			const struct native_cell *c = &native_threads[t].cells[i];

			if ((c->key & 0xffff) != number)
				continue;
			s.calls += c->calls;
			s.timed += c->timed;
			s.ticks += c->ticks;
			s.self += c->ticks - c->in_below;
		}
	return s;
}

static void check_calls(uint32_t number, struct sums before, uint64_t calls, uint64_t timed,
			const char *label)
{
	struct sums now = sums_of(number);

	CHECK_INT(now.calls - before.calls, calls, label);
	CHECK_INT(now.timed - before.timed, timed, label);
}

/* All threads but this one have ended. */
static void others_are_gone(void)
{
	for (size_t t = 0; t < THREADS_MAX; t++)
		if (native_threads[t].tid && native_threads[t].tid != native_gettid())
			native_thread_gone(&native_threads[t]);
}

/* valgrind goes on with the copies of code that it has made. */
static bool runs_patched_code(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return !preload || !strstr(preload, "vgpreload");
}

#define NEEDS_PATCHED_CODE                                               \
	do {                                                             \
		if (!runs_patched_code())                                \
			SKIP("valgrind does not see that code changes"); \
	} while (0)

/* ---- tests -------------------------------------------------------------------------------- */

TEST(native_hook_counts_calls_and_callers_and_leaves_no_trace)
{
	NEEDS_PATCHED_CODE;

	uint8_t before[16], after[16];
	struct swap_state state;
	struct sums was;
	uint32_t n;

	memcpy(before, (const void *)victim_add, sizeof(before));
	n = hook("victim_add", SITE_COUNT);
	if (!n)
		return;
	CHECK(memcmp(before, (const void *)victim_add, sizeof(before)) != 0);
	was = sums_of(n);
	for (long i = 0; i < 1000; i++)
		CHECK_INT(victim_add(i, 1), i + 1, NULL);
	check_calls(n, was, 1000, 0, "counted");
	CHECK(site_unhook(n));
	memcpy(after, (const void *)victim_add, sizeof(after));
	CHECK_MEM(after, sizeof(after), before, sizeof(before), "bytes");
	swap_look(&state);
	CHECK_INT(state.changed, 0, "pages");
	CHECK_INT(state.different, 0, "pages");
	victim_add(1, 1);
	check_calls(n, was, 1000, 0, "not any more");
}

TEST(native_hook_times_calls_and_passes_arguments_and_results)
{
	NEEDS_PATCHED_CODE;

	uint32_t add = hook("victim_add", SITE_TIMED), many = hook("victim_many", SITE_TIMED);
	uint32_t sum = hook("victim_sum", SITE_TIMED), big = hook("victim_big", SITE_TIMED);
	struct sums was = sums_of(add);
	struct big b;

	for (int i = 0; i < 100; i++) {
		CHECK_INT(victim_add(i, 2), i + 2, NULL);
		CHECK(victim_many(1, 2.5, 3, 4.5, 5, 6, 7, 8, 9, 10, "four") == 60.0);
		CHECK_INT(victim_sum(4, 1.0, 2.0, 3.0, 4.0), 10, NULL);
		b = victim_big(i);
		CHECK_INT(b.v[5], i + 5, NULL);
	}
	check_calls(add, was, 100, 100, "timed");
	CHECK_INT(native_open_calls(), 0, "all have returned");
	CHECK(site_unhook(add) && site_unhook(many) && site_unhook(sum) && site_unhook(big));
}

TEST(native_hook_keeps_recursion_apart)
{
	NEEDS_PATCHED_CODE;

	uint32_t n = hook("victim_fib", SITE_TIMED);
	struct sums was = sums_of(n), now;

	CHECK_INT(victim_fib(15), 610, NULL);
	check_calls(n, was, 1973, 1973, "fib");
	now = sums_of(n);
	CHECK(now.self - was.self <= now.ticks - was.ticks);
	CHECK(site_unhook(n));
}

static void *jump_often(void *unused)
{
	for (int i = 0; i < 100; i++) {
		if (setjmp(out_of_there) == 0)
			victim_jump(10);
		CHECK_INT(victim_add(1, 2), 3, NULL);
	}
	return unused;
}

TEST(native_hook_survives_longjmp_over_open_calls)
{
	NEEDS_PATCHED_CODE;

	uint32_t n = hook("victim_jump", SITE_TIMED), add = hook("victim_add", SITE_TIMED);
	struct sums was = sums_of(n), added = sums_of(add);
	pthread_t t;

	pthread_create(&t, NULL, jump_often, NULL);
	pthread_join(t, NULL);
	check_calls(n, was, 1100, 0, "jumped over");
	CHECK_INT(sums_of(add).calls - added.calls, 100, "after the jumps");
	CHECK(site_unhook(n) && site_unhook(add));
	others_are_gone();
	CHECK_INT(native_open_calls(), 0, "given back with the thread");
}

static void *jump_for_long(void *most)
{
	unsigned *open = most;

	victim_add(1, 2);
	threads_tend(); /* as the agent's thread does: finds this one's stack */
	for (int i = 0; i < 2000; i++) {
		if (setjmp(out_of_there) == 0)
			victim_jump(10);
		if (native_open_calls() > *open)
			*open = native_open_calls();
	}
	return NULL;
}

/* The same frames again and again, so that other calls' stubs stand where theirs were. */
TEST(native_hook_takes_stubs_of_calls_that_were_jumped_over_back)
{
	NEEDS_PATCHED_CODE;

	uint32_t n = hook("victim_jump", SITE_TIMED), add = hook("victim_add", SITE_TIMED);
	unsigned open = 0;
	pthread_t t;

	if (PATCH_N == 4)
		SKIP("nobody can tell where aarch64 keeps return addresses");
	pthread_create(&t, NULL, jump_for_long, &open);
	pthread_join(t, NULL);
	CHECK(open < 40);
	CHECK(site_unhook(n) && site_unhook(add));
	others_are_gone();
	CHECK_INT(native_open_calls(), 0, "given back with the thread");
}

/* ---- threads and signals ------------------------------------------------------------------ */

static bool stop_now;

static void *call_on(void *wrong)
{
	for (long i = 0; !__atomic_load_n(&stop_now, __ATOMIC_RELAXED); i++)
		if (victim_add(i, 3) != i + 3 || victim_tail(i) != i + 1 || victim_fib(6) != 8 ||
		    victim_many(1, 2.5, 3, 4.5, 5, 6, 7, 8, 9, 10, "four") != 60.0)
			__atomic_fetch_add((long *)wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void on_alarm(int sig)
{
	(void)sig;
	victim_add(1, 2);
	victim_fib(3);
}

TEST(native_hooks_go_in_and_out_while_threads_and_signal_handlers_call)
{
	NEEDS_PATCHED_CODE;

	static const char *const names[] = { "victim_add", "victim_tail", "victim_fib",
					     "victim_many" };
	struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART }, before;
	struct itimerval every = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t threads[8];
	size_t memory = 0;
	long wrong = 0;

	stop_now = false;
	sigaction(SIGALRM, &act, &before);
	setitimer(ITIMER_REAL, &every, NULL);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_create(&threads[i], NULL, call_on, &wrong);
	for (int round = 0; round < 200; round++) {
		uint32_t n[COUNT(names)];

		for (size_t i = 0; i < COUNT(names); i++)
			n[i] = hook(names[i], ((size_t)round + i) % 3 ? SITE_TIMED : SITE_COUNT);
		if (round % 8 == 0)
			usleep(1000);
		for (size_t i = 0; i < COUNT(names); i++)
			CHECK(n[i] && site_unhook(n[i]));
		if (round == 0)
			memory = near_bytes();
	}
	__atomic_store_n(&stop_now, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	CHECK_INT(wrong, 0, "results");
	CHECK_INT(near_bytes(), memory, "memory");
	CHECK_INT(native_open_calls(), 0, "all have returned");
	others_are_gone();
}

static void *end_below(void *n)
{
	victim_fib(5);
	pthread_exit(n);
}

TEST(native_hook_of_a_tail_call_knows_the_real_caller)
{
	NEEDS_PATCHED_CODE;

	uint32_t tail = hook("victim_tail", SITE_TIMED), add = hook("victim_add", SITE_TIMED);
	struct sums was = sums_of(tail), added = sums_of(add);

	for (int i = 0; i < 50; i++)
		CHECK_INT(victim_tail(i), i + 1, NULL);
	check_calls(tail, was, 50, 50, "the one that calls");
	check_calls(add, added, 50, 50, "the one that is called");
	for (size_t t = 0; t < THREADS_MAX; t++)
		for (size_t i = 0; i < CELLS; i++)
			CHECK(!native_is_stub(native_threads[t].cells[i].key >> 16));
	CHECK(site_unhook(tail) && site_unhook(add));
}

TEST(native_hook_takes_threads_that_come_and_go)
{
	NEEDS_PATCHED_CODE;

	uint32_t n = hook("victim_fib", SITE_TIMED);
	struct sums was = sums_of(n);

	for (int i = 0; i < 20; i++) {
		pthread_t t;
		void *end = NULL;

		pthread_create(&t, NULL, end_below, (void *)&native_sink);
		pthread_join(t, &end);
		CHECK(end == (void *)&native_sink);
	}
	check_calls(n, was, 300, 300, "fib");
	CHECK(site_unhook(n));
	others_are_gone();
}

TEST(object_holds_functions_whose_symbols_lead_into_its_code)
{
	struct function f = { 0 };
	const struct function *found;
	struct object *in;

	if (!modules.n)
		objects_read(&modules);
	in = objects_at(&modules, (uintptr_t)victim_add);
	if (!CHECK(in != NULL) || !CHECK_INT(object_open(in), 0, NULL))
		return;
	found = functions_named(&in->functions, slice_str("victim_add"));
	if (!CHECK(found != NULL))
		return;
	CHECK(object_holds(in, found));
	f.addr = found->addr;
	f.size = (uint64_t)1 << 30;
	CHECK(!object_holds(in, &f));
	f.size = UINT64_MAX - 5;
	CHECK(!object_holds(in, &f));
	f = (struct function){ .addr = in->high - in->bias, .size = 16 };
	CHECK(!object_holds(in, &f));
	f.addr = UINT64_MAX - 100;
	CHECK(!object_holds(in, &f));
}

static uintptr_t not_ours(uintptr_t at)
{
	(void)at;
	return 0;
}

TEST(native_trap_that_is_nobodys_ends_the_program)
{
	const struct rlimit no_core = { 0, 0 };
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (trap_ready(not_ours, false))
			_exit(77);
		raise(SIGTRAP);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		SKIP("a thread blocks SIGTRAP, as an emulator's do");
	CHECK_INT(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGTRAP, "signal");
}

/* ---- where the best addresses are in use -------------------------------------------------- */

static long call_at(const uint8_t *at, long a, long b)
{
	return ((long (*)(long, long))(uintptr_t)at)(a, b);
}

static void put_jump(uint8_t *from, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - (from + 5));

	*from = 0xe9;
	memcpy(from + 1, &distance, sizeof(distance));
}

/* A thread stands at each boundary of instructions under the patch: one byte there is int3, the other an
 * illegal instruction, since all addresses for two of int3 are in use. */
TEST(native_functions_are_hooked_where_the_addresses_for_int3_are_in_use)
{
	static const uint8_t add[] = { 0x55, 0x48, 0x89, 0xe5, /* push %rbp; mov %rsp, %rbp */
				       0x48, 0x8d, 0x04, 0x37,
				       0x5d, /* lea (%rdi,%rsi), %rax; pop %rbp */
				       0xc3 };
	enum {
		WINDOW = 17 << 20,
		PIECE = 64 << 10,
		PIECES = WINDOW / PIECE,
		SECOND = 64,
		THIRD = 96
	};
	uint8_t *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct site_function f = { (uintptr_t)page, sizeof(add), "framed", "here" };
	uintptr_t low = ((uintptr_t)page - 0x34000000) & ~(uintptr_t)(PIECE - 1);
	static void *used[PIECES];
	const char *why = "";
	uint32_t number;

	NEEDS_PATCHED_CODE;
	if (PATCH_N != 5)
		SKIP("patches of other processors need no such addresses");
	CHECK(page != MAP_FAILED);
	memcpy(page, add, sizeof(add));
	page[SECOND] = add[0];
	put_jump(page + SECOND + 1, page + 1);
	memcpy(page + THIRD, add, 4);
	put_jump(page + THIRD + 4, page + 4);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
	for (int i = 0; i < PIECES; i++)
		used[i] = mmap((void *)(low + (uintptr_t)i * PIECE), PIECE, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	number = site_hook(&f, SITE_COUNT, &why);
	if (CHECK_STR(number ? "hooked" : why, "hooked", "why not")) {
		CHECK_INT(call_at(page, 2, 3), 5, "from its beginning");
		CHECK_INT(call_at(page + SECOND, 2, 4), 6, "behind its first instruction");
		CHECK_INT(call_at(page + THIRD, 2, 5), 7, "behind its second one");
		CHECK(site_unhook(number));
		CHECK_INT(call_at(page, 2, 6), 8, "without the hook");
		CHECK(memcmp(page, add, sizeof(add)) == 0);
	}
	for (int i = 0; i < PIECES; i++)
		if (used[i] != MAP_FAILED)
			munmap(used[i], PIECE);
	CHECK(trap_release());
}

/* A thread stands behind the first byte alone, so three bytes of the jump are free; the next 32 MiB are in use,
 * as by the stacks of a JVM's threads. */
TEST(native_functions_are_hooked_where_all_around_them_is_in_use)
{
	static const uint8_t twice[] = {
		0x53, /* push %rbx; lea 0(%rdi,%rdi), %rax; pop %rbx; ret */
		0x48, 0x8d, 0x44, 0x3f, 0x00, 0x5b, 0xc3
	};
	enum { ROOM = 64 << 20, AT = 32 << 20 };
	uint8_t *room =
		mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *page = room + AT;
	struct site_function f = { (uintptr_t)page, sizeof(twice), "twice", "here" };
	const char *why = "";
	uint32_t number;

	NEEDS_PATCHED_CODE;
	if (PATCH_N != 5)
		SKIP("patches of other processors need no such addresses");
	CHECK(room != MAP_FAILED);
	CHECK(mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
	memcpy(page, twice, sizeof(twice));
	CHECK(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
	number = site_hook(&f, SITE_COUNT, &why);
	if (CHECK_STR(number ? "hooked" : why, "hooked", "why not")) {
		CHECK_INT(call_at(page, 21, 0), 42, NULL);
		CHECK(site_unhook(number));
		CHECK(memcmp(page, twice, sizeof(twice)) == 0);
	}
	munmap(room, ROOM);
	CHECK(trap_release());
}

/* ---- coroutines --------------------------------------------------------------------------- */

static ucontext_t coroutine, resumer;
static char coroutine_stack[64 << 10];
static long yielded;

VICTIM void victim_yield(void);
VICTIM void victim_yield(void)
{
	native_sink++;
	swapcontext(&coroutine, &resumer);
	yielded++;
}

static void run_coroutine(void)
{
	victim_yield();
	yielded++;
}

static void *begin_coroutine(void *unused)
{
	swapcontext(&resumer, &coroutine);
	threads_tend(); /* as the agent's thread does: finds this one's stack */
	return unused;
}

static void *call_deeply(void *unused)
{
	CHECK_INT(victim_fib(20), 6765, NULL);
	return unused;
}

TEST(native_hook_returns_in_a_coroutine_whose_thread_has_ended)
{
	NEEDS_PATCHED_CODE;

	uint32_t n = hook("victim_yield", SITE_TIMED), many = hook("victim_fib", SITE_TIMED);
	pthread_t t;

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = coroutine_stack;
	coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
	coroutine.uc_link = &resumer;
	makecontext(&coroutine, run_coroutine, 0);
	pthread_create(&t, NULL, begin_coroutine, NULL);
	pthread_join(t, NULL);
	others_are_gone();
	CHECK_INT(native_open_calls(), 1, "the coroutine's");
	pthread_create(&t, NULL, call_deeply, NULL);
	pthread_join(t, NULL);
	swapcontext(&resumer, &coroutine);
	CHECK_INT(yielded, 2, "returned to its caller");
	CHECK_INT(native_open_calls(), 0, "all have returned");
	CHECK(site_unhook(n) && site_unhook(many));
	others_are_gone();
}

/* ---- pages -------------------------------------------------------------------------------- */

/* A page of code as a library has it, full of one byte; at `at`, or anywhere. */
static uint8_t *map_code(void *at, int byte)
{
	uint8_t *p = mmap(at, SWAP_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (!CHECK(p != MAP_FAILED))
		return NULL;
	memset(p, byte, SWAP_PAGE);
	mprotect(p, SWAP_PAGE, PROT_READ | PROT_EXEC);
	return p;
}

TEST(swap_leaves_alone_what_is_mapped_where_an_unloaded_library_was)
{
	uint8_t *p = map_code(NULL, 1);
	uintptr_t at = (uintptr_t)p + 100;
	struct swap_state before, after;

	if (!p)
		return;
	swap_look(&before);
	CHECK_STR(swap_in(at, "abcde", 5) ? "failed" : "", "", "first library");
	CHECK(swap_holds(at, 5));
	munmap(p, SWAP_PAGE);
	CHECK(!swap_holds(at, 5));
	CHECK_STR(swap_out(at, 5) ? "failed" : "", "", "unloaded");
	swap_look(&after);
	CHECK_INT(after.changed, before.changed, "changed");
	CHECK_INT(after.different, before.different, "different");
	map_code(p, 2);
	CHECK_STR(swap_in(at, "abcde", 5) ? "failed" : "", "", "second library");
	map_code(p, 3);
	CHECK_STR(swap_in(at + 50, "fg", 2) ? "failed" : "", "", "third library");
	CHECK(p[100] == 3 && p[150] == 'f');
	CHECK_STR(swap_out(at + 50, 2) ? "failed" : "", "", "third library");
	CHECK_STR(swap_out(at, 5) ? "failed" : "", "", "gone with the second one");
	for (int i = 0; i < SWAP_PAGE; i++)
		if (!CHECK_INT(p[i], 3, "third library"))
			break;
	munmap(p, SWAP_PAGE);
}
