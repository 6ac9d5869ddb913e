/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - stands in for the agent where only matters that it is loaded: writes a line with the
 * process and the options into the file that SONDE_TEST_LOG names. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int Agent_OnLoad(void *vm, const char *options, void *unused)
{
	const char *log = getenv("SONDE_TEST_LOG");
	int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	(void)vm;
	(void)unused;
	if (fd >= 0) {
		dprintf(fd, "%d %s\n", (int)getpid(), options ? options : "");
		close(fd);
	}
	return 0;
}
