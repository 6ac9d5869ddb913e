/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c - aarch64: one branch over one instruction.  There is no inner boundary a thread could
 * stand at.  The page's copy is mapped without PROT_BTI, so a branch may land on the patch where paciasp
 * was, which would have been a place to land on. */
#include "native/patch.h"

static uint32_t insn_at(struct slice function, size_t at)
{
	uint32_t op = 0;

	if (function.n >= at + sizeof(op))
		memcpy(&op, function.p + at, sizeof(op));
	return op;
}

/* bti, bti c, bti j, bti jc */
size_t patch_skip(struct slice function)
{
	return (insn_at(function, 0) & 0xffffff3f) == 0xd503241f ? PATCH_N : 0;
}

const char *patch_move(struct slice function, struct move *m)
{
	uint32_t op = insn_at(m->from, 0);

	(void)function;
	if ((op & 0xfc000000) == 0x94000000 || (op & 0xfffffc1f) == 0xd63f0000)
		return "it calls another function in its first instructions";
	return a64_move(m) ? NULL : m->why;
}

void patch_jump(uint8_t out[PATCH_N], uintptr_t at, uintptr_t to)
{
	uint32_t op = 0x14000000 | ((uint32_t)((to - at) >> 2) & 0x03ffffff);

	memcpy(out, &op, sizeof(op));
}

const char *patch_land(const struct move *m, uintptr_t at, uintptr_t code, uint8_t out[PATCH_N],
		       unsigned *traps)
{
	(void)m;
	*traps = 0;
	patch_jump(out, at, code);
	return NULL;
}

void patch_site_code(uint8_t out[SITE_CODE_N], uint32_t number, uintptr_t enter)
{
	const uint32_t code[] = {
		0x52800011 | (number & 0xffff) << 5,	   /* movz w17, #low */
		0x72a00011 | (number >> 16 & 0xffff) << 5, /* movk w17, #high, lsl #16 */
		0x58000050,				   /* ldr x16, .+8 */
		0xd61f0200,				   /* br x16 */
	};

	memcpy(out, code, sizeof(code));
	memcpy(out + sizeof(code), &enter, sizeof(enter));
}
