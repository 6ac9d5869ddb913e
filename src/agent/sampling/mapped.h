/* SPDX-License-Identifier: Apache-2.0 */
/* mapped.h - the native code of this process, kept current while samples are taken.
 *
 * The list that signal handlers read is replaced, never changed; the one before it is given back when
 * its owner knows that no handler is left in it (mapped_drop_old). */
#ifndef AGENT_SAMPLING_MAPPED_H
#define AGENT_SAMPLING_MAPPED_H

#include "sample/modules.h"

bool mapped_begin(void);
void mapped_end(void); /* no handler runs any more */

bool mapped_read(void);	  /* /proc/self/maps, for what follows; some tenths of a millisecond */
bool mapped_update(void); /* true: the list is another one now */
void mapped_drop_old(void);

const struct modules *mapped_now(void); /* safe in signal handlers */

/* The mapping that holds this address, as it was read last; false: none. */
bool mapped_range(uint64_t address, struct mapping *out);

#endif
