/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_names.h - what a word can become that names a loaded class or a method, for completion.
 *
 * Nothing is put into the program for that: without an agent in it there are no names. */
#ifndef CLI_CLIENT_LOADED_NAMES_H
#define CLI_CLIENT_LOADED_NAMES_H

#include "base/buf.h"

/* Appends candidates, a line each: of "com.sh" the next package, "com.shop."; of "com.shop.Ca" and of
 * "Ca" the classes, "com.shop.Cart", with methods "com.shop.Cart::"; of "Cart::a" the methods,
 * "Cart::add".  target: as on a command line, or NULL: the only JVM. */
void loaded_names(const char *target, struct slice word, bool methods, struct buf *out);

#endif
