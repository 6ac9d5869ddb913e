/* SPDX-License-Identifier: Apache-2.0 */
/* rust_name.h - names of Rust's functions, of symbols in its "v0" mangling (_R...; RFC 2603).
 *
 * Symbols of the older kind (_ZN...E) are read as those of C++.  Hashes of crates and the types of
 * constants are left out. */
#ifndef ELF_RUST_NAME_H
#define ELF_RUST_NAME_H

#include "base/buf.h"

enum { RUST_NAME_MAX = 4096 }; /* bytes of a name; longer ones end with "..." */

/* Appends the name: "<alloc::vec::Vec<u8>>::push".  False: it is no such symbol, and out is as before. */
bool rust_name_put(struct buf *out, struct slice symbol);

#endif
