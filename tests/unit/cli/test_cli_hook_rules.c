/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/hook_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static bool write_rule(const char *path)
{
	FILE *f = fopen(path, "we");

	return f && fputs("hook a.B::*\n", f) >= 0 && fclose(f) == 0;
}

TEST(hook_rules_name_each_file_even_if_its_name_ends_that_of_another)
{
	char dir[] = "/tmp/sonde-rules.XXXXXX", longer[64], shorter[64];
	struct hook_rules h;

	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	snprintf(longer, sizeof(longer), "/.%s/a.rules", dir);
	snprintf(shorter, sizeof(shorter), "%s/a.rules", dir);
	if (CHECK(write_rule(shorter)) && CHECK_INT(hook_rules_init(&h), 0, NULL)) {
		char want[160];

		CHECK_INT(hook_rules_add_file(&h, longer), 0, NULL);
		CHECK_INT(hook_rules_add_file(&h, shorter), 0, NULL);
		CHECK_INT(hook_rules_add(&h, "c.D::e"), 0, NULL);
		CHECK_INT(hook_rules_add(&h, "c.D::f"), 0, NULL);
		snprintf(want, sizeof(want), "%s, %s, command line", longer, shorter);
		buf_u8(&h.origin, 0);
		CHECK_STR((const char *)h.origin.p, want, NULL);
		hook_rules_release(&h);
	}
	unlink(shorter);
	rmdir(dir);
}
