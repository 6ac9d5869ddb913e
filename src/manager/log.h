/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - what the manager tells its operator, on stderr, one line each.  Any thread.
 *
 * Text of others is made harmless.  Below systemd, lines begin with their priority (<4>) instead of
 * the time. */
#ifndef MANAGER_LOG_H
#define MANAGER_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set(enum log_level most);
bool log_level_of(const char *word, enum log_level *out); /* "error", "warn", "info", "debug" */

void log_put(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
