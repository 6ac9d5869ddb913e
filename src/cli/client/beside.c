/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - by the commands that a person would use: see visit.h. */
#include "cli/client/beside.h"

#include "cli/client/visit.h"
#include "cli/screen/cli.h"

bool beside_is_there(const struct target *t)
{
	struct target other = target_beside(t);

	return !t->is_native && client_is_there(&other);
}

static int open_client(struct beside *b)
{
	int status = client_open(&b->client, &b->target);

	b->is_open = status == CLI_DONE;
	return status;
}

int beside_find(struct beside *b, const struct target *t)
{
	*b = (struct beside){ .target = target_beside(t) };
	return beside_is_there(t) ? open_client(b) : CLI_DONE;
}

int beside_bring(struct beside *b, const struct target *t)
{
	int status = beside_find(b, t);

	if (status != CLI_DONE || b->is_open)
		return status;
	status = visit_run_self("attach", t->pid, "--native", "--quiet");
	b->attached = status == CLI_DONE;
	return b->attached ? open_client(b) : status;
}

void beside_end(struct beside *b, bool stay)
{
	if (b->is_open)
		client_close(&b->client);
	if (b->attached && !stay)
		(void)visit_run_self("detach", b->target.pid, "--native", NULL);
	b->is_open = b->attached = false;
}
