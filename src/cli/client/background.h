/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - a command that goes on in the background: the process that was started ends once the other one
 * has begun its work, or has said why it cannot. */
#ifndef CLI_CLIENT_BACKGROUND_H
#define CLI_CLIENT_BACKGROUND_H

#include <sys/types.h>

/* Twice it returns.  CLI_GO_ON: in the background, with *begun >= 0 for background_go_on, without a terminal but
 * for messages.  Else where it was started: CLI_DONE, and *other has begun; or CLI_CANNOT. */
int background_begin(int *begun, pid_t *other);

/* Tells the process that was started; what is printed from now on goes to the file log (-1: is lost), which is
 * closed. */
void background_go_on(int begun, int log);

#endif
