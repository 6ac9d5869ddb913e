/* SPDX-License-Identifier: Apache-2.0 */
/* come_go.h - the functions that are called from outside; attached.h has their names. */
#ifndef NATIVE_LOAD_COME_GO_H
#define NATIVE_LOAD_COME_GO_H

/* The library comes by dlopen, so that dlclose can take it out again. */
void come_go_opened(void);

/* Starts the agent, if it does not run. */
void sonde_native_attach(void);

/* Unmaps and frees what the agent has had.  The hooks are out, its thread has ended, and no thread is in
 * its code.  Gives what dlclose takes. */
void *sonde_native_release(void);

#endif
