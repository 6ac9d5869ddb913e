/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_launch.c - which application a java command line starts. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/launch.h"

enum { WORDS_MAX = 24 };

/* Cuts text at its blanks; the first word is the program's name. */
static int cut(char *text, char **words)
{
	static char name[] = "java";
	int n = 0;

	words[n++] = name;
	for (char *w = strtok(text, " "); w && n < WORDS_MAX; w = strtok(NULL, " "))
		words[n++] = w;
	words[n] = NULL;
	return n;
}

static const struct {
	const char *line;
	enum launch_kind kind;
	const char *main, *file;
} lines[] = {
	{ "com.shop.Main", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "com.shop.Main -version -jar x.jar", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "-cp a.jar:b.jar com.shop.Main", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "-classpath x com.shop.Main y", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "--class-path x com.shop.Main", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "--class-path=x com.shop.Main", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "-Dx=y -Xmx1g -XX:+UseZGC -ea Main", LAUNCH_CLASS, "Main", "" },
	{ "-p mods --add-modules ALL-SYSTEM --add-exports a/b=c Main", LAUNCH_CLASS, "Main", "" },
	{ "--add-opens java.base/java.lang=ALL-UNNAMED Main", LAUNCH_CLASS, "Main", "" },
	{ "--add-reads a=b --patch-module a=b --limit-modules a Main", LAUNCH_CLASS, "Main", "" },
	{ "--enable-native-access ALL-UNNAMED --upgrade-module-path p Main", LAUNCH_CLASS, "Main",
	  "" },
	{ "--enable-native-access=ALL-UNNAMED --illegal-native-access=deny Main", LAUNCH_CLASS,
	  "Main", "" },
	{ "-showversion --show-version -Xdiag -splash:x.png Main", LAUNCH_CLASS, "Main", "" },
	/* A value that begins with '-' is an option of its own, also for the launcher. */
	{ "-cp -Xint Main", LAUNCH_CLASS, "Main", "" },
	{ "-jar shop.jar", LAUNCH_JAR, "", "shop.jar" },
	{ "-jar -Xmx1g lib/shop.jar --help", LAUNCH_JAR, "", "lib/shop.jar" },
	{ "-cp x -jar shop.jar com.shop.Main", LAUNCH_JAR, "", "shop.jar" },
	{ "-m shop/com.shop.Main arg", LAUNCH_MODULE, "com.shop.Main", "" },
	{ "--module shop/com.shop.Main", LAUNCH_MODULE, "com.shop.Main", "" },
	{ "--module=shop/com.shop.Main", LAUNCH_MODULE, "com.shop.Main", "" },
	{ "-p mods -m shop", LAUNCH_MODULE, "shop", "" },
	{ "Shop.java arg", LAUNCH_SOURCE, "Shop", "Shop.java" },
	{ "src/com/shop/Shop.java", LAUNCH_SOURCE, "Shop", "src/com/shop/Shop.java" },
	{ "--source 21 shop", LAUNCH_SOURCE, "shop", "shop" },
	{ "--source=21 bin/shop arg", LAUNCH_SOURCE, "shop", "bin/shop" },
	{ "", LAUNCH_NOTHING, "", "" },
	{ "-version", LAUNCH_NOTHING, "", "" },
	{ "-version com.shop.Main", LAUNCH_NOTHING, "", "" },
	{ "-cp x --version Main", LAUNCH_NOTHING, "", "" },
	{ "-help Main", LAUNCH_NOTHING, "", "" },
	{ "-? Main", LAUNCH_NOTHING, "", "" },
	{ "-X", LAUNCH_NOTHING, "", "" },
	{ "--help-extra", LAUNCH_NOTHING, "", "" },
	{ "-fullversion Main", LAUNCH_NOTHING, "", "" },
	{ "--list-modules Main", LAUNCH_NOTHING, "", "" },
	{ "-d java.base", LAUNCH_NOTHING, "", "" },
	{ "--describe-module=java.base Main", LAUNCH_NOTHING, "", "" },
	{ "--dry-run Main", LAUNCH_NOTHING, "", "" },
	{ "-XshowSettings", LAUNCH_NOTHING, "", "" },
	{ "-jar", LAUNCH_NOTHING, "", "" },
	{ "-m", LAUNCH_NOTHING, "", "" },
	{ "-cp x", LAUNCH_NOTHING, "", "" },
};

static bool same(struct slice got, const char *want, const char *label)
{
	return CHECK_MEM(got.p, got.n, want, strlen(want), label);
}

TEST(launch_finds_the_application_as_the_launcher_does)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[200], *words[WORDS_MAX + 1];
		struct launch l;

		snprintf(text, sizeof(text), "%s", lines[i].line);
		launch_read(&(struct launch_line){ .argc = cut(text, words), .argv = words }, &l);
		CHECK_INT(l.kind, lines[i].kind, lines[i].line);
		same(l.main, lines[i].main, lines[i].line);
		same(l.file, lines[i].file, lines[i].line);
		CHECK_INT(l.hands_off || l.has_agent, false, lines[i].line);
	}
}

static const struct {
	const char *line;
	bool hands_off, has_agent;
} flags[] = {
	{ "-Xshare:dump Main", true, false },
	{ "-XX:ArchiveClassesAtExit=x.jsa Main", true, false },
	{ "-XX:AOTMode=record -XX:AOTConfiguration=x Main", true, false },
	{ "-XX:AOTCacheOutput=x.aot Main", true, false },
	{ "-XX:AOTMode=on -XX:AOTCache=x.aot Main", false, false },
	{ "-minimal Main", true, false },
	{ "-XXaltjvm=x Main", true, false },
	{ "-agentpath:/usr/lib/sonde/libsonde.so=yes Main", false, true },
	{ "-agentlib:sonde Main", false, true },
	{ "-agentpath:/opt/libother.so Main", false, false },
	{ "-Dx=libsonde.so Main", false, false },
	{ "Main -agentpath:/usr/lib/sonde/libsonde.so", false, false },
};

TEST(launch_sees_what_must_be_left_alone)
{
	for (size_t i = 0; i < COUNT(flags); i++) {
		char text[200], *words[WORDS_MAX + 1];
		struct launch l;

		snprintf(text, sizeof(text), "%s", flags[i].line);
		launch_read(&(struct launch_line){ .argc = cut(text, words), .argv = words }, &l);
		CHECK_INT(l.hands_off, flags[i].hands_off, flags[i].line);
		CHECK_INT(l.has_agent, flags[i].has_agent, flags[i].line);
	}
	CHECK(launch_text_hands_off("-Xmx1g -XX:AOTCacheOutput=x"));
	CHECK(!launch_text_hands_off("-Xmx1g"));
	CHECK(!launch_text_hands_off(NULL));
	CHECK(launch_text_has_agent("-Xmx1g -agentpath:/x/libsonde.so=rules=y"));
	CHECK(!launch_text_has_agent("-agentpath:/x/libother.so"));
	CHECK(!launch_text_has_agent(NULL));
}

TEST(launch_reads_the_tools_of_the_jdk)
{
	static const char *const javac[] = { "-J-Xms8m", "--add-modules", "ALL-DEFAULT", "-m",
					     "jdk.compiler/com.sun.tools.javac.Main" };
	struct launch_line line = { .tool_argc = COUNT(javac), .tool_argv = javac };
	char text[200], *words[WORDS_MAX + 1];
	struct launch l;

	snprintf(text, sizeof(text), "-d out -J-Dx=y Shop.java -version");
	line.argc = cut(text, words);
	line.argv = words;
	launch_read(&line, &l);
	CHECK_INT(l.kind, LAUNCH_MODULE, "javac");
	same(l.main, "com.sun.tools.javac.Main", "javac");

	snprintf(text, sizeof(text), "-J-version Shop.java");
	line.argc = cut(text, words);
	launch_read(&line, &l);
	CHECK_INT(l.kind, LAUNCH_NOTHING, "-J-version");

	snprintf(text, sizeof(text), "-J-agentpath:/x/libsonde.so Shop.java");
	line.argc = cut(text, words);
	launch_read(&line, &l);
	CHECK(l.has_agent);
}

static const struct {
	const char *command, *class_path;
	enum launch_kind kind;
	const char *main, *file;
} properties[] = {
	{ "com.shop.Main a b", "classes", LAUNCH_CLASS, "com.shop.Main", "" },
	{ "com.shop.Main", NULL, LAUNCH_CLASS, "com.shop.Main", "" },
	{ "lib/my shop.jar a b", "lib/my shop.jar", LAUNCH_JAR, "", "lib/my shop.jar" },
	{ "shop.jar", "shop.jar", LAUNCH_JAR, "", "shop.jar" },
	{ "shop/com.shop.Main a", "", LAUNCH_MODULE, "com.shop.Main", "" },
	{ "jdk.compiler/com.sun.tools.javac.Main -d out X.java", NULL, LAUNCH_MODULE,
	  "com.sun.tools.javac.Main", "" },
	{ "jdk.compiler/com.sun.tools.javac.launcher.Main src/Shop.java x", "", LAUNCH_SOURCE,
	  "Shop", "src/Shop.java" },
	{ "jdk.compiler/com.sun.tools.javac.launcher.SourceLauncher Shop.java", "", LAUNCH_SOURCE,
	  "Shop", "Shop.java" },
	{ "jdk.compiler/com.sun.tools.javac.launcher.Main", "", LAUNCH_MODULE,
	  "com.sun.tools.javac.launcher.Main", "" },
	{ "", "x", LAUNCH_NOTHING, "", "" },
	{ NULL, NULL, LAUNCH_NOTHING, "", "" },
};

TEST(launch_is_known_from_inside_too)
{
	for (size_t i = 0; i < COUNT(properties); i++) {
		const char *label = properties[i].command;
		struct launch l;

		launch_of_properties(label, properties[i].class_path, &l);
		CHECK_INT(l.kind, properties[i].kind, label);
		same(l.main, properties[i].main, label);
		same(l.file, properties[i].file, label);
	}
}

TEST(launch_encodes_values_for_the_options)
{
	char out[64];

	CHECK_INT(launch_encode("/etc/a,b 100%.rules", out, sizeof(out)), 25, NULL);
	CHECK_STR(out, "/etc/a%2cb%20100%25.rules", NULL);
	CHECK_INT(launch_encode("\xc3\xa4", out, sizeof(out)), 6, NULL);
	CHECK_STR(out, "%c3%a4", NULL);
	CHECK_INT(launch_encode("too long", out, 8), 0, "no room");
}
