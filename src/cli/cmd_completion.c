/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_completion.c - "sonde completion": what makes a shell complete sonde's command lines.
 *
 * The scripts know nothing of verbs and options: they ask this sonde, with --at and the words so far,
 * which walks along the same tables that parsing uses.  It answers with one candidate a line, a tab
 * and what it is; or with ":files" or ":directories", which shells know best. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/jvms.h"
#include "cli/client/client.h"
#include "cli/client/loaded_names.h"
#include "cli/verbs.h"

struct completion {
	const char *at; /* number of the word that is being written */
};

static const struct verb_option options[] = {
	{ "at", "N", OPTION_TEXT, offsetof(struct completion, at),
	  .help = "what the scripts ask: print what the N-th of the WORDs can become" },
};

const struct verb verb_completion = {
	.usage = "bash|zsh|fish\n"
		 "--at N -- WORD...",
	.about =
		"Prints a script that makes the shell complete commands, options, files, running "
		"programs, and loaded classes and methods of those that the agent is in. The script "
		"asks sonde each time, so it stays right when sonde is renewed.\n"
		"\n"
		"  bash  sonde completion bash >~/.local/share/bash-completion/completions/sonde\n"
		"  zsh   sonde completion zsh >~/.zfunc/_sonde, with ~/.zfunc in fpath\n"
		"  fish  sonde completion fish >~/.config/fish/completions/sonde.fish",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 2 wrong usage.",
	.examples = "source <(sonde completion bash)",
	.run = cmd_completion,
};

/* ---- the scripts ---- */

static const struct {
	const char *shell, *text;
} scripts[] = {
	/* bash cuts words at ':' and '='; the line is cut here instead, and of a candidate only
	 * what stands behind the last of them is given back. */
	{ "bash",
	  "_sonde() {\n"
	  "	local line=${COMP_LINE:0:COMP_POINT} lines word cut\n"
	  "	local -a words\n"
	  "	read -ra words <<<\"$line\"\n"
	  "	[[ $line == *[[:space:]] ]] && words+=('')\n"
	  "	word=${words[${#words[@]}-1]}\n"
	  "	mapfile -t lines < <(sonde completion --at $((${#words[@]} - 1)) -- \"${words[@]:1}\" 2>/dev/null)\n"
	  "	case ${lines[0]-} in\n"
	  "	:files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"${word##*=}\"); return ;;\n"
	  "	:directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"${word##*=}\"); return ;;\n"
	  "	esac\n"
	  "	COMPREPLY=(\"${lines[@]%%$'\\t'*}\")\n"
	  "	cut=${word%\"${word##*[:=]}\"}\n"
	  "	COMPREPLY=(\"${COMPREPLY[@]#\"$cut\"}\")\n"
	  "	[[ ${#COMPREPLY[@]} -eq 1 && ( ${COMPREPLY[0]} == *:: || ${COMPREPLY[0]} == *. ) ]] && compopt -o nospace\n"
	  "}\n"
	  "complete -F _sonde sonde\n" },
	{ "zsh",
	  "#compdef sonde\n"
	  "_sonde() {\n"
	  "	local -a lines names shown open begun\n"
	  "	local line\n"
	  "	lines=(\"${(@f)$(sonde completion --at $((CURRENT - 1)) -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	  "	case ${lines[1]} in\n"
	  "	:files) _files; return ;;\n"
	  "	:directories) _files -/; return ;;\n"
	  "	esac\n"
	  "	for line in \"${lines[@]}\"; do\n"
	  "		[[ -n $line ]] || continue\n"
	  "		if [[ ${line%%$'\\t'*} == (*::|*.) ]]; then\n"
	  "			open+=(\"${line%%$'\\t'*}\")\n"
	  "			begun+=(\"${line/$'\\t'/  }\")\n"
	  "		else\n"
	  "			names+=(\"${line%%$'\\t'*}\")\n"
	  "			shown+=(\"${line/$'\\t'/  }\")\n"
	  "		fi\n"
	  "	done\n"
	  "	compadd -S '' -l -d begun -- \"${open[@]}\"\n"
	  "	compadd -l -d shown -- \"${names[@]}\"\n"
	  "}\n"
	  "if [[ $funcstack[1] == _sonde ]]; then _sonde \"$@\"; else compdef _sonde sonde; fi\n" },
	{ "fish",
	  "function __sonde_complete\n"
	  "	set -l words (commandline -opc) (commandline -ct)\n"
	  "	set -l lines (sonde completion --at (math (count $words) - 1) -- $words[2..-1] 2>/dev/null)\n"
	  "	switch \"$lines[1]\"\n"
	  "		case :files\n"
	  "			__fish_complete_path (commandline -ct)\n"
	  "		case :directories\n"
	  "			__fish_complete_directories (commandline -ct)\n"
	  "		case '*'\n"
	  "			printf '%s\\n' $lines\n"
	  "	end\n"
	  "end\n"
	  "complete -c sonde -f -a '(__sonde_complete)'\n" },
};

static int print_script(const char *name, const char *shell)
{
	for (size_t i = 0; i < COUNT(scripts); i++)
		if (strcmp(scripts[i].shell, shell) == 0)
			return fputs(scripts[i].text, stdout), CLI_DONE;
	return cli_usage(name, "bash, zsh or fish, not '%s'", shell);
}

/* ---- candidates ---- */

struct asking {
	char **words; /* behind "sonde"; the last one is being written */
	int n, at;
	struct slice word;  /* the last one, or its value behind "--name=" */
	bool of_target;	    /* the verb has one */
	const char *target; /* the first argument, or NULL */
	const char *prefix; /* "--name=" that a candidate gets back; its length: */
	int prefix_n;
	struct buf out;
};

static void offer(struct asking *a, struct slice name, const char *dashes, const char *what)
{
	struct buf whole = { 0 };

	buf_text(&whole, dashes);
	buf_put(&whole, name);
	if (slice_starts(buf_slice(&whole), a->word)) {
		buf_printf(&a->out, "%.*s", a->prefix_n, a->prefix ? a->prefix : "");
		buf_put(&a->out, buf_slice(&whole));
		buf_printf(&a->out, "\t%s\n", what);
	}
	buf_release(&whole);
}

static void offer_commands(struct asking *a, const struct command_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		offer(a, slice_str(table->commands[i].name), "", table->commands[i].help);
}

static void offer_options(struct asking *a, const struct verb *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct verb_option *o = &v->options[i];
		char letter = verb_option_letter(o);

		if (verb_option_long(o).n)
			offer(a, verb_option_long(o), "--", o->help);
		else
			offer(a, (struct slice){ (const uint8_t *)&letter, 1 }, "-", o->help);
	}
	offer(a, slice_str("help"), "--", "how to use it");
}

static void offer_targets(struct asking *a)
{
	struct jvms all;
	char pid[16];

	if (jvms_read(&all) < 0)
		return;
	for (size_t i = 0; i < all.n; i++) {
		struct buf shown = { 0 };

		snprintf(pid, sizeof(pid), "%d", (int)all.v[i].target.pid);
		client_show_line(&shown, slice_str(all.v[i].target.name));
		buf_u8(&shown, 0);
		if (!shown.err)
			offer(a, slice_str(pid), "", (const char *)shown.p);
		buf_release(&shown);
	}
	jvms_release(&all);
}

static bool has_word(struct slice text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++)
		if (memcmp(text.p + i, word, n) == 0)
			return true;
	return false;
}

/* Of a rule in quotes the shell hands over the first of them, too. */
static void offer_names(struct asking *a, bool methods)
{
	struct slice word = a->word;
	struct buf names = { 0 };

	if (word.n && (word.p[0] == '\'' || word.p[0] == '"'))
		word = (struct slice){ word.p + 1, word.n - 1 };
	loaded_names(a->target, word, methods, &names);
	for (size_t i = 0, from = 0; i < names.n; i++) {
		if (names.p[i] != '\n')
			continue;
		buf_printf(&a->out, "%.*s%.*s\t\n", a->prefix_n, a->prefix ? a->prefix : "",
			   (int)(i - from), (const char *)names.p + from);
		from = i + 1;
	}
	buf_release(&names);
}

static bool is_of_methods(struct slice value)
{
	return has_word(value, "METHOD") || has_word(value, "ROOT") || has_word(value, "RULE") ||
	       has_word(value, "PATTERN");
}

/* What a placeholder of usage or of an option stands for. */
static void offer_value(struct asking *a, struct slice value)
{
	if (a->of_target && (is_of_methods(value) || has_word(value, "CLASS")))
		offer_names(a, !has_word(value, "CLASS"));
	else if (has_word(value, "DIR"))
		buf_text(&a->out, ":directories\n");
	else if (has_word(value, "FILE") || has_word(value, "PATH") || has_word(value, "SOURCE") ||
		 has_word(value, "COMMAND") || slice_is(value, "A"))
		buf_text(&a->out, ":files\n");
	else if (has_word(value, "TARGET"))
		offer_targets(a);
}

/* The n-th argument, by the first line of usage. */
static struct slice argument_name(const struct verb *v, int n)
{
	struct slice rest = { (const uint8_t *)v->usage, strcspn(v->usage, "\n") };

	while (rest.n) {
		size_t len = 0;
		struct slice word;

		while (len < rest.n && rest.p[len] != ' ')
			len++;
		word = (struct slice){ rest.p, len };
		len += len < rest.n;
		rest = (struct slice){ rest.p + len, rest.n - len };
		if (has_word(word, "OPTION") || has_word(word, "--") || !word.n)
			continue;
		if (n-- == 0 || has_word(word, "..."))
			return word;
	}
	return (struct slice){ NULL, 0 };
}

/* The option that a word such as "-n" or "--for" names, if the next word is its value. */
static const struct verb_option *wants_next(const struct verb *v, const char *word)
{
	size_t dashes = strspn(word, "-");
	const struct verb_option *o = NULL;

	if ((dashes == 1 && word[1] && !word[2]) || dashes == 2)
		o = verb_option_named(v, slice_str(word + dashes));
	return o && o->value && !verb_option_may_lack(o) ? o : NULL;
}

/* The target may be left out: then the first argument is what follows it. */
static void offer_argument(struct asking *a, const struct verb *v, int n)
{
	size_t before = a->out.n;

	offer_value(a, argument_name(v, n));
	if (n == 0 && a->of_target && a->word.n && a->out.n == before)
		offer_value(a, argument_name(v, 1));
}

static void complete_verb(struct asking *a, const struct verb *v)
{
	const struct verb_option *pending = NULL;
	bool ended = false;
	const uint8_t *equals;
	int n = 0;

	a->of_target = has_word(argument_name(v, 0), "TARGET");
	for (; a->at < a->n - 1; a->at++) {
		const char *word = a->words[a->at];

		if (!pending && n == 0 && (ended || word[0] != '-'))
			a->target = word;
		if (pending || ended || word[0] != '-' || !word[1])
			n += !pending, pending = NULL;
		else if (strcmp(word, "--") == 0)
			ended = true;
		else
			pending = wants_next(v, word);
	}
	equals = a->word.n ? memchr(a->word.p, '=', a->word.n) : NULL;
	if (pending) {
		offer_value(a, verb_option_value(pending));
	} else if (!ended && equals && slice_starts(a->word, slice_str("--"))) {
		const struct verb_option *o;
		struct slice name = { a->word.p + 2, (size_t)(equals - a->word.p) - 2 };

		o = verb_option_named(v, name);
		a->prefix = (const char *)a->word.p;
		a->prefix_n = (int)name.n + 3;
		a->word = (struct slice){ a->word.p + name.n + 3, a->word.n - name.n - 3 };
		if (o && o->value)
			offer_value(a, verb_option_value(o));
	} else if (!ended && a->word.n && a->word.p[0] == '-') {
		offer_options(a, v);
	} else {
		offer_argument(a, v, n);
	}
}

static void complete(struct asking *a)
{
	const struct command_table *table = &verbs;

	while (table) {
		const struct command *found = NULL;

		if (a->at >= a->n - 1) {
			offer_commands(a, table);
			return;
		}
		for (size_t i = 0; i < table->n; i++)
			if (strcmp(table->commands[i].name, a->words[a->at]) == 0)
				found = &table->commands[i];
		a->at++;
		table = found ? found->group : NULL;
		if (found && found->verb)
			complete_verb(a, found->verb);
	}
}

int cmd_completion(int argc, char **argv)
{
	static char nothing[] = "", *empty[] = { nothing };
	struct completion c = { 0 };
	struct asking a = { 0 };
	uint64_t at;
	int status = verb_parse(&verb_completion, argc, argv, &c);

	if (status != CLI_GO_ON)
		return status;
	if (!c.at)
		return argc - optind == 1
			       ? print_script(argv[0], argv[optind])
			       : cli_usage(argv[0], "for which shell? bash, zsh or fish");
	if (!cli_parse_number(c.at, 1, INT32_MAX, &at))
		return cli_usage(argv[0], "--at wants a number from 1 on, not '%s'", c.at);
	a.words = argv + optind;
	a.n = argc - optind;
	if ((uint64_t)a.n > at)
		a.n = (int)at;
	if (a.n == 0) { /* a shell that leaves out an empty last word */
		a.words = empty;
		a.n = 1;
	}
	a.word = slice_str(a.words[a.n - 1]);
	complete(&a);
	status = cli_print(&a.out) ? CLI_DONE : CLI_CANNOT;
	buf_release(&a.out);
	return status;
}
