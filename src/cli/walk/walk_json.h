/* SPDX-License-Identifier: Apache-2.0 */
/* walk_json.h - what a walk has found as one JSON object. */
#ifndef CLI_WALK_WALK_JSON_H
#define CLI_WALK_WALK_JSON_H

#include "cli/walk/walk_link.h"

void walk_json_put(const struct walk_link *l, struct buf *out);

#endif
