/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_calibrate.c - "sonde calibrate": measures what hooks cost here, so that reports can leave it
 * out. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/jdk.h"
#include "cli/attach/target.h"
#include "cli/client/calibration.h"
#include "cli/screen/cli.h"
#include "cli/verbs.h"

static const char *const kinds[COST_KINDS] = { "timed 1/1", "timed", "timed 1/N", "passed over",
					       "light",	    "alone", "closed" };
static const char *const classes[COST_CLASSES] = { "below 40 ns", "below 400 ns", "below 4 us",
						   "longer" };

static void print_text(const struct calibration_key *key, const struct costs *c, struct buf *out)
{
	buf_printf(out, "%s, Linux %s\n%s, %s\n\n", key->cpu, key->kernel, key->jvm, c->mechanism);
	buf_printf(out, "%-12s %-13s  %-24s  %-24s\n", "hook", "calls of",
		   "adds to the call's time", "adds to the program");
	for (unsigned k = 0; k < COST_KINDS; k++) {
		for (unsigned i = 0; i < COST_CLASSES - 1; i++) {
			const struct cost *one = &c->of[COST_COMPILED][k][i];

			if (k >= COST_RARE && i)
				continue;
			buf_printf(
				out,
				"%-12s %-13s  %5.1f ns (%.1f to %.1f)%*s %5.1f ns (%.1f to %.1f)\n",
				kinds[k], k < COST_RARE ? classes[i] : "any length", one->inner.mid,
				one->inner.low, one->inner.high, 3, "", one->pair.mid,
				one->pair.low, one->pair.high);
		}
	}
}

static void span_json(struct json *j, const char *name, const struct span *s)
{
	json_put_open(j, name, '[');
	json_double(j, s->low);
	json_double(j, s->mid);
	json_double(j, s->high);
	json_close(j, ']');
}

static void print_json(const struct calibration_key *key, const struct costs *c, struct buf *out)
{
	static const char *const tiers[COST_TIERS] = { "compiled", "interpreted", "jni" };
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_text(&j, "cpu", key->cpu);
	json_put_text(&j, "kernel", key->kernel);
	json_put_text(&j, "jvm", key->jvm);
	json_put_text(&j, "build", key->build);
	json_put_text(&j, "mechanism", c->mechanism);
	json_put_double(&j, "pulse_ns", c->pulse);
	json_put_double(&j, "noise", c->noise);
	json_put_open(&j, "costs", '[');
	for (unsigned t = 0; t < COST_TIERS; t++) {
		for (unsigned k = 0; k < COST_KINDS; k++) {
			for (unsigned i = 0; i < COST_CLASSES; i++) {
				json_open(&j, '{');
				json_put_text(&j, "tier", tiers[t]);
				json_put_text(&j, "hook", kinds[k]);
				json_put_text(&j, "calls", classes[i]);
				span_json(&j, "inner_ns", &c->of[t][k][i].inner);
				span_json(&j, "outer_ns", &c->of[t][k][i].outer);
				span_json(&j, "pair_ns", &c->of[t][k][i].pair);
				json_close(&j, '}');
			}
		}
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* The home of the JVM that is meant. */
static int find_home(const char *target, const char *jdk, char home[PATH_MAX])
{
	struct fault f = { 0 };
	struct jdk found;
	int status = CLI_DONE;

	if (target) {
		struct target t;

		status = target_find(target, &t);
		if (status == CLI_DONE && jdk_of_process(t.pid, home, &f) < 0)
			status = cli_cannot("%s; to run a JDK that you trust, use --jdk PATH",
					    f.text);
		return status;
	}
	if (jdk ? !jdk_at(jdk, &found) : jdk_find(0, &found, &f) < 0)
		return jdk ? cli_cannot("%s: no JDK there", jdk) : cli_cannot("%s", f.text);
	snprintf(home, PATH_MAX, "%s", found.home);
	return CLI_DONE;
}

struct command_calibrate {
	const char *jdk;
	bool json, quiet;
};

static const struct verb_option options[] = {
	{ "jdk", "PATH", OPTION_TEXT, offsetof(struct command_calibrate, jdk),
	  .help = "run the JVM of this JDK instead, whoever it belongs to" },
	{ "quiet", NULL, OPTION_FLAG, offsetof(struct command_calibrate, quiet),
	  .help = "print nothing" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_calibrate, json),
	  .help = "what was found, as one JSON object" },
};

const struct verb verb_calibrate = {
	.usage = "[OPTION]... [TARGET]",
	.about = "Measures what Sonde's hooks cost on this machine with the JVM of TARGET, in a "
		 "program of its own: the target is not touched. Takes about 15 seconds. The "
		 "result is kept for this processor, kernel, JVM and build of Sonde; 'sonde "
		 "report' and 'sonde tree' use it to say what methods cost when nobody looks, and "
		 "measure it by themselves when it is missing.",
	.options = options,
	.n = COUNT(options),
	.more = "Without TARGET and --jdk: the JDK of JAVA_HOME, or of the java in PATH, or the "
		"newest there is. The JDK of TARGET is run only if nobody but root and you can "
		"change it, and not out of a container.",
	.status = "0 done, 2 wrong usage, 3 could not.",
	.examples = "sonde calibrate 4711\n"
		    "sonde calibrate --jdk /usr/lib/jvm/java-17-openjdk-amd64",
	.run = cmd_calibrate,
};

int cmd_calibrate(int argc, char **argv)
{
	struct command_calibrate c = { 0 };
	const char *target;
	struct calibration_key key;
	struct buf text = { 0 }, out = { 0 };
	struct costs costs;
	char home[PATH_MAX];
	int status;

	status = verb_parse(&verb_calibrate, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind > 1 || (c.jdk && optind < argc))
		return cli_usage(argv[0], "one TARGET or one --jdk");
	target = optind < argc ? argv[optind] : NULL;
	status = find_home(target, c.jdk, home);
	if (status == CLI_DONE)
		status = calibrate(home, c.quiet, &key, &text);
	if (status == CLI_DONE && cost_read(buf_slice(&text), &costs) < 0)
		status = cli_cannot("what was measured makes no sense");
	if (status == CLI_DONE && c.json)
		print_json(&key, &costs, &out);
	else if (status == CLI_DONE && !c.quiet)
		print_text(&key, &costs, &out);
	if (status == CLI_DONE && !cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&text);
	buf_release(&out);
	return status;
}
