/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_args.h - the arguments of a JVM: which are the JVM's, which the program's, and its name. */
#ifndef JVM_JVM_ARGS_H
#define JVM_JVM_ARGS_H

#include "base/buf.h"

/* Goes through the strings of a java command line.  Options of the JVM are appended to options,
 * with spaces between them; main is the main class (module/class) or the jar, .n 0: none found;
 * rest is what follows it.  Both are parts of cmdline. */
void jvm_args_split(struct slice cmdline, struct buf *options, struct slice *main,
		    struct slice *rest);

/* The strings of `environ` that add options: those before and those after the command line. */
void jvm_args_environ(struct slice environ, struct buf *before, struct buf *after);

/* How people call it: "Main" of com.shop.Main stays com.shop.Main; /opt/shop.jar is shop.jar;
 * shop/com.shop.Main is com.shop.Main; a program run from source has the name of that file. */
struct slice jvm_args_name(struct slice main, struct slice rest);

/* Is `text` that name, its end behind a dot, or that jar without ".jar"? 2 exactly, 1 its end,
 * 0. */
int jvm_args_match(struct slice name, const char *text);

/* The next word of a list of arguments; moves over it.  False at the end. */
bool jvm_args_word(struct slice *args, struct slice *word);

/* Does this switch stand among the words: "-Xrs", "-XX:+DisableAttachMechanism"?  Of contradictory
 * -XX:+F and -XX:-F the last counts. */
bool jvm_args_has(struct slice args, const char *text);

#endif
