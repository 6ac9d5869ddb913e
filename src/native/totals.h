/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h - what hooked functions took: sums over all threads, by function and by caller.
 *
 * A time is told with an interval: its upper end is what was measured; its lower end is less what the
 * hooks around an empty function cost, those of the calls below it included.  The truth lies in
 * between, since hooks hide behind work that waits.  The
 * agent's thread alone. */
#ifndef NATIVE_TOTALS_H
#define NATIVE_TOTALS_H

#include "base/buf.h"

void totals_begin(void); /* measures the hooks' cost; once, before the program is hooked */
void totals_restart(uint32_t number); /* a function's figures count from now */
void totals_restart_all(void);

uint64_t totals_calls(uint32_t number);
uint64_t totals_ns(uint64_t ticks);

void totals_put_methods(struct buf *out); /* frames: one for each hooked function */
void totals_put_callers(struct buf *out); /* ... a tree: callers, and below each whom it called */
void totals_put_status(struct buf *out, uint64_t rules);

void totals_release(void); /* forgets what was left out */

#endif
