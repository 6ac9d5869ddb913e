/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody probably meant: the nearest name, also where names are long, as those of classes are. */
#include "rule/text.h"
#include "test.h"

static const struct {
	const char *written, *near,
		*far; /* near: of the two the one that is meant; NULL: none is */
} cases[] = {
	{ "hanle", "handle", "candle" },
	{ "org/h2/jdbc/JdbcPreparedStatemnt", "org/h2/jdbc/JdbcPreparedStatement",
	  "org/h2/jdbc/JdbcStatement" },
	{ "com/acme/shop/warehouse/inventory/InventoryServcie",
	  "com/acme/shop/warehouse/inventory/InventoryService",
	  "com/acme/shop/warehouse/inventory/Inventory" },
	{ "jdbcpreparedstatement", "JdbcPreparedStatement", "JdbcStatement" },
	{ "aab", "ab", "bbbb" }, /* what both begin with is not looked at */
	{ "com/acme/Shop", NULL, "org/acme/Ship" },
	{ "x", NULL, "yz" },
};

TEST(text_guesses_what_is_near)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text_guess g = text_guess(slice_str(cases[i].written));

		text_guess_try(&g, slice_str(cases[i].far));
		if (cases[i].near)
			text_guess_try(&g, slice_str(cases[i].near));
		text_guess_try(&g, slice_str(cases[i].far));
		CHECK_INT(g.best.p != NULL, cases[i].near != NULL, cases[i].written);
		if (cases[i].near)
			CHECK(slice_is(g.best, cases[i].near));
	}
}

TEST(text_guesses_at_no_word_without_end)
{
	char long_word[300];
	struct text_guess g;

	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	g = text_guess(slice_str(long_word));
	text_guess_try(&g, slice_str(long_word + 1));
	CHECK(!g.best.p);
}
