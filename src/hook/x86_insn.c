/* SPDX-License-Identifier: Apache-2.0 */
/* x86_insn.c - reads prefixes, opcode, ModRM, SIB, displacement and immediate, in that order.
 *
 * What follows an opcode stands in two tables, one character for an opcode, sixteen to a row:
 *
 *	.  nothing          m  ModRM             x  not an instruction in 64-bit mode
 *	1  imm8             8  ModRM, imm8       w  imm16
 *	4  imm16 or imm32   9  ModRM, imm16/32   q  imm16, imm32 or imm64 (mov to a register)
 *	b  rel8             j  rel32             o  an address of 8 bytes (mov to or from al, eax)
 *	e  imm16, imm8 (enter)                   p  a prefix, or the way to another table
 *	t  ModRM, and imm8 or imm16/32 for two of its eight instructions (test) */
#include "hook/x86_insn.h"

enum { INSN_MAX = 15 };

static const char one_byte[] = "mmmm14xxmmmm14xp"  /* 00 */
			       "mmmm14xxmmmm14xx"  /* 10 */
			       "mmmm14pxmmmm14px"  /* 20 */
			       "mmmm14pxmmmm14px"  /* 30 */
			       "pppppppppppppppp"  /* 40: REX */
			       "................"  /* 50 */
			       "xxpmpppp4918...."  /* 60 */
			       "bbbbbbbbbbbbbbbb"  /* 70 */
			       "89x8mmmmmmmmmmmm"  /* 80 */
			       "..........x....."  /* 90 */
			       "oooo....14......"  /* a0 */
			       "11111111qqqqqqqq"  /* b0 */
			       "88w.pp89e.w..1x."  /* c0 */
			       "mmmmxxx.mmmmmmmm"  /* d0 */
			       "bbbb1111jjxb...."  /* e0 */
			       "p.pp..tt......mm"; /* f0 */

static const char two_bytes[] = "mmmmx.....x.xm.8"  /* 00 */
				"mmmmmmmmmmmmmmmm"  /* 10 */
				"mmmmxxxxmmmmmmmm"  /* 20 */
				"......x.pxpxxxxx"  /* 30 */
				"mmmmmmmmmmmmmmmm"  /* 40 */
				"mmmmmmmmmmmmmmmm"  /* 50 */
				"mmmmmmmmmmmmmmmm"  /* 60 */
				"8888mmm.mmxxmmmm"  /* 70 */
				"jjjjjjjjjjjjjjjj"  /* 80 */
				"mmmmmmmmmmmmmmmm"  /* 90 */
				"...m8mxx...m8mmm"  /* a0 */
				"mmmmmmmmmm8mmmmm"  /* b0 */
				"mm8m888m........"  /* c0 */
				"mmmmmmmmmmmmmmmm"  /* d0 */
				"mmmmmmmmmmmmmmmm"  /* e0 */
				"mmmmmmmmmmmmmmmm"; /* f0 */

struct state {
	const uint8_t *p;
	size_t n, at;
	bool data16, rex_w, address32;
	bool vex; /* VEX or EVEX: other rules of what follows */
	bool bad;
	struct x86_insn *out;
};

static uint8_t next(struct state *s)
{
	if (s->at >= s->n || s->at >= INSN_MAX) {
		s->bad = true;
		return 0;
	}
	return s->p[s->at++];
}

static void skip(struct state *s, unsigned bytes)
{
	if (bytes > s->n - s->at || s->at + bytes > INSN_MAX)
		s->bad = true;
	else
		s->at += bytes;
}

/* ---- opcodes ------------------------------------------------------------------------------ */

static bool is_prefix(struct state *s, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		s->data16 = true;
		return true;
	case 0x67:
		s->address32 = true;
		return true;
	case 0x26: /* segments, lock, repeat */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* Behind C5 come one, behind C4 two and behind 62 three bytes, which name the opcode's map. */
static void read_vex(struct state *s, uint8_t byte)
{
	uint8_t payload = next(s);

	s->vex = true;
	s->out->map = 1;
	if (byte == 0xc4) {
		s->out->map = payload & 0x1f;
		(void)next(s);
	} else if (byte == 0x62) {
		s->out->map = payload & 0x07;
		skip(s, 2);
	}
	if (s->out->map < 1 || s->out->map > 6 || s->out->map == 4 ||
	    (byte == 0xc4 && s->out->map > 3))
		s->bad = true;
}

static void read_opcode(struct state *s)
{
	uint8_t byte = next(s);

	while (is_prefix(s, byte) && !s->bad)
		byte = next(s);
	if ((byte & 0xf0) == 0x40) { /* REX counts only right before the opcode */
		s->rex_w = byte & 8;
		byte = next(s);
		if (is_prefix(s, byte) || (byte & 0xf0) == 0x40)
			s->bad = true; /* allowed, but no compiler writes it */
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vex(s, byte);
		byte = next(s);
	} else if (byte == 0x0f) {
		s->out->map = 1;
		byte = next(s);
		if (byte == 0x38 || byte == 0x3a) {
			s->out->map = byte == 0x38 ? 2 : 3;
			byte = next(s);
		}
	}
	s->out->opcode = byte;
	s->out->opcode_at = (uint8_t)(s->at - 1);
}

/* What follows the opcode, as a character of the tables. */
static char form_of(const struct state *s)
{
	switch (s->out->map) {
	case 0:
		return one_byte[s->out->opcode];
	case 1: {
		char form = two_bytes[s->out->opcode];

		return s->vex && form != '8' && s->out->opcode != 0x77 ? 'm' : form;
	}
	case 3:
		return '8';
	default:
		return 'm';
	}
}

/* ---- operands ----------------------------------------------------------------------------- */

/* Reads ModRM with all that belongs to it; gives the three bits that choose among instructions. */
static unsigned read_modrm(struct state *s)
{
	uint8_t modrm = next(s), mod = modrm >> 6, rm = modrm & 7;
	uint8_t base = rm;

	if (mod == 3)
		return modrm >> 3 & 7;
	if (rm == 4)
		base = next(s) & 7; /* of the SIB byte */
	s->out->disp_at = (uint8_t)s->at;
	if (mod == 0 && base == 5) {
		s->out->disp_n = 4;
		s->out->rip = rm == 5;
	} else if (mod) {
		s->out->disp_n = mod == 1 ? 1 : 4;
	}
	skip(s, s->out->disp_n);
	return modrm >> 3 & 7;
}

static unsigned bytes_of_operand(const struct state *s)
{
	return s->data16 && !s->rex_w ? 2 : 4;
}

static void read_operands(struct state *s)
{
	char form = form_of(s);
	unsigned imm = 0, which;

	switch (form) {
	case 'm':
	case '8':
	case '9':
	case 't':
		which = read_modrm(s);
		if (form == '8')
			imm = 1;
		else if (form == '9')
			imm = bytes_of_operand(s);
		else if (form == 't' && which < 2)
			imm = s->out->opcode == 0xf6 ? 1 : bytes_of_operand(s);
		break;
	case '1':
	case 'b':
		imm = 1;
		break;
	case 'w':
		imm = 2;
		break;
	case 'e':
		imm = 3;
		break;
	case 'j':
		imm = 4; /* the prefix for 16 bits is ignored in 64-bit mode (Intel) */
		break;
	case '4':
		imm = bytes_of_operand(s);
		break;
	case 'q':
		imm = s->rex_w ? 8 : bytes_of_operand(s);
		break;
	case 'o':
		imm = s->address32 ? 4 : 8;
		break;
	case '.':
		break;
	default:
		s->bad = true;
	}
	s->out->imm_at = (uint8_t)s->at;
	s->out->imm_n = (uint8_t)imm;
	skip(s, imm);
}

/* ---- kinds -------------------------------------------------------------------------------- */

static uint8_t kind_of_group5(const struct state *s)
{
	switch (s->p[s->out->opcode_at + 1] >> 3 & 7) {
	case 2:
	case 3:
		return X86_CALL_FAR;
	case 4:
	case 5:
		return X86_JMP_FAR;
	default:
		return X86_PLAIN;
	}
}

static uint8_t kind_of_one_byte(const struct state *s)
{
	uint8_t op = s->out->opcode;

	if (op >= 0x70 && op <= 0x7f)
		return X86_JCC;
	if (op >= 0xe0 && op <= 0xe3)
		return X86_LOOP;
	switch (op) {
	case 0xe8:
		return X86_CALL;
	case 0xe9:
	case 0xeb:
		return X86_JMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return X86_RET;
	case 0xcc:
	case 0xf4:
		return X86_STOP;
	case 0xc7:
		return s->p[s->out->opcode_at + 1] == 0xf8 ? X86_XBEGIN : X86_PLAIN;
	case 0xff:
		return kind_of_group5(s);
	default:
		return X86_PLAIN;
	}
}

static uint8_t kind_of(const struct state *s)
{
	uint8_t op = s->out->opcode;

	if (s->vex || s->out->map > 1)
		return X86_PLAIN;
	if (s->out->map == 0)
		return kind_of_one_byte(s);
	if (op >= 0x80 && op <= 0x8f)
		return X86_JCC;
	return op == 0x0b ? X86_STOP : X86_PLAIN;
}

static int64_t distance_of(const struct x86_insn *i, const uint8_t *p)
{
	int32_t wide;

	if (i->imm_n == 1)
		return (int8_t)p[i->imm_at];
	memcpy(&wide, p + i->imm_at, 4);
	return wide;
}

size_t x86_insn_read(const uint8_t *p, size_t n, struct x86_insn *out)
{
	struct state s = { .p = p, .n = n, .out = out };

	*out = (struct x86_insn){ 0 };
	read_opcode(&s);
	if (!s.bad)
		read_operands(&s);
	if (s.bad)
		return 0;
	out->n = (uint8_t)s.at;
	out->kind = kind_of(&s);
	if (x86_insn_is_relative(out)) {
		if (out->imm_n != 1 && out->imm_n != 4)
			return 0;
		out->distance = distance_of(out, p);
	}
	return out->n;
}
