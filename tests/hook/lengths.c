/* SPDX-License-Identifier: Apache-2.0 */
/* lengths.c - compares x86_insn_read with another disassembler.
 *
 *     lengths FILE <LINES: reads "address length text" and tells where lengths, RIP-relative operands
 *     or targets of branches differ; "(bad)" in the text means that the other one does not know it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf/image.h"
#include "hook/x86_insn.h"

static unsigned long long lines, wrong, unknown;

static void differs(uint64_t addr, const char *text, const char *why)
{
	if (wrong++ < 20)
		printf("%llx: %s: %s", (unsigned long long)addr, why, text);
}

/* The target that the other one has found: the first number behind the mnemonic. */
static bool has_target(const char *text, uint64_t target)
{
	char hex[20];

	snprintf(hex, sizeof(hex), "%llx", (unsigned long long)target);
	return strstr(text, hex) != NULL;
}

static void compare(const struct image *image, uint64_t addr, size_t n, const char *text)
{
	struct slice code = image_at(image, addr);
	struct x86_insn insn;
	size_t got;

	if (strstr(text, "(bad)") || !code.n)
		return;
	lines++;
	got = x86_insn_read(code.p, code.n, &insn);
	if (!got)
		unknown++;
	if (got != n)
		differs(addr, text, got ? "another length" : "unknown");
	else if (insn.rip != (strstr(text, "(%rip)") || strstr(text, "(%eip)")))
		differs(addr, text, "RIP-relative or not");
	else if (x86_insn_is_relative(&insn) &&
		 !has_target(text, addr + n + (uint64_t)insn.distance))
		differs(addr, text, "another target");
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct image image;
	struct stat st;
	char line[400];
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 2;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || image_open(&image, (struct slice){ p, (size_t)st.st_size }) < 0)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		char *end, *text;
		uint64_t addr = strtoull(line, &end, 16);
		size_t n = strtoull(end, &text, 10);

		if (end != line && text != end && n)
			compare(&image, addr, n, text);
	}
	printf("%llu instructions, %llu differ, %llu of them unknown\n", lines, wrong, unknown);
	return wrong || !lines;
}
