/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.h - what hooks cost on this machine with that JVM: found in the user's cache, or
 * measured.
 *
 * A calibration belongs to one processor model, kernel, JVM build and build of Sonde, and is used
 * for nothing else.  It is a text (tree/cost.h) in ${XDG_CACHE_HOME:-~/.cache}/sonde/calibration/,
 * which only its owner may read or write. */
#ifndef CLI_CLIENT_CALIBRATION_H
#define CLI_CLIENT_CALIBRATION_H

#include <limits.h>
#include <sys/types.h>

#include "base/buf.h"
#include "tree/cost.h"

/* Whom it is for. */
struct calibration_key {
	char cpu[128], kernel[136], jvm[160];
	char build[64]; /* of Sonde: version, and a hash of the library */
};

/* jvm: as the agent tells it in `welcome`.  0, or E_NOT_FOUND when there is no library. */
int calibration_key(struct slice jvm, struct calibration_key *out);

/* Reads the stored one into text and out.  0; E_NOT_FOUND: there is none; other codes: there is one
 * that cannot be used. */
int calibration_load(const struct calibration_key *key, struct buf *text, struct costs *out);

/* Is this text (of a recording) for that key? */
bool calibration_fits(struct slice text, const struct calibration_key *key);

/* Writes it in one piece.  0, or E_IO with errno set. */
int calibration_store(const struct calibration_key *key, struct slice text);

enum calibration_missing {
	CALIBRATION_WAIT,	/* it is measured now, which takes a while */
	CALIBRATION_BACKGROUND, /* it is measured by another process; not known yet */
	CALIBRATION_LEAVE,	/* it is not known */
};

/* The one for a JVM that tells of itself what is in `jvm` ("25.0.3+9-LTS, ..."), and runs as pid;
 * 0: it does not run any more.  The java of a running process is started only if that is safe
 * (jdk_of_process).  0; or E_NOT_FOUND, unless it was to be left after one line on stderr that says
 * that figures are raw, and why. */
int calibration_for(struct slice jvm, pid_t pid, enum calibration_missing missing,
		    struct costs *out);

/* Measures with the JVM in `home`; takes some seconds, with progress on stderr unless quiet, and
 * stores the result.  An exit status, after a message. */
int calibrate(const char *home, bool quiet, struct calibration_key *key, struct buf *text);

#endif
