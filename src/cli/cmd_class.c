/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_class.c - "sonde class": everything that needs class files and no running program. */
#include "cli/classtools/class_tools.h"
#include "cli/verbs.h"

static const struct command commands[] = {
	{ "show", "list a class: header, fields, methods, attributes, code",
	  .verb = &verb_class_show },
	{ "verify", "check classes against the JVM specification", .verb = &verb_class_verify },
	{ "diff", "compare classes, method by method", .verb = &verb_class_diff },
	{ "callees", "list what a method calls", .verb = &verb_class_callees },
	{ "roundtrip", "read and write classes again; the bytes must be the same",
	  .verb = &verb_class_roundtrip },
};

const struct command_table group_class = {
	.name = "sonde class",
	.head = "sonde class - looks at class files, without running them\n"
		"\n"
		"usage: sonde class COMMAND [OPTION]... SOURCE...\n"
		"       sonde class COMMAND --help\n",
	.tail = "\n"
		"A SOURCE is one of\n"
		"  FILE               a class file, jar, war, ear, zip, jmod, or a JDK's lib/modules\n"
		"  DIR                all class files and archives below it\n"
		"  @jdk               the JDK of JAVA_HOME or PATH, or the newest installed\n"
		"  @jdk17             the JDK of that version\n"
		"  @/path/to/jdk      the JDK there\n"
		"  @jdk17/java.base   one module of a JDK\n"
		"  a.jar!/p/C.class, @jdk/java.base/java/lang/String.class\n"
		"                     one class; * and ? stand for several\n",
	.commands = commands,
	.n = COUNT(commands),
};
