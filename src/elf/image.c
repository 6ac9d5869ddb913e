/* SPDX-License-Identifier: Apache-2.0 */
/* image.c - reads the tables of an ELF file.
 *
 * Every offset and size in the file is a claim: a range counts only when it lies within the file.  A
 * section that does not is as good as empty, since a damaged section must not hide the others. */
#include "elf/image.h"

#include <string.h>

/* A part of the file; empty when it does not lie within it. */
static struct slice part(struct slice file, uint64_t at, uint64_t n)
{
	if (at > file.n || n > file.n - at)
		return (struct slice){ file.p, 0 };
	return (struct slice){ file.p + at, (size_t)n };
}

static bool holds_table(struct slice file, uint64_t at, uint64_t n, size_t entry)
{
	return at <= file.n && n <= (file.n - at) / entry;
}

bool image_text(struct slice s, uint64_t at, struct slice *out)
{
	const uint8_t *end = at < s.n ? memchr(s.p + at, 0, (size_t)(s.n - at)) : NULL;

	if (!end)
		return false;
	*out = (struct slice){ s.p + at, (size_t)(end - (s.p + at)) };
	return true;
}

/* ---- sections and segments ---------------------------------------------------------------- */

static Elf64_Shdr section_head(const struct image *image, unsigned i)
{
	Elf64_Shdr head;

	memcpy(&head, image->file.p + image->sections_at + i * sizeof(head), sizeof(head));
	return head;
}

/* Files with very many sections or segments keep the numbers in the first section. */
static void read_sections(struct image *image, const Elf64_Ehdr *head)
{
	unsigned names = head->e_shstrndx;
	Elf64_Shdr first;

	if (!head->e_shoff || head->e_shentsize != sizeof(first) ||
	    !holds_table(image->file, head->e_shoff, 1, sizeof(first)))
		return;
	image->sections_at = head->e_shoff;
	image->n_sections = 1;
	first = section_head(image, 0);
	image->n_sections = head->e_shnum ? head->e_shnum : (unsigned)first.sh_size;
	if (!holds_table(image->file, head->e_shoff, image->n_sections, sizeof(first))) {
		image->n_sections = 0;
		return;
	}
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (names < image->n_sections) {
		first = section_head(image, names);
		image->names = part(image->file, first.sh_offset, first.sh_size);
	}
}

int image_open(struct image *image, struct slice file)
{
	Elf64_Ehdr head;

	*image = (struct image){ .file = file };
	if (file.n < SELFMAG || memcmp(file.p, ELFMAG, SELFMAG) != 0)
		return E_UNSUPPORTED;
	if (file.n < sizeof(head))
		return E_TRUNCATED;
	memcpy(&head, file.p, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
		return E_UNSUPPORTED;
	image->machine = head.e_machine;
	image->type = head.e_type;
	if (head.e_phnum && head.e_phentsize == sizeof(Elf64_Phdr)) {
		if (!holds_table(file, head.e_phoff, head.e_phnum, sizeof(Elf64_Phdr)))
			return E_TRUNCATED;
		image->segments_at = head.e_phoff;
		image->n_segments = head.e_phnum;
	}
	read_sections(image, &head);
	return 0;
}

bool image_section(const struct image *image, unsigned i, struct image_section *out)
{
	Elf64_Shdr head;

	if (i >= image->n_sections)
		return false;
	head = section_head(image, i);
	*out = (struct image_section){
		.type = head.sh_type,
		.link = head.sh_link,
		.flags = head.sh_flags,
		.addr = head.sh_addr,
		.size = head.sh_size,
		.entry_size = head.sh_entsize,
		.bytes = part(image->file, head.sh_offset,
			      head.sh_type == SHT_NOBITS ? 0 : head.sh_size),
	};
	(void)image_text(image->names, head.sh_name, &out->name); /* without one it has no name */
	return true;
}

bool image_find(const struct image *image, const char *name, struct image_section *out)
{
	struct image_section one;

	for (unsigned i = 0; image_section(image, i, &one); i++)
		if (slice_is(one.name, name)) {
			*out = one;
			return true;
		}
	return false;
}

bool image_segment(const struct image *image, unsigned i, Elf64_Phdr *out)
{
	if (i >= image->n_segments)
		return false;
	memcpy(out, image->file.p + image->segments_at + i * sizeof(*out), sizeof(*out));
	return true;
}

/* ---- addresses ---------------------------------------------------------------------------- */

struct slice image_at(const struct image *image, uint64_t addr)
{
	Elf64_Phdr one;

	for (unsigned i = 0; image_segment(image, i, &one); i++)
		if (one.p_type == PT_LOAD && addr >= one.p_vaddr &&
		    addr - one.p_vaddr < one.p_filesz) {
			uint64_t in = addr - one.p_vaddr;

			if (one.p_offset > UINT64_MAX - in)
				break;
			return part(image->file, one.p_offset + in, one.p_filesz - in);
		}
	return (struct slice){ image->file.p, 0 };
}

bool image_address(const struct image *image, uint64_t offset, uint64_t *addr)
{
	Elf64_Phdr one;

	for (unsigned i = 0; image_segment(image, i, &one); i++)
		if (one.p_type == PT_LOAD && offset >= one.p_offset &&
		    offset - one.p_offset < one.p_filesz) {
			*addr = one.p_vaddr + (offset - one.p_offset);
			return true;
		}
	return false;
}

/* ---- notes and links ---------------------------------------------------------------------- */

static uint64_t padded(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* The description of GNU's build-id note among these notes. */
static struct slice build_id_in(struct slice notes)
{
	Elf64_Nhdr head;

	while (notes.n >= sizeof(head)) {
		uint64_t name, desc;

		memcpy(&head, notes.p, sizeof(head));
		name = sizeof(head) + padded(head.n_namesz);
		desc = padded(head.n_descsz);
		if (name > notes.n || head.n_descsz > notes.n - name)
			break;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(notes.p + sizeof(head), "GNU", 4) == 0)
			return (struct slice){ notes.p + name, head.n_descsz };
		if (desc > notes.n - name)
			break;
		notes.p += name + desc;
		notes.n -= (size_t)(name + desc);
	}
	return (struct slice){ notes.p, 0 };
}

struct slice image_build_id(const struct image *image)
{
	struct slice found = { image->file.p, 0 };
	Elf64_Phdr one;

	for (unsigned i = 0; !found.n && image_segment(image, i, &one); i++)
		if (one.p_type == PT_NOTE)
			found = build_id_in(part(image->file, one.p_offset, one.p_filesz));
	return found;
}

bool image_debug_link(const struct image *image, struct slice *name, uint32_t *crc)
{
	struct image_section link;
	uint64_t at;

	if (!image_find(image, ".gnu_debuglink", &link) || !image_text(link.bytes, 0, name) ||
	    !name->n)
		return false;
	at = padded(name->n + 1);
	if (at + 4 > link.bytes.n)
		return false;
	memcpy(crc, link.bytes.p + at, 4);
	return true;
}
