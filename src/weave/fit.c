/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - stand-in until the analysis is here. */
#include "weave/fit.h"

const char *fit_category(const struct rule_class *facts, const struct class *cls,
			 const struct member *m)
{
	(void)facts;
	(void)cls;
	(void)m;
	return NULL;
}
