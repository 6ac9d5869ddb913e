/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_method_arg.c - words of a rule that the agent must complete. */
#include "cli/client/method_arg.h"

#include "test.h"

TEST(a_rule_has_short_names_where_methods_stand)
{
	CHECK(method_arg_in_rule("Cart::checkout timed"));
	CHECK(method_arg_in_rule("hook com.shop.Cart.checkout"));
	CHECK(method_arg_in_rule("skip Cart::checkout"));
	CHECK(method_arg_in_rule("hook com.shop.Cart::checkout inside Shop::serve"));
	CHECK(method_arg_in_rule("hook com.shop.Cart::checkout inside com.shop.A::a >> B::b"));
	CHECK(!method_arg_in_rule(
		"hook com.shop.Cart::checkout inside com.shop.A::a > com.shop.B::b"));
	CHECK(!method_arg_in_rule("hook com.shop.**::*"));
}

TEST(what_a_condition_compares_with_is_no_method)
{
	CHECK(!method_arg_in_rule("hook com.shop.Cart::add if $1 > 0.5"));
	CHECK(!method_arg_in_rule("hook com.shop.Cart::add if $2.n > $1.size() timed"));
	CHECK(method_arg_in_rule("hook com.shop.Cart::add if $1 > 0.5 inside Shop::serve"));
	CHECK(!method_arg_in_rule("hook com.shop.Cart::add inside com.shop.A::a if $1 > $2.least"));
	CHECK(method_arg_in_rule("hook com.shop.Cart::add if $1 > 0.5\nhook Cart::pay"));
}
