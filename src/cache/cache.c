/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - keys, links, and the weaving of what is not there. */
#include "cache/cache.h"

#include "cache/numbers.h"
#include "rule/print.h"
#include "weave/class_facts.h"

enum { LINK_HEAD = 18 }; /* key of the recipe, number of rules */

static struct slice raw(const void *p, size_t n)
{
	return (struct slice){ p, n };
}

/* ---- what rules come to ------------------------------------------------------------------- */

static struct hash128 hash_template(struct hash128 h, const struct cache_rules *r,
				    const struct rule *rule)
{
	h = secret_hash(&r->secret, h, rule->template.name);
	h = secret_hash(&r->secret, h, rule->template.method);
	return secret_hash(&r->secret, h, r->weaver->own[rule->index]->code->cls->bytes);
}

/* The limit is part of it: a method that one JVM compiles with its hook another may not. */
static struct hash128 hash_always(const struct weaver *w, const struct secret *secret)
{
	struct hash128 h = secret_hash(secret, (struct hash128){ 0, 0 }, slice_str(cache_build));

	h = secret_hash(secret, h, raw(&w->huge, sizeof(w->huge)));
	for (size_t i = 0; i < builtin_count; i++)
		h = secret_hash(
			secret, h,
			raw(builtins[i].start, (size_t)(builtins[i].end - builtins[i].start)));
	return h;
}

static void print_rule(const struct rule *rule, struct buf *out)
{
	rule_print_weave(rule, out);
	if (rule->kind != RULE_HOOK)
		return;
	for (const struct rule_use *use = rule->captures; use; use = use->next)
		for (const struct rule *c = use->capture; c; c = c->capture.also)
			rule_print(c, out);
}

static bool asks_ancestors(const struct rule_target *t)
{
	for (size_t i = 0; i < t->kin_count; i++)
		if (t->kin[i].kind != KIN_ANNOTATED)
			return true;
	return false;
}

static bool rule_asks_ancestors(const struct rule *rule)
{
	if (rule->kind == RULE_TEMPLATE)
		return false;
	if (asks_ancestors(&rule->target))
		return true;
	if (rule->kind != RULE_HOOK)
		return false;
	if (rule->hook.level == LEVEL_FULL) /* fit.h looks at ancestors */
		return true;
	for (size_t c = 0; c < rule->hook.context_count; c++)
		for (size_t s = 0; s < rule->hook.contexts[c].n; s++)
			if (asks_ancestors(&rule->hook.contexts[c].steps[s].target))
				return true;
	return false;
}

int cache_rules_init(struct cache_rules *r, const struct weaver *w, const struct secret *secret,
		     struct arena *mem)
{
	const struct rules *rules = w->rules;
	struct buf text = { 0 };
	int rc;

	*r = (struct cache_rules){ .weaver = w,
				   .secret = *secret,
				   .always = hash_always(w, secret) };
	if (rules->n > UINT16_MAX)
		return E_LIMIT;
	r->order = arena_zero(mem, (rules->n + 1) * sizeof(*r->order));
	r->places = arena_zero(mem, (rules->n + 1) * sizeof(*r->places));
	if (!r->order || !r->places)
		return E_NO_MEMORY;
	r->all = r->always;
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->all[i];

		if (rule->kind == RULE_TEMPLATE) {
			r->all = hash_template(r->all, r, rule);
			continue;
		}
		if (rule->repeated || rule->kind == RULE_PLACE)
			continue;
		print_rule(rule, &text);
		r->wants_kin |= rule_asks_ancestors(rule);
		r->order[i] = r->n;
		r->places[r->n++] = (uint16_t)i;
	}
	r->all = secret_hash(secret, r->all, buf_slice(&text));
	rc = text.err;
	buf_release(&text);
	return rc;
}

/* ---- keys --------------------------------------------------------------------------------- */

static struct hash128 hash_lineage(const struct secret *secret, struct hash128 h,
				   const struct rule_class *facts)
{
	const struct rule_lineage *l = facts_lineage(facts, facts->lineage);

	for (size_t i = 0; l && i < l->n; i++) {
		uint8_t kind = (uint8_t)(l->list[i].interface | l->list[i].unknown << 1);

		h = secret_hash(secret, h, l->list[i].name);
		h = secret_hash(secret, h, raw(&kind, 1));
	}
	return h;
}

static int read_facts(const struct cache_query *q, struct class **cls, struct rule_class *facts)
{
	int rc = class_read(q->mem, q->bytes, cls, NULL);
	struct rule_lineage *lineage;

	if (rc >= 0)
		rc = class_facts_of_class(*cls, q->mem, facts);
	if (rc < 0)
		return rc;
	lineage = arena_alloc(q->mem, sizeof(*lineage));
	if (!lineage)
		return E_NO_MEMORY;
	lineage->ready = false;
	facts->resolver = q->resolver;
	facts->lineage = lineage;
	return 0;
}

/* Which rules touch the class, and the key that follows from them. */
static int work_out(const struct cache_query *q, const struct rule_class *facts,
		    struct hash128 of_class, struct cache_look *out)
{
	const struct rules *rules = q->rules->weaver->rules;
	const struct secret *secret = &q->rules->secret;
	struct buf text = { 0 };
	struct hash128 h;
	int rc;

	out->touching = arena_alloc(q->mem, (rules->n + 1) * sizeof(struct rule *));
	if (!out->touching)
		return E_NO_MEMORY;
	out->n_touching = rules_touching(rules, facts, out->touching);
	out->nothing = !out->n_touching;
	if (out->nothing)
		return 0;
	h = secret_hash(secret, of_class, raw(&q->rules->always, sizeof(q->rules->always)));
	for (size_t i = 0; i < out->n_touching; i++) {
		const struct rule *rule = out->touching[i];

		print_rule(rule, &text);
		if (rule->kind == RULE_HOOK && rule->hook.template_rule)
			h = hash_template(h, q->rules, rule->hook.template_rule);
	}
	h = secret_hash(secret, h, buf_slice(&text));
	out->recipe = h;
	rc = text.err;
	buf_release(&text);
	return rc;
}

/* ---- links -------------------------------------------------------------------------------- */

void cache_link_put(const struct cache_rules *rules, const struct cache_look *look, struct buf *out)
{
	buf_bytes(out, &look->recipe, sizeof(look->recipe));
	buf_u16(out, (unsigned)look->n_touching);
	for (size_t i = 0; i < look->n_touching; i++)
		buf_u16(out, rules->order[look->touching[i]->index]);
}

int cache_link_get(struct slice contents, struct hash128 *recipe)
{
	if (contents.n < LINK_HEAD ||
	    contents.n != LINK_HEAD + 2 * (size_t)get_u16(contents.p + sizeof(*recipe)))
		return E_DAMAGED;
	memcpy(recipe, contents.p, sizeof(*recipe));
	return 0;
}

static int take_link(const struct cache_query *q, struct slice contents, struct cache_look *out)
{
	const struct cache_rules *rules = q->rules;
	size_t n;
	int rc = cache_link_get(contents, &out->recipe);

	if (rc < 0)
		return rc;
	n = (contents.n - LINK_HEAD) / 2;
	out->touching = arena_alloc(q->mem, (n + 1) * sizeof(struct rule *));
	if (!out->touching)
		return E_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		uint16_t number = get_u16(contents.p + LINK_HEAD + 2 * i);

		if (number >= rules->n)
			return E_DAMAGED;
		out->touching[i] = rules->weaver->rules->all[rules->places[number]];
	}
	out->n_touching = n;
	out->nothing = n == 0;
	return hash128_is_zero(out->recipe) == out->nothing ? 0 : E_DAMAGED;
}

/* ---- looking ------------------------------------------------------------------------------ */

/* Was it made of this class?  The key says so already; this also holds if the secret is out. */
static bool is_of(const struct recipe *r, const struct cache_query *q)
{
	if (r->original != q->bytes.n)
		return false;
	return !q->name.n || slice_eq(r->name, q->name) || r->kind == RECIPE_REFUSED;
}

static int find_recipe(struct store *s, const struct cache_query *q, struct cache_look *out)
{
	if (out->nothing)
		return 1;
	buf_clear(&out->kept);
	if (store_find(s, out->recipe, &out->kept) != RECORD_CLASS ||
	    recipe_get(buf_slice(&out->kept), &out->found) < 0 || !is_of(&out->found, q))
		return 0;
	out->has_recipe = true;
	return 1;
}

static int find_by_link(struct store *s, const struct cache_query *q, struct cache_look *out)
{
	int kind = store_find(s, out->link, &out->kept);

	if (kind != RECORD_LINK || take_link(q, buf_slice(&out->kept), out) < 0)
		return 0;
	if (!find_recipe(s, q, out))
		return 0;
	out->has_link = true;
	return 1;
}

int cache_find(struct store *s, const struct cache_query *q, struct cache_look *out)
{
	const struct secret *secret = &q->rules->secret;
	struct hash128 of_class = secret_hash(secret, (struct hash128){ 0, 0 }, q->bytes);
	struct rule_class facts;
	struct class *cls = NULL;
	int rc = 0;

	*out = (struct cache_look){ 0 };
	if (q->room) {
		out->kept = *q->room;
		*q->room = (struct buf){ 0 };
		buf_clear(&out->kept);
	}
	if (q->rules->wants_kin) { /* ancestors have to be asked for first */
		rc = read_facts(q, &cls, &facts);
		if (rc < 0)
			goto done;
		of_class = hash_lineage(secret, of_class, &facts);
	}
	out->link = secret_hash(secret, of_class, raw(&q->rules->all, sizeof(q->rules->all)));
	rc = find_by_link(s, q, out);
	if (rc)
		goto done;
	if (!cls)
		rc = read_facts(q, &cls, &facts);
	if (rc >= 0)
		rc = work_out(q, &facts, of_class, out);
	if (rc >= 0)
		rc = find_recipe(s, q, out);
done:
	class_release(cls);
	return rc;
}

/* ---- weaving ------------------------------------------------------------------------------ */

int cache_weave(const struct cache_query *q, const struct cache_look *look, struct arena *work,
		struct buf *kept)
{
	struct numbers numbers;
	struct weave_job job = { .mem = q->mem,
				 .work = work,
				 .resolver = q->resolver,
				 .own_ids = true,
				 .numbers = &numbers.give };
	struct recipe_from from = { .job = &job,
				    .original = q->bytes,
				    .rules = look->touching,
				    .n_rules = look->n_touching };
	struct buf woven = { 0 };
	struct fault f = { 0 };

	numbers_begin(&numbers, look->touching, look->n_touching, q->mem);
	from.rc = weave_class(q->rules->weaver, &job, q->bytes, &woven, &f);
	if (job.cls)
		from.name = class_name(job.cls);
	from.fault = &f;
	from.woven = buf_slice(&woven);
	if (from.rc >= 0 && numbers_end(&numbers, job.cls, &from) < 0)
		from.rc = E_NO_MEMORY;
	if (from.rc != E_NO_MEMORY)
		recipe_put(&from, kept);
	class_release(job.cls);
	buf_release(&woven);
	return from.rc == E_NO_MEMORY ? E_NO_MEMORY : kept->err;
}
