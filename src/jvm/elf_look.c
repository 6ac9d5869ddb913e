/* SPDX-License-Identifier: Apache-2.0 */
/* elf_look.c - reads ELF heads and names of sections, with bounds. */
#include "jvm/elf_look.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SECTIONS = 512, MAX_NAMES = 1 << 16 };

static int open_exe(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool elf_look(int fd, struct elf_look *out)
{
	unsigned char head[20];

	if (pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	out->bits = head[EI_CLASS];
	out->order = head[EI_DATA];
	out->machine = (uint16_t)(out->order == ELFDATA2MSB ? head[18] << 8 | head[19]
							    : head[19] << 8 | head[18]);
	return true;
}

bool elf_look_exe(pid_t pid, struct elf_look *out)
{
	int fd = open_exe(pid);
	bool good = fd >= 0 && elf_look(fd, out);

	if (fd >= 0)
		close(fd);
	return good;
}

bool elf_is_whole(struct slice file)
{
	Elf64_Phdr part;
	Elf64_Ehdr head;
	bool loads = false;

	if (file.n < sizeof(head))
		return false;
	memcpy(&head, file.p, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_type != ET_DYN ||
	    head.e_phentsize != sizeof(part) || head.e_phoff > file.n ||
	    head.e_phnum > (file.n - head.e_phoff) / sizeof(part))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		memcpy(&part, file.p + head.e_phoff + i * sizeof(part), sizeof(part));
		if (part.p_type != PT_LOAD)
			continue;
		if (part.p_offset > file.n || part.p_filesz > file.n - part.p_offset)
			return false;
		loads = true;
	}
	return loads && head.e_shoff <= file.n &&
	       head.e_shnum * sizeof(Elf64_Shdr) <= file.n - head.e_shoff;
}

const char *elf_machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "32-bit x86";
	case EM_ARM:
		return "32-bit ARM";
	case EM_PPC64:
		return "ppc64";
	case EM_S390:
		return "s390x";
	case EM_RISCV:
		return "riscv";
	default:
		return "another architecture";
	}
}

static bool has_section(int fd, const char *name)
{
	Elf64_Shdr sections[MAX_SECTIONS];
	static char names[MAX_NAMES];
	Elf64_Ehdr head;
	ssize_t n, got;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(sections[0]) || head.e_shnum > MAX_SECTIONS ||
	    head.e_shstrndx >= head.e_shnum)
		return false;
	n = (ssize_t)(head.e_shnum * sizeof(sections[0]));
	if (pread(fd, sections, (size_t)n, (off_t)head.e_shoff) != n)
		return false;
	got = pread(fd, names, sizeof(names) - 1, (off_t)sections[head.e_shstrndx].sh_offset);
	if (got <= 0)
		return false;
	names[got] = '\0';
	for (unsigned i = 0; i < head.e_shnum; i++)
		if (sections[i].sh_name < (size_t)got &&
		    strcmp(names + sections[i].sh_name, name) == 0)
			return true;
	return false;
}

bool elf_has_section(pid_t pid, const char *name)
{
	int fd = open_exe(pid);
	bool found = fd >= 0 && has_section(fd, name);

	if (fd >= 0)
		close(fd);
	return found;
}
