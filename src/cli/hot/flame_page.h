/* SPDX-License-Identifier: Apache-2.0 */
/* flame_page.h - a profile as one web page that needs nothing else: a flame graph to look around in. */
#ifndef CLI_HOT_FLAME_PAGE_H
#define CLI_HOT_FLAME_PAGE_H

#include "cli/hot/sampled.h"

/* before: what it is compared with, or NULL. */
void flame_page_put(struct buf *out, const struct sampled *s, const struct sampled *before);

#endif
