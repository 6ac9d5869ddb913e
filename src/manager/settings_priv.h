/* SPDX-License-Identifier: Apache-2.0 */
/* settings_priv.h - what the files that read settings share. */
#ifndef MANAGER_SETTINGS_PRIV_H
#define MANAGER_SETTINGS_PRIV_H

#include <stddef.h>

#include "manager/settings.h"

enum { SETTINGS_USAGE = 2 };

enum option_id {
#define S(id, name, argument, help) OPT_##id,
#define F(id, name, help) OPT_##id,
	OPT_NONE,
#include "manager/settings.def"
#undef S
#undef F
};

/* Says "WHAT, not 'VALUE'"; gives SETTINGS_USAGE. */
int settings_wrong(const char *what, const char *value);
int settings_text(char *to, size_t room, const char *value);
int settings_number(double low, double high, const char *name, const char *value, double *out);

/* ---- settings_alerts.c ---- */
int settings_alerts(struct settings *c, int id, const char *value);

#endif
