/* SPDX-License-Identifier: Apache-2.0 */
/* made_up.h - messages that no honest agent sends, made from a seed: the same seed, the same bytes. */
#ifndef TESTS_MADE_UP_H
#define TESTS_MADE_UP_H

#include "wire/wire.h"

enum made_up_shape { SHAPE_WALK, SHAPE_DEEP, SHAPE_WIDE, SHAPE_RANDOM, SHAPES };

struct made_up {
	uint64_t state;
	bool extreme; /* figures: of any size; else such as a program has */
	enum made_up_shape shape;
	uint32_t rows; /* of an answer, about */
	uint32_t depth;
	uint32_t text; /* bytes of a long text */
};

/* What it is like follows from the seed, too. */
struct made_up made_up_from(uint64_t seed);

uint32_t made_up_below(struct made_up *m, uint32_t n);
uint64_t made_up_number(struct made_up *m);

/* Appends a text that would do harm, or a plausible one; no NUL in it if it is a C string. */
void made_up_text(struct made_up *m, struct buf *out, bool c_string);

/* Appends one message of that type with made-up fields. */
void made_up_message(struct made_up *m, unsigned type, struct buf *out);

/* Appends the rows of an answer to a request of that type, without `done`. */
void made_up_answer(struct made_up *m, unsigned request, struct buf *out);

void made_up_welcome(struct made_up *m, uint32_t pid, struct buf *out);

#endif
