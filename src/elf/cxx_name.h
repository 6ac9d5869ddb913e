/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_name.h - how long the text of a mangled C++ name may become, before a library is asked for it. */
#ifndef ELF_CXX_NAME_H
#define ELF_CXX_NAME_H

#include "base/slice.h"

/* False: its references to what stands before could make more than some megabytes of it. */
bool cxx_name_is_modest(struct slice symbol);

#endif
