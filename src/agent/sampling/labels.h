/* SPDX-License-Identifier: Apache-2.0 */
/* labels.h - names that are frames of a stack, such as the class of an object, as numbers.
 *
 * A table in fixed memory; any thread adds to it, without locks, and it is emptied when a session
 * begins.  What finds no room has the number 0. */
#ifndef AGENT_SAMPLING_LABELS_H
#define AGENT_SAMPLING_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

bool labels_begin(void); /* false: memory is out; nobody adds meanwhile */
void labels_end(void);

uint32_t labels_number(struct slice name);
struct slice labels_name(uint32_t number); /* of 0: "(other classes)" */

#endif
