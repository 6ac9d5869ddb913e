/* SPDX-License-Identifier: Apache-2.0 */
/* visit.c - runs "sonde attach" and "sonde detach" around a command.
 *
 * They are run as programs of their own: on their way into a container both act as another user for
 * a while, and no other part of a command should run as that user by mistake. */
#include "cli/client/visit.h"

#include "cli/attach/jvms.h"
#include "cli/attach/target.h"
#include "cli/screen/cli.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_RUNNING = 60 /* seconds: by then much of its code is compiled */ };

void visit_tell_of_first_hook(double uptime)
{
	if (uptime > LONG_RUNNING)
		fputs("sonde: with the first hook the JVM drops its compiled code once and is slow "
		      "for a while; a program started by 'sonde run' does not\n",
		      stderr);
}

void visit_will_hook(const struct visit *v)
{
	struct arena mem;
	struct jvm jvm;

	arena_init(&mem);
	if (v->attached && jvm_read(v->pid, &mem, &jvm) >= 0 && jvm.kind == JVM_HOTSPOT)
		visit_tell_of_first_hook(jvm.uptime);
	arena_release(&mem);
}

int visit_run_self(const char *verb, pid_t target, const char *option, const char *more)
{
	char number[16];
	int status = 0;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", (int)target);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "sonde", verb, number, option, more, (char *)NULL);
		_exit(CLI_CANNOT);
	}
	if (pid < 0)
		return cli_cannot("no process for 'sonde %s'", verb);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_CANNOT;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_CANNOT;
}

int visit_begin(struct visit *v, struct client *c, const struct target *t)
{
	int status;

	*v = (struct visit){ .pid = t->pid };
	if (!client_is_there(t)) {
		status = visit_run_self("attach", t->pid, "--quiet", NULL);
		if (status != CLI_DONE)
			return status;
		v->attached = true;
	}
	status = client_open(c, t);
	if (status != CLI_DONE)
		visit_end(v, NULL);
	/* Otherwise it was on its way in already, from the start of the JVM, and is to stay. */
	else if (!(c->welcome.flags & WELCOME_LATE))
		v->attached = false;
	return status;
}

int visit_find(struct visit *v, struct client *c, const char *text, struct target *t)
{
	int status = target_find(text, t);

	return status == CLI_DONE ? visit_begin(v, c, t) : status;
}

void visit_end(struct visit *v, struct client *c)
{
	if (c)
		client_close(c);
	if (v->attached) /* who could not connect does not know since when the agent has been there */
		visit_run_self("detach", v->pid, "--if-alone", NULL);
	v->attached = false;
}
