/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.c - runs unwinding programs (DWARF call frame instructions) and keeps what walkers need.
 *
 * Of all registers only three matter to find the caller: the CFA's, the frame pointer's and that
 * of the return address.  A program states them for the start of a function and changes them as it
 * advances through the code; each advance ends a row.  What rows cannot express (another register,
 * an expression) becomes UNWIND_UNKNOWN, so that a walker stops there instead of guessing.  Behind a
 * function whose neighbour does not follow at once stands an UNKNOWN row.
 *
 * Where records are about the same code again and again, those are left out for which there are more rows
 * than twice the bytes of code: a small file must not fill the memory. */
#include "elf/unwind.h"

#include <stdlib.h>

#include "base/mem.h"
#include "elf/fde.h"
#include "elf/leb.h"

enum { /* DW_CFA_*: the upper two bits, or all of them */
       CFA_ADVANCE_LOC = 0x40,
       CFA_OFFSET = 0x80,
       CFA_RESTORE = 0xc0,
       CFA_NOP = 0x00,
       CFA_SET_LOC = 0x01,
       CFA_ADVANCE_LOC1 = 0x02,
       CFA_ADVANCE_LOC2 = 0x03,
       CFA_ADVANCE_LOC4 = 0x04,
       CFA_OFFSET_EXTENDED = 0x05,
       CFA_RESTORE_EXTENDED = 0x06,
       CFA_UNDEFINED = 0x07,
       CFA_SAME_VALUE = 0x08,
       CFA_REGISTER = 0x09,
       CFA_REMEMBER_STATE = 0x0a,
       CFA_RESTORE_STATE = 0x0b,
       CFA_DEF_CFA = 0x0c,
       CFA_DEF_CFA_REGISTER = 0x0d,
       CFA_DEF_CFA_OFFSET = 0x0e,
       CFA_DEF_CFA_EXPRESSION = 0x0f,
       CFA_EXPRESSION = 0x10,
       CFA_OFFSET_EXTENDED_SF = 0x11,
       CFA_DEF_CFA_SF = 0x12,
       CFA_DEF_CFA_OFFSET_SF = 0x13,
       CFA_VAL_OFFSET = 0x14,
       CFA_VAL_OFFSET_SF = 0x15,
       CFA_VAL_EXPRESSION = 0x16,
       CFA_AARCH64_NEGATE_RA_STATE = 0x2d,
       CFA_GNU_ARGS_SIZE = 0x2e,
};

enum { REMEMBERED = 16, ROWS_MAX = 1 << 24 };

enum where {
	WHERE_SAME,
	WHERE_SAVED, /* at CFA + offset */
	WHERE_UNDEFINED,
	WHERE_UNKNOWN,
};

struct place {
	enum where where;
	int64_t offset;
};

struct state {
	enum { BY_REGISTER, BY_PLT, BY_EXPRESSION } cfa_by;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct place fp, ra;
	bool is_signed;
};

struct machine {
	const struct fde *fde;
	struct unwind *u;
	size_t most;		       /* rows */
	uint64_t sp_number, fp_number; /* DWARF's numbers of these registers */
	uint64_t pc;
	struct state now, initial, remembered[REMEMBERED];
	unsigned n_remembered;
	struct place other; /* of the registers that do not matter */
	int err;
};

/* ---- rows --------------------------------------------------------------------------------- */

static int add_row(struct unwind *u, size_t most, const struct unwind_row *row)
{
	if (u->n >= most)
		return E_LIMIT;
	if ((u->n & (u->n - 1)) == 0 && (u->n == 0 || u->n >= 64)) { /* full: it doubles */
		size_t cap = u->n ? 2 * u->n : 64;
		void *rows = mem_realloc(u->rows, cap * sizeof(u->rows[0]));

		if (!rows)
			return E_NO_MEMORY;
		u->rows = rows;
	}
	u->rows[u->n++] = *row;
	return 0;
}

/* Frames may be large, so offsets are kept in units; all compilers align what they save. */
static bool fits(int64_t n)
{
	return n % UNWIND_UNIT == 0 && n / UNWIND_UNIT > INT16_MIN && n / UNWIND_UNIT <= INT16_MAX;
}

static struct unwind_row row_of(const struct machine *m)
{
	struct unwind_row row = { .at = (uint32_t)(m->pc - m->u->base),
				  .cfa_by = UNWIND_UNKNOWN,
				  .is_signal = m->fde->is_signal,
				  .is_signed = m->now.is_signed,
				  .fp = UNWIND_SAME,
				  .ra = UNWIND_SAME };
	const struct state *s = &m->now;

	if (s->ra.where == WHERE_UNDEFINED) {
		row.cfa_by = UNWIND_END;
		return row;
	}
	if (s->cfa_by == BY_EXPRESSION || s->ra.where == WHERE_UNKNOWN ||
	    s->cfa_offset < INT32_MIN || s->cfa_offset > INT32_MAX)
		return row;
	if (s->ra.where == WHERE_SAVED && !fits(s->ra.offset))
		return row;
	if (s->fp.where == WHERE_UNKNOWN || (s->fp.where == WHERE_SAVED && !fits(s->fp.offset)))
		return row;
	if (s->cfa_by == BY_PLT)
		row.cfa_by = UNWIND_PLT;
	else if (s->cfa_register == m->sp_number)
		row.cfa_by = UNWIND_SP;
	else if (s->cfa_register == m->fp_number)
		row.cfa_by = UNWIND_FP;
	row.cfa = (int32_t)s->cfa_offset;
	if (s->fp.where == WHERE_SAVED)
		row.fp = (int16_t)(s->fp.offset / UNWIND_UNIT);
	if (s->ra.where == WHERE_SAVED)
		row.ra = (int16_t)(s->ra.offset / UNWIND_UNIT);
	return row;
}

/* Ends the row at m->pc, and begins the next one `code` units further on. */
static void advance(struct machine *m, uint64_t code)
{
	uint64_t left = m->fde->end - m->pc;
	struct unwind_row row;

	if (!code)
		return;
	if (m->fde->code_align && code > left / m->fde->code_align) {
		m->err = E_UNSUPPORTED; /* beyond the function */
		return;
	}
	row = row_of(m);
	m->err = add_row(m->u, m->most, &row);
	m->pc += code * m->fde->code_align;
}

/* ---- the program -------------------------------------------------------------------------- */

static struct place *place_of(struct machine *m, uint64_t number)
{
	if (number == m->fp_number)
		return &m->now.fp;
	return number == m->fde->return_column ? &m->now.ra : &m->other;
}

static void saved(struct machine *m, uint64_t number, int64_t factored)
{
	*place_of(m, number) =
		(struct place){ WHERE_SAVED,
				(int64_t)((uint64_t)factored * (uint64_t)m->fde->data_align) };
}

static void restored(struct machine *m, uint64_t number)
{
	if (number == m->fp_number)
		m->now.fp = m->initial.fp;
	if (number == m->fde->return_column)
		m->now.ra = m->initial.ra;
}

static void somewhere(struct machine *m, uint64_t number, enum where where)
{
	*place_of(m, number) = (struct place){ where, 0 };
}

static void pass_block(struct reader *r)
{
	uint64_t n = rd_uleb(r);

	(void)rd_bytes(r, n > rd_left(r) ? rd_left(r) + 1 : (size_t)n);
}

/* What linkers write for a .plt on x86-64: rsp + 8 + ((rip & 15) >= 11) * 8. */
static void cfa_by_expression(struct machine *m, struct reader *r)
{
	static const uint8_t plt[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
				       0x3b, 0x2a, 0x33, 0x24, 0x22 };
	const uint8_t *at;
	uint64_t n = rd_uleb(r);

	at = rd_take(r, n > rd_left(r) ? rd_left(r) + 1 : (size_t)n);
	m->now.cfa_by = at && n == sizeof(plt) && memcmp(at, plt, sizeof(plt)) == 0 ? BY_PLT
										    : BY_EXPRESSION;
	m->now.cfa_offset = 0;
}

static void define_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	m->now.cfa_by = BY_REGISTER;
	m->now.cfa_register = number;
	m->now.cfa_offset = offset;
}

/* Instructions about the CFA; false: it is another one. */
static bool run_cfa(struct machine *m, struct reader *r, uint8_t op)
{
	const int64_t factor = m->fde->data_align;
	uint64_t number;

	switch (op) {
	case CFA_DEF_CFA:
		number = rd_uleb(r);
		define_cfa(m, number, (int64_t)rd_uleb(r));
		return true;
	case CFA_DEF_CFA_SF:
		number = rd_uleb(r);
		define_cfa(m, number, (int64_t)((uint64_t)rd_sleb(r) * (uint64_t)factor));
		return true;
	case CFA_DEF_CFA_REGISTER:
		define_cfa(m, rd_uleb(r), m->now.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		m->now.cfa_offset = (int64_t)rd_uleb(r);
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		m->now.cfa_offset = (int64_t)((uint64_t)rd_sleb(r) * (uint64_t)factor);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		cfa_by_expression(m, r);
		return true;
	default:
		return false;
	}
}

/* Instructions about one register; false: it is another one. */
static bool run_register(struct machine *m, struct reader *r, uint8_t op)
{
	uint64_t number;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		number = rd_uleb(r);
		saved(m, number, (int64_t)rd_uleb(r));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		number = rd_uleb(r);
		saved(m, number, rd_sleb(r));
		return true;
	case CFA_RESTORE_EXTENDED:
		restored(m, rd_uleb(r));
		return true;
	case CFA_UNDEFINED:
		somewhere(m, rd_uleb(r), WHERE_UNDEFINED);
		return true;
	case CFA_SAME_VALUE:
		somewhere(m, rd_uleb(r), WHERE_SAME);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
		somewhere(m, rd_uleb(r), WHERE_UNKNOWN);
		(void)rd_uleb(r);
		return true;
	case CFA_VAL_OFFSET_SF:
		somewhere(m, rd_uleb(r), WHERE_UNKNOWN);
		(void)rd_sleb(r);
		return true;
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		somewhere(m, rd_uleb(r), WHERE_UNKNOWN);
		pass_block(r);
		return true;
	default:
		return false;
	}
}

static void run_other(struct machine *m, struct reader *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_ADVANCE_LOC1:
		advance(m, rd_le(r, 1));
		break;
	case CFA_ADVANCE_LOC2:
		advance(m, rd_le(r, 2));
		break;
	case CFA_ADVANCE_LOC4:
		advance(m, rd_le(r, 4));
		break;
	case CFA_REMEMBER_STATE:
		if (m->n_remembered == REMEMBERED)
			m->err = E_LIMIT;
		else
			m->remembered[m->n_remembered++] = m->now;
		break;
	case CFA_RESTORE_STATE:
		if (m->n_remembered)
			m->now = m->remembered[--m->n_remembered];
		else
			m->err = E_UNSUPPORTED;
		break;
	case CFA_AARCH64_NEGATE_RA_STATE: /* elsewhere a window of registers, which is gone */
		m->now.is_signed = !m->now.is_signed;
		break;
	case CFA_GNU_ARGS_SIZE:
		(void)rd_uleb(r);
		break;
	default: /* CFA_SET_LOC, which nobody writes, and what is not known */
		m->err = E_UNSUPPORTED;
	}
}

static void run(struct machine *m, struct slice program)
{
	struct reader r = rd_init(program);

	while (rd_left(&r) && !m->err) {
		uint8_t op = rd_u8(&r), low = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC:
			advance(m, low);
			break;
		case CFA_OFFSET:
			saved(m, low, (int64_t)rd_uleb(&r));
			break;
		case CFA_RESTORE:
			restored(m, low);
			break;
		default:
			if (!run_cfa(m, &r, op) && !run_register(m, &r, op))
				run_other(m, &r, op);
		}
	}
	if (r.err && !m->err)
		m->err = r.err;
}

/* ---- the table ---------------------------------------------------------------------------- */

struct build {
	struct unwind *u;
	const struct image *image;
	size_t most; /* rows */
	bool no_memory;
};

/* The rows of one function.  When its record turns out to be malformed, they are taken back. */
static bool add_function(const struct fde *fde, void *ctx)
{
	struct build *b = ctx;
	struct unwind *u = b->u;
	bool x86 = b->image->machine == EM_X86_64;
	struct machine m = { .fde = fde,
			     .u = u,
			     .most = b->most,
			     .sp_number = x86 ? 7 : 31,
			     .fp_number = x86 ? 6 : 29,
			     .pc = fde->start };
	struct unwind_row row;
	size_t before = u->n;

	if (fde->start < u->base || fde->end - u->base > UINT32_MAX) {
		u->bad++;
		return true;
	}
	run(&m, fde->initial);
	m.initial = m.now;
	m.pc = fde->start;
	if (!m.err && u->n == before)
		run(&m, fde->program);
	else if (!m.err)
		m.err = E_UNSUPPORTED; /* a CIE that advances */
	row = row_of(&m);
	if (!m.err && m.pc < fde->end)
		m.err = add_row(u, m.most, &row);
	row = (struct unwind_row){ .at = (uint32_t)(fde->end - u->base),
				   .cfa_by = UNWIND_UNKNOWN,
				   .fp = UNWIND_SAME,
				   .ra = UNWIND_SAME };
	if (!m.err)
		m.err = add_row(u, m.most, &row);
	if (m.err == E_NO_MEMORY)
		b->no_memory = true;
	if (m.err) {
		u->n = before;
		u->bad++;
	} else {
		u->functions++;
	}
	return !b->no_memory;
}

/* By address; of two at one address the one that knows something comes last, and is kept. */
static int by_address(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;
	bool x_knows = x->cfa_by != UNWIND_UNKNOWN, y_knows = y->cfa_by != UNWIND_UNKNOWN;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x_knows - y_knows;
}

static bool is_same(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->cfa_by == b->cfa_by && a->is_signal == b->is_signal && a->fp == b->fp &&
	       a->cfa == b->cfa && a->ra == b->ra && a->is_signed == b->is_signed;
}

static void drop_duplicates(struct unwind *u)
{
	size_t kept = 0;

	for (size_t i = 0; i < u->n; i++) {
		if (i + 1 < u->n && u->rows[i + 1].at == u->rows[i].at)
			continue;
		if (kept && is_same(&u->rows[kept - 1], &u->rows[i]))
			continue;
		u->rows[kept++] = u->rows[i];
	}
	u->n = kept;
}

/* The lowest address that is mapped. */
static uint64_t base_of(const struct image *image)
{
	uint64_t base = UINT64_MAX;
	Elf64_Phdr one;

	for (unsigned i = 0; image_segment(image, i, &one); i++)
		if (one.p_type == PT_LOAD && one.p_vaddr < base)
			base = one.p_vaddr;
	return base == UINT64_MAX ? 0 : base;
}

/* How many rows there can be: each instruction may begin one, and each function end with one. */
static size_t most_rows(const struct image *image)
{
	uint64_t code = 0;
	Elf64_Phdr one;

	for (unsigned i = 0; image_segment(image, i, &one); i++)
		if (one.p_type == PT_LOAD && one.p_flags & PF_X && one.p_filesz <= image->file.n)
			code += one.p_filesz;
	return code < ROWS_MAX / 2 ? (size_t)code * 2 : ROWS_MAX;
}

int unwind_build(struct unwind *u, const struct image *image)
{
	struct build build = { .u = u, .image = image, .most = most_rows(image) };
	void *rows;

	*u = (struct unwind){ .base = base_of(image) };
	u->bad += fde_each(image, add_function, &build);
	if (build.no_memory) {
		unwind_release(u);
		return E_NO_MEMORY;
	}
	if (!u->n)
		return 0;
	qsort(u->rows, u->n, sizeof(u->rows[0]), by_address);
	drop_duplicates(u);
	rows = mem_realloc(u->rows, u->n * sizeof(u->rows[0]));
	if (rows)
		u->rows = rows;
	return 0;
}

void unwind_release(struct unwind *u)
{
	mem_free(u->rows);
	*u = (struct unwind){ 0 };
}
