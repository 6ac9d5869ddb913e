/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_kept.c - any bytes as a file that Sonde keeps: a calibration, or what is known of an
 * application.  What is read from one must come out the same when it is written and read again. */
#include <math.h>
#include <stdlib.h>

#include "base/visible.h"
#include "plan/dig/known.h"
#include "tree/cost.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void calibration(struct slice text)
{
	struct costs c, at;

	if (cost_read(text, &c) < 0)
		return;
	cost_at(&c, 25, &at);
	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++)
				if (!isfinite(at.of[t][k][i].pair.mid))
					abort();
	(void)cost_line(text, "cpu");
}

static void known(struct slice text)
{
	struct slice app = known_app_of(text);
	struct buf once = { 0 }, twice = { 0 }, rules = { 0 };
	struct known k, again;

	known_init(&k, app);
	if (known_read(&k, text) >= 0) {
		known_print(&k, &once);
		known_print_rules(&k, &rules);
		known_init(&again, app);
		if (known_read(&again, buf_slice(&once)) < 0)
			abort();
		known_print(&again, &twice);
		if (!slice_eq(buf_slice(&once), buf_slice(&twice)))
			abort();
		known_release(&again);
	}
	known_release(&k);
	buf_release(&once);
	buf_release(&twice);
	buf_release(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };

	if (!size)
		return 0;
	if (data[0] & 1)
		calibration(in);
	else
		known(in);
	return 0;
}
