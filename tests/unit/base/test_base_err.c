/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/err.h"

TEST(every_error_has_a_name_a_text_and_a_number_of_its_own)
{
	static const struct {
		int code;
		const char *name, *section, *text;
	} all[] = {
#define X(code, section, text) { code, #code, section, text },
#include "base/errors.def"
#undef X
	};

	CHECK_INT(COUNT(all), ERR_COUNT, NULL);
	for (size_t i = 0; i < COUNT(all); i++) {
		CHECK(all[i].code <= ERR_FLOOR);
		CHECK_STR(err_name(all[i].code), all[i].name, NULL);
		CHECK_STR(err_text(all[i].code), all[i].text, NULL);
		CHECK_STR(err_section(all[i].code), all[i].section, NULL);
		CHECK(strlen(all[i].text) > 5);
		for (size_t j = 0; j < i; j++)
			CHECK(all[j].code != all[i].code);
	}
}

TEST(an_unknown_error_has_a_text_too)
{
	static const int codes[] = { 0, 1, -1, ERR_FLOOR + 1, ERR_FLOOR - ERR_COUNT, -2147483647 };

	for (size_t i = 0; i < COUNT(codes); i++) {
		CHECK_STR(err_text(codes[i]), "unknown error", NULL);
		CHECK_STR(err_name(codes[i]), "E_UNKNOWN", NULL);
		CHECK_STR(err_section(codes[i]), "", NULL);
	}
}

TEST(fault_keeps_the_first)
{
	struct fault f = { 0 };

	CHECK_INT(fault_set(&f, E_MAGIC, 4, "byte %d", 7), E_MAGIC, NULL);
	CHECK_INT(fault_set(&f, E_UTF8, 9, "later"), E_UTF8, "returns what it was given");
	CHECK_INT(f.code, E_MAGIC, NULL);
	CHECK_INT(f.at, 4, NULL);
	CHECK_STR(f.text, "byte 7", NULL);
	CHECK_INT(fault_set(NULL, E_UTF8, 9, "nobody listens"), E_UTF8, NULL);
}

TEST(fault_text_is_cut_to_its_room)
{
	struct fault f = { 0 };

	fault_set(&f, E_NAME, -1, "%0500d", 1);
	CHECK_INT(strlen(f.text), sizeof(f.text) - 1, NULL);
}
