/* SPDX-License-Identifier: Apache-2.0 */
/* elf_look.h - the few things of a program or library file that decide whether it fits. */
#ifndef JVM_ELF_LOOK_H
#define JVM_ELF_LOOK_H

#include <sys/types.h>

#include "base/slice.h"

struct elf_look {
	uint8_t bits;	  /* 1: 32, 2: 64 */
	uint8_t order;	  /* 1: little-endian, 2: big */
	uint16_t machine; /* EM_* */
};

/* False when the file is not an ELF file. */
bool elf_look(int fd, struct elf_look *out);
bool elf_look_exe(pid_t pid, struct elf_look *out);

/* Is this a shared library with all its bytes?  One that was cut off is fatal to whoever loads it:
 * the dynamic linker maps it and runs off its end. */
bool elf_is_whole(struct slice file);

const char *elf_machine_name(uint16_t machine); /* "x86-64"; "another architecture" */

/* Has the program that a process runs a section of that name?  64-bit files of our byte order. */
bool elf_has_section(pid_t pid, const char *name);

#endif
