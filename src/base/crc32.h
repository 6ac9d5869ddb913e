/* SPDX-License-Identifier: Apache-2.0 */
/* crc32.h - the checksum of zlib and Ethernet: tells what was torn or has rotted from what is whole,
 * not what somebody forged. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include "base/slice.h"

uint32_t crc32_of(struct slice bytes);

#endif
