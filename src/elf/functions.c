/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c - collects functions, then settles what belongs to whom.
 *
 * Everything that is known is put into one list and sorted.  Of several names at one address the
 * best comes first: a function's before a bare label's, a global one before a local one.  A name
 * without a size, as assembly language has them, lasts until the next function begins or the code
 * of its section ends. */
#include "elf/functions.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "elf/fde.h"

enum { FUNCTIONS_MAX = 1 << 24, NESTED = 16 };

enum { /* rank */
       RANK_NAMELESS,
       RANK_PLT,
       RANK_LABEL,
       RANK_LOCAL,
       RANK_WEAK,
       RANK_GLOBAL,
};

static bool add(struct functions *t, const struct function *f)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 256;
		void *p = cap > FUNCTIONS_MAX ? NULL : mem_realloc(t->f, cap * sizeof(t->f[0]));

		if (!p)
			return false;
		t->f = p;
		t->cap = cap;
	}
	t->f[t->n++] = *f;
	return true;
}

/* ---- symbols ------------------------------------------------------------------------------ */

static uint8_t rank_of(const Elf64_Sym *s)
{
	if (ELF64_ST_TYPE(s->st_info) == STT_NOTYPE)
		return RANK_LABEL;
	switch (ELF64_ST_BIND(s->st_info)) {
	case STB_LOCAL:
		return RANK_LOCAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_GLOBAL;
	}
}

/* Labels count only where code is: assembly language marks functions with nothing else.  Marks of
 * the linker for aarch64 ($x, $d) and local labels of compilers (.L5) are none. */
static bool is_function(const struct image *image, const Elf64_Sym *s, struct slice name)
{
	struct image_section in;

	if (!name.n || s->st_shndx == SHN_UNDEF || !s->st_value)
		return false;
	switch (ELF64_ST_TYPE(s->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return name.p[0] != '$' && name.p[0] != '.' &&
		       image_section(image, s->st_shndx, &in) && in.flags & SHF_EXECINSTR;
	default:
		return false;
	}
}

static int add_symbols(struct functions *t, const struct image *image, const char *table)
{
	struct image_section symbols, names;
	Elf64_Sym s;

	if (!image_find(image, table, &symbols) || !image_section(image, symbols.link, &names))
		return 0;
	for (size_t at = 0; symbols.bytes.n - at >= sizeof(s); at += sizeof(s)) {
		struct function f = { 0 };

		memcpy(&s, symbols.bytes.p + at, sizeof(s));
		if (!image_text(names.bytes, s.st_name, &f.name) || !is_function(image, &s, f.name))
			continue;
		f.addr = s.st_value;
		f.size = s.st_size;
		f.rank = rank_of(&s);
		f.is_label = f.rank == RANK_LABEL;
		f.is_chooser = ELF64_ST_TYPE(s.st_info) == STT_GNU_IFUNC;
		if (!add(t, &f))
			return E_NO_MEMORY;
	}
	return 0;
}

/* ---- stubs -------------------------------------------------------------------------------- */

/* Where the stub for the first entry of .rela.plt lies; false: the layout is not known. */
static bool first_stub(const struct image *image, uint64_t *addr, uint64_t *end)
{
	struct image_section plt;
	uint64_t head = 0;

	if (image->machine == EM_X86_64 && image_find(image, ".plt.sec", &plt))
		head = 0;
	else if (!image_find(image, ".plt", &plt))
		return false;
	else
		head = image->machine == EM_X86_64 ? 16 : 32;
	if (plt.size < head || plt.addr > UINT64_MAX - plt.size)
		return false;
	*addr = plt.addr + head;
	*end = plt.addr + plt.size;
	return true;
}

static int add_stubs(struct functions *t, const struct image *image)
{
	struct image_section rela, symbols, names;
	uint64_t addr, end;
	Elf64_Rela r;
	Elf64_Sym s;

	if (!image_find(image, ".rela.plt", &rela) || !image_section(image, rela.link, &symbols) ||
	    !image_section(image, symbols.link, &names) || !first_stub(image, &addr, &end))
		return 0;
	for (size_t at = 0; rela.bytes.n - at >= sizeof(r) && end - addr >= 16;
	     at += sizeof(r), addr += 16) {
		struct function f = { .addr = addr, .size = 16, .rank = RANK_PLT, .is_plt = true };
		uint64_t i;

		memcpy(&r, rela.bytes.p + at, sizeof(r));
		i = ELF64_R_SYM(r.r_info);
		if (!i || i >= symbols.bytes.n / sizeof(s))
			continue;
		memcpy(&s, symbols.bytes.p + i * sizeof(s), sizeof(s));
		if (image_text(names.bytes, s.st_name, &f.name) && f.name.n && !add(t, &f))
			return E_NO_MEMORY;
	}
	return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

struct nameless {
	struct functions *t;
	int rc;
};

static bool add_nameless(const struct fde *fde, void *ctx)
{
	struct nameless *to = ctx;
	struct function f = { .addr = fde->start, .size = fde->end - fde->start };

	if (!add(to->t, &f))
		to->rc = E_NO_MEMORY;
	return to->rc == 0;
}

/* By address, the best at one address first; names decide what is left, so that the result does not
 * depend on the order of the file. */
static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->rank != y->rank)
		return (int)y->rank - (int)x->rank;
	if (!x->size != !y->size)
		return !x->size - !y->size;
	return slice_cmp(x->name, y->name);
}

/* Where the code around this address ends. */
static uint64_t end_of_code(const struct image *image, uint64_t addr)
{
	struct image_section s;

	for (unsigned i = 0; image_section(image, i, &s); i++)
		if (s.flags & SHF_EXECINSTR && addr >= s.addr && addr - s.addr < s.size)
			return s.addr + s.size;
	return addr;
}

/* Does the function at i say nothing that its neighbours at the same address do not say? */
static bool is_superfluous(const struct function *before, const struct function *f)
{
	return before->addr == f->addr && (!f->name.n || slice_eq(before->name, f->name));
}

/* Drops what is there twice.  Those without a size get one: that of another name for the same
 * address, else up to the next function. */
static void settle(struct functions *t, const struct image *image)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		if (kept && is_superfluous(&t->f[kept - 1], &t->f[i])) {
			if (!t->f[kept - 1].size)
				t->f[kept - 1].size = t->f[i].size;
		} else {
			t->f[kept++] = t->f[i];
		}
	t->n = kept;
	for (size_t i = kept; i-- > 0;) {
		uint64_t end, next = i + 1 < kept ? t->f[i + 1].addr : UINT64_MAX;

		if (t->f[i].size)
			continue;
		end = end_of_code(image, t->f[i].addr);
		if (next == t->f[i].addr)
			t->f[i].size = t->f[i + 1].size;
		else
			t->f[i].size = (next < end ? next : end) - t->f[i].addr;
	}
}

int functions_build(struct functions *t, const struct image *image, const struct image *debug)
{
	struct nameless nameless = { t, 0 };
	int rc;

	*t = (struct functions){ 0 };
	rc = add_symbols(t, image, ".symtab");
	if (rc == 0 && debug)
		rc = add_symbols(t, debug, ".symtab");
	if (rc == 0)
		rc = add_symbols(t, image, ".dynsym");
	if (rc == 0)
		rc = add_stubs(t, image);
	if (rc == 0) {
		(void)fde_each(image, add_nameless, &nameless);
		rc = nameless.rc;
	}
	if (rc < 0) {
		functions_release(t);
		return rc;
	}
	if (t->n)
		qsort(t->f, t->n, sizeof(t->f[0]), by_address);
	settle(t, image);
	return 0;
}

void functions_release(struct functions *t)
{
	mem_free(t->f);
	*t = (struct functions){ 0 };
}

static const struct function *best_name(const struct functions *t, size_t i)
{
	while (i > 0 && t->f[i - 1].addr == t->f[i].addr)
		i--;
	return &t->f[i];
}

/* Functions may lie within others (a second entry point), so the nearest one before the address may
 * have ended already; the one around both is not far. */
const struct function *functions_find(const struct functions *t, uint64_t addr)
{
	size_t low = SEARCH(t->n, i, t->f[i].addr <= addr);

	for (size_t i = low; i > 0 && low - i < NESTED; i--)
		if (addr - t->f[i - 1].addr < t->f[i - 1].size)
			return best_name(t, i - 1);
	return NULL;
}

const struct function *functions_named(const struct functions *t, struct slice name)
{
	const struct function *best = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (!t->f[i].is_plt && slice_eq(t->f[i].name, name) &&
		    (!best || t->f[i].rank > best->rank))
			best = &t->f[i];
	return best;
}
