/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_method_name.c - names of methods in as much room as there is. */
#include "cli/screen/method_name.h"

#include "test.h"

static const char checkout[] = "com.shop.Cart$Line.checkout(Ljava/lang/String;I[[J)V";

static const char *fit(struct buf *out, const char *name, bool parameters, size_t width)
{
	struct method_name m;

	method_name_split(slice_str(name), &m);
	buf_clear(out);
	if (width)
		method_name_fit(out, &m, parameters, width);
	else
		method_name_put(out, &m, parameters);
	buf_u8(out, '\0');
	return (const char *)out->p;
}

TEST(names_are_split_into_package_class_method_and_descriptor)
{
	struct method_name m;

	method_name_split(slice_str(checkout), &m);
	CHECK(slice_is(m.package, "com.shop"));
	CHECK(slice_is(m.class, "Cart$Line"));
	CHECK(slice_is(m.name, "checkout"));
	CHECK(slice_is(m.desc, "(Ljava/lang/String;I[[J)V"));
	CHECK(method_name_is_void(&m));
	method_name_split(slice_str("Main.run()I"), &m);
	CHECK(m.package.n == 0 && slice_is(m.class, "Main") && slice_is(m.name, "run"));
	CHECK(!method_name_is_void(&m));
	method_name_split(slice_str(""), &m);
	CHECK(m.name.n == 0 && m.class.n == 0 && !method_name_is_void(&m));
}

TEST(names_become_shorter_as_there_is_less_room)
{
	struct buf out = { 0 };

	CHECK_STR(fit(&out, checkout, true, 0),
		  "com.shop.Cart$Line.checkout(String, int, long[][])", NULL);
	CHECK_STR(fit(&out, checkout, false, 27), "com.shop.Cart$Line.checkout", NULL);
	CHECK_STR(fit(&out, checkout, false, 26), "c.s.Cart$Line.checkout", NULL);
	CHECK_STR(fit(&out, checkout, false, 21), "Cart$Line.checkout", NULL);
	CHECK_STR(fit(&out, checkout, false, 17), "Cart$..e.checkout", NULL);
	CHECK_STR(fit(&out, checkout, false, 2), "Ca", NULL);
	CHECK_STR(fit(&out, "Main.run()V", true, 40), "Main.run()", NULL);
	CHECK_STR(fit(&out, "a.B.broken(Lnever", true, 40), "a.B.broken()", NULL);
	buf_release(&out);
}

TEST(names_never_carry_control_characters)
{
	struct buf out = { 0 };

	fit(&out, "a.B.\033[31mred(Lx/\007;)V", true, 0);
	CHECK(!memchr(out.p, 033, out.n) && !memchr(out.p, 007, out.n));
	buf_release(&out);
}

TEST(overloads_differ_in_the_descriptor_alone)
{
	struct method_name a, b, c;

	method_name_split(slice_str("a.B.c(I)V"), &a);
	method_name_split(slice_str("a.B.c(J)V"), &b);
	method_name_split(slice_str("a.X.c(J)V"), &c);
	CHECK(method_name_overloads(&a, &b));
	CHECK(!method_name_overloads(&a, &a));
	CHECK(!method_name_overloads(&b, &c));
}

TEST(width_counts_characters_not_bytes)
{
	CHECK_INT(method_name_width(slice_str("a\303\244\342\202\254")), 3, NULL);
	CHECK_INT(method_name_width(slice_str("")), 0, NULL);
}
