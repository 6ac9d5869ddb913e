/* SPDX-License-Identifier: Apache-2.0 */
/* side_effects.c - walks the instructions of a getter and of what it calls, some calls deep.
 *
 * Reading is harmless, and so is making objects.  A store to a field or into an array that the
 * method did not make itself, a lock, native code, and a call of something that cannot be looked
 * into are not.  Of the JDK the usual reading methods are known.  It is what one can see: an
 * override in a class that comes later is looked at when it comes. */
#include "agent/natives/side_effects.h"

#include <stdarg.h>
#include <stdio.h>

#include "agent/classes/loaded_pool.h"
#include "agent/core/agent.h"
#include "agent/natives/members.h"
#include "classfile/digest.h"
#include "classfile/op.h"
#include "classfile/pool.h"
#include "weave/glob.h"

enum { DEPTH_MAX = 6, CODE_MAX = 4000, METHODS_MAX = 64 };

struct look {
	struct members *book;
	struct arena mem;
	unsigned depth;
	const void *seen[METHODS_MAX]; /* methods looked at, or being looked at */
	size_t n_seen;
	char *why;
	size_t cap;
};

static bool say(struct look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool say(struct look *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->why, l->cap, fmt, ap);
	va_end(ap);
	text_replace(l->why, '/', '.');
	return true;
}

/* ---- what is known of the JDK ------------------------------------------------------------- */

static bool is_known(const struct pool_ref *ref)
{
	static const char classes[] =
		"java/lang/String java/lang/StringBuilder java/lang/Integer java/lang/Long "
		"java/lang/Short java/lang/Byte java/lang/Character java/lang/Boolean "
		"java/lang/Double java/lang/Float java/lang/Number java/lang/Math java/lang/Enum "
		"java/lang/Object java/lang/CharSequence java/lang/Class java/lang/Record "
		"java/lang/Iterable java/util/Objects java/util/Optional java/util/OptionalInt "
		"java/util/OptionalLong java/util/UUID java/util/Locale java/math/* java/time/* "
		"java/net/URI java/lang/StackTraceElement java/util/Sonde*";
	static const char methods[] =
		"get size isEmpty contains containsKey getOrDefault iterator hasNext next getKey "
		"getValue entrySet keySet values length indexOf getFirst getLast peek toString "
		"hashCode equals name ordinal doubleValue intValue longValue booleanValue "
		"unmodifiableList unmodifiableMap unmodifiableSet unmodifiableCollection emptyList "
		"emptyMap emptySet asList of copyOf";

	if (glob_text(classes, ref->owner))
		return !slice_is(ref->name, "notify") && !slice_is(ref->name, "notifyAll") &&
		       !slice_is(ref->name, "wait") && !slice_is(ref->name, "forName");
	if (slice_starts(ref->owner, slice_str("java/util/")))
		return glob_text(methods, ref->name) || slice_is(ref->name, "<init>");
	/* exceptions that are made to be thrown */
	return slice_is(ref->name, "<init>") && slice_starts(ref->owner, slice_str("java/lang/"));
}

/* Requests are read by these; their implementations keep caches. */
static bool is_known_api(const struct cond_class *c, const struct cond_member *m,
			 struct members *book)
{
	static const char names[] =
		"getHeader getMethod getRequestURI getServletPath getContextPath getRemoteUser "
		"getRemoteAddr getRemoteHost getServerName getScheme getPathInfo getQueryString "
		"getAttribute getContentType getProtocol getDispatcherType";
	static const char *const apis[] = { "javax/servlet/ServletRequest",
					    "jakarta/servlet/ServletRequest",
					    "javax/servlet/http/HttpServletRequest",
					    "jakarta/servlet/http/HttpServletRequest" };
	const struct cond_class *at = c;

	if (!glob_text(names, m->name))
		return false;
	for (int up = 0; at && up < 32; up++) {
		for (size_t i = 0; i < at->n_interfaces; i++)
			for (size_t k = 0; k < sizeof(apis) / sizeof(apis[0]); k++)
				if (slice_is(at->interfaces[i], apis[k]))
					return true;
		at = at->super.n ? book->classes.find(book, at->super) : NULL;
	}
	return false;
}

/* ---- one method --------------------------------------------------------------------------- */

static bool look_at_method(struct look *l, const struct cond_class *c, const struct cond_member *m);

static bool look_at_call(struct look *l, const struct pool *pool, uint16_t index)
{
	const struct cond_class *c;
	struct pool_ref ref;

	if (!pool_ref(pool, index, &ref))
		return say(l, "has code that cannot be read");
	if (is_known(&ref))
		return false;
	c = l->book->classes.find(l->book, ref.owner);
	for (int up = 0; c && up < 32; up++) {
		for (size_t i = 0; i < c->n_methods; i++) {
			if (!slice_eq(c->methods[i].name, ref.name) ||
			    !slice_eq(c->methods[i].desc, ref.desc))
				continue;
			if (c->methods[i].access & ACC_ABSTRACT)
				return say(l, "calls %.*s.%.*s, which may do anything",
					   SLICE_FMT(ref.owner), SLICE_FMT(ref.name));
			return look_at_method(l, c, &c->methods[i]);
		}
		c = c->super.n ? l->book->classes.find(l->book, c->super) : NULL;
	}
	return say(l, "calls %.*s.%.*s, which may do anything", SLICE_FMT(ref.owner),
		   SLICE_FMT(ref.name));
}

static bool look_at_store(struct look *l, const struct pool *pool, uint16_t index, bool fresh,
			  bool common)
{
	struct pool_ref ref;

	if (fresh) /* a constructor fills its own object */
		return false;
	if (!pool_ref(pool, index, &ref))
		return say(l, "has code that cannot be read");
	return say(l, "writes the %sfield %.*s.%.*s", common ? "static " : "", SLICE_FMT(ref.owner),
		   SLICE_FMT(ref.name));
}

static bool makes_arrays(struct slice code)
{
	for (size_t at = 0; at < code.n;) {
		size_t n = code_insn_size(code, at);

		if (code.p[at] == OP_NEWARRAY || code.p[at] == OP_ANEWARRAY)
			return true;
		if (!n)
			break;
		at += n;
	}
	return false;
}

static bool look_at_insn(struct look *l, const struct pool *pool, struct slice code, size_t at,
			 bool constructor)
{
	uint8_t op = code.p[at];
	uint16_t index = at + 2 < code.n ? get_u16(code.p + at + 1) : 0;
	struct pool_ref ref;

	switch (op) {
	case OP_PUTFIELD:
	case OP_PUTSTATIC:
		return look_at_store(l, pool, index, constructor && op == OP_PUTFIELD,
				     op == OP_PUTSTATIC);
	case OP_MONITORENTER:
		return say(l, "takes a lock");
	case OP_INVOKEDYNAMIC:
		if (pool_ref(pool, index, &ref) && slice_starts(ref.name, slice_str("makeConcat")))
			return false;
		return say(l, "has a lambda, which may do anything");
	case OP_INVOKEVIRTUAL:
	case OP_INVOKESPECIAL:
	case OP_INVOKESTATIC:
	case OP_INVOKEINTERFACE:
		return look_at_call(l, pool, index);
	default:
		if (op >= OP_IASTORE && op <= OP_SASTORE && !makes_arrays(code))
			return say(l, "writes into an array");
		return false;
	}
}

static bool look_at_code(struct look *l, const struct cond_class *c, const struct cond_member *m,
			 struct slice code)
{
	bool harm = false, constructor = slice_is(m->name, "<init>");
	struct pool pool;

	if (code.n > CODE_MAX)
		return say(l, "is too long to be looked through");
	if (!loaded_pool(c->id, &l->mem, &pool))
		return say(l, "has code that cannot be read");
	for (size_t at = 0; at < code.n && !harm;) {
		size_t n = code_insn_size(code, at);

		if (!n) {
			harm = say(l, "has code that cannot be read");
			break;
		}
		harm = look_at_insn(l, &pool, code, at, constructor);
		at += n;
	}
	pool_release(&pool);
	return harm;
}

static bool look_at_method(struct look *l, const struct cond_class *c, const struct cond_member *m)
{
	unsigned char *code = NULL;
	jint n = 0;
	bool harm;

	for (size_t i = 0; i < l->n_seen; i++)
		if (l->seen[i] == m->id)
			return false;
	if (m->access & (ACC_SYNCHRONIZED | ACC_NATIVE))
		return say(l,
			   m->access & ACC_NATIVE ? "runs native code (%.*s.%.*s)"
						  : "takes a lock (%.*s.%.*s)",
			   SLICE_FMT(c->name), SLICE_FMT(m->name));
	if (l->depth == DEPTH_MAX || l->n_seen == METHODS_MAX)
		return say(l, "calls too deep to be looked through");
	l->seen[l->n_seen++] = m->id;
	if ((*agent.jvmti)->GetBytecodes(agent.jvmti, m->id, &n, &code) != JVMTI_ERROR_NONE)
		return say(l, "has code that cannot be read");
	l->depth++;
	harm = look_at_code(l, c, m, (struct slice){ code, (size_t)n });
	l->depth--;
	(*agent.jvmti)->Deallocate(agent.jvmti, code);
	return harm;
}

/* Methods found harmless with all loaded classes at hand, by id: where objects come along later,
 * only their own classes are. */
static const void *harmless[1024];

static const void **place_of(const void *id)
{
	return &harmless[((uintptr_t)id >> 3) % (sizeof(harmless) / sizeof(harmless[0]))];
}

bool side_effects_of(void *ctx, const struct cond_class *c, const struct cond_member *m, char *why,
		     size_t cap)
{
	struct look l = { .book = ctx, .why = why, .cap = cap };
	struct pool_ref ref = { .owner = c->name, .name = m->name, .desc = m->desc };
	bool harm;

	why[0] = '\0';
	if (is_known(&ref) || is_known_api(c, m, ctx) ||
	    __atomic_load_n(place_of(m->id), __ATOMIC_RELAXED) == m->id)
		return false;
	arena_init(&l.mem);
	harm = look_at_method(&l, c, m);
	arena_release(&l.mem);
	if (!harm)
		__atomic_store_n(place_of(m->id), m->id, __ATOMIC_RELAXED);
	return harm;
}

/* aload_0; getfield; xreturn */
const struct cond_member *side_effects_plain(const struct cond_class *c,
					     const struct cond_member *m)
{
	struct look l = { 0 };
	const struct cond_member *found = NULL;
	unsigned char *code = NULL;
	struct pool_ref ref;
	struct pool pool;
	jint n = 0;

	if (m->access & (ACC_STATIC | ACC_SYNCHRONIZED | ACC_NATIVE | ACC_ABSTRACT) ||
	    (*agent.jvmti)->GetBytecodes(agent.jvmti, m->id, &n, &code) != JVMTI_ERROR_NONE)
		return NULL;
	arena_init(&l.mem);
	if (n == 5 && code[0] == OP_ALOAD_0 && code[1] == OP_GETFIELD && op_is_return(code[4]) &&
	    loaded_pool(c->id, &l.mem, &pool)) {
		if (pool_ref(&pool, get_u16(code + 2), &ref) && slice_eq(ref.owner, c->name))
			for (size_t i = 0; i < c->n_fields; i++)
				if (slice_eq(c->fields[i].name, ref.name) &&
				    slice_eq(c->fields[i].desc, ref.desc))
					found = &c->fields[i];
		pool_release(&pool);
	}
	arena_release(&l.mem);
	(*agent.jvmti)->Deallocate(agent.jvmti, code);
	return found;
}
