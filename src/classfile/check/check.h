/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the verifier of JVMS 4.10, as far as it needs no class loading.
 *
 * So that a bad edit is found before a JVM sees it.  What the checker refuses, a JVM refuses; of
 * what needs other classes (is one class below another, does a member exist, is it protected) the
 * checker accepts everything that could be right. */
#ifndef CLASSFILE_CHECK_CHECK_H
#define CLASSFILE_CHECK_CHECK_H

#include "classfile/code.h"

/* 0, or E_VERIFY, E_FRAME, E_HANDLER, and what was expected and found where.  Type checking by
 * frames from class version 50 on, type inference below 50, and at 50 when frames do not fit.
 * E_LIMIT: the code was made to be slow to check. */
int code_check(const struct code *code, struct fault *f);

/* Gives each of these labels (in list order) that has no frame the one that follows from the code
 * before it.  Class entries may be added to the pool.  Frames are assumed to be right. */
int check_frames_at(struct code *code, struct insn *const *labels, size_t n, struct fault *f);

#endif
