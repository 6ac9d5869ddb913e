/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what stands behind -agentpath:libsonde.so= : key=value, separated by commas, values
 * percent-encoded.  A wrong option is noted and passed over; the JVM starts all the same. */
#ifndef AGENT_CORE_OPTIONS_H
#define AGENT_CORE_OPTIONS_H

#include "base/buf.h"

struct options {
	struct buf rules;   /* texts of hook=, one a line */
	char files[4096];   /* of rules=, each ended by NUL; an empty one ends the list */
	char socket[100];   /* "": the usual place */
	char report[1024];  /* "": no report at the end */
	char cache[1024];   /* where woven classes are kept; "": the usual place, "off": nowhere */
	char known[1024];   /* where it is kept what was found before; "": nothing is used */
	char app[256];	    /* what the application is called there; "": by its main class or jar */
	size_t cache_limit; /* bytes; 0: as usual */
	size_t memory;	    /* for the figures */
	double budget;	    /* share of the program that hooks may cost; 0: whatever they do */
	bool jni;	    /* for calibrations: keeps to plain JNI */
	bool steady;	    /* ... and times every call of a hot method, too */
	bool in_place;	    /* measures in place as long as the JVM runs */
	bool yes;	    /* also when there are very many methods */
	char wrong[256];    /* what was not understood, or "" */
};

void options_parse(struct options *o, const char *text);     /* text may be NULL */
void options_add_rules(struct options *o, const char *path); /* as rules=path */
void options_release(struct options *o);

#endif
