/* SPDX-License-Identifier: Apache-2.0 */
/* version.h - what this build calls itself. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SONDE_VERSION "0.2"

#endif
