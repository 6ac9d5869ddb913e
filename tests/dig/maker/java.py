# SPDX-License-Identifier: Apache-2.0
"""Writes a program as Java sources."""
import calls

IMPORTS = ['java.io.*', 'java.util.*', 'java.util.concurrent.*', 'java.util.function.*', 'java.util.regex.Pattern',
	   'java.util.stream.*', 'java.util.zip.Deflater', 'util.*']


def endless(m, lines):
	"""The same, again and again: it takes its requests itself, and never returns."""
	return ([f'\tpublic long {m.name}(Supplier<Request> requests) {{', '\t\tlong all = 0;', '\t\twhile (all != Long.MIN_VALUE) {',
		 '\t\t\tRequest r = requests.get();'] + ['\t' + line for line in lines[1:]] +
		['\t\t\tall += sum;', '\t\t}', '\t\treturn all;', '\t}'])


def method(m, program, plant):
	lines = [f'\tpublic long {m.name}({m.parameters()}) {{', f'\t\tlong sum = {"n" if m.sig != "R" else "r.size()"};']
	lines += ['\t\t' + line for line in m.work]
	for number, call in enumerate(m.calls):
		if call.way == 'descend':
			lines += descend(m, call, program)
			continue
		lines += ['\t\t' + line for line in calls.statements(m, call, number, program)]
	if plant and m is plant.method:
		lines += plant.code()
	if m is program.root() and program.load.kind == 'endless':
		return '\n'.join(endless(m, lines))
	return '\n'.join(lines + ['\t\treturn sum;', '\t}'])


def descend(m, call, program):
	inner, given, levels = m.descends
	m.of.members.append(f'''	private long {inner}({m.parameters()}, int level) {{
		if (level == 0)
			return {calls.name_of(call.target.of)}.{call.target.name}({given});
		return {inner}({given}, level - 1) + level;
	}}''')
	return [f'\t\tsum += {inner}({given}, {levels});']


def class_text(c, program, plant):
	methods = [method(m, program, plant) for m in c.methods]  # they add fields and members to the class
	needed = c.dependencies()
	types = [(d.name, calls.name_of(d)) for d in needed]
	packages = sorted({x.package for x in program.classes()} - {c.package})
	head = [f'package {c.package};', ''] + [f'import {i};' for i in IMPORTS + [p + '.*' for p in packages]]
	body = [f'\tprivate final {t} {n};' for t, n in types] + ['\t' + f for f in c.fields] + c.members
	if types:
		body += [f'\n\tpublic {c.name}({", ".join(t + " " + n for t, n in types)}) {{'] + \
			[f'\t\tthis.{n} = {n};' for _, n in types] + ['\t}']
	implements = f' implements {c.interface}' if c.interface else ''
	return '\n'.join(head + ['', f'public final class {c.name}{implements} {{'] + body + [''] + ['\n\n'.join(methods)] + ['}', ''])


def interface_text(c):
	lines = [f'package {c.package};', '', 'import util.*;', '', f'public interface {c.interface} {{']
	return '\n'.join(lines + [f'\tlong {m.name}({m.parameters()});' for m in c.methods] + ['}', ''])


def wiring(program):
	lines = []
	for layer in reversed(program.layers):
		for c in layer:
			given = ', '.join(calls.name_of(d) for d in c.dependencies())
			lines.append(f'\t\t{c.name} {calls.name_of(c)} = new {c.name}({given});')
	return '\n'.join(lines)
