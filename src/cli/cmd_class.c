/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_class.c - "sonde class": everything that needs class files and no running program. */
#include "cli/cmd_class.h"

int cmd_class(int argc, char **argv);

static const struct command commands[] = {
	{ "show", "list a class: header, fields, methods, attributes, code", class_show_main },
	{ "verify", "check classes against the JVM specification", class_verify_main },
	{ "diff", "compare classes, method by method", class_diff_main },
	{ "callees", "list what a method calls", class_callees_main },
	{ "roundtrip", "read and write classes again; the bytes must be the same",
	  class_roundtrip_main },
};

static const struct command_table table = {
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

int cmd_class(int argc, char **argv)
{
	return command_run(&table, argc, argv);
}
