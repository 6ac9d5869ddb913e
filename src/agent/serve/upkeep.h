/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.h - what has to be done once a second while there are rules: hooks that are due leave, 1/N
 * follows how hot a method is, ended threads are taken in, stalls and concurrency are seen. */
#ifndef AGENT_SERVE_UPKEEP_H
#define AGENT_SERVE_UPKEEP_H

void upkeep_tick(void);

#endif
