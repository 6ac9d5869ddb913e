/* SPDX-License-Identifier: Apache-2.0 */
/* hsperf.c - the file starts with a head of 32 bytes: magic, byte order, version, a byte that is
 * set when the JVM comes to its live phase, and where the entries are.  An entry has its length,
 * the place of its name, the length of its vector (0: a single number), its type ('B': a text),
 * and the place of its data.  Places count from the entry's start. */
#include "jvm/hsperf.h"

enum {
	MAGIC = 0xcafec0c0, /* written big-endian by all */
	HEAD = 32,
	ENTRY_HEAD = 20,
	MAX_ENTRIES = 10000, /* there are about 250 */
};

struct file {
	struct slice all;
	bool swap;
};

static uint32_t get(const struct file *f, size_t at)
{
	uint32_t v;

	memcpy(&v, f->all.p + at, 4);
	return f->swap ? __builtin_bswap32(v) : v;
}

static struct slice until_nul(const uint8_t *p, size_t n)
{
	const uint8_t *end = memchr(p, '\0', n);

	return (struct slice){ p, end ? (size_t)(end - p) : n };
}

/* Where does the value of that name go?  NULL: nowhere. */
static struct slice *place(struct hsperf *h, struct slice name)
{
	const struct {
		const char *name;
		struct slice *to;
	} wanted[] = {
		{ "sun.rt.javaCommand", &h->command },
		{ "java.rt.vmArgs", &h->vm_args },
		{ "java.rt.vmFlags", &h->vm_flags },
		{ "sun.rt.jvmCapabilities", &h->capabilities },
		{ "java.property.java.version", &h->java_version },
		{ "java.property.java.vm.version", &h->vm_version },
		{ "java.property.java.vm.name", &h->vm_name },
		{ "java.property.java.vm.vendor", &h->vm_vendor },
		{ "java.property.java.home", &h->java_home },
		{ "sun.gc.policy.name", &h->gc_policy },
	};

	for (size_t i = 0; i < COUNT(wanted); i++)
		if (slice_is(name, wanted[i].name))
			return wanted[i].to;
	return NULL;
}

static bool starts(struct slice name, const char *with)
{
	return name.n >= strlen(with) && memcmp(name.p, with, strlen(with)) == 0;
}

static bool ends(struct slice name, const char *with)
{
	size_t n = strlen(with);

	return name.n >= n && memcmp(name.p + name.n - n, with, n) == 0;
}

/* Generations have spaces ("sun.gc.generation.1.space.0.used"), and there are several
 * collectors. */
static void number(struct hsperf_counts *c, struct slice name, uint64_t v)
{
	/* "sun.gc.generation.N." has 20 characters. */
	bool space = starts(name, "sun.gc.generation.") && name.n > 26 &&
		     memcmp(name.p + 20, "space.", 6) == 0;
	bool collector = starts(name, "sun.gc.collector.");

	if (space && ends(name, ".used"))
		c->heap_used += v;
	else if (space && ends(name, ".capacity"))
		c->heap_capacity += v;
	else if (starts(name, "sun.gc.generation.") && !space && ends(name, ".maxCapacity"))
		c->heap_max += v;
	else if (collector && ends(name, ".invocations"))
		c->gcs += v;
	else if (collector && ends(name, ".time"))
		c->gc_ticks += v;
	else if (slice_is(name, "sun.os.hrt.frequency"))
		c->hz = v;
	else if (slice_is(name, "java.threads.live"))
		c->threads = v;
	else if (slice_is(name, "java.threads.livePeak"))
		c->threads_peak = v;
	else if (slice_is(name, "java.cls.loadedClasses") ||
		 slice_is(name, "java.cls.sharedLoadedClasses"))
		c->classes += v;
	else if (slice_is(name, "java.cls.unloadedClasses") ||
		 slice_is(name, "java.cls.sharedUnloadedClasses"))
		c->classes -= v;
}

static uint64_t get_long(const struct file *f, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return f->swap ? __builtin_bswap64(v) : v;
}

/* The entry lies within the file: size bytes from `at`. */
static void entry(const struct file *f, size_t at, size_t size, struct hsperf *out)
{
	uint32_t name = get(f, at + 4), vector = get(f, at + 8), data = get(f, at + 16);
	const uint8_t *p = f->all.p + at;
	struct slice *to;

	if (p[12] == 'J' && !vector && name < size && data < size && size - data >= 8)
		number(&out->counts, until_nul(p + name, size - name), get_long(f, p + data));
	if (p[12] != 'B' || !vector || name >= size || data >= size || vector > size - data)
		return;
	to = place(out, until_nul(p + name, size - name));
	if (to)
		*to = until_nul(p + data, vector);
}

int hsperf_parse(struct slice file, struct hsperf *out)
{
	struct file f = { file, false };
	uint32_t at, n;

	*out = (struct hsperf){ 0 };
	if (file.n < HEAD)
		return E_TRUNCATED;
	f.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	if (get(&f, 0) != MAGIC)
		return E_MAGIC;
	if (file.p[5] != 2)
		return E_UNSUPPORTED;
	out->live = file.p[7] != 0;
	f.swap = (file.p[4] == 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	at = get(&f, 24);
	n = get(&f, 28);
	for (uint32_t i = 0; i < n && i < MAX_ENTRIES; i++) {
		uint32_t size;

		if (at > file.n || file.n - at < ENTRY_HEAD)
			return E_TRUNCATED;
		size = get(&f, at);
		if (size < ENTRY_HEAD || size > file.n - at)
			return E_TRUNCATED;
		entry(&f, at, size, out);
		at += size;
	}
	/* With G1 each of the two generations may have the whole heap. */
	if (slice_is(out->gc_policy, "GarbageFirst"))
		out->counts.heap_max /= 2;
	return 0;
}
