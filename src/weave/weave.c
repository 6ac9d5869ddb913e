/* SPDX-License-Identifier: Apache-2.0 */
/* weave.c - which method gets which template, and the loop over a class. */
#include "weave/weave.h"

#include "weave/depth.h"
#include "weave/class_facts.h"
#include "weave/fit.h"
#include "weave/glob.h"
#include "weave/merge.h"

#define PROBE_PREFIX "java/util/Sonde"

static int load_builtins(struct weaver *w, struct arena *mem, struct fault *f)
{
	for (size_t i = 0; i < builtin_count; i++) {
		const struct builtin *b = &builtins[i];
		struct slice bytes = { b->start, (size_t)(b->end - b->start) };
		int rc = template_read(mem, bytes, slice_str(b->method), &w->builtin[i], f);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int load_own(struct weaver *w, struct arena *mem, weave_load *load, void *ctx,
		    struct fault *f)
{
	w->own = arena_zero(mem, (w->rules->n + 1) * sizeof(struct template *));
	if (!w->own)
		return fault_no_memory(f);
	for (size_t i = 0; i < w->rules->n; i++) {
		const struct rule *rule = w->rules->all[i];
		struct slice bytes;
		int rc;

		if (rule->kind != RULE_TEMPLATE)
			continue;
		rc = load ? load(ctx, rule->template.path, &bytes, f)
			  : fault_set(f, E_NOT_FOUND, -1, "templates cannot be loaded here");
		if (rc >= 0)
			rc = template_read(mem, bytes, rule->template.method, &w->own[i], f);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool has_captures(const struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->all[i]->kind == RULE_CAPTURE)
			return true;
	return false;
}

int weaver_init(struct weaver *w, struct arena *mem, const struct rules *rules, weave_load *load,
		void *ctx, struct fault *f)
{
	int rc;

	*w = (struct weaver){ .rules = rules, .captures = has_captures(rules), .huge = WEAVE_HUGE };
	for (size_t i = 0; i < rules->n; i++)
		w->has_steps |= rules->all[i]->kind == RULE_HOOK &&
				rules->all[i]->hook.context_count;
	rc = load_builtins(w, mem, f);
	if (rc >= 0)
		rc = load_own(w, mem, load, ctx, f);
	if (rc < 0)
		weaver_release(w);
	return rc;
}

void weaver_release(struct weaver *w)
{
	for (size_t i = 0; i < builtin_count; i++)
		template_release(w->builtin[i]);
	for (size_t i = 0; w->own && i < w->rules->n; i++)
		template_release(w->own[i]);
	*w = (struct weaver){ 0 };
}

/* The state of one class being woven. */
struct weaving {
	const struct weaver *w;
	struct weave_job *job;
	struct rule_class facts;
	struct rule_choice choice;
	struct fit fit;			 /* made when the first method asks */
	uint16_t *seen[BUILTIN_MAX + 1]; /* by builtin; the last for the rules' own */
	const struct template *seen_own; /* the one that seen[BUILTIN_MAX] is for */
	const struct template *visible;	 /* the last one found to name only what the class sees */
	uint16_t throwable;		 /* pool index, 0: not needed yet */
	int16_t *depths;		 /* for depth.h */
	struct buf map;			 /* of the method at hand */
	const struct cond *cond;	 /* of the method being woven */
	bool anchor;			 /* it is a step of some sequence */
	bool moves;			 /* captures may be merged into the class afterwards */
	const struct value *value;
	const char *category; /* asked for last, and the first builtin of it */
	size_t category_at;
};

/* The memory of constants already brought over from a template; NULL: out of memory. */
static uint16_t *seen_of(struct weaving *v, const struct template *t, size_t slot)
{
	if (slot == BUILTIN_MAX && v->seen_own != t) {
		v->seen[slot] = NULL;
		v->seen_own = t;
	}
	if (!v->seen[slot])
		v->seen[slot] = arena_zero(v->job->mem, t->n_in_pool * sizeof(uint16_t));
	return v->seen[slot];
}

static int keep_map(struct weaving *v, const struct code *code, struct weave_outcome *o,
		    struct fault *f)
{
	buf_clear(&v->map);
	code_offset_map(code, &v->map);
	o->map = arena_dup(v->job->mem, buf_slice(&v->map));
	return v->map.err || !o->map.p ? fault_no_memory(f) : 0;
}

/* The method has been lowered: may it stay so? */
static int check_size(struct weaving *v, struct member *m, struct weave_outcome *o, struct fault *f)
{
	struct member woven = { .code = m->lowered };
	uint32_t huge = v->w->huge;

	o->code_was = (uint32_t)code_instructions(v->job->cls, m).n;
	o->code_now = (uint32_t)code_instructions(v->job->cls, &woven).n;
	if (!huge || o->code_was > huge || o->code_now <= huge)
		return 0;
	m->lowered = (struct slice){ NULL, 0 };
	return fault_set(f, E_HUGE, -1,
			 "with the hook it has %u bytes, and HotSpot compiles no method of more "
			 "than %u",
			 o->code_now, huge);
}

static int merge_one(struct weaving *v, struct member *m, const struct template *t, size_t slot,
		     struct weave_outcome *o, struct fault *f)
{
	struct class *cls = v->job->cls;
	struct merge merge = { .template = t,
			       .seen = seen_of(v, t, slot),
			       .id = o->id,
			       .own_id = v->job->own_ids ? &o->own_id : NULL,
			       .throwable = &v->throwable,
			       .depths = v->depths,
			       .cond = v->cond,
			       .passes_by = slot == BUILTIN_MAX,
			       .anchor = v->anchor,
			       .value = v->value,
			       .numbers = v->job->numbers };
	struct slice unseen = { NULL, 0 };
	struct insn *brief = NULL;
	struct code *code;
	int rc;

	if (!merge.seen)
		return fault_no_memory(f);
	if (v->visible != t)
		unseen = template_invisible(t, cls);
	if (unseen.n)
		return fault_set(f, E_INVISIBLE, -1, "the template names %.*s, which %.*s does not",
				 SLICE_FMT(unseen), SLICE_FMT(class_name(cls)));
	v->visible = t;
	if (v->job->work != v->job->mem)
		arena_reset(v->job->work);
	rc = code_elevate_coarse(cls, m, &code, f);
	if (rc >= 0 && !v->moves && !code->old_header)
		merge.brief = &brief;
	if (rc >= 0)
		rc = merge_into(code, &merge, f);
	if (rc >= 0)
		rc = code_lower(code, f);
	if (rc >= 0)
		rc = check_size(v, m, o, f);
	if (rc >= 0 && v->job->own_ids)
		rc = keep_map(v, code, o, f);
	o->id_pc = rc >= 0 && brief ? (uint16_t)(brief->pc + 1) : 0;
	return rc;
}

/* Another template may do; of one that is too large, that of level timed. */
static bool is_misfit(int rc)
{
	return rc == E_MISFIT || rc == E_INVISIBLE || rc == E_STACK_AT_RETURN || rc == E_HUGE;
}

static size_t first_of(const char *category)
{
	size_t i = 0;

	while (i < builtin_count && strcmp(builtins[i].category, category) != 0)
		i++;
	return i;
}

/* Tries the variants of a category until one fits. */
static int merge_category(struct weaving *v, struct member *m, const char *category,
			  struct weave_outcome *o, struct fault *f)
{
	const struct class *cls = v->job->cls;
	int rc = E_MISFIT;

	if (category != v->category) {
		v->category = category;
		v->category_at = first_of(category);
	}
	for (size_t i = v->category_at; i < builtin_count; i++) {
		const struct builtin *b = &builtins[i];

		if (strcmp(b->category, category) != 0 ||
		    !glob_method(b->methods, member_name(cls, m), member_desc(cls, m)))
			continue;
		f->code = 0;
		rc = merge_one(v, m, v->w->builtin[i], i, o, f);
		o->template = v->w->builtin[i];
		o->got = category;
		if (!is_misfit(rc))
			return rc;
	}
	return rc;
}

/* Does its rule want whatever its class and it have to tell? */
static bool wants_full(const struct weave_outcome *o)
{
	return o->rule && o->rule->hook.level == LEVEL_FULL && !o->rule->hook.template.n;
}

/* ... or of any method? */
static bool wants_all(const struct weave_outcome *o)
{
	return o->rule && o->rule->hook.level == LEVEL_FULL &&
	       slice_is(o->rule->hook.template, "catch-all");
}

/* Is its hook to serve rules of any level? */
static bool is_shared(const struct weaving *v, const struct weave_outcome *o)
{
	return v->job->whole == WHOLE_FULL && !v->cond &&
	       (!o->rule || !o->rule->hook.template.n || wants_all(o));
}

/* The category that the rule names, or that the class and the method tell; NULL: none. */
static int category_of(struct weaving *v, struct member *m, const struct rule_method *facts,
		       struct weave_outcome *o)
{
	struct slice named = o->rule ? o->rule->hook.template : (struct slice){ NULL, 0 };
	int rc = 0;

	for (size_t i = 0; named.n && rule_templates[i]; i++)
		if (slice_is(named, rule_templates[i]) && strcmp("catch-all", rule_templates[i]))
			o->category = rule_templates[i];
	if (!wants_full(o) && !is_shared(v, o))
		return 0;
	if (!v->fit.cls)
		rc = fit_init(&v->fit, &v->facts, v->job->cls, v->job->mem);
	if (rc >= 0)
		o->category = fit_category(&v->fit, m, facts);
	return rc;
}

/* What woven code calls (SondeProbe, SondeFast, SondeText and what is nested in them) would call
 * itself if it were woven. */
static bool is_own(struct slice name)
{
	return slice_starts(name, slice_str(PROBE_PREFIX)) || slice_is(name, HERE_CLASS);
}

/* HotSpot looks at the code of finalize() when it loads a class: a lone return means that objects
 * need no finalizing.  Woven, Object.finalize() would make a finalizer of every object. */
static bool is_empty_finalizer(const struct class *cls, const struct member *m)
{
	return slice_is(member_name(cls, m), "finalize") && slice_is(member_desc(cls, m), "()V") &&
	       m->code.n > 8 && get_u32(m->code.p + 4) == 1;
}

static int find_id(struct weaving *v, const struct member *m, struct weave_outcome *o,
		   struct fault *f)
{
	if (v->job->id_of)
		o->id = v->job->id_of(v->job->id_ctx, v->job->cls, m);
	if (v->job->id_of && o->id < 0)
		return fault_set(f, o->id, -1, "%s", err_text(o->id));
	return 0;
}

/* What the method alone shows of a condition. */
static int check_condition(struct weaving *v, const struct member *m, const struct rule_hook *hook,
			   struct fault *f)
{
	const struct class *cls = v->job->cls;
	struct cond_method method = { class_name(cls), member_name(cls, m), member_desc(cls, m),
				      m->access };
	struct cond_trouble t;

	v->cond = hook ? hook->condition : NULL;
	if (!v->cond)
		return 0;
	if (hook->template_rule && cond_is_late(v->cond))
		return fault_set(f, E_UNSUPPORTED, -1,
				 "the rule tests $return, and its own template has begun by then");
	if (hook->template_rule && v->anchor)
		return fault_set(f, E_UNSUPPORTED, -1,
				 "others are `inside` it, and its own template is passed by when "
				 "`if` is not met");
	if (hook->template_rule && v->w->own[hook->template_rule->index]->catches)
		return fault_set(f, E_UNSUPPORTED, -1,
				 "the rule has `if`, and its own template catches around the body");
	return cond_check(hook->condition, &method, NULL, &t) < 0
		       ? fault_set(f, E_CONDITION, -1, "%s", t.text)
		       : 0;
}

/* Does it matter for some sequence whether the method was called directly? */
static bool directness_matters(const struct weave_outcome *o)
{
	for (size_t i = 0; i < o->rule->hook.context_count; i++) {
		const struct context *c = &o->rule->hook.contexts[i];

		if (c->steps[c->n - 1].direct)
			return true;
	}
	return false;
}

/* Where contexts have to be found out, or a call may have to be taken back at its exit, counting is
 * not enough: the probe must be able to ask, a step must be on the stack. */
static const char *level_of(const struct weaving *v, const struct weave_outcome *o)
{
	enum rule_level level = o->rule ? o->rule->hook.level : LEVEL_TIMED;

	if (level == LEVEL_LIGHT && (v->job->whole || o->n_anchors || directness_matters(o) ||
				     (v->cond && cond_is_late(v->cond))))
		level = LEVEL_TIMED;
	return rule_level_text(level);
}

static int weave_method(struct weaving *v, struct member *m, const struct rule_method *facts,
			struct weave_outcome *o, struct fault *f)
{
	const struct rule_hook *hook = o->rule ? &o->rule->hook : NULL;
	const struct rule *own = hook ? hook->template_rule : NULL;
	int rc = 0;

	if (hook &&
	    ((v->job->ahead && hook->context_count) || (!v->job->numbers && hook->condition)))
		return fault_set(
			f, E_UNSUPPORTED, -1,
			"the rule has `inside` or `if`, which only a running agent decides");
	if (!m->code.p)
		return fault_set(f, E_NO_CODE, -1, "is %s",
				 m->access & ACC_NATIVE ? "native" : "abstract");
	if (is_empty_finalizer(v->job->cls, m))
		return fault_set(f, E_EMPTY_FINALIZER, -1, "%s", err_text(E_EMPTY_FINALIZER));
	v->anchor = o->n_anchors != 0;
	rc = check_condition(v, m, hook, f);
	if (rc < 0)
		return rc;
	rc = find_id(v, m, o, f);
	if (rc < 0)
		return rc;
	if (own) {
		o->template = v->w->own[own->index];
		return merge_one(v, m, o->template, BUILTIN_MAX, o, f);
	}
	rc = category_of(v, m, facts, o);
	if (rc < 0)
		return fault_set(f, rc, -1, "out of memory");
	/* What a category's template tells, it asks the program for, wanted or not. */
	if (o->category && (!is_shared(v, o) || wants_full(o))) {
		rc = merge_category(v, m, o->category, o, f);
		if (!is_misfit(rc))
			return rc;
	}
	if (is_shared(v, o) && (!o->category || wants_full(o) || wants_all(o))) {
		rc = merge_category(v, m, "whole", o, f);
		if (!is_misfit(rc))
			return rc;
	}
	return merge_category(v, m, level_of(v, o), o, f);
}

/* Which steps of sequences the method is. */
static int find_anchors(struct weaving *v, const struct rule_method *facts, struct weave_outcome *o)
{
	enum { USUAL = 8 };
	struct rule_anchor *list = arena_alloc(v->job->mem, USUAL * sizeof(*list));
	size_t n, kept = 0;

	if (!list)
		return E_NO_MEMORY;
	n = rules_match_anchors(v->w->rules, &v->facts, facts, list, USUAL);
	if (n > USUAL) {
		list = arena_alloc(v->job->mem, n * sizeof(*list));
		if (!list)
			return E_NO_MEMORY;
		rules_match_anchors(v->w->rules, &v->facts, facts, list, n);
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].rule->kind == RULE_HOOK)
			list[kept++] = list[i];
	o->anchors = list;
	o->n_anchors = kept;
	return 0;
}

static int weave_methods(struct weaving *v, struct fault *f)
{
	struct weave_job *job = v->job;
	struct class *cls = job->cls;

	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct weave_outcome *o = &job->outcomes[job->n_outcomes];
		struct rule_method facts;
		struct fault why = { 0 };
		int rc = class_facts_of_method(cls, &cls->methods[i], job->mem, &facts);

		if (rc < 0)
			return fault_set(f, rc, -1, "malformed annotations");
		*o = (struct weave_outcome){ .method = i, .id = job->first_id + (int32_t)i };
		o->rule = rules_match_chosen(&v->choice, &facts);
		rc = v->w->has_steps && !job->ahead ? find_anchors(v, &facts, o) : 0;
		if (rc < 0)
			return fault_set(f, rc, -1, "out of memory");
		if (!o->rule && !o->n_anchors)
			continue;
		o->rc = weave_method(v, &cls->methods[i], &facts, o, &why);
		if (o->rc == E_NO_MEMORY)
			return fault_set(f, o->rc, -1, "out of memory");
		if (o->rc < 0) {
			o->template = NULL;
			o->why = arena_str(job->mem, slice_str(why.text));
		}
		job->n_woven += o->rc >= 0;
		job->n_outcomes++;
	}
	return 0;
}

/* The methods that no rule wants.  Last, since there may not be room for all constants; one that
 * cannot be woven is no loss. */
static int weave_others(struct weaving *v, struct fault *f)
{
	struct weave_job *job = v->job;
	struct class *cls = job->cls;
	uint32_t wanted = job->n_outcomes, next = 0;

	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct weave_outcome *o = &job->outcomes[job->n_outcomes];
		struct rule_method facts;
		struct fault why = { 0 };
		int rc;

		if (next < wanted && job->outcomes[next].method == i) {
			next++;
			continue;
		}
		rc = class_facts_of_method(cls, &cls->methods[i], job->mem, &facts);
		if (rc < 0)
			return fault_set(f, rc, -1, "malformed annotations");
		*o = (struct weave_outcome){ .method = i, .id = job->first_id + (int32_t)i };
		rc = weave_method(v, &cls->methods[i], &facts, o, &why);
		if (rc == E_NO_MEMORY)
			return fault_set(f, rc, -1, "out of memory");
		job->partly |= rc == E_POOL_FULL || rc == E_LIMIT;
		job->n_woven += rc >= 0;
		job->n_outcomes += rc >= 0;
	}
	return 0;
}

/* ---- captures ----------------------------------------------------------------------------- */

/* A method may be hooked and have several values captured.  Each capture is merged around what is
 * there by then, in a pass of its own over the bytes of the one before: few classes have any. */
struct capturing {
	struct weaving *v;  /* of the class as it was given */
	struct slice bytes; /* as it is now */
	size_t most;	    /* captures at one method */
};

enum { CAPTURES_MAX = 8 }; /* at one method */

/* The k-th capture at a method, NULL: there are fewer. */
static const struct rule *capture_at(struct weaving *v, uint32_t method, size_t k, size_t *n)
{
	struct rule_anchor anchors[64];
	const struct rule *found = NULL;
	struct class *cls = v->job->cls;
	struct rule_method facts;
	size_t all;

	*n = 0;
	if (class_facts_of_method(cls, &cls->methods[method], v->job->mem, &facts) < 0)
		return NULL;
	all = rules_match_anchors(v->w->rules, &v->facts, &facts, anchors, COUNT(anchors));
	for (size_t i = 0; i < all && i < COUNT(anchors) && *n < CAPTURES_MAX; i++) {
		if (anchors[i].rule->kind != RULE_CAPTURE)
			continue;
		if ((*n)++ == k)
			found = anchors[i].rule;
	}
	return found;
}

static int capture_one(struct weaving *v, struct member *m, const struct rule *rule,
		       struct slice *map, struct fault *f)
{
	const struct class *cls = v->job->cls;
	struct cond_method method = { class_name(cls), member_name(cls, m), member_desc(cls, m),
				      m->access };
	size_t at = first_of("capture");
	struct weave_outcome o = { 0 };
	struct cond_trouble t;
	int32_t slot;
	int rc;

	if (!v->job->numbers)
		return fault_set(f, E_UNSUPPORTED, -1, "only a running agent captures values");
	if (!m->code.p)
		return fault_set(f, E_NO_CODE, -1, "is %s",
				 m->access & ACC_NATIVE ? "native" : "abstract");
	if (cond_check_value(rule->capture.value, &method, NULL, &t) < 0)
		return fault_set(f, E_CONDITION, -1, "%s", t.text);
	slot = v->job->numbers->slot(v->job->numbers->ctx, rule->capture.name);
	if (slot < 0)
		return fault_set(f, slot, -1, "%s", err_text(slot));
	v->value = rule->capture.value;
	o.id = slot;
	rc = merge_one(v, m, v->w->builtin[at], at, &o, f);
	if (o.own_id)
		v->job->numbers->placed(v->job->numbers->ctx, slot, o.own_id);
	*map = o.map;
	return rc;
}

/* Enters the outcome of a capture, unless the method has a better one already. */
static int note_capture(struct weaving *v, uint32_t method, const struct rule *rule, int rc,
			const struct fault *why)
{
	struct weave_job *job = v->job;
	struct weave_outcome *o = &job->outcomes[job->n_outcomes];
	struct fault f = { 0 };

	for (uint32_t i = 0; i < job->n_outcomes; i++)
		if (job->outcomes[i].method == method &&
		    (job->outcomes[i].rc >= 0 ||
		     (job->outcomes[i].rule && job->outcomes[i].rule->kind == RULE_CAPTURE)))
			return 0;
	*o = (struct weave_outcome){
		.method = method, .id = job->first_id + (int32_t)method, .rule = rule, .rc = rc
	};
	if (rc >= 0)
		o->rc = find_id(v, &job->cls->methods[method], o, &f);
	if (o->rc < 0)
		o->why = arena_str(job->mem, slice_str(rc < 0 ? why->text : f.text));
	job->n_woven += o->rc >= 0;
	job->n_outcomes++;
	return 0;
}

/* The offset that a map (code_offset_map) gives; pieces are asked for in their order. */
static uint32_t offset_in(struct slice map, uint32_t old, uint32_t *piece)
{
	uint32_t n = map.n ? get_u16(map.p) : 0;
	const uint8_t *p;

	while (*piece < n && get_u16(map.p + 2 + 4 * *piece) <= old)
		++*piece;
	if (!*piece)
		return old;
	p = map.p + 4 * *piece - 2;
	return old - get_u16(p) + get_u16(p + 2);
}

/* The method has been merged with a template once more: its map leads to where its code is now. */
static int follow_map(struct weaving *v, uint32_t method, struct slice map, struct fault *f)
{
	struct weave_job *job = v->job;
	size_t end = code_instructions(job->cls, &job->cls->methods[method]).n;
	uint32_t first = 0, second = 0, distance = 0, n = 0, k = 0;
	struct weave_outcome *o = job->outcomes;

	while (k < job->n_outcomes && (o[k].method != method || o[k].rc < 0))
		k++;
	if (k == job->n_outcomes)
		return 0;
	o += k;
	buf_clear(&v->map);
	buf_u16(&v->map, 0);
	for (uint32_t old = 0; old < end; old++) { /* what was behind stays behind */
		uint32_t now = offset_in(map, offset_in(o->map, old, &first), &second);

		if (now - old == distance)
			continue;
		distance = now - old;
		buf_u16(&v->map, old);
		buf_u16(&v->map, now);
		n++;
	}
	if (!v->map.err)
		put_u16(v->map.p, (uint16_t)n);
	o->map = arena_dup(job->mem, buf_slice(&v->map));
	return v->map.err || !o->map.p ? fault_no_memory(f) : 0;
}

/* One capture at each method that has so many. */
static int capture_pass(struct capturing *c, size_t k, struct buf *out, struct fault *f)
{
	struct weave_job job = *c->v->job;
	struct weaving v = { .w = c->v->w, .job = &job, .facts = c->v->facts, .moves = true };
	uint32_t n = 0;
	int rc = class_read(job.mem, c->bytes, &job.cls, f);

	if (rc < 0)
		return rc;
	job.cls->work = job.work;
	v.depths = arena_zero(job.mem, depth_memory(job.cls));
	if (!v.depths)
		rc = fault_no_memory(f);
	for (uint32_t i = 0; i < job.cls->n_methods && rc >= 0; i++) {
		struct fault why = { 0 };
		struct slice map = { NULL, 0 };
		const struct rule *rule;
		size_t all;
		int one;

		rule = capture_at(c->v, i, k, &all);
		c->most = all > c->most ? all : c->most;
		if (!rule)
			continue;
		one = capture_one(&v, &job.cls->methods[i], rule, &map, &why);
		if (one == E_NO_MEMORY)
			rc = fault_set(f, one, -1, "out of memory");
		n += one >= 0;
		note_capture(c->v, i, rule, one, &why);
		if (one >= 0 && job.own_ids)
			rc = follow_map(c->v, i, map, f);
	}
	if (rc >= 0 && n)
		rc = class_write(job.cls, out);
	class_release(job.cls);
	buf_release(&v.map);
	return rc;
}

static int weave_captures(struct weaving *v, struct slice bytes, struct buf *out, struct fault *f)
{
	struct capturing c = { .v = v, .bytes = bytes, .most = 1 };
	struct buf now = { 0 };
	int rc = v->job->n_woven ? class_write(v->job->cls, &now) : 0;

	for (size_t k = 0; k <= c.most && rc >= 0; k++) {
		if (now.n)
			c.bytes = arena_dup(v->job->mem, buf_slice(&now));
		if (!c.bytes.p)
			rc = fault_no_memory(f);
		buf_clear(&now);
		if (rc >= 0 && k < c.most)
			rc = capture_pass(&c, k, &now, f);
	}
	buf_release(&now);
	if (rc >= 0 && v->job->n_woven)
		buf_put(out, c.bytes);
	return rc < 0 ? rc : out->err;
}

/* Where the ids lie in the class that was written: new constants stand behind the old ones.  Gives
 * where those end. */
static size_t find_constant_ids(struct weave_job *job)
{
	const struct pool *p = &job->cls->pool;
	size_t at = 10 + p->bytes.n;
	uint32_t i = p->read;

	for (uint32_t k = 0; k < job->n_outcomes; k++) {
		struct weave_outcome *o = &job->outcomes[k];

		for (; i < o->own_id; i++) /* ids are made in the order of the methods */
			at += *p->at[i] ? pool_entry_size(p->at[i]) : 0;
		o->id_at = o->rc >= 0 && o->own_id ? (uint32_t)at + 1 : 0;
	}
	for (; i < p->n; i++)
		at += *p->at[i] ? pool_entry_size(p->at[i]) : 0;
	return at;
}

/* The same of those that stand in the code, as class_write has put it. */
static void find_ids(struct weave_job *job)
{
	const struct class *cls = job->cls;
	size_t at = find_constant_ids(job) + cls->middle.n;
	uint32_t i = 0;

	for (uint32_t k = 0; k < job->n_outcomes; k++) {
		struct weave_outcome *o = &job->outcomes[k];
		const struct member *m = &cls->methods[o->method];

		if (!o->id_pc)
			continue;
		for (; i < o->method; i++)
			at += class_method_size(&cls->methods[i]);
		o->id_at = (uint32_t)(at + (size_t)(m->code.p - m->bytes.p) + 8 + o->id_pc);
	}
}

/* Is there a capture about the class?  Then its code is moved once more.  Captures elsewhere make
 * no difference: what becomes of a class follows from the rules that touch it. */
static int find_captures(struct weaving *v)
{
	const struct rule **touching;
	size_t n;

	if (!v->w->captures)
		return 0;
	touching = arena_alloc(v->job->mem, (v->w->rules->n + 1) * sizeof(*touching));
	if (!touching)
		return E_NO_MEMORY;
	n = rules_touching(v->w->rules, &v->facts, touching);
	for (size_t i = 0; i < n; i++)
		v->moves |= touching[i]->kind == RULE_CAPTURE;
	return 0;
}

int weave_class(const struct weaver *w, struct weave_job *job, struct slice bytes, struct buf *out,
		struct fault *f)
{
	struct weaving v = { .w = w, .job = job };
	struct rule_lineage *lineage;
	int rc;

	job->n_outcomes = job->n_woven = 0;
	job->partly = false;
	job->cls = NULL;
	rc = class_read(job->mem, bytes, &job->cls, f);
	if (rc < 0)
		return rc;
	job->cls->work = job->work;
	lineage = arena_alloc(job->mem, sizeof(*lineage));
	job->outcomes =
		arena_alloc(job->mem, (2 * job->cls->n_methods + 1) * sizeof(*job->outcomes));
	if (!job->outcomes || !lineage)
		return fault_no_memory(f);
	lineage->ready = false;
	rc = class_facts_of_class(job->cls, job->mem, &v.facts);
	if (rc < 0)
		return fault_set(f, rc, -1, "malformed annotations");
	v.facts.resolver = job->resolver;
	v.facts.lineage = lineage;
	if (is_own(v.facts.name) || !rules_class_may_match(w->rules, &v.facts))
		return 0;
	v.depths = arena_zero(job->mem, depth_memory(job->cls));
	if (!v.depths || find_captures(&v) < 0)
		return fault_no_memory(f);
	if (v.moves)
		job->whole = WHOLE_NO;
	rules_choose(w->rules, &v.facts, &v.choice);
	rc = weave_methods(&v, f);
	if (rc >= 0 && job->whole && job->n_woven)
		rc = weave_others(&v, f);
	if (rc >= 0 && w->captures)
		rc = weave_captures(&v, bytes, out, f);
	else if (rc >= 0 && job->n_woven)
		rc = class_write(job->cls, out);
	if (rc >= 0 && job->own_ids)
		find_ids(job);
	buf_release(&v.map);
	return rc;
}
