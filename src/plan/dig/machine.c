/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal
 * ...". */
#include "plan/dig/machine.h"

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

/* The next number of text, moved over. */
static bool number(struct slice *text, uint64_t *out)
{
	size_t at = 0, first;

	while (at < text->n && text->p[at] == ' ')
		at++;
	*out = 0;
	for (first = at;
	     at < text->n && at < first + 19 && text->p[at] >= '0' && text->p[at] <= '9'; at++)
		*out = *out * 10 + (uint64_t)(text->p[at] - '0');
	*text = (struct slice){ text->p + at, text->n - at };
	return at > first;
}

bool machine_read(struct slice stat, struct machine_time *out)
{
	uint64_t of[FIELDS];

	*out = (struct machine_time){ 0 };
	if (stat.n < 4 || memcmp(stat.p, "cpu ", 4) != 0)
		return false;
	stat = (struct slice){ stat.p + 4, stat.n - 4 };
	for (int i = 0; i < FIELDS; i++)
		if (!number(&stat, &of[i]))
			return false;
	out->stolen = of[STEAL];
	out->wanted = of[USER] + of[NICE] + of[SYSTEM] + of[IRQ] + of[SOFTIRQ] + of[STEAL];
	return true;
}

double machine_stolen(const struct machine_time *from, const struct machine_time *to)
{
	if (to->wanted <= from->wanted || to->stolen <= from->stolen)
		return 0;
	return (double)(to->stolen - from->stolen) / (double)(to->wanted - from->wanted);
}

struct machine_had machine_had(double run_ns, double delay_ns, double stolen)
{
	double wanted = run_ns + delay_ns, ran = run_ns * (1 - stolen);

	return (struct machine_had){ ran, wanted > 0 ? (wanted - ran) / wanted : -1 };
}
