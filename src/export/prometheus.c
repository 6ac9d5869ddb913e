/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus.c - one line a value; label values are escaped, and are UTF-8 whatever they were. */
#include "export/prometheus.h"

#include <math.h>

#include "base/utf8.h"

void prometheus_family(struct prometheus *p, const char *name, const char *type, const char *help)
{
	p->name = name;
	buf_printf(p->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void prometheus_label(struct prometheus *p, const char *name, struct slice value)
{
	struct slice rest = value;

	buf_printf(&p->labels, "%s%s=\"", p->labels.n ? "," : "", name);
	while (rest.n) {
		uint32_t c;
		size_t n = utf8_decode(rest.p, rest.n, &c);

		if (rest.p[0] == '\n')
			buf_text(&p->labels, "\\n");
		else if (rest.p[0] == '"' || rest.p[0] == '\\')
			buf_printf(&p->labels, "\\%c", rest.p[0]);
		else if (!n)
			buf_text(&p->labels, "\xef\xbf\xbd");
		else
			buf_bytes(&p->labels, rest.p, n);
		rest = (struct slice){ rest.p + (n ? n : 1), rest.n - (n ? n : 1) };
	}
	buf_u8(&p->labels, '"');
}

void prometheus_value(struct prometheus *p, const char *suffix, double v)
{
	buf_printf(p->out, "%s%s", p->name, suffix);
	if (p->labels.n) {
		buf_u8(p->out, '{');
		buf_put(p->out, buf_slice(&p->labels));
		buf_u8(p->out, '}');
	}
	if (isnan(v))
		buf_text(p->out, " NaN\n");
	else if (isinf(v))
		buf_text(p->out, v > 0 ? " +Inf\n" : " -Inf\n");
	else
		buf_printf(p->out, " %.17g\n", v);
	if (p->labels.err && !p->out->err)
		p->out->err = p->labels.err;
}

void prometheus_clear(struct prometheus *p)
{
	buf_clear(&p->labels);
}

void prometheus_release(struct prometheus *p)
{
	buf_release(&p->labels);
}
