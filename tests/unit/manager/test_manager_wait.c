/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/wait.h"

#include "base/clock.h"
#include "test.h"

TEST(wait_for_a_word_that_does_not_come_takes_so_long_and_ends)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t word = PTHREAD_COND_INITIALIZER;
	uint64_t begin = clock_steady_ns();

	pthread_mutex_lock(&lock);
	wait_ms(&word, &lock, 1200); /* more than a second: nanoseconds have to carry */
	pthread_mutex_unlock(&lock);
	CHECK(clock_steady_ns() - begin >= 1200 * UINT64_C(1000000));
}
