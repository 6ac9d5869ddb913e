/* SPDX-License-Identifier: Apache-2.0 */
/* kind.c - from frames and states to kinds of time. */
#include "plan/dig/kind.h"

#include "base/slice.h"

static const struct {
	const char *text, *word;
} names[KINDS] = {
	[KIND_CPU] = { "computes", "cpu" },
	[KIND_NATIVE] = { "runs native code", "native" },
	[KIND_MONITOR] = { "waits for a monitor", "monitor" },
	[KIND_LOCK] = { "waits for a lock", "lock" },
	[KIND_SEMAPHORE] = { "waits for a permit of a semaphore", "semaphore" },
	[KIND_SOCKET] = { "waits for the network", "socket" },
	[KIND_DNS] = { "waits for a name to be resolved", "dns" },
	[KIND_FILE] = { "reads or writes files", "file" },
	[KIND_LOADING] = { "loads classes", "loading" },
	[KIND_FUTURE] = { "waits for a task of another thread", "future" },
	[KIND_QUEUE] = { "waits at a queue", "queue" },
	[KIND_PROCESS] = { "waits for another process", "process" },
	[KIND_SLEEP] = { "sleeps", "sleep" },
	[KIND_WAIT] = { "waits to be notified", "wait" },
	[KIND_THROWING] = { "creates exceptions", "exceptions" },
};

struct frame_kind {
	enum kind kind;
	const char *starts;
};

static const struct frame_kind frames[] = {
#define X(kind, starts) { kind, starts },
#include "plan/dig/kinds.def"
#undef X
};

static const struct frame_kind around[] = {
#define X(kind, starts) { kind, starts },
#include "plan/dig/kinds_around.def"
#undef X
};

static const struct {
	bool is_queue;
	const char *starts;
} idle[] = {
#define X(is_queue, starts) { is_queue, starts },
#include "plan/dig/idle.def"
#undef X
};

enum { IDLE_DEPTH = 12 }; /* innermost frames in which waiting for work is looked for */

const char *kind_text(enum kind k)
{
	return names[k].text;
}

const char *kind_word(enum kind k)
{
	return names[k].word;
}

enum idleness { NOT_IDLE, AT_QUEUE, IDLE };

static enum idleness idleness_of(const struct sample_node *n, enum sample_state state)
{
	/* The JVM does not say of this one that it waits, since it waits in the JVM itself. */
	static const char pending[] = "java.lang.ref.Reference.waitForReferencePendingList";
	enum idleness found = NOT_IDLE;

	if (state == SAMPLE_BLOCKED)
		return NOT_IDLE;
	if (slice_starts(n->name, slice_str(pending)))
		return IDLE;
	for (int i = 0; n->parent && i < IDLE_DEPTH; i++, n = n->parent) {
		if (!sample_node_is_jdk(n->name))
			return found;
		for (size_t k = 0; state != SAMPLE_RUNNING && k < COUNT(idle); k++) {
			if (!slice_starts(n->name, slice_str(idle[k].starts)))
				continue;
			if (!idle[k].is_queue)
				return IDLE;
			found = AT_QUEUE;
		}
	}
	return !n->parent && state != SAMPLE_RUNNING ? IDLE : found; /* JDK frames alone */
}

bool kind_is_idle(const struct sample_node *n, enum sample_state state)
{
	return idleness_of(n, state) != NOT_IDLE;
}

bool kind_is_at_queue(const struct sample_node *n, enum sample_state state)
{
	return idleness_of(n, state) == AT_QUEUE;
}

static bool by_frame(const struct sample_node *n, const struct frame_kind *of, size_t count,
		     enum kind *out)
{
	for (size_t i = 0; i < count; i++)
		if (slice_starts(n->name, slice_str(of[i].starts))) {
			*out = of[i].kind;
			return true;
		}
	return false;
}

enum kind kind_of(const struct sample_node *n, enum sample_state state,
		  const struct sample_node *top)
{
	enum kind kind = KIND_CPU, outer = KIND_CPU;
	bool known = false, is_around = false;

	for (const struct sample_node *at = n; at && at->parent; at = at->parent) {
		if (by_frame(at, around, COUNT(around), &outer)) {
			if (outer == KIND_LOADING)
				return KIND_LOADING;
			is_around = true;
		}
		known = known || by_frame(at, frames, COUNT(frames), &kind);
		if (at == top)
			break;
	}
	if (is_around)
		kind = outer, known = true;
	switch (state) {
	case SAMPLE_BLOCKED:
		return KIND_MONITOR;
	case SAMPLE_RUNNING: /* only what is in a system call waits there */
		return known && (kind == KIND_DNS || kind == KIND_FILE || kind == KIND_THROWING)
			       ? kind
			       : KIND_CPU;
	case SAMPLE_NATIVE:
		return known ? kind : n->flags & SAMPLE_IS_NATIVE ? KIND_NATIVE : KIND_CPU;
	case SAMPLE_SLEEPING:
		return KIND_SLEEP;
	default:
		return known ? kind : KIND_WAIT;
	}
}

uint64_t kind_divide(const struct sample_node *top, uint64_t by[KINDS])
{
	uint64_t sum = 0;

	memset(by, 0, KINDS * sizeof(*by));
	for (const struct sample_node *n = top; n; n = samples_next(n, top))
		for (int i = 0; i < SAMPLE_STATES; i++)
			if (n->self[i]) {
				by[kind_of(n, (enum sample_state)i, top)] += n->self[i];
				sum += n->self[i];
			}
	return sum;
}

bool kind_is_computing(enum kind k)
{
	return k == KIND_CPU || k == KIND_NATIVE || k == KIND_LOADING || k == KIND_THROWING;
}

uint64_t kind_computing(const uint64_t by[KINDS])
{
	uint64_t sum = 0;

	for (int i = 0; i < KINDS; i++)
		sum += kind_is_computing((enum kind)i) ? by[i] : 0;
	return sum;
}

enum kind kind_largest(const uint64_t by[KINDS])
{
	uint64_t throwing = by[KIND_THROWING], cpu = by[KIND_CPU] + throwing;
	int best = KIND_CPU;

	for (int i = 1; i < KIND_THROWING; i++)
		if (by[i] > (best == KIND_CPU ? cpu : by[best]))
			best = i;
	return best == KIND_CPU && 2 * throwing > cpu ? KIND_THROWING : (enum kind)best;
}

static const struct {
	struct doing doing;
	const char *starts;
} doings[] = {
#define X(word, text, starts) { { word, text }, starts },
#include "plan/dig/doing.def"
#undef X
};

/* The index of the first row with that word, so that rows of one kind are counted together; -1: none. */
static int doing_of(const struct sample_node *n, const struct sample_node *top)
{
	int found = -1;

	for (const struct sample_node *at = n; at && at->parent; at = at->parent) {
		for (size_t i = 0; i < COUNT(doings); i++)
			if (slice_starts(at->name, slice_str(doings[i].starts)))
				found = (int)i;
		if (at == top)
			break;
	}
	while (found > 0 && strcmp(doings[found].doing.word, doings[found - 1].doing.word) == 0)
		found--;
	return found;
}

const struct doing *kind_doing(const struct sample_node *top)
{
	uint64_t by[COUNT(doings)] = { 0 }, sum = 0;
	size_t best = 0;

	for (const struct sample_node *n = top; n; n = samples_next(n, top))
		for (int i = 0; i < SAMPLE_STATES; i++) {
			int doing;

			if (!n->self[i] ||
			    !kind_is_computing(kind_of(n, (enum sample_state)i, top)))
				continue;
			doing = doing_of(n, top);
			sum += n->self[i];
			if (doing >= 0)
				by[doing] += n->self[i];
		}
	for (size_t i = 1; i < COUNT(doings); i++)
		if (by[i] > by[best])
			best = i;
	return sum && by[best] * 2 > sum ? &doings[best].doing : NULL;
}

static uint64_t of_kind(const struct sample_node *top, enum kind kind)
{
	uint64_t by[KINDS];

	kind_divide(top, by);
	return by[kind];
}

const struct sample_node *kind_where(const struct sample_node *top, enum kind kind)
{
	const struct sample_node *best = NULL, *at = top;

	/* The first frame below top that is the JDK's, going the way of most samples. */
	while (at) {
		const struct sample_node *next = NULL;
		uint64_t n = 0;

		for (const struct sample_node *c = at->first; c; c = c->next) {
			uint64_t k = of_kind(c, kind);

			if (k > n)
				n = k, next = c;
		}
		if (!next || 2 * n < of_kind(at, kind))
			break;
		at = best = next;
		if (kind == KIND_NATIVE ? (at->flags & SAMPLE_IS_NATIVE) != 0
					: sample_node_is_jdk(at->name))
			return at;
	}
	return best;
}
