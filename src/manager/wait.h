/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - waits for another thread's word, for so long at most, whoever sets the clock of the day
 * meanwhile. */
#ifndef MANAGER_WAIT_H
#define MANAGER_WAIT_H

#include <pthread.h>
#include <stdint.h>

void wait_ms(pthread_cond_t *word, pthread_mutex_t *lock, uint64_t ms);

#endif
