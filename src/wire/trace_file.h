/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - recordings: what agents reported, in a file that can be read elsewhere and later.
 *
 * A head, then pieces, each with its kind, its length and a checksum; the last says that the
 * recording is whole.  docs/trace-file.md has it byte by byte.  Writing appends to a buf; reading
 * gives views of the bytes that were given, and trusts nothing in them. */
#ifndef WIRE_TRACE_FILE_H
#define WIRE_TRACE_FILE_H

#include "base/buf.h"

enum trace_kind {
	TRACE_MACHINE = 1, /* text: "cpu ...", "kernel ...", "sonde ...", one a line */
	TRACE_PROCESS = 2, /* frames of one JVM: welcome, method, node, status and others */
	TRACE_COSTS = 3,   /* text: the calibration for the process before */
	TRACE_END = 4,	   /* nothing comes behind it */
};

void trace_file_begin(struct buf *out);
void trace_file_put(struct buf *out, enum trace_kind kind, struct slice payload);
void trace_file_end(struct buf *out);

struct trace_file {
	struct slice all;
	size_t at;
	bool ended;
};

bool trace_file_is(struct slice file); /* does it begin like one? */

/* 0; or negative with the reason and the place in f. */
int trace_file_open(struct trace_file *t, struct slice file, struct fault *f);

/* The next piece; kinds that are not known are passed over.  1; 0: the end; negative as above, also
 * when the file ends without an end.  After an error every call gives it again. */
int trace_file_next(struct trace_file *t, unsigned *kind, struct slice *payload, struct fault *f);

#endif
