/* SPDX-License-Identifier: Apache-2.0 */
/* method_arg.h - the METHOD that a person names, found among the classes that are loaded.
 *
 * All verbs take pkg.Class::m, pkg.Class.m and, where only one class fits, Class::m; and as logs and
 * documentation write it, pkg/Class.m and pkg.Class#m.  What is no name but a pattern or a rule (`*`, `?`,
 * blanks) stays as it is. */
#ifndef CLI_CLIENT_METHOD_ARG_H
#define CLI_CLIENT_METHOD_ARG_H

#include "cli/client/client.h"

enum method_wait {
	METHOD_NOW, /* what is not loaded is wrong usage */
	METHOD_RULE, /* the full name of a class that is not loaded yet will do: a rule waits for it */
	METHOD_POLL, /* waits here until it is loaded, or Ctrl-C comes */
};

bool method_arg_is_name(const char *text); /* ... and no pattern, rule or program */

/* Appends the full name to out.  CLI_DONE; or, after a message with the nearest name, CLI_USAGE. */
int method_arg_resolve(struct client *c, const char *text, enum method_wait wait, struct buf *out);

/* The same for the names in a rule: of the method ("Cart::checkout timed", "hook a.b.Cart.checkout"), of callers behind
 * `inside` and `>`, and of where something is captured.  A full name of a caller that is not loaded is kept, and said. */
bool method_arg_in_rule(const char *rule); /* does it have a name that the agent must complete? */
int method_arg_resolve_rule(struct client *c, const char *rule, enum method_wait wait,
			    struct buf *out);

#endif
