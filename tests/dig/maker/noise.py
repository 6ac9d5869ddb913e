# SPDX-License-Identifier: Apache-2.0
"""What else goes on in an application: garbage, a job every now and then, a cache that is cleaned."""

NOISE = '''package util;

import java.util.*;
import java.util.concurrent.*;

/** Jobs in the background. */
public final class Jobs {
	private static volatile Object kept;
	private static final Map<Long, byte[]> SESSIONS = new ConcurrentHashMap<>();

	private Jobs() {}

	public static void allocate(int bytes) {
		kept = new byte[bytes];
	}

	public static void refresh() {
		List<String> names = new ArrayList<>();
		for (int i = 0; i < 2000; i++)
			names.add("name" + i * 7919 % 2000);
		Collections.sort(names);
		kept = names;
	}

	public static void sweep() {
		for (int i = 0; i < 50; i++)
			SESSIONS.put(System.nanoTime(), new byte[200]);
		SESSIONS.keySet().removeIf(k -> k % 3 == 0);
		if (SESSIONS.size() > 10000)
			SESSIONS.clear();
	}

	/** Takes long, and nobody waits for it. */
	public static void rebuild(int ms) {
		long end = System.nanoTime() + ms * 1_000_000L, sum = 0;
		while (System.nanoTime() < end) {
			for (int i = 0; i < 1000; i++)
				sum += i ^ sum;
			java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
		}
		kept = sum;
	}

	public static void every(String name, int ms, Runnable what) {
		ScheduledExecutorService s = Executors.newSingleThreadScheduledExecutor(r -> new Thread(r, name));
		s.scheduleAtFixedRate(what, ms, ms, TimeUnit.MILLISECONDS);
	}
}
'''


def add(program, twin):
	rng = program.rng
	program.helpers.append(('util', 'Jobs', NOISE))
	for _ in range(rng.randint(0, 3)):
		what = rng.choice([f'() -> Jobs.allocate({rng.choice([10000, 200000, 1000000])})', 'Jobs::refresh', 'Jobs::sweep'])
		program.jobs.append(f'Jobs.every("job-{len(program.jobs)}", {rng.choice([20, 100, 500, 2000])}, {what});')
	slow, ms, every = rng.random() < 0.15, rng.randint(200, 600), rng.choice([2000, 4000])
	if slow and not twin:
		program.jobs.append(f'Jobs.every("rebuild", {every}, () -> Jobs.rebuild({ms}));')
	return 'util.Jobs.rebuild' if slow and not twin else None
