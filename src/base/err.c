/* SPDX-License-Identifier: Apache-2.0 */
/* err.c - texts for error codes.  The tables come out of errors.def. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name, *section, *text;
} table[] = {
#define X(code, section, text) { #code, section, text },
#include "base/errors.def"
#undef X
};

static int order_of(int code)
{
	int order = ERR_FLOOR - code;

	return order >= 0 && order < ERR_COUNT ? order : -1;
}

const char *err_text(int code)
{
	int order = order_of(code);

	return order < 0 ? "unknown error" : table[order].text;
}

const char *err_section(int code)
{
	int order = order_of(code);

	return order < 0 ? "" : table[order].section;
}

const char *err_name(int code)
{
	int order = order_of(code);

	return order < 0 ? "E_UNKNOWN" : table[order].name;
}

int fault_set(struct fault *f, int code, long at, const char *fmt, ...)
{
	va_list ap;

	if (!f || f->code)
		return code;
	f->code = code;
	f->at = at;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return code;
}

int fault_no_memory(struct fault *f)
{
	return fault_set(f, E_NO_MEMORY, -1, "out of memory");
}
