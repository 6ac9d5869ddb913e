/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - which application a java command line starts.
 *
 * Pure: reads what it is given and nothing else.  The slices in struct launch are views of the
 * arguments.  Any thread. */
#ifndef JVM_LAUNCH_H
#define JVM_LAUNCH_H

#include "base/slice.h"

enum launch_kind {
	LAUNCH_NOTHING, /* -version, --help, no main class: no application runs */
	LAUNCH_CLASS,
	LAUNCH_JAR,
	LAUNCH_MODULE,
	LAUNCH_SOURCE, /* java Shop.java */
};

struct launch {
	enum launch_kind kind;
	struct slice
		main; /* com.shop.Main; of a module that names none: the module; of a jar: "" */
	struct slice file; /* the jar, or the source file, as it was given; else "" */
	bool hands_off;	   /* it makes an archive of classes, or its JVM may know no agents */
	bool has_agent;	   /* Sonde's agent is among the options already */
};

/* What the java launcher's main() hands to JLI_Launch(): argument files and JDK_JAVA_OPTIONS are
 * expanded.  A tool such as javac brings arguments of its own: "-J-ms8m", "-m",
 * "jdk.compiler/com.sun.tools.javac.Main"; java itself has none. */
struct launch_line {
	int argc;
	char *const *argv; /* with the program's name */
	int tool_argc;
	const char *const *tool_argv;
};

void launch_read(const struct launch_line *line, struct launch *out);

/* The same from inside: of the properties sun.java.command and java.class.path; either may be
 * NULL.  hands_off and has_agent stay false. */
void launch_of_properties(const char *command, const char *class_path, struct launch *out);

/* Of the text of JAVA_TOOL_OPTIONS and its like, which may be NULL: what hands_off and has_agent
 * are for a command line. */
bool launch_text_hands_off(const char *text);
bool launch_text_has_agent(const char *text);

/* A value as the agent's options want it: what could be taken for their own commas becomes %2c.
 * Gives its length; 0 when it does not fit. */
size_t launch_encode(const char *value, char *out, size_t cap);

#endif
