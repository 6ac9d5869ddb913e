/* SPDX-License-Identifier: Apache-2.0 */
/* webpages.h - the pages, which are in the program: built to build/web/ and embedded by webpages_bytes.S. */
#ifndef MANAGER_WEBPAGES_H
#define MANAGER_WEBPAGES_H

#include "base/slice.h"

struct webpage {
	const char *path; /* "/app.js" */
	const char *type;
	struct slice bytes;
	struct slice gzip; /* the same, compressed */
};

/* False: there is no such file.  "/" is the first page. */
bool webpages_find(const char *path, struct webpage *out);

#endif
