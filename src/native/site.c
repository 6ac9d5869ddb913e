/* SPDX-License-Identifier: Apache-2.0 */
/* site.c - the table of hooked functions.
 *
 * A hook goes in in this order: the function's first instructions are copied behind the site's code,
 * both are written where a jump from the function reaches, then the site is switched on, and last
 * the entry is patched.  It goes out the other way round.  Between the two the switch alone decides
 * what a hook does. */
#include "native/site.h"

#include "base/mem.h"
#include "base/tick.h"
#include "native/near.h"
#include "native/patch.h"
#include "native/swap.h"
#include "native/trap.h"

enum { CODE_ROOM = 32 }; /* a site's code; the moved instructions follow */

static struct {
	struct site_info *all[SITES_MAX];
	uint32_t n;
} sites = { .n = 1 };

_Static_assert((int)SITE_CODE_N <= (int)CODE_ROOM, "room");

/* ---- names -------------------------------------------------------------------------------- */

static bool name_fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	return pattern[n - 1] == '*' ? strncmp(pattern, name, n - 1) == 0
				     : strcmp(pattern, name) == 0;
}

enum site_mode site_allowed(const char *module, const char *name, const char **why)
{
	static const struct {
		const char *name;
		enum site_mode most;
		const char *why;
	} hazards[] = {
#define X(name, most, why) { name, most, why },
#include "native/hazards.def"
#undef X
	};

	*why = NULL;
	for (size_t i = 0; i < COUNT(hazards); i++)
		if (name_fits(hazards[i].name, name)) {
			*why = hazards[i].why;
			return hazards[i].most;
		}
	if (strcmp(module, "libjvm.so") == 0) {
		*why = "the JVM looks at its own stack";
		return SITE_COUNT;
	}
	return SITE_TIMED;
}

/* ---- one site ----------------------------------------------------------------------------- */

const struct site_info *site_info(uint32_t number)
{
	return sites.all[number];
}

uint32_t site_end(void)
{
	return sites.n;
}

void site_set_rule(uint32_t number, uint32_t rule)
{
	sites.all[number]->rule = rule;
}

static uint32_t find(uintptr_t at)
{
	for (uint32_t i = 1; i < sites.n; i++)
		if (sites.all[i]->at == at)
			return i;
	return 0;
}

static char *copy_text(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = mem_alloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

static void free_info(struct site_info *s)
{
	mem_free(s->name);
	mem_free(s->module);
	mem_free(s);
}

static struct site_info *new_info(const struct site_function *f)
{
	struct site_info *s = mem_alloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct site_info){ .at = f->at,
				 .size = f->size,
				 .name = copy_text(f->name),
				 .module = copy_text(f->module) };
	if (s->name && s->module)
		return s;
	free_info(s);
	return NULL;
}

/* The copy of the first instructions, for the address m->to_addr. */
static const char *move_first(const struct site_info *s, struct move *m)
{
	struct slice all = { (const uint8_t *)s->at, s->size };
	size_t skip = patch_skip(all);

	if (s->size < skip + PATCH_N)
		return "it is too short";
	m->from = (struct slice){ all.p + skip, all.n - skip };
	m->from_addr = s->at + skip;
	m->need = PATCH_N;
	if (m->from_addr % SWAP_PAGE + PATCH_N > SWAP_PAGE)
		return "its first bytes lie on two pages";
	return patch_move(m->from, m);
}

static void keep_moves(struct site_info *s, const struct move *m)
{
	s->inner_n = (uint8_t)m->n;
	for (unsigned i = 0; i < m->n; i++) {
		s->inner[i] = m->at[i];
		s->moved[i] = m->to_at[i];
	}
}

/* Writes all that the function's patch will lead to. */
static const char *write_code(struct site_info *s, uint32_t number)
{
	const uint64_t reach = UINT64_C(1) << (SITE_REACH_BITS - 1);
	struct move m = { .to_addr = s->at };
	uint8_t code[CODE_ROOM] = { 0 };
	const char *why = move_first(s, &m); /* to see whether it can be done at all */

	if (why)
		return why;
	s->patch_at = m.from_addr;
	s->code = near_take(s->patch_at, reach, CODE_ROOM + MOVE_OUT);
	if (!s->code)
		return "there is no free memory near it";
	m.to_addr = s->code + CODE_ROOM;
	why = move_first(s, &m);
	if (why)
		return why;
	keep_moves(s, &m);
	patch_site_code(code, number, (uintptr_t)native_enter);
	if (!near_write(s->code, code, sizeof(code)) || !near_write(m.to_addr, m.to, m.to_n))
		return "the system allows no new code in this process";
	native_sites[number].body = m.to_addr;
	return patch_land(&m, s->patch_at, s->code, s->patch, &s->traps);
}

static uint32_t make(const struct site_function *f, const char **why)
{
	struct site_info *s;

	*why = "too many functions were hooked";
	if (sites.n == SITES_MAX)
		return 0;
	*why = "out of memory";
	if (!native_begin() || !(s = new_info(f)))
		return 0;
	*why = write_code(s, sites.n);
	if (*why) {
		free_info(s);
		return 0;
	}
	sites.all[sites.n] = s;
	__atomic_store_n(&sites.n, sites.n + 1, __ATOMIC_RELEASE); /* site_trapped reads both */
	return sites.n - 1;
}

/* The function may be another by now, where a library was unloaded and another one loaded. */
static bool is_same(const struct site_info *s, const struct site_function *f)
{
	return s->size == f->size && strcmp(s->name, f->name) == 0 &&
	       strcmp(s->module, f->module) == 0;
}

/* Is the copy of its first instructions still what stands there?  A library of the same name may have
 * been built anew. */
static bool is_copied(const struct site_info *s, uint32_t number)
{
	struct move m = { .to_addr = native_sites[number].body };

	return !move_first(s, &m) && memcmp((const void *)m.to_addr, m.to, m.to_n) == 0;
}

static const char *patch_in(struct site_info *s, uint32_t number, enum site_mode mode)
{
	const char *why =
		is_copied(s, number) ? NULL : "another function was hooked at its address before";

	if (!why && s->traps)
		why = trap_ready(site_trapped, s->traps & PATCH_ILLEGAL);
	if (!why) {
		__atomic_store_n(&native_sites[number].mode, (uint8_t)mode, __ATOMIC_RELEASE);
		why = swap_in(s->patch_at, s->patch, PATCH_N);
	}
	if (why)
		__atomic_store_n(&native_sites[number].mode, SITE_OFF, __ATOMIC_RELEASE);
	return why;
}

uint32_t site_hook(const struct site_function *f, enum site_mode mode, const char **why)
{
	enum site_mode most = site_allowed(f->module, f->name, why);
	struct site_info *s;
	uint32_t number;

	if (most == SITE_OFF)
		return 0;
	number = find(f->at);
	if (number && !is_same(sites.all[number], f)) {
		*why = "another function was hooked at its address before";
		return 0;
	}
	if (!number)
		number = make(f, why);
	if (!number)
		return 0;
	s = sites.all[number];
	s->only = mode > most ? *why : NULL;
	*why = NULL;
	if (mode > most)
		mode = most;
	s->in = s->in &&
		swap_holds(s->patch_at, PATCH_N); /* its library may have been loaded anew */
	if (s->in)
		__atomic_store_n(&native_sites[number].mode, (uint8_t)mode, __ATOMIC_RELEASE);
	else
		*why = patch_in(s, number, mode);
	if (*why)
		return 0;
	if (!s->in)
		s->since = tick_now();
	s->in = true;
	return number;
}

bool site_unhook(uint32_t number)
{
	struct site_info *s = sites.all[number];

	__atomic_store_n(&native_sites[number].mode, SITE_OFF, __ATOMIC_RELEASE);
	if (s->in && swap_out(s->patch_at, PATCH_N) == NULL)
		s->in = false;
	return !s->in;
}

/* Also when the patch has gone meanwhile: then the instruction is there again. */
uintptr_t site_trapped(uintptr_t at)
{
	uint32_t n = __atomic_load_n(&sites.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 1; i < n; i++) {
		const struct site_info *s = sites.all[i];

		if (at - s->patch_at >= PATCH_N)
			continue;
		for (unsigned k = 0; k < s->inner_n; k++)
			if (at == s->patch_at + s->inner[k])
				return native_sites[i].body + s->moved[k];
	}
	return 0;
}

void site_release(void)
{
	for (uint32_t i = 1; i < sites.n; i++)
		free_info(sites.all[i]);
	sites.n = 1;
}
