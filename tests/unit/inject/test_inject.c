/* SPDX-License-Identifier: Apache-2.0 */
/* test_inject.c - src/inject: what can be told without another process. */
#define _GNU_SOURCE /* REG_RIP */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "inject/sigframe.h"
#include "inject/libraries.h"
#include "inject/safe_point.h"
#include "inject/refuse.h"
#include "test.h"

static struct sigframe_before before;
static struct sigframe frame;

static const struct sigframe_call call = { .to = 0x401000,
					   .args = { 11, 22, 33 },
					   .code = 0x7f0000001000 };

TEST(inject_names_of_functions_that_hold_locks)
{
	static const struct {
		const char *name;
		bool bad;
	} all[] = {
		{ "malloc", true },
		{ "malloc_trim", true },
		{ "free", true },
		{ "freeaddrinfo", false },
		{ "_Znwm", true },
		{ "dlopen", true },
		{ "dl_iterate_phdr", true },
		{ "read", false },
		{ "pthread_create", true },
		{ "pthread_cond_wait", false },
		{ "setuid", true },
		{ "setresgid", true },
		{ "setsid", false },
		{ "", false },
		{ "execve", true },
	};

	for (size_t i = 0; i < COUNT(all); i++)
		CHECK_INT(safe_point_name(slice_str(all[i].name)) != NULL, all[i].bad, all[i].name);
}

TEST(inject_system_calls_to_wait_in)
{
	CHECK(safe_point_is_wait(SYS_read));
	CHECK(safe_point_is_wait(SYS_futex));
	CHECK(!safe_point_is_wait(SYS_mmap));
	CHECK(!safe_point_is_wait(SYS_brk));
	CHECK(!safe_point_is_wait(-1));
}

TEST(inject_numbers_of_a_status)
{
	const struct slice s =
		slice_str("Name:\tx\nUid:\t1\t22\t333\t4\nSeccomp_filters:\t7\nSeccomp:\t2\n");

	CHECK_INT(refuse_status_number(s, "Uid", 1), 22, "the second");
	CHECK_INT(refuse_status_number(s, "Seccomp", 0), 2, "not that of a longer name");
	CHECK_INT(refuse_status_number(s, "Gid", 0), -1, "not there");
}

#if defined(__x86_64__)

enum { XSAVE_N = 832, XCR0_AT = 464 };

static const ucontext_t *make(inject_regs *go, bool for_result)
{
	static ucontext_t u;
	struct sigframe_call c = call;

	c.for_result = for_result;
	memset(&u, 0, sizeof(u));
	before.state[0].n = XSAVE_N;
	before.state[0].bytes[XCR0_AT] = 7;
	CHECK(sigframe_make(&before, 0x7ffffff01234, &c, &frame, go));
	memcpy(&u, frame.bytes + 8, 40 + 256 + 8);
	return &u;
}

TEST(inject_a_frame_as_the_kernel_makes_them)
{
	const ucontext_t *u;
	inject_regs go;
	uint64_t back, state;
	uint32_t word;

	before = (struct sigframe_before){ .blocked = 0x1234 };
	before.regs.rip = 0x5000, before.regs.rsp = 0x7ffffff01300, before.regs.rax = 77;
	before.regs.orig_rax = (unsigned long long)-1;
	before.regs.eflags = 0x646;
	u = make(&go, false);
	CHECK_INT(go.rsp % 16, 8, "as behind a call");
	CHECK(frame.at + frame.n <= 0x7ffffff01234);
	CHECK_INT(go.rip, call.to, "the function");
	CHECK(go.rdi == 11 && go.rsi == 22 && go.rdx == 33);
	CHECK_INT((long)go.orig_rax, -1, "nothing is restarted before it");
	CHECK_INT(go.eflags & 0x400, 0, "the direction flag");
	memcpy(&back, frame.bytes, 8);
	CHECK_INT(back, call.code, "where it returns to");
	CHECK_INT(u->uc_mcontext.gregs[REG_RIP], 0x5000, "rip");
	CHECK_INT(u->uc_mcontext.gregs[REG_RAX], 77, "rax");
	CHECK_INT(*(const uint64_t *)&u->uc_sigmask, 0x1234, "signals");
	state = (uintptr_t)u->uc_mcontext.fpregs;
	CHECK_INT(state % 64, 0, "xrstor wants that");
	memcpy(&word, frame.bytes + (state - frame.at) + XCR0_AT, 4);
	CHECK_INT(word, 0x46505853, "the mark before the state");
	memcpy(&word, frame.bytes + (state - frame.at) + XSAVE_N, 4);
	CHECK_INT(word, 0x46505845, "the mark behind it");
}

TEST(inject_interrupted_calls_are_made_again_by_the_frame)
{
	static const struct {
		long rax, then;
		uint64_t rip;
	} all[] = {
		{ -512, SYS_read, 0x4ffe }, { -513, SYS_read, 0x4ffe }, { -514, SYS_read, 0x4ffe },
		{ -516, -EINTR, 0x5000 },   { 5, 5, 0x5000 },
	};
	inject_regs go;

	for (size_t i = 0; i < COUNT(all); i++) {
		const ucontext_t *u;

		before = (struct sigframe_before){ .regs.rip = 0x5000, .regs.orig_rax = SYS_read };
		before.regs.rax = (unsigned long long)all[i].rax;
		u = make(&go, false);
		CHECK_INT(u->uc_mcontext.gregs[REG_RAX], all[i].then, "rax");
		CHECK_INT(u->uc_mcontext.gregs[REG_RIP], all[i].rip, "rip");
	}
}

TEST(inject_the_end_of_a_call_is_seen)
{
	inject_regs go;
	uint64_t result = 0;

	(void)make(&go, true);
	go.rsp += 8;
	CHECK(!sigframe_is_left(&frame, &go, &result));
	go.rip = call.code + sigframe_return_code().n;
	go.orig_rax = 4711;
	CHECK(sigframe_is_left(&frame, &go, &result));
	CHECK_INT(result, 4711, "what it gave");
}

TEST(inject_epoll_wait_is_made_again)
{
	inject_regs r = { .rax = (unsigned long long)-EINTR };

	sigframe_mend(&r, SYS_epoll_wait, false);
	CHECK_INT((long)r.rax, -514, "the kernel restarts it when no handler runs");
	r.rax = (unsigned long long)-EINTR;
	sigframe_mend(&r, SYS_close, false);
	CHECK_INT((long)r.rax, -EINTR, "what was done is not done twice");
}

#else

TEST(inject_a_frame_as_the_kernel_makes_them)
{
	inject_regs go;
	const ucontext_t *u;
	uint64_t result = 0;

	before = (struct sigframe_before){ .blocked = 0x1234 };
	before.state[0].n = 528;
	before.state[0].bytes[0] = 99;
	before.regs.pc = 0x5000, before.regs.sp = 0x7ffffff01300, before.regs.regs[19] = 77;
	CHECK(sigframe_make(&before, 0x7ffffff01234, &call, &frame, &go));
	u = (const ucontext_t *)(frame.bytes + 128);
	CHECK_INT(go.sp % 16, 0, "aligned");
	CHECK(frame.at + frame.n <= 0x7ffffff01234);
	CHECK_INT(go.pc, call.to, "the function");
	CHECK(go.regs[0] == 11 && go.regs[1] == 22 && go.regs[2] == 33);
	CHECK_INT(go.regs[30], call.code, "where it returns to");
	CHECK_INT(u->uc_mcontext.pc, 0x5000, "pc");
	CHECK_INT(u->uc_mcontext.regs[19], 77, "x19");
	CHECK_INT(*(const uint64_t *)&u->uc_sigmask, 0x1234, "signals");
	CHECK_INT(*(const uint32_t *)u->uc_mcontext.__reserved, 0x46508001, "vector registers");
	CHECK_INT(u->uc_mcontext.__reserved[16], 99, "the first of them");
	go.pc = call.code + sigframe_return_code().n;
	go.regs[0] = 4711;
	CHECK(sigframe_is_left(&frame, &go, &result));
	CHECK_INT(result, 4711, "what it gave");
}

TEST(inject_a_sleep_goes_on_for_the_rest_of_its_time)
{
	inject_regs r = { .regs = { [8] = SYS_nanosleep } };
	static const uint8_t svc[] = { 1, 0, 0, 0xd4, 0, 0, 0, 0 }, other[8] = { 0 };

	CHECK_INT(sigframe_syscall(&r, svc), SYS_nanosleep, "behind the instruction");
	CHECK_INT(sigframe_syscall(&r, other), -1, "none");
	sigframe_mend(&r, SYS_nanosleep, false);
	CHECK_INT(r.regs[8], SYS_nanosleep, "the kernel sees to it where the thread stood still");
	sigframe_mend(&r, SYS_nanosleep, true);
	CHECK_INT(r.regs[8], SYS_restart_syscall, "for the rest");
	r = (inject_regs){ .regs = { [1] = FUTEX_WAIT_PRIVATE, [8] = SYS_futex } };
	sigframe_mend(&r, SYS_futex, true);
	CHECK_INT(r.regs[8], SYS_futex, "without a limit it begins anew");
}

#endif
