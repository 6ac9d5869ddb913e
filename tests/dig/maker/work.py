# SPDX-License-Identifier: Apache-2.0
"""Innocent work of a microsecond or less, and what an application does at the bottom: files and tables."""

SNIPPETS = [
	['for (int i = 0; i < {n}; i++)', '\tsum = sum * 31 + i;'],
	['sum += IntStream.range(0, {n}).filter(i -> i % 3 == 0).sum();'],
	['StringBuilder text{id} = new StringBuilder();', 'for (int i = 0; i < {few}; i++)', '\ttext{id}.append(i);',
	 'sum += text{id}.length();'],
	['List<Integer> list{id} = new ArrayList<>();', 'for (int i = 0; i < {few}; i++)', '\tlist{id}.add((int) (sum ^ i));',
	 'Collections.sort(list{id});', 'sum += list{id}.get(0);'],
	['Map<String, Integer> map{id} = new HashMap<>();', 'for (int i = 0; i < {few}; i++)',
	 '\tmap{id}.merge("k" + i % 3, i, Integer::sum);', 'sum += map{id}.size();'],
	['sum += Stream.of("a", "b", "c").map(String::hashCode).reduce(0, Integer::sum);'],
	['Function<Long, Long> step{id} = x -> x + {few};', 'sum = step{id}.andThen(x -> x ^ 1).apply(sum);'],
	['Optional<Long> some{id} = Optional.of(sum).filter(x -> x % 2 == 0);', 'sum += some{id}.orElse(1L);'],
]

TABLE = '''package util;

import java.util.*;

/** Rows by key, as a database would keep them. */
public final class Table<R> {
	private final TreeMap<String, R> rows = new TreeMap<>();

	public synchronized void put(String key, R row) {
		rows.put(key, row);
		if (rows.size() > 500)
			rows.pollFirstEntry();
	}

	public synchronized Optional<R> get(String key) {
		return Optional.ofNullable(rows.get(key));
	}
}
'''

JOURNAL = '''package util;

import java.io.*;
import java.nio.file.*;

/** Lines at the end of a file, begun anew when it is long. */
public final class Journal {
	private static final int MOST = 1 << 20;
	private final File file;
	private OutputStream out;
	private int written = MOST;

	public Journal(String name) {
		try {
			file = File.createTempFile(name, ".log");
			file.deleteOnExit();
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}

	public synchronized long append(String line) {
		try {
			if (written >= MOST) {
				if (out != null)
					out.close();
				out = new FileOutputStream(file);
				written = 0;
			}
			byte[] bytes = line.getBytes();
			out.write(bytes);
			written += bytes.length;
			return written;
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
	}
}
'''


def fill(program):
	rng = program.rng
	for m in program.methods():
		for number in range(rng.randint(1, 2)):
			if rng.random() < 0.7:
				m.work += [line.format(n=rng.randint(5, 60), few=rng.randint(3, 12), id=number)
					   for line in rng.choice(SNIPPETS)]
	for c in program.layers[-1]:
		bottom(program, c)
	program.helpers += [('util', 'Table', TABLE), ('util', 'Journal', JOURNAL)]


def bottom(program, c):
	rng = program.rng
	kind = rng.choice(['table', 'journal', 'none'])
	if kind == 'table':
		c.members.append('\tprivate final Table<Long> rows = new Table<>();')
	elif kind == 'journal':
		c.members.append(f'\tprivate final Journal journal = new Journal("{c.name}");')
	for m in c.methods:
		key = 'key' if m.sig == 'K' else f'r.{program.key}()'
		if kind == 'table':
			m.work += [f'rows.put({key} + sum % 50, sum);', f'sum += rows.get({key} + sum % 7).orElse(3L);']
		elif kind == 'journal' and rng.random() < 0.5:
			m.work.append(f'sum += journal.append({key} + " " + sum + "\\n");')
