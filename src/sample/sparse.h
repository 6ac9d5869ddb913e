/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.h - an ELF file of which only the parts that unwinding needs are read.
 *
 * Memory is reserved for all of it, and only what is read takes any: some MiB of a JVM's library of 30.
 * Not mapped: a file that somebody cuts off would then fault. */
#ifndef SAMPLE_SPARSE_H
#define SAMPLE_SPARSE_H

#include "base/slice.h"

/* A file, by path; false: it cannot be read, or is none.  sparse_drop gives it back. */
bool sparse_read(const char *path, struct slice *file);
void sparse_drop(struct slice file);

#endif
