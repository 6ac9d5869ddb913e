/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_decompiled.c - lines and single methods of what Procyon prints. */
#include "cli/look/decompiled.h"

#include "test.h"

static const char text[] = "// \n// Decompiled by Procyon v0.6.0\n// \n\n"
			   "package a.b;\n\n"
			   "public class Cart\n{\n"
			   "    static int count;\n"
			   "    private final Runnable later = () -> this.add(1);\n"
			   "    \n"
			   "    Cart(final int n) {\n"
			   "        Cart.count += /*EL:7*/n;\n"
			   "    }\n"
			   "    \n"
			   "    @Deprecated\n"
			   "    int add(final int n) throws Exception {\n"
			   "        try {\n"
			   "            /*SL:30*/return add(n, /*EL:31*/\"/*SL:no*/\");\n"
			   "        }\n"
			   "        finally {\n"
			   "            ++Cart.count;\n"
			   "        }\n"
			   "    }\n"
			   "    \n"
			   "    abstract int add(final int n, final String s);\n"
			   "    \n"
			   "    static {\n"
			   "        Cart.count = /*EL:4*/5;\n"
			   "    }\n"
			   "    \n"
			   "    static class In\n    {\n"
			   "        int more() {\n"
			   "            return 1;\n"
			   "        }\n"
			   "    }\n"
			   "}\n";

static bool shows(const char *class, const char *method, const char *wanted)
{
	struct buf out = { 0 };
	bool found = decompiled_show(slice_str(text), class, method, &out);
	bool same = slice_is(buf_slice(&out), wanted);

	buf_release(&out);
	return same && found == (*wanted != 0);
}

TEST(all_methods_of_a_name_are_shown_with_lines_and_annotations)
{
	CHECK(shows("a/b/Cart", "add",
		    "            @Deprecated\n"
		    "            int add(final int n) throws Exception {\n"
		    "                try {\n"
		    "    30              return add(n, \"/*SL:no*/\");\n"
		    "                }\n"
		    "                finally {\n"
		    "                    ++Cart.count;\n"
		    "                }\n"
		    "            }\n"
		    "\n"
		    "            abstract int add(final int n, final String s);\n"));
}

TEST(constructors_and_static_blocks_are_methods_as_well)
{
	static const char made[] = "            Cart(final int n) {\n"
				   "     7          Cart.count += n;\n"
				   "            }\n";

	CHECK(shows("a/b/Cart", "<init>", made));
	CHECK(shows("a/b/Shop$Cart", "<init>", made));
	CHECK(shows("a/b/Shop$1Cart", "<init>", made));
	CHECK(shows("a/b/Cart", "<clinit>",
		    "            static {\n"
		    "     4          Cart.count = 5;\n"
		    "            }\n"));
}

TEST(methods_of_classes_within_are_not_those_of_the_class)
{
	CHECK(shows("a/b/Cart", "more", ""));
	CHECK(shows("a/b/Cart", "ad", ""));
	CHECK(shows("a/b/Cart", "lambda$new$0", ""));
}

TEST(the_whole_class_comes_without_the_head)
{
	struct buf out = { 0 };

	CHECK(decompiled_show(slice_str(text), "a/b/Cart", NULL, &out));
	CHECK(slice_starts(buf_slice(&out),
			   slice_str("        package a.b;\n\n        public class")));
	buf_release(&out);
}

TEST(what_was_printed_instead_of_a_class_is_known)
{
	CHECK(decompiled_is_class(slice_str(text)));
	CHECK(decompiled_is_class(slice_str("package a;\n\ninterface F {}\n")));
	CHECK(!decompiled_is_class(slice_str("")));
	CHECK(!decompiled_is_class(slice_str("!!! ERROR: Failed to load class a/b/C.\n")));
}

TEST(a_text_cannot_write_on_the_terminal)
{
	struct buf out = { 0 };

	CHECK(decompiled_show(slice_str("class A {\n    \033[2J\r\x07\n}"), "A", NULL, &out));
	for (size_t i = 0; i < out.n; i++)
		CHECK(out.p[i] >= ' ' || out.p[i] == '\n');
	buf_release(&out);
}
