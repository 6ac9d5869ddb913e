/* SPDX-License-Identifier: Apache-2.0 */
/* fde.c - goes over .eh_frame.
 *
 * A record is: length, then a number that is 0 for a CIE and otherwise the distance back to the CIE
 * of this FDE, then its contents.  The CIE's augmentation ("zPLR") says how pointers are written
 * and what else there is to pass over.  A record that cannot be read is counted and passed over: its
 * length leads to the next one. */
#include "elf/fde.h"

#include "elf/leb.h"

enum { /* encodings of pointers (DW_EH_PE_*) */
       PE_FORM = 0x0f,
       PE_ABSPTR = 0x00,
       PE_ULEB = 0x01,
       PE_UDATA2 = 0x02,
       PE_UDATA4 = 0x03,
       PE_UDATA8 = 0x04,
       PE_SLEB = 0x09,
       PE_SDATA2 = 0x0a,
       PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c,
       PE_BASE = 0x70,
       PE_PCREL = 0x10,
       PE_DATAREL = 0x30,
       PE_OMIT = 0xff,
};

/* Compilers' CIEs have some 30 bytes.  Each FDE has its CIE read, and run, anew: one that is as long as a
 * hostile file likes would make that endless. */
enum { CIE_MOST = 256 };

struct frames {
	struct slice bytes;
	uint64_t addr; /* of the first byte */
};

static uint64_t rd_form(struct reader *r, uint8_t encoding)
{
	switch (encoding & PE_FORM) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return rd_le(r, 8);
	case PE_ULEB:
		return rd_uleb(r);
	case PE_SLEB:
		return (uint64_t)rd_sleb(r);
	case PE_UDATA2:
		return rd_le(r, 2);
	case PE_UDATA4:
		return rd_le(r, 4);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)rd_le(r, 2);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)rd_le(r, 4);
	default:
		rd_fail(r, E_UNSUPPORTED);
		return 0;
	}
}

/* A pointer at `at`, the address of the first byte that r reads. */
static uint64_t rd_pointer(struct reader *r, uint8_t encoding, uint64_t at)
{
	uint64_t here = at + rd_at(r), value = rd_form(r, encoding);

	switch (encoding & PE_BASE) {
	case 0:
		return value;
	case PE_PCREL:
		return here + value;
	default:
		rd_fail(r, E_UNSUPPORTED);
		return 0;
	}
}

struct record {
	struct slice body; /* behind the length */
	uint64_t addr;	   /* of the body */
	size_t next;	   /* offset of the record behind it */
};

/* False: the end, or nothing more can be found. */
static bool read_record(const struct frames *f, size_t at, struct record *out)
{
	struct reader r = rd_init((struct slice){ f->bytes.p + at, f->bytes.n - at });
	uint64_t n = rd_le(&r, 4);

	if (n == 0xffffffff)
		n = rd_le(&r, 8);
	if (r.err || !n || n > rd_left(&r) || n < 4)
		return false;
	out->addr = f->addr + at + rd_at(&r);
	out->body = rd_bytes(&r, (size_t)n);
	out->next = at + rd_at(&r);
	return true;
}

/* ---- CIE ---------------------------------------------------------------------------------- */

struct cie {
	struct fde as_fde; /* what all its FDEs have in common */
	uint8_t encoding;
	bool augmented; /* FDEs have augmentation data, too */
};

static void read_augmentation(struct reader *r, struct slice letters, struct cie *out)
{
	for (size_t i = 1; i < letters.n && !r->err; i++)
		switch (letters.p[i]) {
		case 'R':
			out->encoding = rd_u8(r);
			break;
		case 'L': /* encoding of the language's own table */
			(void)rd_u8(r);
			break;
		case 'P': {
			uint8_t encoding = rd_u8(r);

			if (encoding != PE_OMIT)
				(void)rd_form(r, encoding);
			break;
		}
		case 'S':
			out->as_fde.is_signal = true;
			break;
		case 'B': /* aarch64: return addresses are signed with the other key */
		case 'G': /* aarch64: the stack is tagged */
			break;
		default: /* its data cannot be told from what follows */
			rd_fail(r, E_UNSUPPORTED);
		}
}

static int read_cie(const struct frames *f, size_t at, struct cie *out)
{
	struct slice letters = { NULL, 0 }, data;
	struct record record;
	struct reader r, more;
	unsigned version;

	if (at >= f->bytes.n || !read_record(f, at, &record))
		return E_TRUNCATED;
	if (record.body.n > CIE_MOST)
		return E_LIMIT;
	*out = (struct cie){ .encoding = PE_ABSPTR };
	r = rd_init(record.body);
	if (rd_le(&r, 4) != 0)
		return E_UNSUPPORTED;
	version = rd_u8(&r);
	if ((version != 1 && version != 3) || !image_text(record.body, rd_at(&r), &letters))
		return E_UNSUPPORTED;
	(void)rd_bytes(&r, letters.n + 1);
	out->as_fde.code_align = rd_uleb(&r);
	out->as_fde.data_align = rd_sleb(&r);
	out->as_fde.return_column = version == 1 ? rd_u8(&r) : rd_uleb(&r);
	if (letters.n && letters.p[0] != 'z')
		return E_UNSUPPORTED;
	if (letters.n) {
		uint64_t n = rd_uleb(&r);

		out->augmented = true;
		data = rd_bytes(&r, n > rd_left(&r) ? rd_left(&r) + 1 : (size_t)n);
		more = rd_init(data);
		read_augmentation(&more, letters, out);
		if (more.err)
			return more.err;
	}
	out->as_fde.initial = rd_bytes(&r, rd_left(&r));
	return r.err;
}

/* ---- FDE ---------------------------------------------------------------------------------- */

static int read_fde(const struct frames *f, const struct record *record, uint32_t back,
		    struct fde *out)
{
	uint64_t here = record->addr - f->addr;
	struct reader r;
	struct cie cie;
	int rc;

	if (back > here)
		return E_TRUNCATED;
	rc = read_cie(f, (size_t)(here - back), &cie);
	if (rc < 0)
		return rc;
	*out = cie.as_fde;
	r = rd_init(record->body);
	(void)rd_le(&r, 4);
	out->start = rd_pointer(&r, cie.encoding, record->addr);
	out->end = out->start + rd_form(&r, cie.encoding);
	if (cie.augmented) {
		uint64_t n = rd_uleb(&r);

		(void)rd_bytes(&r, n > rd_left(&r) ? rd_left(&r) + 1 : (size_t)n);
	}
	out->program = rd_bytes(&r, rd_left(&r));
	if (!r.err && out->end <= out->start)
		return E_UNSUPPORTED;
	return r.err;
}

/* Without sections: the table that the unwinder of the C library uses leads there. */
static bool find_by_segment(const struct image *image, struct frames *out)
{
	Elf64_Phdr one;

	for (unsigned i = 0; image_segment(image, i, &one); i++) {
		struct reader r;
		uint8_t encoding;

		if (one.p_type != PT_GNU_EH_FRAME)
			continue;
		r = rd_init(image_at(image, one.p_vaddr));
		if (rd_u8(&r) != 1) /* version */
			return false;
		encoding = rd_u8(&r);
		(void)rd_bytes(&r, 2); /* how the rest is written */
		if ((encoding & PE_BASE) == PE_DATAREL)
			out->addr = one.p_vaddr + rd_form(&r, encoding);
		else
			out->addr = rd_pointer(&r, encoding, one.p_vaddr);
		out->bytes = image_at(image, out->addr);
		return !r.err && out->bytes.n;
	}
	return false;
}

static bool find_frames(const struct image *image, struct frames *out)
{
	struct image_section section;

	if (image_find(image, ".eh_frame", &section) && section.bytes.n) {
		*out = (struct frames){ section.bytes, section.addr };
		return true;
	}
	return find_by_segment(image, out);
}

size_t fde_each(const struct image *image, fde_visit *visit, void *ctx)
{
	struct record record;
	struct frames f;
	size_t bad = 0;

	if (!find_frames(image, &f))
		return 0;
	for (size_t at = 0; at < f.bytes.n && read_record(&f, at, &record); at = record.next) {
		struct reader r = rd_init(record.body);
		uint32_t back = (uint32_t)rd_le(&r, 4);
		struct fde fde;

		if (!back)
			continue; /* a CIE */
		if (read_fde(&f, &record, back, &fde) < 0)
			bad++;
		else if (!visit(&fde, ctx))
			break;
	}
	return bad;
}
