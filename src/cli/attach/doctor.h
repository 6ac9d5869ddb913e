/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.h - everything that can stand between us and a JVM, looked at without disturbing it.
 *
 * "sonde doctor" prints all findings; "sonde attach" asks the same questions and stops at the first
 * that is wrong.  Texts may quote what the JVM says about itself: escape them when printing. */
#ifndef CLI_ATTACH_DOCTOR_H
#define CLI_ATTACH_DOCTOR_H

#include "cli/attach/jvms.h"
#include "cli/attach/library.h"

enum verdict {
	DOCTOR_OK,
	DOCTOR_NOTE,	/* good to know */
	DOCTOR_WARNING, /* attaching works, but */
	DOCTOR_WRONG,	/* attaching will not work */
};

struct finding {
	const char *topic;
	enum verdict verdict;
	char text[600];
	char todo[400]; /* what to do about it; "" */
};

typedef void doctor_report(void *ctx, const struct finding *f);

struct patient {
	const struct jvm *jvm;
	struct inside *in;
	const struct library *lib; /* NULL: not found, and lib_fault says why */
	const struct fault *lib_fault;
	doctor_report *report;
	void *ctx;
	unsigned wrong; /* findings so far */
};

/* What may be wrong.  Gives the number of findings that are; when it may not be looked into at
 * all, the questions that need that are left out. */
unsigned doctor_examine(struct patient *p);
/* What is only good to know. */
void doctor_more(struct patient *p);

/* Reports one finding; for the files doctor*.c.  The text comes first, then what to do or NULL. */
void doctor_say(struct patient *p, const char *topic, enum verdict v, const char *todo,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void doctor_files(struct patient *p); /* /tmp, the sockets, the library */

#endif
