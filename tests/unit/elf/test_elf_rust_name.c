/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "elf/rust_name.h"

static const struct {
	const char *symbol, *name; /* name NULL: it is none */
} cases[] = {
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNvNtCs1234_7mycrate3foo3bar.llvm.123", "mycrate::foo::bar" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
	  "utf8_idents::\341\203\241\341\203\220\341\203\255\341\203\233\341\203\224\341\203\232\341\203\220\341"
	  "\203\223_\341\203\222\341\203\224\341\203\233\341\203\240\341\203\230\341\203\224\341\203\232\341\203\230_"
	  "\341\203\241\341\203\220\341\203\223\341\203\230\341\203\232\341\203\230" },
	{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
	{ "_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9rposit"
	  "ionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
	  "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::memchr::memrchr::"
	  "{closure#1}>::{closure#0}" },
	{ "_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std",
	  "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>" },
	{ "_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>" },
	{ "_RINvC1a1fTlbEAhj4_E", "a::f::<(i32, bool), [u8; 4]>" },
	{ "_RINvC1a1fTlEFUKCRehEuKb1_Kc61_Kin5_E",
	  "a::f::<(i32,), unsafe extern \"C\" fn(&str, u8), true, 'a', -5>" },
	{ "_RINvC1a1fFG_RL0_hPOeQmEzE",
	  "a::f::<for<'a> fn(&'a u8, *const *mut str, &mut u32) -> !>" },
	{ "_RINvC1a1fSoNvC1b1tNtB8_1uE", NULL },
	{ "_R", NULL },
	{ "_RNvC0", NULL },
	{ "_R9NvC1a1b", NULL }, /* of an encoding to come */
	{ "_ZN1a1bE", NULL },
	{ "main", NULL },
	{ "_RB_", NULL }, /* leads to itself */
	{ "_RNvB_1a", NULL },
};

TEST(names_of_rust_are_read)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < COUNT(cases); i++) {
		bool is = rust_name_put(&out, slice_str(cases[i].symbol));

		buf_u8(&out, 0);
		CHECK_STR(is ? (const char *)out.p : "-", cases[i].name ? cases[i].name : "-",
			  cases[i].symbol);
		buf_clear(&out);
	}
	buf_release(&out);
}

/* Each tuple is twice the one before: 2^40 letters in some hundred. */
TEST(a_rust_name_that_grows_without_end_is_cut)
{
	struct buf symbol = { 0 }, out = { 0 };
	size_t before = 0;

	buf_text(&symbol, "_RIC1aT");
	for (unsigned i = 0; i < 40; i++) {
		size_t here = symbol.n - 2; /* of this tuple */
		char digits[3];

		buf_text(&symbol, "T");
		for (unsigned k = 0; i && k < 2; k++) {
			static const char all[] =
				"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
			size_t v = before - 1;

			snprintf(digits, sizeof(digits), "%c%c", all[v / 62], all[v % 62]);
			buf_printf(&symbol, "B%s_", digits);
		}
		buf_text(&symbol, i ? "E" : "hhE");
		before = here;
	}
	buf_text(&symbol, "EE");
	CHECK(rust_name_put(&out, buf_slice(&symbol)));
	CHECK(out.n >= RUST_NAME_MAX && out.n < RUST_NAME_MAX + 100);
	buf_release(&symbol);
	buf_release(&out);
}

TEST(a_rust_name_with_any_byte_changed_does_no_harm)
{
	struct buf symbol = { 0 }, out = { 0 };

	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t k = 2; k < strlen(cases[i].symbol); k++)
			for (unsigned to = 1; to < 256; to++) {
				buf_clear(&symbol);
				buf_clear(&out);
				buf_text(&symbol, cases[i].symbol);
				symbol.p[k] = (uint8_t)to;
				if (!rust_name_put(&out, buf_slice(&symbol)))
					CHECK(out.n == 0);
			}
	buf_release(&symbol);
	buf_release(&out);
}

TEST(what_is_not_shown_of_a_rust_name_is_not_read_for_ever)
{
	struct buf symbol = { 0 }, out = { 0 };

	/* a.<<u8>, <u8>, ...>: the path of each impl is long, not shown, and the same */
	buf_text(&symbol, "_RIC1aMIC1a");
	for (int i = 0; i < 1000000; i++)
		buf_u8(&symbol, 'h');
	buf_text(&symbol, "Eh");
	for (int i = 0; i < 600; i++)
		buf_text(&symbol, "B3_");
	buf_u8(&symbol, 'E');
	CHECK(!rust_name_put(&out, buf_slice(&symbol)));
	buf_release(&symbol);
	buf_release(&out);
}
