/* SPDX-License-Identifier: Apache-2.0 */
/* free_signal.h - a real-time signal that the program does not use, for sampling. */
#ifndef SAMPLE_FREE_SIGNAL_H
#define SAMPLE_FREE_SIGNAL_H

#include <signal.h>

/* Its number, with the handler set; 0: all are in use. */
int free_signal_take(void (*handler)(int, siginfo_t *, void *));

#endif
