/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - a program or library file (ELF): its sections, segments and notes, read with bounds.
 *
 * Only 64-bit little-endian files of x86-64 and aarch64 are taken.  Nothing is copied: slices point
 * into the file's bytes, which must stay.  Addresses are those of the file; where a process has
 * mapped it elsewhere, the caller adds the difference. */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <elf.h>

#include "base/err.h"
#include "base/slice.h"

struct image {
	struct slice file;
	uint16_t machine;    /* EM_X86_64 or EM_AARCH64 */
	uint16_t type;	     /* ET_EXEC, ET_DYN ... */
	unsigned n_sections; /* 0: stripped of them */
	unsigned n_segments;
	uint64_t sections_at; /* file offsets of the two tables */
	uint64_t segments_at;
	struct slice names; /* of the sections */
};

struct image_section {
	struct slice name;
	uint32_t type, link;
	uint64_t flags, addr, size, entry_size;
	struct slice bytes; /* empty: none in the file (SHT_NOBITS), or beyond its end */
};

/* 0, E_UNSUPPORTED for a file of another kind, or E_TRUNCATED. */
int image_open(struct image *image, struct slice file);

bool image_section(const struct image *image, unsigned i, struct image_section *out);
bool image_find(const struct image *image, const char *name, struct image_section *out);
bool image_segment(const struct image *image, unsigned i, Elf64_Phdr *out);

/* The bytes of the file that are mapped at this address, up to the end of their segment; empty:
 * none. */
struct slice image_at(const struct image *image, uint64_t addr);

/* The address at which the byte at this file offset is mapped; false: it is not. */
bool image_address(const struct image *image, uint64_t offset, uint64_t *addr);

/* The build id (20 bytes as a rule); empty: it has none. */
struct slice image_build_id(const struct image *image);

/* The name of the file with the debugging symbols, and its checksum; false: there is no such link. */
bool image_debug_link(const struct image *image, struct slice *name, uint32_t *crc);

/* The text that begins there and ends with a NUL; false: it does not end within s. */
bool image_text(struct slice s, uint64_t at, struct slice *out);

#endif
