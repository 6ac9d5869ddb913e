/* SPDX-License-Identifier: Apache-2.0 */
/* filtered.c - runs a program under a system-call filter that ends the process at the first call
 * that a plain JVM does not make: filtered COMMAND [ARGUMENT]...
 *
 * What is allowed is what JVMs of 17 and 25 were seen to do without an agent (strace), the same
 * kinds of calls on files and sockets that the JDK makes where a program asks for them, and what
 * their libcs use instead of one another.  (HotSpot asks with kill(PID, 0) who left the accounts that
 * it finds in /tmp.)  It is systemd's SystemCallFilter= with less in it. */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

static const int allowed[] = {
	/* start and end */
	SYS_execve,
	SYS_exit,
	SYS_exit_group,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrandom,
	SYS_prlimit64,
	SYS_prctl,
	SYS_getpid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_set_tid_address,
	SYS_set_robust_list,
	SYS_rseq,
	SYS_restart_syscall,
	/* memory */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mprotect,
	SYS_mremap,
	SYS_madvise,
	SYS_mincore,
	/* threads, signals and clocks */
	SYS_clone,
	SYS_clone3,
	SYS_futex,
	SYS_sched_yield,
	SYS_membarrier,
	SYS_sched_getaffinity,
	SYS_tgkill,
	SYS_kill,
	SYS_getrusage,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_sigaltstack,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	/* files */
	SYS_openat,
	SYS_close,
	SYS_read,
	SYS_write,
	SYS_pread64,
	SYS_pwrite64,
	SYS_readv,
	SYS_writev,
	SYS_preadv,
	SYS_pwritev,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_statfs,
	SYS_faccessat,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_fchdir,
	SYS_fcntl,
	SYS_flock,
	SYS_ftruncate,
	SYS_ioctl,
	SYS_mkdirat,
	SYS_unlinkat,
	SYS_renameat,
	SYS_fchmod,
	SYS_fchmodat,
	SYS_fchown,
	SYS_fchownat,
	SYS_fsync,
	SYS_fdatasync,
	/* sockets */
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_shutdown,
	SYS_sendto,
	SYS_recvfrom,
	SYS_getsockopt,
	SYS_setsockopt,
	SYS_getsockname,
	SYS_ppoll,
#ifdef __x86_64__ /* older calls, which aarch64 does not have */
	SYS_arch_prctl,
	SYS_open,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_mkdir,
	SYS_rmdir,
	SYS_unlink,
	SYS_rename,
	SYS_chmod,
	SYS_chown,
	SYS_poll,
	SYS_pipe,
#endif
};

enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]) };

static struct sock_filter program[5 + 2 * ALLOWED];

static void make_program(void)
{
	struct sock_filter *p = program;

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, arch));
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED; i++) {
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
						    0, 1);
		*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	*p = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
}

int main(int argc, char **argv)
{
	struct sock_fprog filter = { sizeof(program) / sizeof(program[0]), program };

	if (argc < 2)
		return 2;
	make_program();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) {
		perror("filtered: cannot set the filter");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 3;
}
