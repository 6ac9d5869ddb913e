/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_insn.c - any bytes as code: instructions lie within them, and a copy fits its room. */
#include <stdlib.h>

#include "hook/move.h"
#include "hook/x86_insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
	if (!held)
		abort();
}

static void check(const struct move *m, bool good)
{
	must(good == !m->why);
	must(m->to_n <= MOVE_OUT);
	must(!good || m->taken >= m->need);
	for (unsigned i = 0; good && i < m->n; i++)
		must(m->at[i] < m->taken && m->to_at[i] < m->to_n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice code = { data, size };
	struct x86_insn insn;
	struct move m;

	for (size_t at = 0; at < size; at++) {
		size_t n = x86_insn_read(data + at, size - at, &insn);

		must(n <= size - at && n <= 15);
		must(!n || (insn.imm_at + insn.imm_n <= n && insn.disp_at + insn.disp_n <= n));
	}
	for (size_t need = 1; need <= 16; need++) {
		m = (struct move){
			.from = code, .from_addr = 0x10000, .to_addr = 0x90000, .need = need
		};
		check(&m, x86_move(&m));
		m = (struct move){
			.from = code, .from_addr = 1ull << 40, .to_addr = 64, .need = need
		};
		check(&m, a64_move(&m));
	}
	(void)x86_move_inner(code, 5);
	return 0;
}
