/* SPDX-License-Identifier: Apache-2.0 */
/* method_name.h - the agent's names of methods, "com.shop.Cart.checkout(Ljava/lang/String;I)V", for
 * people: com.shop.Cart.checkout(String, int), or as much of that as there is room for.
 *
 * The parts are views of the agent's text.  What is written has no control characters, whatever a
 * class calls its things. */
#ifndef CLI_SCREEN_METHOD_NAME_H
#define CLI_SCREEN_METHOD_NAME_H

#include "base/buf.h"

struct method_name {
	struct slice package; /* "com.shop"; empty when there is none */
	struct slice class;   /* "Cart$Line" */
	struct slice name;    /* "checkout", "<init>" */
	struct slice desc;    /* "(Ljava/lang/String;I)V"; empty when it was not given */
};

void method_name_split(struct slice text, struct method_name *out);

/* Is it the same but for the parameters? */
bool method_name_overloads(const struct method_name *a, const struct method_name *b);

bool method_name_is_void(const struct method_name *m); /* false when not known */

/* com.shop.Cart.checkout, with (String, int) if that is wanted. */
void method_name_put(struct buf *out, const struct method_name *m, bool parameters);

/* The same in at most `width` characters: with packages as letters (c.s.Cart.checkout), without
 * them, and then cut in the middle. */
void method_name_fit(struct buf *out, const struct method_name *m, bool parameters, size_t width);

/* How many columns of a terminal UTF-8 text takes, roughly: every character is one. */
size_t method_name_width(struct slice text);

#endif
