# SPDX-License-Identifier: Apache-2.0
"""What an answer of `sonde dig --json` is worth, given the truth about the program."""
import re


def plain(name):
	return (name or '').split('(')[0]


def is_method(name, of):
	"""The method itself, or a lambda or a step of its own that the compiler or the maker took out of it."""
	name = plain(name)
	cls, _, method = of.rpartition('.')
	own = name.rpartition('.')[2]
	return name == of or (name.startswith(cls + '.') and
			      (re.fullmatch(rf'lambda\$(async\$)?{re.escape(method)}\$\d+', own) is not None or
			       re.fullmatch(rf'{re.escape(method)}Step\d+', own) is not None))


def is_one_of(name, methods):
	return any(is_method(name, m) for m in methods)


def judge_cause(truth, cause):
	guilty, path = cause.get('method'), cause.get('path', [])
	right = [truth['cause']] + truth['also']
	if is_one_of(guilty, right):
		return 'exact'
	above = plain(path[-2]) if len(path) > 1 else ''
	if is_one_of(guilty, truth['near']) or is_one_of(above, right):
		return 'one off'
	if plain(guilty).rpartition('.')[0] == truth['cause'].rpartition('.')[0]:
		return 'one off'  # another method of the same class
	return 'wrong'


def judge_context(truth, answer):
	"""Is the caller named, under which it is slow, or any of those that lead there?"""
	cause = answer['cause']
	told = cause.get('path', [])[:-1] + [cause.get('waiter'), cause.get('task'), answer.get('root')]
	for c in cause.get('contexts', []):
		told += c['callers'] if c['slow'] else []
	if not truth['caller']:
		return any(is_one_of(t, truth['near']) for t in told if t)
	return any(is_method(t, truth['caller']) for t in told if t)


def judge_condition(truth, text):
	"""The field with its value, or a limit between its ordinary and its special values."""
	wanted = truth['condition']
	if not text:
		return False
	if 'value' in wanted:
		return f'"{wanted["value"]}"' in text
	limits = [float(n) for n in re.findall(r'[<>]=?\s*(-?[\d.]+)', text)]
	return any(90 <= n <= wanted['from'] + 20 for n in limits)


def judge_holder(truth, cause):
	"""Who has what is waited for: a method of the same class, or a lambda of it."""
	told = [plain(cause.get(key)) for key in ('lock_holder', 'taken_by', 'pool_task')]
	return any(t.rpartition('.')[0] == truth['holder'].rpartition('.')[0] for t in told if t)


def judge(truth, answer):
	cause = answer.get('cause')
	found = {'slow': answer.get('slow', False), 'cause': 'none', 'context': None, 'condition': None, 'kind': None, 'holder': None,
		 'false': answer.get('slow', False) and plain(answer.get('root')) != truth.get('job')}
	if truth['holder']:
		found['holder'] = bool(cause) and judge_holder(truth, cause)
	if cause:
		found['cause'] = judge_cause(truth, cause)
		found['kind'] = cause.get('kind') in truth['kinds']
	found['context'] = bool(cause) and found['cause'] != 'wrong' and judge_context(truth, answer)
	if truth['condition']:
		found['condition'] = bool(cause) and judge_condition(truth, cause.get('condition'))
	return found
