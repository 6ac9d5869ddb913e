/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/wait.h"

#include "base/clock.h"

void wait_ms(pthread_cond_t *word, pthread_mutex_t *lock, uint64_t ms)
{
	uint64_t ns = clock_steady_ns() + ms * 1000000;
	struct timespec until = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	pthread_cond_clockwait(word, lock, CLOCK_MONOTONIC, &until);
}
