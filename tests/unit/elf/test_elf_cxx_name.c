/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "elf/cxx_name.h"

TEST(usual_cxx_names_are_modest)
{
	static const char *const names[] = {
		"_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP6Thread",
		"_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES5_St4lessIS5_ESaISt4pairIKS5_S5_EEE"
		"6insertEOSA_",
		"_ZSt16__introsort_loopIPPN3foo3BarElN9__gnu_cxx5__ops15_Iter_comp_iterIZN4qsrt4sortIS2_EEvRSt6"
		"vectorIT_SaIS9_EEEUlS8_S8_E_EEEvS9_S9_T0_T1_",
		"_Z3SSL",
		"_ZN4SIZE_E",
		"S",
		"_ZS",
		"",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (!cxx_name_is_modest(slice_str(names[i])))
			CHECK_INT(i, 0, names[i]);
}

/* a<int, int>, then a of twice that, and so on: 2^35 letters. */
TEST(a_cxx_name_that_doubles_again_and_again_is_not_modest)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct buf symbol = { 0 };

	buf_text(&symbol, "_Z1f1aIiiE");
	for (int i = 0; i < 35; i++)
		buf_printf(&symbol, "S_IS%c_S%c_E", digits[i], digits[i]);
	CHECK(!cxx_name_is_modest(buf_slice(&symbol)));
	buf_release(&symbol);
}
