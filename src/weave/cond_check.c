/* SPDX-License-Identifier: Apache-2.0 */
/* cond_check.c - is a condition possible for a method?
 *
 * Every value has a type: a descriptor, or none, when it is not known before the program runs (an
 * element of a list, a captured value, a class that is not loaded).  What is not known is never
 * wrong: it is found out when the value comes.  Errors are reported with their place in the rule. */
#include "weave/cond_code.h"

#include <stdarg.h>
#include <stdio.h>

#include "classfile/desc.h"
#include "rule/print.h"
#include "rule/text.h"

enum { KIN_MAX = 256 }; /* ancestors looked at */

struct checking {
	const struct cond_method *m;
	const struct cond_classes *classes;
	struct cond_trouble *t;
};

static const struct slice unknown = { NULL, 0 };

static int trouble(struct cond_trouble *t, struct rule_pos at, const char *hint, const char *fmt,
		   ...) __attribute__((format(printf, 4, 5), cold));

static int trouble(struct cond_trouble *t, struct rule_pos at, const char *hint, const char *fmt,
		   ...)
{
	va_list ap;

	t->at = at;
	snprintf(t->hint, sizeof(t->hint), "%s", hint ? hint : "");
	va_start(ap, fmt);
	vsnprintf(t->text, sizeof(t->text), fmt, ap);
	va_end(ap);
	return E_CONDITION;
}

/* ---- types as text ------------------------------------------------------------------------ */

struct type_text {
	char s[120];
};

static struct type_text type_text(struct slice type)
{
	struct type_text out = { "" };
	unsigned dims = 0;
	const char *basic;
	size_t n;

	for (; type.n && type.p[0] == '['; dims++)
		type = (struct slice){ type.p + 1, type.n - 1 };
	basic = type.n ? desc_primitive(type.p[0]) : "?";
	if (basic)
		snprintf(out.s, sizeof(out.s), "%s", basic);
	else
		snprintf(out.s, sizeof(out.s), "%.*s", (int)type.n - 2, type.p + 1);
	text_replace(out.s, '/', '.');
	for (n = strlen(out.s); dims && n + 3 < sizeof(out.s); dims--, n += 2)
		memcpy(out.s + n, "[]", 3);
	return out;
}

static struct type_text class_text(struct slice name)
{
	struct type_text out;

	snprintf(out.s, sizeof(out.s), "%.*s", SLICE_FMT(name));
	text_replace(out.s, '/', '.');
	return out;
}

static struct type_text value_text(const struct value *v)
{
	struct type_text out = { "" };
	struct buf b = { 0 };

	value_print(v, &b);
	snprintf(out.s, sizeof(out.s), "%.*s", (int)b.n, b.p ? (const char *)b.p : "");
	buf_release(&b);
	return out;
}

static bool is_basic(struct slice type)
{
	return type.n && type.p[0] != 'L' && type.p[0] != '[';
}

static bool is_class(struct slice type, const char *name)
{
	return type.n == strlen(name) + 2 && type.p[0] == 'L' &&
	       memcmp(type.p + 1, name, type.n - 2) == 0;
}

/* Of java.lang.Object nothing is known, too. */
static struct slice known(struct slice type)
{
	return is_class(type, "java/lang/Object") ? unknown : type;
}

static struct slice class_of(struct slice type)
{
	return (struct slice){ type.p + 1, type.n - 2 };
}

/* ---- classes ------------------------------------------------------------------------------ */

static const struct cond_class *find_class(const struct cond_classes *classes, struct slice name)
{
	return classes && name.n ? classes->find(classes->ctx, name) : NULL;
}

/* The class, then its ancestors, each once, nearest first. */
struct ancestry {
	const struct cond_class *v[KIN_MAX];
	size_t n;
	bool cut; /* some are not loaded, or too many */
};

static void add_kin(struct ancestry *k, const struct cond_class *c)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i] == c)
			return;
	if (!c || k->n == KIN_MAX)
		k->cut = true;
	else
		k->v[k->n++] = c;
}

static void kin_of(struct ancestry *k, const struct cond_class *c,
		   const struct cond_classes *classes)
{
	k->n = 0;
	k->cut = false;
	add_kin(k, c);
	for (size_t i = 0; i < k->n; i++) {
		c = k->v[i];
		if (c->super.n)
			add_kin(k, find_class(classes, c->super));
		for (size_t j = 0; j < c->n_interfaces; j++)
			add_kin(k, find_class(classes, c->interfaces[j]));
	}
}

/* Is the type this class or below it?  1, 0, or -1: not known. */
static int is_below(const struct checking *c, struct slice type, const char *name)
{
	const struct cond_class *cls;
	struct ancestry k;

	if (!type.n || type.p[0] != 'L')
		return type.n ? 0 : -1;
	if (is_class(type, name))
		return 1;
	cls = find_class(c->classes, class_of(type));
	if (!cls)
		return -1;
	kin_of(&k, cls, c->classes);
	for (size_t i = 0; i < k.n; i++)
		if (slice_is(k.v[i]->name, name))
			return 1;
	/* of what is not final there may be anything below */
	return k.cut || !(cls->access & ACC_FINAL) ? -1 : 0;
}

/* ---- steps -------------------------------------------------------------------------------- */

static int check_field(const struct checking *c, const struct step *s, struct slice *type)
{
	struct text_guess guess = text_guess(s->name);
	const struct cond_class *cls;
	char hint[128] = "";
	struct ancestry k;

	if (type->p[0] == '[') {
		if (!slice_is(s->name, "length"))
			return trouble(c->t, s->at, "of an array there is .length",
				       "%s has no field '%.*s'", type_text(*type).s,
				       SLICE_FMT(s->name));
		*type = (struct slice){ (const uint8_t *)"I", 1 };
		return 0;
	}
	cls = find_class(c->classes, class_of(*type));
	if (!cls) {
		*type = unknown;
		return 0;
	}
	kin_of(&k, cls, c->classes);
	for (size_t i = 0; i < k.n; i++) {
		for (size_t j = 0; j < k.v[i]->n_fields; j++) {
			const struct cond_member *f = &k.v[i]->fields[j];

			if (slice_eq(f->name, s->name) && f->access & ACC_STATIC)
				return trouble(c->t, s->at, NULL,
					       "%s.%.*s is static; fields of objects are read",
					       class_text(k.v[i]->name).s, SLICE_FMT(s->name));
			if (slice_eq(f->name, s->name)) {
				*type = known(f->desc);
				return 0;
			}
			if (!(f->access & (ACC_SYNTHETIC | ACC_STATIC)))
				text_guess_try(&guess, f->name);
		}
		for (size_t j = 0; j < k.v[i]->n_methods; j++)
			if (slice_eq(k.v[i]->methods[j].name, s->name))
				snprintf(hint, sizeof(hint), "a method is written '%.*s()'",
					 SLICE_FMT(s->name));
	}
	if (k.cut) {
		*type = unknown;
		return 0;
	}
	if (!hint[0])
		text_guess_hint(&guess, "", hint, sizeof(hint));
	return trouble(c->t, s->at, hint, "%s has no field '%.*s'", class_text(cls->name).s,
		       SLICE_FMT(s->name));
}

/* How well a literal fits a parameter: 0 not at all, more is better. */
static int fits(const struct value *v, struct slice type)
{
	static const char ints[] = "IJFD", longs[] = "JFD", chars[] = "CIJFD";
	const char *list, *at;

	if (v->kind == VALUE_NULL)
		return is_basic(type) ? 0 : 1;
	if (v->kind == VALUE_STRING)
		return is_class(type, "java/lang/String")	  ? 3
		       : is_class(type, "java/lang/CharSequence") ? 2
		       : is_class(type, "java/lang/Object") ||
				       is_class(type, "java/lang/Comparable")
			       ? 1
			       : 0;
	if (!is_basic(type)) {
		static const char *const boxes[] = { [VALUE_CHAR] = "java/lang/Character",
						     [VALUE_INT] = "java/lang/Integer",
						     [VALUE_LONG] = "java/lang/Long",
						     [VALUE_DOUBLE] = "java/lang/Double",
						     [VALUE_BOOL] = "java/lang/Boolean" };

		return is_class(type, boxes[v->kind])	    ? 2
		       : is_class(type, "java/lang/Object") ? 1
							    : 0;
	}
	switch (v->kind) {
	case VALUE_BOOL:
		return type.p[0] == 'Z' ? 9 : 0;
	case VALUE_CHAR:
		list = chars;
		break;
	case VALUE_LONG:
		list = longs;
		break;
	case VALUE_DOUBLE:
		return type.p[0] == 'D' ? 9 : 0;
	default:
		if (type.p[0] == 'S' || type.p[0] == 'B')
			return v->number == (type.p[0] == 'S' ? (int16_t)v->number
							      : (int8_t)v->number)
				       ? 3
				       : 0;
		list = ints;
	}
	at = strchr(list, type.p[0]);
	return at ? 9 - (int)(at - list) : 0;
}

/* 0: the literals do not fit the parameters; more is better. */
static int fits_all(const struct value *args, struct slice desc)
{
	struct desc_iter it = desc_args(desc);
	int sum = 1;

	for (; desc_next(&it); args = args->next) {
		int one = args ? fits(args, it.type) : 0;

		if (!one)
			return 0;
		sum += one;
	}
	return args ? 0 : sum;
}

static struct slice parameters(struct slice desc)
{
	const uint8_t *end = memchr(desc.p, ')', desc.n);

	return (struct slice){ desc.p, end ? (size_t)(end - desc.p) : desc.n };
}

/* As much as there is room for. */
static void append(struct type_text *out, const char *more)
{
	size_t n = strlen(out->s), left = sizeof(out->s) - 1 - n, m = strlen(more);

	memcpy(out->s + n, more, m < left ? m : left);
	out->s[n + (m < left ? m : left)] = '\0';
}

static struct type_text parameters_text(struct slice name, struct slice desc)
{
	struct desc_iter it = desc_args(desc);
	struct type_text out;
	int count = 0;

	snprintf(out.s, sizeof(out.s), "%.*s(", (int)(name.n > 40 ? 40 : name.n), name.p);
	while (desc_next(&it)) {
		append(&out, count++ ? ", " : "");
		append(&out, type_text(it.type).s);
	}
	append(&out, ")");
	return out;
}

struct search {
	const struct cond_site *call;
	const struct cond_member *best, *tie, *other;
	const struct cond_class *owner;
	int score;
	struct text_guess guess;
};

/* A JVM keeps methods of one name in no order: what is said of them is the same each time. */
static const struct cond_member *first_of(const struct cond_member *a, const struct cond_member *b)
{
	return slice_cmp(a->desc, b->desc) <= 0 ? a : b;
}

static void try_method(struct search *s, const struct cond_class *c, const struct cond_member *m)
{
	int score;

	if (!slice_eq(m->name, s->call->name)) {
		if (m->name.p[0] != '<' && !(m->access & ACC_SYNTHETIC))
			text_guess_try(&s->guess, m->name);
		return;
	}
	score = m->access & ACC_BRIDGE ? 0 : fits_all(s->call->args, m->desc);
	if (!score) {
		s->other = s->other ? first_of(s->other, m) : m;
		return;
	}
	if (s->best && slice_eq(parameters(s->best->desc), parameters(m->desc))) {
		/* the same, further up; code is better than none */
		if (s->best->access & ACC_ABSTRACT && !(m->access & ACC_ABSTRACT)) {
			s->best = m;
			s->owner = c;
		}
		return;
	}
	if (score > s->score) {
		s->best = m;
		s->owner = c;
		s->score = score;
		s->tie = NULL;
	} else if (score == s->score) {
		const struct cond_member *first = first_of(s->best, m);
		const struct cond_member *second = first == m ? s->best : m;

		s->tie = s->tie ? first_of(s->tie, second) : second;
		s->best = first;
	}
}

const struct cond_member *cond_find_method(const struct cond_class *c, const struct cond_site *call,
					   const struct cond_classes *classes,
					   const struct cond_class **owner, struct cond_trouble *t)
{
	struct search s = { .call = call, .guess = text_guess(call->name) };
	struct type_text cls = class_text(c->name);
	char hint[128] = "";
	struct ancestry k;

	kin_of(&k, c, classes);
	if (c->access & ACC_INTERFACE)
		add_kin(&k, find_class(classes, slice_str("java/lang/Object")));
	for (size_t i = 0; i < k.n; i++)
		for (size_t j = 0; j < k.v[i]->n_methods; j++)
			try_method(&s, k.v[i], &k.v[i]->methods[j]);
	*owner = s.owner;
	if (s.best && !s.tie)
		return s.best;
	if (s.tie) {
		trouble(t, t->at, "write the literals so that one fits better",
			"ambiguous: %s has %s and %s", cls.s,
			parameters_text(s.best->name, s.best->desc).s,
			parameters_text(s.tie->name, s.tie->desc).s);
	} else if (s.other) {
		snprintf(hint, sizeof(hint), "there is %.110s",
			 parameters_text(s.other->name, s.other->desc).s);
		trouble(t, t->at, hint, "%s has no method '%.*s' for these arguments", cls.s,
			SLICE_FMT(call->name));
	} else if (k.cut) {
		t->text[0] = '\0'; /* perhaps further up */
	} else {
		text_guess_hint(&s.guess, "", hint, sizeof(hint));
		trouble(t, t->at, hint, "%s has no method '%.*s'", cls.s, SLICE_FMT(call->name));
	}
	return NULL;
}

static int check_call(const struct checking *c, const struct step *s, struct slice *type)
{
	struct cond_site site = cond_site_of_step(s);
	const struct cond_class *cls, *owner = NULL;
	const struct cond_member *m;
	char why[160];

	if (type->p[0] == '[')
		return trouble(c->t, s->at, "of an array there is .length", "%s has no methods",
			       type_text(*type).s);
	cls = find_class(c->classes, class_of(*type));
	*type = unknown;
	if (!cls)
		return 0;
	c->t->at = s->at;
	m = cond_find_method(cls, &site, c->classes, &owner, c->t);
	if (!m)
		return c->t->text[0] ? E_CONDITION : 0;
	*type = known(desc_return(m->desc));
	if (type->n && type->p[0] == 'V')
		return trouble(c->t, s->at, NULL, "%s.%.*s returns nothing",
			       class_text(owner->name).s, SLICE_FMT(m->name));
	if (!s->trusted && !(m->access & ACC_ABSTRACT) && c->classes->harm &&
	    c->classes->harm(c->classes->ctx, owner, m, why, sizeof(why))) {
		char hint[128];

		snprintf(hint, sizeof(hint), "write '.%.*s!(...)' if it may be called all the same",
			 (int)(s->name.n > 40 ? 40 : s->name.n), s->name.p);
		return trouble(c->t, s->at, hint, "%s.%.*s %s", class_text(owner->name).s,
			       SLICE_FMT(m->name), why);
	}
	return 0;
}

static int check_index(const struct checking *c, const struct step *s, struct slice *type)
{
	if (type->p[0] == '[') {
		if (s->args->kind != VALUE_INT)
			return trouble(c->t, s->args->at, NULL,
				       "the index of an array is a whole number");
		*type = known((struct slice){ type->p + 1, type->n - 1 });
		return 0;
	}
	if (is_below(c, *type, "java/util/Map") == 0 && is_below(c, *type, "java/util/List") == 0)
		return trouble(c->t, s->at, NULL, "%s is neither an array nor a list nor a map",
			       type_text(*type).s);
	if (is_below(c, *type, "java/util/List") == 1 && s->args->kind != VALUE_INT)
		return trouble(c->t, s->args->at, NULL, "the index of a list is a whole number");
	*type = unknown;
	return 0;
}

static int check_steps(const struct checking *c, const struct value *v, struct slice *type)
{
	for (const struct step *s = v->steps; s; s = s->next) {
		int rc;

		if (is_basic(*type))
			return trouble(c->t, s->at, NULL, "a value of type %s has no parts",
				       type_text(*type).s);
		if (!type->n)
			return 0; /* nor is what comes behind it */
		rc = s->kind == STEP_FIELD  ? check_field(c, s, type)
		     : s->kind == STEP_CALL ? check_call(c, s, type)
					    : check_index(c, s, type);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- values ------------------------------------------------------------------------------- */

static int check_argument(const struct checking *c, const struct value *v, struct slice *type)
{
	struct desc_iter it = desc_args(c->m->desc);
	int64_t n = 0;

	while (desc_next(&it))
		if (++n == v->number) {
			*type = known(it.type);
			return 0;
		}
	return trouble(c->t, v->at, NULL, "there is no $%d: %s::%.*s has %d parameter%s",
		       (int)v->number, class_text(c->m->class).s, SLICE_FMT(c->m->name), (int)n,
		       n == 1 ? "" : "s");
}

/* The type of a value: a descriptor; empty: not known; of `null`, "N". */
static int check_value(const struct checking *c, const struct value *v, struct slice *type,
		       struct buf *room)
{
	static const char *const literals[] = { [VALUE_STRING] = "Ljava/lang/String;",
						[VALUE_CHAR] = "C",
						[VALUE_INT] = "I",
						[VALUE_LONG] = "J",
						[VALUE_DOUBLE] = "D",
						[VALUE_BOOL] = "Z",
						[VALUE_NULL] = "N" };
	int rc = 0;

	*type = unknown;
	if (v->kind != VALUE_PATH) {
		*type = slice_str(literals[v->kind]);
		return 0;
	}
	switch (v->root) {
	case ROOT_ARGUMENT:
		rc = check_argument(c, v, type);
		break;
	case ROOT_THIS:
		if (c->m->access & ACC_STATIC)
			return trouble(c->t, v->at, NULL, "%s::%.*s is static: there is no $this",
				       class_text(c->m->class).s, SLICE_FMT(c->m->name));
		buf_clear(room);
		buf_u8(room, 'L');
		buf_put(room, c->m->class);
		buf_u8(room, ';');
		*type = room->err ? unknown : known(buf_slice(room));
		break;
	case ROOT_RETURN:
		*type = known(desc_return(c->m->desc));
		if (type->n && type->p[0] == 'V')
			return trouble(c->t, v->at, NULL, "%s::%.*s returns nothing",
				       class_text(c->m->class).s, SLICE_FMT(c->m->name));
		break;
	case ROOT_CAPTURE:
		break;
	}
	return rc < 0 ? rc : check_steps(c, v, type);
}

/* ---- tests -------------------------------------------------------------------------------- */

static bool is_boxed_number(struct slice t)
{
	static const char *const boxes[] = { "java/lang/Integer",  "java/lang/Long",
					     "java/lang/Double",   "java/lang/Short",
					     "java/lang/Byte",	   "java/lang/Float",
					     "java/lang/Character" };

	for (size_t i = 0; i < COUNT(boxes); i++)
		if (is_class(t, boxes[i]))
			return true;
	return false;
}

/* Can it be?  What is not known can be anything. */
static bool may_be_number(const struct checking *c, struct slice t)
{
	if (is_basic(t))
		return t.p[0] != 'Z' && t.p[0] != 'N';
	return !t.n || is_boxed_number(t) ||
	       (t.p[0] == 'L' && is_below(c, t, "java/lang/Number") != 0 &&
		!is_class(t, "java/lang/String") && !is_class(t, "java/lang/Boolean"));
}

static bool may_be_text(const struct checking *c, struct slice t)
{
	if (is_basic(t) || (t.n && t.p[0] == '[') || is_boxed_number(t) ||
	    is_class(t, "java/lang/Boolean"))
		return false;
	return !t.n || is_class(t, "java/lang/String") || is_class(t, "java/lang/Class") ||
	       is_below(c, t, "java/lang/Enum") != 0;
}

static bool may_be_truth(const struct checking *c, struct slice t)
{
	return !t.n || t.p[0] == 'Z' || is_class(t, "java/lang/Boolean") ||
	       (t.p[0] == 'L' && is_below(c, t, "java/lang/Boolean") != 0 && !is_boxed_number(t) &&
		!is_class(t, "java/lang/String"));
}

static int must(const struct checking *c, const struct value *v, struct slice type, bool is,
		const char *what)
{
	if (is)
		return 0;
	return trouble(c->t, v->at, NULL, "%s is of type %s, which is not %s", value_text(v).s,
		       type_text(type).s, what);
}

static int check_equal(const struct checking *c, const struct cond *cond, struct slice a,
		       struct slice b, const struct value *right)
{
	const struct value *v = cond->left;
	struct slice type = a, lit = b;

	if (v->kind != VALUE_PATH) {
		v = right;
		right = cond->left;
		type = b;
		lit = a;
	}
	switch (right->kind) {
	case VALUE_NULL:
		if (is_basic(type))
			return trouble(c->t, right->at, NULL,
				       "%s is of type %s, which is never null", value_text(v).s,
				       type_text(type).s);
		return 0;
	case VALUE_STRING:
		return must(c, v, type, may_be_text(c, type), "a text");
	case VALUE_BOOL:
		return must(c, v, type, may_be_truth(c, type), "a boolean");
	case VALUE_PATH:
		if (is_basic(type) && is_basic(lit) && (type.p[0] == 'Z') != (lit.p[0] == 'Z'))
			return trouble(c->t, cond->at, NULL,
				       "a boolean cannot be compared with a number");
		return 0;
	default:
		return must(c, v, type, may_be_number(c, type), "a number");
	}
}

static int check_sides(const struct checking *c, const struct cond *cond, struct slice a,
		       struct slice b)
{
	int rc = 0;

	switch (cond->op) {
	case COND_TRUTH:
		return must(c, cond->left, a, may_be_truth(c, a), "a boolean");
	case COND_EQ:
	case COND_NE:
		return check_equal(c, cond, a, b, cond->right);
	case COND_LT:
	case COND_LE:
	case COND_GT:
	case COND_GE:
		rc = must(c, cond->left, a, may_be_number(c, a), "a number");
		return rc < 0 ? rc : must(c, cond->right, b, may_be_number(c, b), "a number");
	case COND_CONTAINS:
		return must(
			c, cond->left, a,
			!is_basic(a) &&
				(!a.n || !is_class(a, "java/lang/String") || may_be_text(c, b)) &&
				!is_boxed_number(a),
			is_class(a, "java/lang/String") ? "a collection"
							: "a text or a collection");
	case COND_STARTS:
	case COND_ENDS:
		rc = must(c, cond->right, b, may_be_text(c, b), "a text"); /* fall through */
	case COND_MATCHES:
		return rc < 0 ? rc : must(c, cond->left, a, may_be_text(c, a), "a text");
	case COND_INSTANCE:
		return must(c, cond->left, a, !is_basic(a), "an object");
	default:
		return 0;
	}
}

static int check_test(const struct checking *c, const struct cond *cond)
{
	struct buf left = { 0 }, right = { 0 };
	struct slice a, b = unknown;
	int rc = check_value(c, cond->left, &a, &left);

	if (cond->op == COND_IN) {
		for (const struct value *v = cond->right; v && rc >= 0; v = v->next) {
			struct cond one = *cond;

			one.op = COND_EQ;
			rc = check_value(c, v, &b, &right);
			if (rc >= 0)
				rc = check_equal(c, &one, a, b, v);
		}
		goto done;
	}
	if (rc >= 0 && cond->right)
		rc = check_value(c, cond->right, &b, &right);
	if (rc >= 0)
		rc = check_sides(c, cond, a, b);
done:
	buf_release(&left);
	buf_release(&right);
	return rc;
}

/* Everything in it must be of one time. */
static int check_time(const struct checking *c, const struct cond *cond)
{
	for (const struct cond *child = cond->children; child; child = child->next) {
		int rc = check_time(c, child);

		if (rc < 0)
			return rc;
	}
	if (cond->op > COND_NOT) {
		const struct value *sides[] = { cond->left, cond->right };

		for (size_t i = 0; i < 2; i++)
			if (sides[i] && sides[i]->kind == VALUE_PATH &&
			    sides[i]->root != ROOT_RETURN && sides[i]->root != ROOT_CAPTURE)
				return trouble(c->t, sides[i]->at,
					       "join it by 'and' with the tests of $return",
					       "%s is known at the entry, $return at the exit",
					       value_text(sides[i]).s);
	}
	return 0;
}

/* Parts of an `and` may be of different times. */
static int check_times(const struct checking *c, const struct cond *cond)
{
	int rc = 0;

	if (cond->op != COND_AND)
		return cond_is_late(cond) ? check_time(c, cond) : 0;
	for (const struct cond *child = cond->children; child && rc >= 0; child = child->next)
		rc = check_times(c, child);
	return rc;
}

static int check_all(const struct checking *c, const struct cond *cond)
{
	int rc = 0;

	for (const struct cond *child = cond->children; child && rc >= 0; child = child->next)
		rc = check_all(c, child);
	return rc < 0 || cond->op <= COND_NOT ? rc : check_test(c, cond);
}

int cond_check(const struct cond *c, const struct cond_method *m,
	       const struct cond_classes *classes, struct cond_trouble *t)
{
	struct checking checking = { m, classes, t };
	int rc = check_all(&checking, c);

	return rc < 0 ? rc : check_times(&checking, c);
}

int cond_check_value(const struct value *v, const struct cond_method *m,
		     const struct cond_classes *classes, struct cond_trouble *t)
{
	struct checking checking = { m, classes, t };
	struct buf room = { 0 };
	struct slice type;
	int rc = check_value(&checking, v, &type, &room);

	buf_release(&room);
	return rc;
}
