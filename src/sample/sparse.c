/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - the header, the tables of segments and sections, the names of sections, and then the
 * sections that are wanted. */
#include "sample/sparse.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/image.h"

enum { FILE_MAX = 1 << 30 };

static bool read_part(int fd, struct slice file, uint64_t at, uint64_t n)
{
	uint8_t *to = (uint8_t *)(uintptr_t)file.p;

	if (at > file.n || n > file.n - at)
		return false;
	while (n) {
		ssize_t got = pread(fd, to + at, (size_t)n, (off_t)at);

		if (got <= 0)
			return false;
		at += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return true;
}

static bool is_wanted(struct slice name)
{
	return slice_is(name, ".eh_frame") || slice_starts(name, slice_str(".plt")) ||
	       slice_starts(name, slice_str(".note"));
}

static bool read_tables(int fd, struct slice file)
{
	Elf64_Ehdr head;
	Elf64_Shdr names;

	if (!read_part(fd, file, 0, sizeof(head)))
		return false;
	memcpy(&head, file.p, sizeof(head));
	if (!read_part(fd, file, head.e_phoff, (uint64_t)head.e_phnum * head.e_phentsize) ||
	    !read_part(fd, file, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize) ||
	    head.e_shstrndx >= head.e_shnum || head.e_shentsize != sizeof(names))
		return false;
	memcpy(&names, file.p + head.e_shoff + head.e_shstrndx * sizeof(names), sizeof(names));
	return read_part(fd, file, names.sh_offset, names.sh_size);
}

static bool read_sections(int fd, struct slice file)
{
	struct image image;
	struct image_section s;

	if (image_open(&image, file) < 0)
		return false;
	for (unsigned i = 0; i < image.n_sections; i++)
		if (image_section(&image, i, &s) && s.bytes.n && is_wanted(s.name))
			(void)read_part(fd, file, (uint64_t)(s.bytes.p - file.p), s.bytes.n);
	return true;
}

bool sparse_read(const char *path, struct slice *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *p = MAP_FAILED;
	bool good;

	if (size > (off_t)sizeof(Elf64_Ehdr) && size < FILE_MAX)
		p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	*file = (struct slice){ p, p == MAP_FAILED ? 0 : (size_t)size };
	good = file->n && read_tables(fd, *file) && read_sections(fd, *file);
	if (fd >= 0)
		close(fd);
	if (!good)
		sparse_drop(*file);
	return good;
}

void sparse_drop(struct slice file)
{
	if (file.n)
		munmap((void *)(uintptr_t)file.p, file.n);
}
