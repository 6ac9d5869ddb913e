/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h - recordings (wire/trace_file.h) as files: written by "sonde run --record", read by report
 * and tree.
 *
 * struct recording holds the bytes of the file; its slices are views of them until
 * recording_release. */
#ifndef CLI_RUN_RECORDING_H
#define CLI_RUN_RECORDING_H

#include <sys/types.h>

#include "base/buf.h"
#include "tree/cost.h"

struct recording {
	struct buf bytes;
	struct slice frames; /* of the process that is meant */
	pid_t pid;
	struct slice jvm; /* of it, as its agent told */
	bool here;	  /* it was made on a machine like this */
	bool has_costs;
	struct costs costs;
};

bool recording_is(const char *path); /* a regular file that begins like one */

/* pid 0: the only process in it.  CLI_DONE, or CLI_CANNOT after a message. */
int recording_read(struct recording *r, const char *path, pid_t pid);
void recording_release(struct recording *r);

/* Writes what agents left in dir/report.PID.  CLI_DONE, or CLI_CANNOT after a message. */
int recording_write(const char *path, const char *dir);

/* The calibration to use: the one in it, or one of this machine.  False, after one line on stderr:
 * there is none, figures are raw. */
bool recording_costs(struct recording *r, struct costs *out);

#endif
