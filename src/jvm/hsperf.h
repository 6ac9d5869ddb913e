/* SPDX-License-Identifier: Apache-2.0 */
/* hsperf.h - reads the file in which a HotSpot JVM tells about itself (/tmp/hsperfdata_USER/PID).
 *
 * The JVM writes it while we read, and anybody can put a file there: nothing in it is trusted.
 * The slices point into the bytes that were given; what is not in the file stays empty. */
#ifndef JVM_HSPERF_H
#define JVM_HSPERF_H

#include "base/err.h"
#include "base/slice.h"

/* What it counts.  Sizes of the heap are those after the last collection. */
struct hsperf_counts {
	uint64_t heap_used, heap_capacity, heap_max; /* bytes */
	uint64_t gcs, gc_ticks, hz;
	uint64_t threads, threads_peak;
	uint64_t classes; /* loaded now */
};

struct hsperf {
	struct slice command;	   /* main class or jar, and arguments */
	struct slice vm_args;	   /* what the JVM was started with; cut off after 1 KiB */
	struct slice vm_flags;	   /* from a file of flags */
	struct slice capabilities; /* first character 1: it can be attached to */
	struct slice java_version; /* "17.0.15" */
	struct slice vm_version;   /* "17.0.15+6-Debian-1deb12u1" */
	struct slice vm_name, vm_vendor;
	struct slice java_home;
	struct slice gc_policy;	     /* "GarbageFirst", "Copy:MSC" */
	struct hsperf_counts counts; /* all 0: there are none */
	bool live;		     /* the JVM has got through its start; agents may come */
};

/* 0; E_MAGIC when it is something else, E_UNSUPPORTED for another version of the format,
 * E_TRUNCATED when it ends too early: what was found until then is in *out. */
int hsperf_parse(struct slice file, struct hsperf *out);

#endif
