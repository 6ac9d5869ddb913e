/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.c - keeps rules as single lines of text.  A rule may need others (a capture, a template
 * of the user's own), so an edition is always made anew from all lines, which is cheap, and put in
 * force only when all of it could be made. */
#include "agent/classes/rulebook.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/search.h"
#include "agent/classes/cached.h"
#include "agent/core/agent.h"
#include "agent/hotspot/limits.h"
#include "base/mem.h"
#include "rule/print.h"

struct rulebook rulebook;

enum { TEMPLATE_FILE_MAX = 1 << 20 };

static char *copy_text(struct slice s)
{
	char *p = mem_alloc(s.n + 1);

	if (!p)
		return NULL;
	memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return p;
}

static void entry_release(struct rule_entry *e)
{
	mem_free(e->text);
	mem_free(e->origin);
}

/* ---- editions ----------------------------------------------------------------------------- */

/* A template of the user's own, from its file. */
static int load_template(void *ctx, struct slice path, struct slice *bytes, struct fault *f)
{
	struct edition *e = ctx;
	uint8_t *p = arena_alloc(&e->mem, TEMPLATE_FILE_MAX);
	char name[4096];
	size_t got = 0;
	ssize_t n = -1;
	int fd;

	if (!p)
		return fault_no_memory(f);
	if (path.n >= sizeof(name))
		return fault_set(f, E_IO, -1, "the template's path is too long");
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	while (fd >= 0 && (n = read(fd, p + got, TEMPLATE_FILE_MAX - got)) > 0)
		got += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (n < 0 || got == TEMPLATE_FILE_MAX)
		return fault_set(f, E_IO, -1, "%s cannot be read as a template", name);
	arena_trim(&e->mem, p, TEMPLATE_FILE_MAX, got);
	*bytes = (struct slice){ p, got };
	return 0;
}

static void edition_free(struct edition *e)
{
	if (!e)
		return;
	weaver_release(&e->weaver);
	arena_release(&e->mem);
	mem_free(e);
}

static void look_at_kin(struct edition *e, const struct rule_target *t)
{
	for (size_t i = 0; i < t->kin_count; i++) {
		e->wants_kin |= t->kin[i].kind != KIN_ANNOTATED;
		e->wants_marks |= t->kin[i].kind == KIN_ANNOTATED;
	}
}

static void look_at_rules(struct edition *e)
{
	for (size_t i = 0; i < e->rules->n; i++) {
		const struct rule *r = e->rules->all[i];

		if (r->kind == RULE_TEMPLATE)
			continue;
		look_at_kin(e, &r->target);
		e->has_live |= r->kind == RULE_PLACE && r->place == PLACE_LIVE;
		if (r->kind != RULE_HOOK)
			continue;
		e->wants_kin |= r->hook.level == LEVEL_FULL; /* fit.h looks at ancestors */
		for (size_t c = 0; c < r->hook.context_count; c++)
			for (size_t s = 0; s < r->hook.contexts[c].n; s++)
				look_at_kin(e, &r->hook.contexts[c].steps[s].target);
	}
}

/* ---- their order -------------------------------------------------------------------------- */

static enum rule_need need_of(const struct rule *r, const struct rule_entry *as)
{
	if (as->watched || as->root || (r->kind == RULE_HOOK && r->hook.level == LEVEL_FULL))
		return NEED_CALLS;
	if (r->kind == RULE_CAPTURE ||
	    (r->kind == RULE_HOOK && (r->hook.level == LEVEL_TIMED || r->hook.context_count)))
		return NEED_TIMES;
	return NEED_COUNTS;
}

struct party { /* a client that holds rules */
	uint32_t holder;
	uint8_t need; /* the most that one of them needs */
};

/* The clients that hold any of these entries, in the order of their first ones. */
static size_t find_parties(const struct rule_entry *entries, size_t n, struct party *out)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rule_entry *e = &entries[i];
		size_t k = 0;

		if (!e->holder)
			continue;
		while (k < found && out[k].holder != e->holder)
			k++;
		if (k == found)
			out[found++] = (struct party){ e->holder, e->need };
		else if (out[k].need < e->need)
			out[k].need = e->need;
	}
	return found;
}

static size_t append_of(const struct rule_entry *entries, size_t n, uint32_t holder, size_t *order,
			size_t at)
{
	for (size_t i = 0; i < n; i++)
		if (entries[i].holder == holder)
			order[at++] = i;
	return at;
}

/* Which entry comes first, which second and so on, as rulebook.h says. */
static int put_in_order(struct edition *e, const struct rule_entry *entries, size_t n)
{
	struct party *parties = arena_alloc(&e->mem, (n + 1) * sizeof(*parties));
	size_t n_parties, at;

	e->entry_of = arena_alloc(&e->mem, (n + 1) * sizeof(*e->entry_of));
	if (!parties || !e->entry_of)
		return E_NO_MEMORY;
	n_parties = find_parties(entries, n, parties);
	at = append_of(entries, n, 0, e->entry_of, 0);
	for (unsigned need = 0; need < NEEDS; need++)
		for (size_t k = 0; k < n_parties; k++)
			if (parties[k].need == need)
				at = append_of(entries, n, parties[k].holder, e->entry_of, at);
	return 0;
}

/* ---- making one --------------------------------------------------------------------------- */

/* An edition of these entries. */
static int edition_new(struct rule_entry *entries, size_t n, struct edition **out, struct buf *why)
{
	struct edition *e = mem_alloc(sizeof(*e));
	struct rule_errors errors = { 0 };
	struct secret secret = cached_secret();
	struct fault f = { 0 };
	int rc = E_NO_MEMORY;

	if (!e)
		return E_NO_MEMORY;
	memset(e, 0, sizeof(*e));
	arena_init(&e->mem);
	e->refs = 1;
	e->rules = rules_new(&e->mem);
	e->by_index = arena_alloc(&e->mem, (n + 1) * sizeof(*e->by_index));
	if (!e->rules || !e->by_index || put_in_order(e, entries, n) < 0)
		goto failed;
	for (size_t i = 0; i < n; i++) {
		const struct rule_entry *from = &entries[e->entry_of[i]];

		rc = rules_add(e->rules, slice_str(from->text), from->origin, &errors);
		if (rc < 0)
			goto failed;
		e->by_index[i] = (struct edition_rule){ .number = from->number,
							.watched = from->watched,
							.at_least = from->at_least,
							.root = from->root,
							.held = from->holder != 0 };
	}
	rc = rules_seal(e->rules, &errors);
	if (rc >= 0)
		rc = weaver_init(&e->weaver, &e->mem, e->rules, load_template, e, &f);
	e->weaver.huge = limits_huge();
	if (rc >= 0)
		rc = cache_rules_init(&e->cache, &e->weaver, &secret, &e->mem);
	if (rc < 0)
		goto failed;
	look_at_rules(e);
	*out = e;
	return 0;
failed:
	rule_errors_print(&errors, why);
	if (f.code)
		buf_printf(why, "%s\n", f.text);
	edition_free(e);
	return rc;
}

/* Observed threads get editions, so there is no lock.  `getting` counts threads that have looked
 * which edition is in force and not counted themselves as its users yet: a few instructions.  One
 * that is in force no more is put only when there are none. */
static uint32_t getting;

struct edition *edition_get(void)
{
	struct edition *e;

	__atomic_fetch_add(&getting, 1, __ATOMIC_SEQ_CST);
	e = __atomic_load_n(&rulebook.edition, __ATOMIC_SEQ_CST);
	if (e)
		__atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&getting, 1, __ATOMIC_SEQ_CST);
	return e;
}

/* The last user may be an observed thread, which must not free memory: the agent's does, at the next
 * change of rules. */
static struct edition *unused;

void edition_put(struct edition *e)
{
	if (!e || __atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL))
		return;
	e->next = __atomic_load_n(&unused, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&unused, &e->next, e, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		continue;
}

void edition_free_unused(void)
{
	struct edition *e = __atomic_exchange_n(&unused, NULL, __ATOMIC_ACQUIRE), *next;

	for (; e; e = next) {
		next = e->next;
		edition_free(e);
	}
}

/* Puts an edition (or none) in force. */
static void edition_enforce(struct edition *e)
{
	static uint64_t serial;
	struct edition *old;

	if (e)
		e->serial = ++serial;
	old = __atomic_exchange_n(&rulebook.edition, e, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < rulebook.n; i++)
		rulebook.entries[e->entry_of[i]].rule = e->rules->all[i];
	while (__atomic_load_n(&getting, __ATOMIC_SEQ_CST))
		sched_yield();
	edition_put(old);
	edition_free_unused();
}

/* ---- the book ----------------------------------------------------------------------------- */

static bool grow(size_t more)
{
	size_t cap = (rulebook.n + more) * 2;
	struct rule_entry *p;

	if (rulebook.n + more <= rulebook.cap)
		return true;
	p = mem_realloc(rulebook.entries, cap * sizeof(*p));
	if (!p)
		return false;
	rulebook.entries = p;
	rulebook.cap = cap;
	return true;
}

/* One entry for each rule of a parsed set; they are not in the book yet. */
static int append(const struct rules *rules, const char *origin, const struct rule_entry *as)
{
	size_t n = rulebook.n;
	struct buf line = { 0 };
	int rc = 0;

	if (!grow(rules->n))
		return E_NO_MEMORY;
	for (size_t i = 0; i < rules->n; i++) {
		struct rule_entry *e = &rulebook.entries[n + i];

		buf_clear(&line);
		rule_print(rules->all[i], &line);
		*e = (struct rule_entry){ .number = rulebook.next_number + 1 + (uint32_t)i,
					  .holder = as->holder,
					  .watched = as->watched,
					  .at_least = as->at_least,
					  .root = as->root,
					  .need = (uint8_t)need_of(rules->all[i], as),
					  .added = tick_now() };
		e->last_slow = e->added;
		e->text = line.err ? NULL
				   : copy_text((struct slice){ line.p, line.n ? line.n - 1 : 0 });
		e->origin = copy_text(slice_str(origin));
		if (!e->text || !e->origin)
			rc = E_NO_MEMORY;
	}
	buf_release(&line);
	return rc;
}

int rulebook_add(struct slice text, const char *origin, const struct rule_entry *as,
		 struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct edition *edition = NULL;
	struct rules *parsed = NULL;
	struct arena mem;
	size_t added = 0;
	int rc;

	arena_init(&mem);
	parsed = rules_new(&mem);
	rc = parsed ? rules_add(parsed, text, origin, &errors) : E_NO_MEMORY;
	if (rc < 0) {
		rule_errors_print(&errors, why);
		goto done;
	}
	if (parsed->n == 0) {
		buf_printf(why, "%s has no rules\n", origin);
		rc = E_SYNTAX;
		goto done;
	}
	if (rulebook.n + parsed->n > RULES_MAX) {
		buf_printf(why, "there would be more than %d rules\n", (int)RULES_MAX);
		rc = E_LIMIT;
		goto done;
	}
	rc = append(parsed, origin, as);
	added = parsed->n;
	if (rc >= 0)
		rc = edition_new(rulebook.entries, rulebook.n + added, &edition, why);
	if (rc < 0) {
		for (size_t i = 0; rulebook.cap >= rulebook.n + added && i < added; i++)
			entry_release(&rulebook.entries[rulebook.n + i]);
		goto done;
	}
	rc = (int)rulebook.next_number + 1;
	rulebook.next_number += (uint32_t)added;
	rulebook.n += added;
	edition_enforce(edition);
done:
	arena_release(&mem);
	return rc;
}

const struct rule_entry *rulebook_entry(uint32_t number)
{
	size_t low = SEARCH(rulebook.n, i, rulebook.entries[i].number < number);

	return low < rulebook.n && rulebook.entries[low].number == number ? &rulebook.entries[low]
									  : NULL;
}

void rulebook_unloaded(uint32_t number, uint64_t calls)
{
	const struct rule_entry *e = number ? rulebook_entry(number) : NULL;

	if (e)
		rulebook.entries[e - rulebook.entries].unloaded += calls;
}

/* Other rules may use what such a one names. */
static bool defines(const struct rule_entry *e)
{
	return e->rule->kind == RULE_CAPTURE || e->rule->kind == RULE_TEMPLATE;
}

/* The entries that are not meant; with `defined` also those that others may need, which nobody holds
 * any more. */
static size_t keep(struct rule_entry *kept, rulebook_meant *meant, void *ctx, bool defined)
{
	size_t n = 0;

	for (size_t i = 0; i < rulebook.n; i++) {
		bool goes = meant(&rulebook.entries[i], ctx);

		if (goes && !(defined && defines(&rulebook.entries[i])))
			continue;
		kept[n] = rulebook.entries[i];
		if (goes)
			kept[n].holder = 0;
		n++;
	}
	return n;
}

static bool is_kept(const struct rule_entry *kept, size_t n, uint32_t number)
{
	size_t low = SEARCH(n, i, kept[i].number < number);

	return low < n && kept[low].number == number;
}

int rulebook_remove(rulebook_meant *meant, void *ctx)
{
	struct rule_entry *kept = mem_alloc((rulebook.n + 1) * sizeof(*kept));
	struct edition *edition = NULL;
	struct buf why = { 0 };
	int removed, rc = 0;
	size_t n;

	if (!kept)
		return E_NO_MEMORY;
	n = keep(kept, meant, ctx, false);
	if (n && n < rulebook.n)
		rc = edition_new(kept, n, &edition, &why);
	if (rc == E_SYNTAX) { /* a rule that stays needs one that goes */
		n = keep(kept, meant, ctx, true);
		rc = n < rulebook.n ? edition_new(kept, n, &edition, &why) : rc;
	}
	buf_release(&why);
	removed = (int)(rulebook.n - n);
	if (rc < 0 || !removed)
		goto done;
	for (size_t i = 0; i < rulebook.n; i++)
		if (!is_kept(kept, n, rulebook.entries[i].number))
			entry_release(&rulebook.entries[i]);
	memcpy(rulebook.entries, kept, n * sizeof(*kept));
	rulebook.n = n;
	edition_enforce(edition);
done:
	mem_free(kept);
	return rc < 0 ? rc : removed;
}
