/* SPDX-License-Identifier: Apache-2.0 */
/* The program that runs these tests is the file that they read: what its table says of its own
 * frames is compared with the C library's unwinder. */
#include "test.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "base/buf.h"
#include "base/mem.h"
#include "elf/functions.h"
#include "elf/unwind.h"

extern const char __ehdr_start; /* the linker's: the first byte of this file in memory */

struct self {
	struct slice file;
	struct image image;
	uint64_t shift; /* from addresses of the file to those in memory */
};

static bool open_self(struct self *out)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t first;
	struct stat st;
	void *p;

	if (!CHECK(fd >= 0) || !CHECK(fstat(fd, &st) == 0))
		return false;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (!CHECK(p != MAP_FAILED))
		return false;
	out->file = (struct slice){ p, (size_t)st.st_size };
	if (!CHECK_INT(image_open(&out->image, out->file), 0, NULL) ||
	    !CHECK(image_address(&out->image, 0, &first)))
		return false;
	out->shift = (uint64_t)(uintptr_t)&__ehdr_start - first;
	return true;
}

static void close_self(struct self *self)
{
	munmap((void *)(uintptr_t)self->file.p, self->file.n);
}

enum { FRAMES = 16 };

struct seen {
	size_t n;
	uint64_t ip[FRAMES], sp[FRAMES], fp[FRAMES];
	int fp_number;
	const struct self *self;
	const struct unwind *u;
};

static _Unwind_Reason_Code see(struct _Unwind_Context *c, void *ctx)
{
	struct seen *s = ctx;

	if (s->n == FRAMES)
		return _URC_END_OF_STACK;
	s->ip[s->n] = _Unwind_GetIP(c);
	s->sp[s->n] = _Unwind_GetCFA(c); /* of the frame below: this one's stack pointer */
	s->fp[s->n] = _Unwind_GetGR(c, s->fp_number);
	s->n++;
	return _URC_NO_REASON;
}

/* Does the table lead from this frame to the next one? */
static void check_frame(const struct seen *s, size_t i)
{
	uint64_t cfa, ra, at = s->ip[i] - 1 - s->self->shift - s->u->base;
	const struct unwind_row *row = unwind_find(s->u, at);

	if (!CHECK(row) || !CHECK(row->cfa_by == UNWIND_SP || row->cfa_by == UNWIND_FP))
		return;
	cfa = (row->cfa_by == UNWIND_SP ? s->sp[i] : s->fp[i]) + (uint64_t)(int64_t)row->cfa;
	CHECK_INT(cfa, s->sp[i + 1], "the CFA is the caller's stack pointer");
	if (!CHECK(row->ra != UNWIND_SAME))
		return;
	memcpy(&ra, (void *)(uintptr_t)(cfa + (uint64_t)(row->ra * UNWIND_UNIT)), 8);
	if (row->is_signed)
		ra &= (1ull << 48) - 1; /* the code stands above the address */
	CHECK_INT(ra, s->ip[i + 1], "the return address lies there");
}

/* A frame of fixed size, one that grows as it goes, and one that calls itself. */
static __attribute__((noinline)) int leaf(struct seen *s)
{
	_Unwind_Backtrace(see, s);
	for (size_t i = 0; i < 4; i++) /* leaf, growing, again */
		check_frame(s, i);
	return (int)s->n;
}

static __attribute__((noinline)) int growing(struct seen *s, size_t n)
{
	volatile char *room = __builtin_alloca(n);

	room[0] = 1;
	return leaf(s) + room[0];
}

static __attribute__((noinline)) int again(struct seen *s, int depth)
{
	return depth ? again(s, depth - 1) + depth : growing(s, 100 + (size_t)s->n) + 1;
}

TEST(unwind_rows_find_callers_as_the_c_library_does)
{
	struct seen s = { 0 };
	struct self self;
	struct unwind u;

	if (!open_self(&self) || !CHECK_INT(unwind_build(&u, &self.image), 0, NULL))
		return;
	CHECK(u.functions > 100);
	CHECK_INT(u.bad, 0, NULL);
	s.fp_number = self.image.machine == EM_X86_64 ? 6 : 29;
	s.self = &self;
	s.u = &u;
	CHECK(again(&s, 4) > 4);
	unwind_release(&u);
	close_self(&self);
}

TEST(functions_of_a_file_are_found_by_address_and_name)
{
	const struct function *f;
	struct functions t;
	struct self self;
	uint64_t at;

	if (!open_self(&self) || !CHECK_INT(functions_build(&t, &self.image, NULL), 0, NULL))
		return;
	at = (uint64_t)(uintptr_t)&mem_free - self.shift;
	f = functions_find(&t, at + 1);
	if (CHECK(f))
		CHECK(f->addr == at && slice_is(f->name, "mem_free"));
	f = functions_named(&t, slice_str("functions_find"));
	if (CHECK(f))
		CHECK_INT(f->addr, (uint64_t)(uintptr_t)&functions_find - self.shift, NULL);
	CHECK(!functions_named(&t, slice_str("nobody_is_called_so")));
	CHECK(!functions_find(&t, 1));
	functions_release(&t);
	close_self(&self);
}

TEST(elf_tables_survive_every_failed_allocation)
{
	struct functions t;
	struct self self;
	struct unwind u;

	if (!open_self(&self))
		return;
	for (long n = 0;; n++) {
		int one, two;

		mem_fail_at(n);
		one = unwind_build(&u, &self.image);
		two = one < 0 ? one : functions_build(&t, &self.image, NULL);
		mem_fail_at(-1);
		if (one < 0 ? !CHECK_INT(one, E_NO_MEMORY, NULL) : false)
			break;
		if (one == 0)
			unwind_release(&u);
		if (two == 0) {
			functions_release(&t);
			break;
		}
		CHECK_INT(two, E_NO_MEMORY, NULL);
	}
	close_self(&self);
}

/* Damages the headers of this program's own file, a byte at a time. */
TEST(damaged_files_are_read_within_their_bounds)
{
	struct self self;
	uint8_t *copy;
	size_t n;

	if (!open_self(&self))
		return;
	n = self.file.n;
	copy = malloc(n);
	if (!CHECK(copy))
		return;
	memcpy(copy, self.file.p, n);
	for (size_t i = 0; i < 64 + 10 * sizeof(Elf64_Phdr); i += test_is_short() ? 31 : 3) {
		struct image image;
		struct slice id;
		uint32_t crc;

		for (unsigned value = 0; value < 256; value += 85) {
			struct image_section s;
			Elf64_Phdr p;

			copy[i] = (uint8_t)value;
			if (image_open(&image, (struct slice){ copy, n }) < 0)
				continue;
			for (unsigned k = 0; k < 100 && image_section(&image, k, &s); k++)
				CHECK(!s.bytes.n || (s.bytes.p >= copy && s.bytes.n <= n &&
						     s.bytes.p + s.bytes.n <= copy + n));
			for (unsigned k = 0; image_segment(&image, k, &p); k++)
				CHECK(image_at(&image, p.p_vaddr).n <= n);
			id = image_build_id(&image);
			CHECK(id.n <= n);
			(void)image_debug_link(&image, &id, &crc);
		}
		copy[i] = self.file.p[i];
	}
	free(copy);
	close_self(&self);
}

TEST(files_of_other_kinds_are_refused)
{
	static uint8_t small[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 0 };
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			    .e_machine = EM_X86_64 };
	struct slice file = { (const uint8_t *)&head, sizeof(head) };
	struct image image;

	CHECK_INT(image_open(&image, slice_str("#!/bin/sh")), E_UNSUPPORTED, "a script");
	CHECK_INT(image_open(&image, slice_str("")), E_UNSUPPORTED, "an empty file");
	CHECK_INT(image_open(&image, (struct slice){ small, sizeof(small) }), E_TRUNCATED, NULL);
	CHECK_INT(image_open(&image, file), 0, "no more than a head");
	CHECK(!image_build_id(&image).n);
	head.e_machine = EM_S390;
	CHECK_INT(image_open(&image, file), E_UNSUPPORTED, "s390x");
	head.e_machine = EM_AARCH64;
	head.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK_INT(image_open(&image, file), E_UNSUPPORTED, "32 bits");
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_phnum = 3;
	head.e_phentsize = sizeof(Elf64_Phdr);
	head.e_phoff = UINT64_MAX - 10;
	CHECK_INT(image_open(&image, file), E_TRUNCATED, "segments beyond the end");
}

/* ---- made files --------------------------------------------------------------------------- */

enum { CODE = 100, DATA = 0x10000 }; /* CODE bytes at 0; the whole file once more at DATA */

struct made_head {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[3];
	uint8_t frames[8]; /* of PT_GNU_EH_FRAME: the records follow at once */
};

static void put_record(struct buf *out, const struct buf *body)
{
	uint32_t n = (uint32_t)body->n;

	buf_bytes(out, &n, sizeof(n));
	buf_put(out, buf_slice(body));
}

/* With so many nops behind its program. */
static void put_cie(struct buf *out, size_t nops)
{
	static const uint8_t cie[] = { 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	struct buf body = { 0 };

	buf_bytes(&body, cie, sizeof(cie));
	for (size_t i = 0; i < nops; i++)
		buf_u8(&body, 0);
	put_record(out, &body);
	buf_release(&body);
}

/* About all the code, with a row for each byte. */
static void put_fde(struct buf *out)
{
	uint32_t back = (uint32_t)(out->n + 4 - sizeof(struct made_head));
	uint64_t bounds[2] = { 0, CODE };
	struct buf body = { 0 };

	buf_bytes(&body, &back, sizeof(back));
	buf_bytes(&body, bounds, sizeof(bounds));
	for (int i = 1; i < CODE; i++) {
		buf_u8(&body, 0x41); /* DW_CFA_advance_loc 1 */
		buf_u8(&body, 0x0e); /* DW_CFA_def_cfa_offset */
		buf_u8(&body, i % 2 ? 16 : 8);
	}
	put_record(out, &body);
	buf_release(&body);
}

static struct unwind made(size_t nops, int fdes)
{
	struct made_head head = {
		.elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			 .e_machine = EM_X86_64,
			 .e_type = ET_DYN,
			 .e_phoff = offsetof(struct made_head, segments),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3 },
		.segments = { { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = CODE },
			      { .p_type = PT_LOAD, .p_flags = PF_R, .p_vaddr = DATA },
			      { .p_type = PT_GNU_EH_FRAME,
				.p_vaddr = DATA + offsetof(struct made_head, frames) } },
		.frames = { 1, 0x1b, 0xff, 0xff, 4 } /* relative to where it stands: 4 bytes on */
	};
	struct buf file = { 0 };
	struct unwind u = { 0 };
	struct image image;

	buf_bytes(&file, &head, sizeof(head));
	put_cie(&file, nops);
	for (int i = 0; i < fdes; i++)
		put_fde(&file);
	head.segments[1].p_filesz = file.n;
	memcpy(file.p, &head, sizeof(head));
	CHECK_INT(image_open(&image, buf_slice(&file)), 0, "made");
	CHECK_INT(unwind_build(&u, &image), 0, "made");
	buf_release(&file);
	return u;
}

/* Each record has its CIE read, and run, anew. */
TEST(unwind_passes_over_records_whose_cie_is_longer_than_compilers_make_them)
{
	struct unwind u = made(40, 1);

	CHECK_INT(u.functions, 1, "a usual CIE");
	CHECK_INT(u.n, CODE + 1, "rows");
	unwind_release(&u);
	u = made(4000, 1);
	CHECK_INT(u.functions, 0, "a very long one");
	CHECK_INT(u.bad, 1, "a very long one");
	unwind_release(&u);
}

TEST(unwind_takes_no_more_rows_than_there_can_be_of_that_code)
{
	struct unwind u = made(0, 50);

	CHECK_INT(u.functions, 1, "fits");
	CHECK_INT(u.bad, 49, "are about the same code again");
	CHECK_INT(u.n, CODE + 1, "rows");
	unwind_release(&u);
}
