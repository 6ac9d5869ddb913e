# SPDX-License-Identifier: Apache-2.0
"""The ways in which one method calls another: directly, in loops, streams and lambdas, through executors, stages,
workers and caches, and recursively."""

# Those that have every call done each time; below the others a planted cause might show too seldom.
ALWAYS = {'direct': 6, 'loop': 2, 'stream': 2, 'lambda': 2, 'executor': 0.8, 'stage': 0.8, 'both': 0.5, 'recursive': 0.8}
SOMETIMES = {'cache': 1.5, 'worker': 0.5, 'locked': 1, 'seldom': 1}
QUICK = ['direct', 'loop', 'stream', 'lambda', 'locked', 'seldom', 'recursive']
WEIGHT_MOST = 4

TASKS = '''package util;

import java.util.concurrent.*;
import java.util.function.Supplier;

/** What the standard library leaves to each application. */
public final class Tasks {
	private Tasks() {}

	public static ExecutorService pool(String name, int threads) {
		return Executors.newFixedThreadPool(threads, r -> {
			Thread t = new Thread(r, name);
			t.setDaemon(true);
			return t;
		});
	}

	public static long get(Future<Long> f) {
		try {
			return f.get();
		} catch (InterruptedException | ExecutionException e) {
			throw new IllegalStateException(e);
		}
	}

	public static <T> T retry(Supplier<T> what) {
		for (int left = 2;; left--)
			try {
				return what.get();
			} catch (IllegalArgumentException e) {
				if (left == 0)
					throw e;
			}
	}
}
'''

WORKER = '''package util;

import java.util.concurrent.*;

/** One thread that does what it is asked for, in turn. */
public final class Worker {
	private record Job(Callable<Long> what, CompletableFuture<Long> answer) {}

	private final BlockingQueue<Job> jobs = new LinkedBlockingQueue<>();

	public Worker(String name) {
		Thread t = new Thread(this::work, name);
		t.setDaemon(true);
		t.start();
	}

	private void work() {
		for (;;)
			try {
				Job job = jobs.take();
				job.answer().complete(job.what().call());
			} catch (Exception e) {
				throw new IllegalStateException(e);
			}
	}

	public long ask(Callable<Long> what) {
		Job job = new Job(what, new CompletableFuture<>());
		jobs.add(job);
		return job.answer().join();
	}
}
'''


def choose(program, protected):
	"""Gives each call its way; calls of methods in `protected` are done each time."""
	rng = program.rng
	program.weigh()
	for layer in program.layers:
		for c in layer:
			for m in c.methods:
				for call in m.calls:
					always = any(call.target is p for p in protected)
					ways = dict(ALWAYS) if always else {**ALWAYS, **SOMETIMES}
					if program.small:
						ways = {w: n for w, n in ways.items() if w in QUICK}
					call.way = rng.choices(list(ways), list(ways.values()))[0]
					if call.way in ('loop', 'stream') and call.target.weight < WEIGHT_MOST:
						call.times = rng.randint(2, 4)
						program.weigh()
	program.helpers += [('util', 'Tasks', TASKS), ('util', 'Worker', WORKER)]


def name_of(c):
	return c.name[0].lower() + c.name[1:]


def arguments(caller, call, program):
	sig = call.target.sig
	key = 'key' if caller.sig == 'K' else f'r.{program.key}()'
	n = 'n' if caller.sig != 'R' else 'r.size()'
	return {'R': 'r', 'N': f'r, {n}', 'K': f'{key}, {n}'}[sig] + call.extra


def statements(caller, call, number, program):
	"""Java that adds what the call gives to `sum`; fields that it needs go to its class."""
	of = caller.of
	to = 'this' if call.target.of is of else name_of(call.target.of)
	done = f'{to}.{call.target.name}({arguments(caller, call, program)})'
	name = f'{caller.name}{number}'
	threads = max(program.load.threads, 2) + 2
	if call.way in ('executor', 'stage', 'both'):
		of.fields.append(f'private final ExecutorService {name}Pool = Tasks.pool("{name}", {threads});')
	if call.way == 'loop':
		return [f'for (int i = 0; i < {call.times}; i++)', f'\tsum += {done};']
	if call.way == 'stream':
		return [f'sum += IntStream.range(0, {call.times}).mapToLong(i -> {done}).sum();']
	if call.way == 'lambda':
		return [f'sum += Tasks.retry(() -> {done});']
	if call.way == 'executor':
		return [f'sum += Tasks.get({name}Pool.submit(() -> {done}));']
	if call.way == 'stage':
		return [f'sum += CompletableFuture.supplyAsync(() -> {done}, {name}Pool).thenApply(x -> x + 1).join();']
	if call.way == 'both':
		return [f'CompletableFuture<Long> {name} = CompletableFuture.supplyAsync(() -> {done}, {name}Pool);',
			f'sum += {name}.thenCombine(CompletableFuture.completedFuture(sum), Long::sum).join();']
	if call.way == 'recursive':
		inner = f'{caller.name}Step{number}'
		given = {'R': 'r', 'N': 'r, n', 'K': 'key, n'}[caller.sig]
		of.members.append(f'''	private long {inner}({caller.parameters()}, int level) {{
		if (level > 0)
			return {inner}({given}{', rows' if caller.extra else ''}, level - 1) + level;
		return {done};
	}}''')
		return [f'sum += {inner}({given}{", rows" if caller.extra else ""}, {program.rng.randint(2, 6)});']
	if call.way == 'cache':
		of.fields.append(f'private final Map<Object, Long> {name}Cache = new ConcurrentHashMap<>();')
		key = 'key + n' if caller.sig == 'K' else f'r.{program.key}() + r.size()'
		return [f'if ({name}Cache.size() > {program.rng.randint(20, 2000)})', f'\t{name}Cache.clear();',
			f'sum += {name}Cache.computeIfAbsent({key}, k -> {done});']
	if call.way == 'worker':
		of.fields.append(f'private final Worker {name}Worker = new Worker("{name}");')
		return [f'sum += {name}Worker.ask(() -> {done});']
	if call.way == 'locked':
		of.fields.append(f'private final Object {name}Lock = new Object();')
		return [f'long {name} = {done};', f'synchronized ({name}Lock) {{', f'\tsum += {name};', '}']
	if call.way == 'seldom':
		return [f'if ((sum & {program.rng.choice([3, 7, 15])}) == 1)', f'\tsum += {done};']
	return [f'sum += {done};']
