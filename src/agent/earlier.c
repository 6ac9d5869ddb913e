/* SPDX-License-Identifier: Apache-2.0 */
/* earlier.c - finds the rules of earlier findings. */
#include "agent/earlier.h"

#include <stdio.h>

#include "agent/agent.h"
#include "agent/launch.h"
#include "cache/state.h"

void earlier_application(const char *command, const char *class_path)
{
	struct slice name = slice_str(agent.options.app);
	struct launch l;

	if (!name.n) {
		launch_of_properties(command, class_path, &l);
		name = l.kind == LAUNCH_JAR ? l.file : l.main;
	}
	for (size_t n = name.n; n > 0; n--)
		if (name.p[n - 1] == '/') {
			name = (struct slice){ name.p + n, name.n - n };
			break;
		}
	snprintf(agent.app, sizeof(agent.app), "%.*s", SLICE_FMT(name));
	for (char *p = agent.app; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '_';
}

bool earlier_rules(struct buf *out)
{
	char path[PATH_MAX];
	int rc;

	if (!agent.options.known[0] || !agent.app[0] ||
	    !state_path(agent.options.known, agent.app, "rules", path))
		return false;
	rc = state_read(path, out);
	if (rc < 0 && rc != E_NOT_FOUND)
		agent_note("%s: not used, since it cannot be read or others can write it", path);
	if (rc < 0)
		buf_clear(out);
	return rc >= 0 && out->n > 0;
}
