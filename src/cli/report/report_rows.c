/* SPDX-License-Identifier: Apache-2.0 */
/* report_rows.c - the figures of hooked methods: kept, put in order, and written as JSON. */
#define _GNU_SOURCE /* qsort_r */
#include "cli/report/report_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/plural.h"
#include "base/whole.h"
#include "cli/report/hook_rows.h"
#include "cli/report/states.h"
#include "cli/screen/cli.h"
#include "rule/rule.h"
#include "tree/sequence.h"

enum { FILE_LIMIT = 512 << 20 };

static const size_t KEPT_MAX = 1u << 30; /* bytes: more than a million methods */

static const char *const order_names[REPORT_ORDERS] = {
	[REPORT_TOTAL] = "total", [REPORT_SELF] = "self", [REPORT_CALLS] = "calls",
	[REPORT_AVG] = "avg",	  [REPORT_MAX] = "max",	  [REPORT_ERRORS] = "errors",
};

const char *report_order_name(enum report_order order)
{
	return order_names[order];
}

void report_init(struct report *r)
{
	*r = (struct report){ 0 };
	arena_init(&r->mem);
	tree_init(&r->tree);
}

void report_clear(struct report *r)
{
	arena_reset(&r->mem);
	tree_release(&r->tree);
	r->n = r->n_alone = r->n_sequences = 0;
	r->has_status = r->has_program = false;
	r->calibration = (struct calibration_state){ 0 };
	buf_clear(&r->left);
	buf_clear(&r->left_json);
}

void report_release(struct report *r)
{
	arena_release(&r->mem);
	tree_release(&r->tree);
	mem_free(r->all);
	mem_free(r->alone);
	mem_free(r->sequences);
	buf_release(&r->left);
	buf_release(&r->left_json);
	*r = (struct report){ 0 };
}

static int no_memory(struct report *r)
{
	r->err = E_NO_MEMORY;
	return E_NO_MEMORY;
}

static int make_room(struct report *r)
{
	size_t room = r->room ? 2 * r->room : 256;
	void *more;

	if (r->n < r->room)
		return 0;
	more = mem_realloc(r->all, room * sizeof(*r->all));
	if (!more)
		return no_memory(r);
	r->all = more;
	r->room = room;
	return 0;
}

static int add_method(struct report *r, struct slice payload)
{
	struct report_method *m = arena_zero(&r->mem, sizeof(*m));

	if (!m || make_room(r) < 0)
		return no_memory(r);
	if (r->mem.total > KEPT_MAX)
		return r->err = E_LIMIT;
	if (wire_get_method(payload, &m->m) < 0)
		return 0; /* a row that is cut is passed over */
	m->m.name = arena_dup(&r->mem, m->m.name);
	if (!m->m.name.p)
		return no_memory(r);
	method_name_split(m->m.name, &m->name);
	report_take_raw(m);
	r->all[r->n++] = m;
	return 0;
}

/* "libz.so.1.deflate" has no package. */
static void split_native(struct slice text, struct method_name *out)
{
	const uint8_t *dot = memrchr(text.p, '.', text.n);
	size_t n = dot ? (size_t)(dot - text.p) : 0;

	*out = (struct method_name){ .name = text };
	if (!n)
		return;
	out->class = (struct slice){ text.p, n };
	out->name = (struct slice){ dot + 1, text.n - n - 1 };
}

void report_add_native(struct report *r, const struct report *of)
{
	for (size_t i = 0; i < of->n && make_room(r) >= 0; i++) {
		of->all[i]->native = true;
		split_native(of->all[i]->m.name, &of->all[i]->name);
		r->all[r->n++] = of->all[i];
	}
}

static int set_status(struct report *r, struct slice payload)
{
	struct wire_status *s = &r->status;

	if (wire_get_status(payload, s) < 0)
		return 0;
	s->mechanism = arena_dup(&r->mem, s->mechanism);
	s->notes = arena_dup(&r->mem, s->notes);
	s->cache = arena_dup(&r->mem, s->cache);
	if (!s->mechanism.p || !s->notes.p || !s->cache.p)
		return no_memory(r);
	r->has_status = true;
	return 0;
}

static int add_left(struct report *r, struct slice payload)
{
	struct json j = { &r->left_json, r->left_json.n > 0 };
	char number[32];
	struct wire_left m;

	if (wire_get_left(payload, &m) < 0)
		return 0;
	left_put_json(&j, &m);
	buf_printf(&r->left, "%s ", cli_number(number, m.count));
	left_put_line(&r->left, &m);
	return r->left.err || r->left_json.err ? no_memory(r) : 0;
}

/* Of a recording: which JVM it was. */
static int set_welcome(struct report *r, struct slice payload)
{
	struct wire_welcome w;

	if (wire_get_welcome(payload, &w) < 0)
		return 0;
	r->calibration.jvm = arena_dup(&r->mem, w.jvm);
	return r->calibration.jvm.p ? 0 : no_memory(r);
}

bool report_take(void *ctx, unsigned type, struct slice payload)
{
	struct report *r = ctx;
	int rc = 0;

	if (type == WIRE_method)
		rc = add_method(r, payload);
	else if (type == WIRE_node)
		rc = report_add_node(r, payload);
	else if (type == WIRE_solo)
		rc = report_add_alone(r, payload);
	else if (type == WIRE_sequence)
		rc = report_add_sequence(r, payload);
	else if (type == WIRE_program)
		r->has_program = wire_get_program(payload, &r->program) >= 0;
	else if (type == WIRE_left)
		rc = add_left(r, payload);
	else if (type == WIRE_status)
		rc = set_status(r, payload);
	else if (type == WIRE_welcome)
		rc = set_welcome(r, payload);
	return rc == 0;
}

/* ---- a file ---- */

int report_take_frames(struct report *r, struct slice in, const char *path)
{
	struct slice payload;
	unsigned type;
	long n;

	while ((n = in.n ? wire_frame(in, &type, &payload) : 0) > 0) {
		if (!report_take(r, type, payload))
			return cli_cannot("%s: %s", path, err_text(r->err));
		in.p += n;
		in.n -= (size_t)n;
	}
	if (in.n && !r->n && !r->has_status)
		return cli_cannot("%s: no record of Sonde's", path);
	if (in.n)
		return cli_cannot("%s: damaged after %zu method%s", path, r->n, plural(r->n));
	return CLI_DONE;
}

int report_read_file(struct report *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct buf in = { 0 };
	int status = CLI_DONE;
	ssize_t got = 1;

	if (fd < 0)
		return cli_cannot("%s: %s", path, strerror(errno));
	while (got > 0 && in.n < FILE_LIMIT) {
		uint8_t *to = buf_room(&in, 1 << 16);

		got = to ? read(fd, to, 1 << 16) : -1;
		if (!to)
			errno = ENOMEM;
		in.n += got > 0 ? (size_t)got : 0;
	}
	if (got != 0)
		status = cli_cannot("%s: %s", path, got < 0 ? strerror(errno) : "too large");
	close(fd);
	if (status == CLI_DONE)
		status = report_take_frames(r, buf_slice(&in), path);
	buf_release(&in);
	return status;
}

/* ---- order ---- */

/* The text up to the parameters. */
static struct slice bare(const struct report_method *m)
{
	return (struct slice){ m->m.name.p, m->m.name.n - m->name.desc.n };
}

static bool matches(const char *text, const char *pattern)
{
	if (strpbrk(pattern, "*?"))
		return fnmatch(pattern, text, FNM_NOESCAPE) == 0;
	return strstr(text, pattern) != NULL;
}

void report_filter(struct report *r, const char *pattern)
{
	char *dotted = arena_str(&r->mem, slice_str(pattern));
	char *colons = dotted ? strstr(dotted, "::") : NULL;
	size_t kept = 0;

	if (!dotted) {
		no_memory(r);
		return;
	}
	if (colons) {
		*colons = '.';
		memmove(colons + 1, colons + 2, strlen(colons + 2) + 1);
	}
	for (size_t i = 0; i < r->n; i++) {
		const char *text = arena_str(&r->mem, bare(r->all[i]));

		if (!text)
			no_memory(r);
		else if (matches(text, dotted))
			r->all[kept++] = r->all[i];
	}
	r->n = kept;
}

static double key(const struct report_method *m, enum report_order order)
{
	switch (order) {
	case REPORT_SELF:
		return m->self.mid;
	case REPORT_CALLS:
		return (double)m->m.calls;
	case REPORT_AVG:
		return report_avg_ns(m);
	case REPORT_MAX:
		return (double)m->m.max_ns;
	case REPORT_ERRORS:
		return (double)m->m.errors;
	default:
		return m->total.mid;
	}
}

/* The largest first; what is the same by calls, and then by name, so that rows keep their
 * places. */
static int compare(const void *left, const void *right, void *order)
{
	const struct report_method *one = *(struct report_method *const *)left;
	const struct report_method *other = *(struct report_method *const *)right;
	const struct wire_method *a = &one->m, *b = &other->m;
	double x = key(one, *(enum report_order *)order);
	double y = key(other, *(enum report_order *)order);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return slice_cmp(a->name, b->name);
}

static void find_overloads(struct report *r)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		struct report_method *m = r->all[i], *first;
		uintptr_t *place = map_put(&seen, bare(m), NULL);

		if (!place) {
			no_memory(r);
			break;
		}
		first = (struct report_method *)*place;
		if (!first)
			*place = (uintptr_t)m;
		else if (method_name_overloads(&first->name, &m->name))
			first->overloaded = m->overloaded = true;
	}
	map_release(&seen);
}

void report_sort(struct report *r, enum report_order order)
{
	if (r->n)
		qsort_r(r->all, r->n, sizeof(r->all[0]), compare, &order);
	find_overloads(r);
	report_sequences_sort(r);
}

/* ---- JSON ---- */

static void ns(struct json *j, const char *name, uint64_t v, bool known)
{
	json_key(j, name);
	if (known)
		json_u64(j, v);
	else
		json_null(j);
}

static uint64_t whole(double v)
{
	return whole_of(v + 0.5);
}

/* Times of single calls, as all others of the row, and as measured. */
static void calls_json(struct json *j, const struct report_method *r, bool timed, bool quantiles)
{
	const struct wire_method *m = &r->m;
	struct report_calls one = report_calls(r);

	ns(j, "avg_ns", whole(r->bounded ? report_avg_high_ns(r) : report_avg_ns(r)), timed);
	ns(j, "min_ns", whole(one.min), timed);
	ns(j, "max_ns", whole(one.max), timed);
	ns(j, "p50_ns", whole(one.p50), quantiles);
	ns(j, "p90_ns", whole(one.p90), quantiles);
	ns(j, "p99_ns", whole(one.p99), quantiles);
	ns(j, "raw_min_ns", m->min_ns, timed);
	ns(j, "raw_max_ns", m->max_ns, timed);
	ns(j, "raw_p50_ns", m->p50_ns, quantiles);
	ns(j, "raw_p90_ns", m->p90_ns, quantiles);
	ns(j, "raw_p99_ns", m->p99_ns, quantiles);
}

static void kind_json(struct json *j, const struct report_method *r)
{
	static const struct {
		const char *name;
		unsigned flag;
	} flags[] = {
		{ "clamped", TREE_CLAMPED },
		{ "short", TREE_SHORT },
		{ "recursion_drawn", TREE_RECURSIVE },
	};

	for (size_t i = 0; i < COUNT(flags); i++) {
		json_put_bool(j, flags[i].name, r->flags & flags[i].flag);
	}
	json_put_bool(j, "recursive", report_is_recursive(r));
	ns(j, "outermost_calls", whole(r->outermost),
	   r->outermost >= 0 && !(r->flags & TREE_RECURSIVE));
	json_put_bool(j, "bounded", r->bounded);
	json_put_bool(j, "self_bounded", r->self_bounded);
	ns(j, "least_ns", whole(r->least), r->least > r->total.mid);
	json_put_bool(j, "in_place", r->compensated && r->flags & TREE_PLACED);
}

static void method_json(struct json *j, const struct report_method *r)
{
	const struct wire_method *m = &r->m;
	bool total = !r->unknown, timed = m->timed > 0,
	     quantiles = timed && !(m->flags & METHOD_NO_QUANTILES);
	struct states all = report_states(r), own = report_states_self(r);

	json_open(j, '{');
	json_put_str(j, "method", m->name);
	json_put_u64(j, "calls", m->calls);
	ns(j, "raw_ns", whole(r->raw_ns), total);
	ns(j, "compensated_ns", whole(r->total.mid), total && r->compensated);
	ns(j, "low_ns", whole(r->total.low), total);
	ns(j, "high_ns", whole(r->bounded ? fmax(r->total.high, 1) : r->total.high), total);
	ns(j, "self_ns", whole(r->self.mid), total);
	json_put_u64(j, "errors", m->errors);
	json_put_double(j, "rate", m->rate);
	json_put_u64(j, "timed", m->timed);
	json_put_u64(j, "one_in", m->one_in);
	calls_json(j, r, timed, quantiles);
	json_put_u64(j, "active", m->active);
	json_put_u64(j, "active_peak", m->active_peak);
	json_put_u64(j, "stalls", m->stalls);
	json_put_u64(j, "bytes", m->bytes);
	states_json(j, &all, &own);
	states_counts_json(j, &all);
	json_key(j, "type");
	if (*report_type_text(m->type))
		json_text(j, report_type_text(m->type));
	else
		json_null(j);
	json_put_bool(j, "static", (m->type & TYPE_STATIC) != 0);
	json_put_bool(j, "native", r->native);
	json_put_text(j, "level",
		      m->level <= LEVEL_FULL ? rule_level_text((enum rule_level)m->level) : "?");
	json_put_u64(j, "rule", m->rule);
	json_put_bool(j, "hooked", !(m->flags & (METHOD_GONE | METHOD_ANCHOR)));
	json_put_bool(j, "anchor", (m->flags & METHOD_ANCHOR) != 0);
	json_put_bool(j, "closed", (m->flags & METHOD_CLOSED) != 0);
	json_put_bool(j, "fewer_counted", (m->flags & METHOD_FEWER) != 0);
	ns(j, "raw_self_ns", whole(r->raw_self_ns), total);
	ns(j, "self_low_ns", whole(r->self.low), total);
	ns(j, "self_high_ns", whole(r->self.high), total);
	kind_json(j, r);
	json_close(j, '}');
}

static void program_json(struct json *j, const struct report *r)
{
	const struct wire_program *p = &r->program;
	bool known = r->calibration.known;

	json_put_open(j, "in_place", '{');
	json_put_u64(j, "elapsed_ns", p->elapsed_ns);
	json_put_u64(j, "open_ns", p->open_ns);
	json_put_u64(j, "closed_ns", p->closed_ns);
	json_key(j, "speed");
	if (p->speed_margin >= 0)
		json_double(j, p->speed);
	else
		json_null(j);
	ns(j, "without_hooks_ns", whole(r->program_total.mid), known);
	ns(j, "low_ns", whole(r->program_total.low), known);
	ns(j, "high_ns", whole(r->program_total.high), known);
	json_put_u64(j, "measured_alone", p->alone);
	json_close(j, '}');
}

static void cache_json(struct json *j, const struct wire_status *s)
{
	json_put_open(j, "cache", '{');
	json_put_str(j, "place", s->cache);
	json_put_u64(j, "hits", s->cache_hits);
	json_put_u64(j, "misses", s->cache_misses);
	json_put_u64(j, "damaged", s->cache_damaged);
	json_put_u64(j, "bytes_read", s->cache_read);
	json_put_u64(j, "bytes_written", s->cache_written);
	json_close(j, '}');
}

static void status_json(struct json *j, const struct wire_status *s)
{
	json_open(j, '{');
	json_put_u64(j, "rules", s->rules);
	json_put_u64(j, "classes", s->classes);
	json_put_u64(j, "methods", s->methods);
	json_put_u64(j, "threads", s->threads);
	json_put_u64(j, "memory", s->memory);
	json_put_u64(j, "memory_limit", s->memory_limit);
	json_put_u64(j, "events", s->events);
	json_put_u64(j, "contexts_lost", s->contexts_lost);
	json_put_u64(j, "contexts_deep", s->contexts_deep);
	json_put_u64(j, "contexts_pruned", s->contexts_pruned);
	json_put_u64(j, "bound_ns", s->bound_ns);
	json_put_u64(j, "bound_calls", s->bound_calls);
	json_put_u64(j, "exits_lost", s->exits_lost);
	json_put_u64(j, "exits_strayed", s->exits_strayed);
	json_put_u64(j, "calls_dropped", s->calls_dropped);
	json_put_double(j, "pulse_ns", s->pulse_ns);
	json_put_bool(j, "fast", s->fast != 0);
	json_put_str(j, "mechanism", s->mechanism);
	json_put_u64(j, "weave_ns", s->weave_ns);
	json_put_u64(j, "retransform_ns", s->retransform_ns);
	json_put_str(j, "notes", s->notes);
	if (s->cache.n)
		cache_json(j, s);
	json_close(j, '}');
}

void report_json(const struct report *r, struct json *j)
{
	json_put_open(j, "methods", '[');
	for (size_t i = 0; i < r->n; i++)
		method_json(j, r->all[i]);
	json_close(j, ']');
	json_put_bool(j, "calibrated", r->calibration.known);
	if (r->has_program)
		program_json(j, r);
	if (r->with_sequences)
		report_sequences_json(r, j);
	json_put_open(j, "left", '[');
	buf_put(j->out, buf_slice(&r->left_json));
	json_close(j, ']');
	json_key(j, "agent");
	if (r->has_status)
		status_json(j, &r->status);
	else
		json_null(j);
}
