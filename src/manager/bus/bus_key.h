/* SPDX-License-Identifier: Apache-2.0 */
/* bus_key.h - names as parts of keys and subjects, where few characters may stand.  Pure; trusts nothing. */
#ifndef MANAGER_BUS_BUS_KEY_H
#define MANAGER_BUS_BUS_KEY_H

#include "base/buf.h"

enum { BUS_KEY = 512 };

/* WORD.NAME, the name with all but letters, digits, '-' and '_' as =XX; false: it is empty or too long. */
bool bus_key_make(char to[BUS_KEY], const char *word, struct slice name);
/* The name behind "WORD."; false: it is another word, or not as bus_key_make writes it.  `room` counts the NUL. */
bool bus_key_read(const char *key, const char *word, char *to, size_t room);

#endif
