/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_errors.c - wrong rules, and exactly what is said about them. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/rules.h"

/* The first error of a text is kept in *errors; gives the code. */
static int parse(struct slice text, struct rule_errors *errors)
{
	struct rules *rules;
	struct arena mem;
	int rc;

	arena_init(&mem);
	memset(errors, 0, sizeof(*errors));
	rc = rules_parse(&mem, text, "in", &rules, errors);
	arena_release(&mem);
	return rc;
}

/* clang-format off */
static const struct {
	const char *text;
	int line, column;
	const char *message, *hint;
} wrong[] = {
	{ "hok com.shop.Cart::checkout", 1, 1,
	  "unknown kind of rule 'hok'", "did you mean 'hook'?" },
	{ "Hook a.B::c", 1, 1,
	  "unknown kind of rule 'Hook'", "did you mean 'hook'?" },
	{ "com.shop.Cart::checkout timed", 1, 1,
	  "a rule starts with a word such as 'hook', found 'com.shop.Cart'", "to hook it, write 'hook' before it" },
	{ "123", 1, 1,
	  "unknown kind of rule '123'", "" },
	{ "::x", 1, 1,
	  "expected a rule, found '::'", "a rule starts with a word such as 'hook' or 'skip'" },
	{ "\"text\"", 1, 1,
	  "expected a rule, found '\"text\"'", "a rule starts with a word such as 'hook' or 'skip'" },
	{ "hook", 1, 5,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "hook   # nothing", 1, 5,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "hook com.shop.Cart", 1, 19,
	  "expected '::' and a method, found the end of the rule", "for all its methods, write '::*'" },
	{ "hook com.shop.Cart.checkout", 1, 28,
	  "expected '::' and a method, found the end of the rule", "did you mean 'com.shop.Cart::checkout'?" },
	{ "hook com.shop.Cart#checkout", 1, 19,
	  "expected '::' and a method, found '#'", "write '::' before the method" },
	{ "hook com.shop.Cart:checkout", 1, 19,
	  "expected '::' and a method, found ':'", "write '::' before the method" },
	{ "hook com.shop.Cart timed", 1, 20,
	  "expected '::' and a method, found 'timed'", "for all its methods, write '::*'" },
	{ "hook com.shop.Cart::", 1, 21,
	  "expected a method name after '::', found the end of the rule", "for all methods, write '::*'" },
	{ "hook com.shop.Cart::timed.out", 1, 26,
	  "a method name has no dots, slashes or brackets", "parameters are written in parentheses" },
	{ "hook com..shop.Cart::x", 1, 10,
	  "two dots in a row", "" },
	{ "hook .shop.Cart::x", 1, 6,
	  "a class name does not start with a dot", "" },
	{ "hook com.shop.::x", 1, 14,
	  "a class name does not end with a dot", "for everything below a package, write '.**'" },
	{ "hook com.***.Cart::x", 1, 10,
	  "three stars in a row", "'*' stays within a segment, '**' goes over all" },
	{ "hook com.Cart[]::x", 1, 14,
	  "a class name has no brackets", "" },
	{ "hook implements::x", 1, 16,
	  "expected a class after 'implements', found '::'", "" },
	{ "hook implements", 1, 16,
	  "expected a class after 'implements', found the end of the rule", "" },
	{ "hook implements extends a.B::x", 1, 17,
	  "expected a class after 'implements', found 'extends'", "" },
	{ "hook extends a.B", 1, 17,
	  "expected '::' and a method, found the end of the rule", "for all its methods, write '::*'" },
	{ "hook annotated ::x", 1, 16,
	  "expected a class after 'annotated', found '::'", "" },
	{ "hook a.B::c(int", 1, 16,
	  "expected ',' or ')' after a type, found the end of the rule", "" },
	{ "hook a.B::c(int;long)", 1, 16,
	  "expected ',' or ')' after a type, found ';'", "" },
	{ "hook a.B::c(int long)", 1, 17,
	  "expected ',' or ')' after a type, found 'long'", "" },
	{ "hook a.B::c(List<String>)", 1, 17,
	  "expected ',' or ')' after a type, found '<'", "leave type arguments out: a compiled method has none" },
	{ "hook a.B::c(void)", 1, 13,
	  "a parameter cannot be void", "for no parameters, write '()'" },
	{ "hook a.B::c(.., int)", 1, 15,
	  "expected ')': '..' stands last, found ','", "" },
	{ "hook a.B::c(int,)", 1, 17,
	  "expected a type, found ')'", "" },
	{ "hook a.B::c(int]", 1, 16,
	  "a class name has no brackets", "" },
	{ "hook a.B::c(java..lang)", 1, 18,
	  "two dots in a row", "" },
	{ "hook a.B::c returns", 1, 20,
	  "expected a type after 'returns', found the end of the rule", "" },
	{ "hook a.B::c returns void[]", 1, 21,
	  "there are no arrays of void", "" },
	{ "hook a.B::c only", 1, 17,
	  "expected a modifier such as 'public', found the end of the rule", "" },
	{ "hook a.B::c only pubilc", 1, 18,
	  "unknown modifier 'pubilc'", "did you mean 'public'?" },
	{ "hook a.B::c only public not light", 1, 29,
	  "unknown modifier 'light'", "" },
	{ "hook a.B::c only static not static", 1, 29,
	  "'static' is both wanted and not wanted", "" },
	{ "hook a.B::c tmied", 1, 13,
	  "unknown word 'tmied'", "did you mean 'timed'?" },
	{ "hook a.B::c Timed", 1, 13,
	  "unknown word 'Timed'", "did you mean 'timed'?" },
	{ "hook a.B::c xyzzyxyz", 1, 13,
	  "unknown word 'xyzzyxyz'", "" },
	{ "hook a.B::c light full", 1, 19,
	  "the rule has a level already", "" },
	{ "hook a.B::c timed light", 1, 19,
	  "the rule has a level already", "" },
	{ "hook a.B::c timed 5/100", 1, 19,
	  "'5/100' is not a share of the calls", "write '1/100' to time one call in a hundred" },
	{ "hook a.B::c timed 1/0", 1, 19,
	  "one call in '0': the number goes from 1 to 1000000", "" },
	{ "hook a.B::c timed 1/9999999", 1, 19,
	  "one call in '9999999': the number goes from 1 to 1000000", "" },
	{ "hook a.B::c timed 1/1x", 1, 19,
	  "'1/1x' is not a share of the calls", "write '1/100' to time one call in a hundred" },
	{ "hook a.B::c light 1/10", 1, 19,
	  "'light' counts every call: there is no share of them", "" },
	{ "hook a.B::c for", 1, 16,
	  "expected a time after 'for', found the end of the rule", "" },
	{ "hook a.B::c for 10", 1, 17,
	  "the time '10' has no unit", "write for example 200ms, 10s, 5m or 1h" },
	{ "hook a.B::c for 10 m", 1, 17,
	  "the time '10' has no unit", "write for example 200ms, 10s, 5m or 1h" },
	{ "hook a.B::c for 10min", 1, 19,
	  "unknown unit of time 'min'", "there are ns, us, ms, s, m and h" },
	{ "hook a.B::c for 0s", 1, 17,
	  "the time must be longer than zero", "" },
	{ "hook a.B::c for 9000h", 1, 17,
	  "the time is longer than 366 days", "" },
	{ "hook a.B::c for 99999999999999999999s", 1, 17,
	  "the time is longer than 366 days", "" },
	{ "hook a.B::c for soon", 1, 17,
	  "expected a time after 'for', found 'soon'", "" },
	{ "hook a.B::c for 1m for 2m", 1, 20,
	  "the rule has 'for' already", "" },
	{ "hook a.B::c calls", 1, 18,
	  "expected a number after 'calls', found the end of the rule", "" },
	{ "hook a.B::c calls many", 1, 19,
	  "expected a number after 'calls', found 'many'", "" },
	{ "hook a.B::c calls 5k", 1, 19,
	  "'5k' is not a number of calls", "" },
	{ "hook a.B::c calls 0", 1, 19,
	  "the number of calls must be more than zero", "" },
	{ "hook a.B::c slow 200", 1, 18,
	  "the time '200' has no unit", "write for example 200ms, 10s, 5m or 1h" },
	{ "hook a.B::c template", 1, 21,
	  "expected the name of a template, found the end of the rule", "" },
	{ "hook a.B::c template wbe", 1, 22,
	  "unknown template 'wbe'", "did you mean 'web'?" },
	{ "hook a.B::c template timed", 1, 22,
	  "expected the name of a template, found 'timed'", "" },
	{ "hook a.B::c inside", 1, 19,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "hook a.B::c inside d.E", 1, 23,
	  "expected '::' and a method, found the end of the rule", "for all its methods, write '::*'" },
	{ "hook a.B::c inside d.E::f >", 1, 28,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "hook a.B::c directly d.E::f", 1, 22,
	  "expected 'inside' after 'directly', found 'd.E'", "" },
	{ "hook a.B::c inside d.E::f > > g.H::i", 1, 29,
	  "expected a class, or 'implements', 'extends' or 'annotated', found '>'", "" },
	{ "hook a.B::c > d.E::f", 1, 13,
	  "expected a clause such as 'timed' or the end of the rule, found '>'", "" },
	{ "hook a.B::c 1/100", 1, 13,
	  "expected a clause such as 'timed' or the end of the rule, found '1/100'", "" },
	{ "hook a.B::c and light", 1, 13,
	  "expected a clause such as 'timed' or the end of the rule, found 'and'", "'and' and 'or' belong to an 'if'" },
	{ "hook a.B::c light across threads for 1m", 1, 19,
	  "'across threads' without 'inside'", "it says where an 'inside' holds, too" },
	{ "hook a.B::c inside d.E::f across rivers", 1, 34,
	  "expected 'threads' after 'across', found 'rivers'", "" },
	{ "hook a.B::c light only public", 1, 19,
	  "'only' cannot stand here", "it belongs to the method before the clauses" },
	{ "hook a.B::c#comment", 1, 12,
	  "expected a clause such as 'timed' or the end of the rule, found '#'", "a comment needs a blank before its '#'" },
	{ "hook a.B::c light \"x\"", 1, 19,
	  "expected a clause such as 'timed' or the end of the rule, found '\"x\"'", "" },
	{ "hook a.B::c if", 1, 15,
	  "expected a value such as $1, 10 or \"text\", found the end of the rule", "" },
	{ "hook a.B::c if light", 1, 16,
	  "expected a value such as $1, 10 or \"text\", found 'light'", "" },
	{ "hook a.B::c if $1 =", 1, 19,
	  "expected an operator, found '='", "write '==' to compare" },
	{ "hook a.B::c if $1 = 3", 1, 19,
	  "expected an operator, found '='", "write '==' to compare" },
	{ "hook a.B::c if $1 ==", 1, 21,
	  "expected a value such as $1, 10 or \"text\", found the end of the rule", "" },
	{ "hook a.B::c if $1 == GIFT", 1, 22,
	  "expected a value such as $1, 10 or \"text\", found 'GIFT'", "write text as \"GIFT\", an argument as $1" },
	{ "hook a.B::c if $1 == \"GIFT", 1, 22,
	  "the quote is not closed on this line", "" },
	{ "hook a.B::c if $1 == 'ab'", 1, 22,
	  "single quotes hold exactly one character", "write text in double quotes" },
	{ "hook a.B::c if $1 == ''", 1, 22,
	  "single quotes hold exactly one character", "write text in double quotes" },
	{ "hook a.B::c if $1 == \"a\\qb\"", 1, 24,
	  "unknown escape in a text", "known are \\n \\t \\r \\\" \\' \\\\ and \\u0041" },
	{ "hook a.B::c if $1 == \"\\ud800\"", 1, 23,
	  "unknown escape in a text", "known are \\n \\t \\r \\\" \\' \\\\ and \\u0041" },
	{ "hook a.B::c if $1 == 12abc", 1, 22,
	  "'12abc' is not a number, or too large a one", "" },
	{ "hook a.B::c if $1 == 99999999999999999999", 1, 22,
	  "'99999999999999999999' is not a number, or too large a one", "" },
	{ "hook a.B::c if $1 == 9223372036854775808", 1, 22,
	  "'9223372036854775808' does not fit into a long", "" },
	{ "hook a.B::c if $1 == 1e999", 1, 22,
	  "'1e999' is not a number, or too large a one", "" },
	{ "hook a.B::c if $1 && $2", 1, 19,
	  "expected 'and', 'or' or the next clause, found '&&'", "write 'and'" },
	{ "hook a.B::c if $1 || $2", 1, 19,
	  "expected 'and', 'or' or the next clause, found '||'", "write 'or'" },
	{ "hook a.B::c if !$1", 1, 16,
	  "expected a test, found '!'", "write 'not'" },
	{ "hook a.B::c if $1 adn $2", 1, 19,
	  "unknown operator 'adn'", "did you mean 'and'?" },
	{ "hook a.B::c if $1 == 2 adn $2", 1, 24,
	  "unknown word 'adn'", "did you mean 'and'?" },
	{ "hook a.B::c if $1 contians \"x\"", 1, 19,
	  "unknown operator 'contians'", "did you mean 'contains'?" },
	{ "hook a.B::c if $1 == 2 === 3", 1, 24,
	  "expected 'and', 'or' or the next clause, found '=='", "" },
	{ "hook a.B::c if $0 == 1", 1, 16,
	  "arguments count from $1", "the object itself is $this" },
	{ "hook a.B::c if $256 == 1", 1, 16,
	  "'$256' is not an argument: $1 to $255 are", "" },
	{ "hook a.B::c if $1x == 1", 1, 16,
	  "'$1x' is not an argument: $1 to $255 are", "" },
	{ "hook a.B::c if $ == 1", 1, 16,
	  "expected a number or a name after '$', as in $1 or $this", "" },
	{ "hook a.B::c if $usr == 1", 1, 16,
	  "no rule captures '$usr'", "a rule that starts with 'capture' gives a name" },
	{ "hook a.B::c if $thsi == 1", 1, 16,
	  "no rule captures '$thsi'", "did you mean '$this'?" },
	{ "hook a.B::c if 1 == 1", 1, 16,
	  "both sides are constants", "values of the program start with '$'" },
	{ "hook a.B::c if true", 1, 20,
	  "expected an operator such as '==', found the end of the rule", "" },
	{ "hook a.B::c if \"a\" contains $1", 1, 16,
	  "a value of the program stands before 'contains'", "" },
	{ "hook a.B::c if $1 < \"a\"", 1, 21,
	  "'<' compares numbers", "" },
	{ "hook a.B::c if $1 >= null", 1, 22,
	  "'>=' compares numbers", "" },
	{ "hook a.B::c if $1 startsWith 3", 1, 30,
	  "'startsWith' needs a text in double quotes", "" },
	{ "hook a.B::c if $1 matches $2", 1, 27,
	  "'matches' needs a regular expression in double quotes", "" },
	{ "hook a.B::c if $1 in \"a\"", 1, 22,
	  "expected '(' and a list of literals after 'in', found '\"a\"'", "" },
	{ "hook a.B::c if $1 in ()", 1, 23,
	  "expected a literal, found ')'", "" },
	{ "hook a.B::c if $1 in (\"a\" \"b\")", 1, 27,
	  "expected ',' or ')', found '\"b\"'", "" },
	{ "hook a.B::c if $1 in ($2)", 1, 23,
	  "expected a literal, found '$2'", "" },
	{ "hook a.B::c if 3 in (1, 2)", 1, 16,
	  "a value of the program stands before 'in'", "" },
	{ "hook a.B::c if $1 instanceof", 1, 29,
	  "expected a class after 'instanceof', found the end of the rule", "" },
	{ "hook a.B::c if $1 instanceof java.**", 1, 30,
	  "'instanceof' needs one class, not a pattern", "" },
	{ "hook a.B::c if ($1", 1, 19,
	  "expected 'and', 'or' or ')', found the end of the rule", "" },
	{ "hook a.B::c if ($1 == 2", 1, 24,
	  "expected 'and', 'or' or ')', found the end of the rule", "" },
	{ "hook a.B::c if $1)", 1, 18,
	  "expected 'and', 'or' or the next clause, found ')'", "" },
	{ "hook a.B::c if $1.", 1, 19,
	  "expected a field or method after '.', found the end of the rule", "" },
	{ "hook a.B::c if $1.3", 1, 19,
	  "expected a field or method after '.', found '3'", "" },
	{ "hook a.B::c if $1[", 1, 19,
	  "expected an index, found the end of the rule", "" },
	{ "hook a.B::c if $1[2", 1, 20,
	  "expected ']', found the end of the rule", "" },
	{ "hook a.B::c if $1[$2]", 1, 19,
	  "expected an index, found '$2'", "" },
	{ "hook a.B::c if $1.f(", 1, 21,
	  "expected a literal, found the end of the rule", "" },
	{ "hook a.B::c if $1.f($2)", 1, 21,
	  "expected a literal, found '$2'", "" },
	{ "hook a.B::c if $1 + 2 > 3", 1, 19,
	  "expected 'and', 'or' or the next clause, found '+'", "" },
	{ "hook a.B::c if $1 == 2 $2", 1, 24,
	  "expected 'and', 'or' or the next clause, found '$2'", "" },
	{ "hook a.B::c(int) if $2 == 1", 1, 21,
	  "there is no '$2': the method has 1 parameter", "" },
	{ "hook a.B::c(int, long) if $1 == 1 and not $3", 1, 43,
	  "there is no '$3': the method has 2 parameters", "" },
	{ "hook a.B::c() if $1", 1, 18,
	  "there is no '$1': the method has 0 parameters", "" },
	{ "hook a.B::c if $1 == 1 if $2", 1, 24,
	  "the rule has 'if' already", "" },
	{ "hook a.B::c if $1 < $2 < $3", 1, 24,
	  "expected 'and', 'or' or the next clause, found '<'", "" },
	{ "hook a.B::c if $1 == @", 1, 22,
	  "expected a value such as $1, 10 or \"text\", found '@'", "" },
	{ "skip", 1, 5,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "skip a.B::c light", 1, 13,
	  "expected the end of the rule, found 'light'", "" },
	{ "skip a.B light", 1, 10,
	  "expected the end of the rule, found 'light'", "" },
	{ "ahead a.B::c", 1, 10,
	  "classes are woven as a whole: no method can stand here", "" },
	{ "ahead", 1, 6,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "live a.B timed", 1, 10,
	  "expected the end of the rule, found 'timed'", "" },
	{ "at-load a.b.", 1, 12,
	  "a class name does not end with a dot", "for everything below a package, write '.**'" },
	{ "template", 1, 9,
	  "expected a name for the template, found the end of the rule", "" },
	{ "template audit", 1, 15,
	  "expected 'from' and the path of a class file, found the end of the rule", "" },
	{ "template audit form \"x\"", 1, 16,
	  "expected 'from' and the path of a class file, found 'form'", "did you mean 'from'?" },
	{ "template audit from x", 1, 21,
	  "expected the path of a class file in double quotes, found 'x'", "" },
	{ "template audit from \"\"", 1, 21,
	  "this cannot be the path of a file", "" },
	{ "template a.b from \"x\"", 1, 10,
	  "'a.b' cannot be the name of a template", "names consist of letters, digits, '_' and '-'" },
	{ "template web from \"x\"", 1, 10,
	  "'web' is one of Sonde's own templates", "choose another name" },
	{ "template audit from \"x\" method", 1, 31,
	  "expected the name of the template's method, found the end of the rule", "" },
	{ "template audit from \"x\" method a*", 1, 32,
	  "the template's method must be named in full", "" },
	{ "template audit from \"x\" method new", 1, 32,
	  "the template's method must be named in full", "" },
	{ "template audit from \"x\" around", 1, 25,
	  "expected the end of the rule, found 'around'", "" },
	{ "capture", 1, 8,
	  "expected a name for the captured value, found the end of the rule", "" },
	{ "capture user", 1, 13,
	  "expected '=' and a value such as $1.getName(), found the end of the rule", "" },
	{ "capture $user = $1 at a.B::c", 1, 9,
	  "'$user' cannot be the name of a captured value", "its name is written without '$' here" },
	{ "capture us-er = $1 at a.B::c", 1, 9,
	  "'us-er' cannot be the name of a captured value", "names consist of letters, digits and '_'" },
	{ "capture this = $1 at a.B::c", 1, 9,
	  "'this' has a meaning of its own", "choose another name" },
	{ "capture user == $1 at a.B::c", 1, 15,
	  "expected a value such as $1 or $this.name, found '='", "" },
	{ "capture user = 1 at a.B::c", 1, 16,
	  "expected a value such as $1 or $this.name, found '1'", "" },
	{ "capture user = $return at a.B::c", 1, 16,
	  "'$return' is not known yet when a value is captured", "" },
	{ "capture user = $other at a.B::c", 1, 16,
	  "a captured value cannot be made from another one", "" },
	{ "capture user = $1", 1, 18,
	  "expected 'at' and the method where the value is captured, found the end of the rule", "" },
	{ "capture user = $1 at", 1, 21,
	  "expected a class, or 'implements', 'extends' or 'annotated', found the end of the rule", "" },
	{ "capture user = $1 at a.B", 1, 25,
	  "expected '::' and a method, found the end of the rule", "for all its methods, write '::*'" },
	{ "capture user = $2 at a.B::c(int)", 1, 16,
	  "there is no '$2': the method has 1 parameter", "" },
	{ "capture user = $1 in a.B::c", 1, 19,
	  "expected 'at' and the method where the value is captured, found 'in'", "" },
	{ "hook a.B::c only static if $this.x", 1, 28,
	  "a static method has no '$this'", "" },
	{ "hook a.B::c if $1 == \"\xc3\xa9\" \xc3\xbcnd", 1, 26,
	  "unknown word '\xc3\xbcnd'", "" },
	{ "\thook x::y", 1, 2,
	  "an indented line continues a rule, but there is none before it", "rules start in column 1" },
	{ "  hook a.B::c", 1, 3,
	  "an indented line continues a rule, but there is none before it", "rules start in column 1" },
	{ "# web\n\n  hook a.B::c", 3, 3,
	  "an indented line continues a rule, but there is none before it", "rules start in column 1" },
	{ "hook a.B::c\n  hook d.E::f", 2, 3,
	  "'hook' starts a new rule and must stand in column 1", "an indented line continues the rule before it" },
	{ "hook\n  hook a.B::c", 2, 3,
	  "'hook' starts a new rule and must stand in column 1", "an indented line continues the rule before it" },
	{ "hook a.B::c if $1 == 1\n   skip a.B", 2, 4,
	  "'skip' starts a new rule and must stand in column 1", "an indented line continues the rule before it" },
	{ "hook a.B::c inside\n   skip a.B::d", 2, 4,
	  "'skip' starts a new rule and must stand in column 1", "an indented line continues the rule before it" },
	{ "hook a.B::c\r\n\r\n   # and\r\n   tmied\r\n", 4, 4,
	  "unknown word 'tmied'", "did you mean 'timed'?" },
	{ "template t from \"x\"\ntemplate t from \"y\"", 2, 1,
	  "template 't' is defined already, at in:1", "" },
	{ "hook a.B::c \xff", 1, 13,
	  "the text is not valid UTF-8 here", "" },
	{ "\x01", 1, 1,
	  "expected a rule, found the byte 0x01", "a rule starts with a word such as 'hook' or 'skip'" },
	{ "hook a.B::c light\x7f", 1, 18,
	  "expected a clause such as 'timed' or the end of the rule, found the byte 0x7f", "" },
	{ "\xef\xbb\xbfhok a.B::c", 1, 1,
	  "unknown kind of rule 'hok'", "did you mean 'hook'?" },
	{ "capture user = $1 at a.B::c\nhook d.E::f if $usr == 1", 2, 16,
	  "no rule captures '$usr'", "did you mean '$user'?" },
	{ "template audit from \"x\"\nhook d.E::f template adit", 2, 22,
	  "unknown template 'adit'", "did you mean 'audit'?" },
};
/* clang-format on */

TEST(wrong_rules_are_told_where_and_why)
{
	static struct rule_errors errors;

	for (size_t i = 0; i < COUNT(wrong); i++) {
		const char *label = wrong[i].text;

		CHECK_INT(parse(slice_str(label), &errors), E_SYNTAX, label);
		if (!CHECK_INT(errors.n, 1, label))
			continue;
		CHECK_INT(errors.list[0].line, wrong[i].line, label);
		CHECK_INT(errors.list[0].column, wrong[i].column, label);
		CHECK_STR(errors.list[0].text, wrong[i].message, label);
		CHECK_STR(errors.list[0].hint, wrong[i].hint, label);
	}
}

TEST(every_prefix_of_a_wrong_rule_is_survived)
{
	static struct rule_errors errors;

	for (size_t i = 0; i < COUNT(wrong); i++)
		for (size_t n = 0; n < strlen(wrong[i].text); n++) {
			uint8_t *copy = malloc(n + 1); /* its own block: a byte too far is seen */

			memcpy(copy, wrong[i].text, n);
			parse((struct slice){ copy, n }, &errors);
			free(copy);
		}
}

TEST(a_zero_byte_is_an_error)
{
	static struct rule_errors errors;
	static const uint8_t text[] = "hook a.B::c \0light";

	CHECK_INT(parse((struct slice){ text, sizeof(text) - 1 }, &errors), E_SYNTAX, NULL);
	CHECK_STR(errors.list[0].text,
		  "expected a clause such as 'timed' or the end of the rule, found the byte 0x00",
		  NULL);
}

/* ---- limits: head, then piece so many times, then tail --------------------------------------- */

static const struct {
	const char *head, *piece;
	size_t most;
	const char *tail, *message;
} limits[] = {
	{ "hook a.B::c if ", "(", 32, "$1", "the condition is nested more than 32 deep" },
	{ "hook a.B::c if ", "not ", 32, "$1", "the condition is nested more than 32 deep" },
	{ "hook a.B::c if $1", " or $1", 255, "", "more than 256 tests in a condition" },
	{ "hook a.B::c if $1", ".a", 16, "", "more than 16 steps in a path" },
	{ "hook a.B::c if $1 in (1", ",1", 255, ")", "more than 256 values in a list" },
	{ "hook a.B::c(int", ",int", 254, ")", "a method has at most 255 parameters" },
	{ "hook a.B::c", " inside d.E::f", 16, "", "more than 16 sequences in one rule" },
	{ "hook a.B::c inside d.E::f", " > d.E::f", 15, "", "more than 16 methods in a sequence" },
	{ "hook a.B", " implements c.D", 16, "::x", "more than 16 tests of one class" },
	{ "hook a.", "b", 510, "::c", "the name is longer than 512 bytes" },
	{ "hook a.B::c(int", "[]", 255, ")", "more than 255 dimensions" },
	{ "hook a.B::c", " ", 8181, "", NULL },
	{ "hook ", " ", 8181, "a.B::c", "the rule is longer than 8192 bytes" },
	{ "#", "x", 65535, "", "the line is longer than 65536 bytes" },
};

static struct slice repeat(size_t i, size_t times)
{
	size_t head = strlen(limits[i].head), piece = strlen(limits[i].piece);
	size_t tail = strlen(limits[i].tail), n = head + times * piece + tail;
	uint8_t *text = malloc(n + times + 1), *p = text;

	memcpy(p, limits[i].head, head);
	p += head;
	for (size_t k = 0; k < times; k++, p += piece)
		memcpy(p, limits[i].piece, piece);
	memcpy(p, limits[i].tail, tail);
	p += tail;
	if (limits[i].piece[0] == '(') {
		memset(p, ')', times);
		n += times;
	}
	return (struct slice){ text, n };
}

TEST(limits_hold_exactly)
{
	static struct rule_errors errors;

	for (size_t i = 0; i < COUNT(limits); i++) {
		struct slice most = repeat(i, limits[i].most), more = repeat(i, limits[i].most + 1);

		CHECK_INT(parse(most, &errors), 0, limits[i].head);
		CHECK_STR(errors.n ? errors.list[0].text : "", "", limits[i].head);
		if (limits[i].message) {
			CHECK_INT(parse(more, &errors), E_SYNTAX, limits[i].head);
			CHECK_STR(errors.list[0].text, limits[i].message, limits[i].head);
		}
		free((void *)most.p);
		free((void *)more.p);
	}
}

static int parse_many(const char *rule, size_t times, struct rule_errors *errors)
{
	size_t n = strlen(rule);
	uint8_t *text = malloc(n * times);
	int rc;

	for (size_t i = 0; i < times; i++)
		memcpy(text + i * n, rule, n);
	rc = parse((struct slice){ text, n * times }, errors);
	free(text);
	return rc;
}

TEST(a_set_holds_ten_thousand_rules_and_no_more)
{
	static struct rule_errors errors;

	CHECK_INT(parse_many("skip a.B\n", 10000, &errors), 0, NULL);
	CHECK_INT(parse_many("skip a.B\n", 10002, &errors), E_SYNTAX, NULL);
	CHECK_INT(errors.n, 1, NULL);
	CHECK_INT(errors.list[0].line, 10001, NULL);
	CHECK_STR(errors.list[0].text, "more than 10000 rules", NULL);
}

TEST(a_text_of_more_than_four_mebibytes_is_refused)
{
	static struct rule_errors errors;

	CHECK_INT(parse_many("# no\n", (4u << 20) / 5, &errors), 0, NULL);
	CHECK_INT(parse_many("# no\n", (4u << 20) / 5 + 1, &errors), E_SYNTAX, NULL);
	CHECK_STR(errors.list[0].text, "the text is longer than 4 MiB", NULL);
}

TEST(parsing_goes_on_at_the_next_rule)
{
	static struct rule_errors errors;
	static const int lines[] = { 1, 4, 6 };

	parse(slice_str("hok a.B::c\n"
			"     tmied nothing of this is read\n"
			"hook a.B::c\n"
			"hook a.B::c tmied\n"
			"skip d.E\n"
			"skip\n"),
	      &errors);
	CHECK_INT(errors.n, COUNT(lines), NULL);
	for (size_t i = 0; i < COUNT(lines) && i < errors.n; i++)
		CHECK_INT(errors.list[i].line, lines[i], NULL);
}

TEST(twenty_errors_are_kept_and_the_rest_counted)
{
	static struct rule_errors errors;
	struct buf out = { 0 };
	static const char last[] = "... and 480 more\n";

	CHECK_INT(parse_many("hok a.B::c\n", 500, &errors), E_SYNTAX, NULL);
	CHECK_INT(errors.n, 20, NULL);
	CHECK_INT(errors.more, 480, NULL);
	rule_errors_print(&errors, &out);
	CHECK(out.n > sizeof(last) &&
	      memcmp(out.p + out.n - sizeof(last) + 1, last, sizeof(last) - 1) == 0);
	buf_release(&out);
}

static const struct {
	const char *text, *printed;
} shown[] = {
	{ "skip a.B\nhook a.B::c  tmied\n", "in:2:14: unknown word 'tmied', did you mean 'timed'?\n"
					    "  hook a.B::c  tmied\n"
					    "               ^\n" },
	{ "hook\ta.B::c\ttmied", "in:1:13: unknown word 'tmied', did you mean 'timed'?\n"
				 "  hook a.B::c tmied\n"
				 "              ^\n" },
	{ "hook a.B::c if $1 = 3\r\n", "in:1:19: expected an operator, found '='; "
				       "write '==' to compare\n"
				       "  hook a.B::c if $1 = 3\n"
				       "                    ^\n" },
	{ "hook \xc3\xa4.B::\xe6\x97\xa5 x", "in:1:13: unknown word 'x'\n"
					     "  hook \xc3\xa4.B::\xe6\x97\xa5 x\n"
					     "              ^\n" },
	{ "\xef\xbb\xbfhok a.B::c", "in:1:1: unknown kind of rule 'hok', did you mean 'hook'?\n"
				    "  hok a.B::c\n"
				    "  ^\n" },
};

TEST(errors_are_shown_under_their_line)
{
	static struct rule_errors errors;

	for (size_t i = 0; i < COUNT(shown); i++) {
		struct buf out = { 0 };

		parse(slice_str(shown[i].text), &errors);
		rule_errors_print(&errors, &out);
		buf_u8(&out, 0);
		CHECK_STR((const char *)out.p, shown[i].printed, shown[i].text);
		buf_release(&out);
	}
}

TEST(of_a_long_line_the_part_around_the_error_is_shown)
{
	static struct rule_errors errors;
	char text[600];

	snprintf(text, sizeof(text), "hook a.B::c %300s tmied %200s", "", "");
	parse(slice_str(text), &errors);
	CHECK_INT(errors.list[0].column, 314, NULL);
	CHECK_INT(strncmp(errors.list[0].source + errors.list[0].caret, "tmied ", 6), 0, NULL);
}

TEST(the_end_of_a_long_origin_is_kept)
{
	static struct rule_errors errors;
	static struct rule_source source;
	char origin[200];

	memset(origin, 'd', sizeof(origin));
	snprintf(origin + 190, 10, "/my.rules");
	source = (struct rule_source){ origin, slice_str("x") };
	rule_error_add(&errors, &source, (struct rule_pos){ 1, 1 }, NULL, "no");
	CHECK_INT(strlen(errors.list[0].origin), sizeof(errors.list[0].origin) - 1, NULL);
	CHECK_STR(errors.list[0].origin + sizeof(errors.list[0].origin) - 10, "/my.rules", NULL);
}
