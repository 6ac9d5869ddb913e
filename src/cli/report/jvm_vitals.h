/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_vitals.h - how a JVM is: heap, collections, threads, processor time, bytes read and written.
 *
 * Seen from outside, by its own account (hsperf.h) and /proc; nothing here disturbs the process,
 * and no agent is needed.  A plain value. */
#ifndef CLI_REPORT_JVM_VITALS_H
#define CLI_REPORT_JVM_VITALS_H

#include <sys/types.h>

#include "base/json.h"
#include "jvm/hsperf.h"

struct jvm_vitals {
	bool has_account; /* counts are known */
	struct hsperf_counts counts;
	uint64_t gc_ns;
	double uptime_s;		    /* negative: not known */
	uint64_t cpu_ns;		    /* of all threads that ever were */
	uint64_t kernel_threads;	    /* all there are, also the JVM's own */
	bool has_io;			    /* /proc/PID/io may be read */
	uint64_t read_bytes, written_bytes; /* by read() and write(): files, pipes, most sockets */
	uint64_t disk_read_bytes, disk_written_bytes;
};

int jvm_vitals_read(pid_t pid, struct jvm_vitals *out); /* 0 or E_NOT_FOUND */

void jvm_vitals_text(const struct jvm_vitals *v, struct buf *out); /* two lines */
void jvm_vitals_json(const struct jvm_vitals *v, struct json *j);  /* an object; not known: null */

#endif
