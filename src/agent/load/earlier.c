/* SPDX-License-Identifier: Apache-2.0 */
/* earlier.c - finds the rules of earlier findings. */
#include "agent/load/earlier.h"

#include <stdio.h>

#include "agent/core/agent.h"
#include "cache/state.h"
#include "jvm/launch.h"
#include "rule/kept.h"

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

/* Nobody has reviewed them: they may observe, and nothing else. */
static bool may_be_kept(struct slice text)
{
	struct rule_errors errors = { 0 };
	struct rules *rules;
	struct arena mem;
	bool good;

	arena_init(&mem);
	rules = rules_new(&mem);
	good = rules && kept_add(rules, text, "memory", &errors) >= 0;
	arena_release(&mem);
	return good;
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
	if (rc >= 0 && out->n > 0 && !may_be_kept(buf_slice(out))) {
		agent_note("%s: not used, since it has rules that Sonde does not keep", path);
		rc = E_SYNTAX;
	}
	if (rc < 0)
		buf_clear(out);
	return rc >= 0 && out->n > 0;
}
