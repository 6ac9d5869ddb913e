# SPDX-License-Identifier: Apache-2.0
"""Causes that wait for what a background job has: a monitor, a lock, permits, the connections or the threads of a pool,
the one thread of an event loop, room in a queue.

The job has it for AMOUNT milliseconds, then leaves it alone for about four times as long.
"""
from causes import Cause


def job(holds):
	"""What of it the program runs: the job's own class takes the shared thing and lets it go."""
	return f'''package util;

import java.util.concurrent.*;

/** Puts the day's figures together every now and then. */
public final class Report {{
	private Report() {{}}

	public static void begin() {{
		Thread t = new Thread(Report::run, "report");
		t.setDaemon(true);
		t.start();
	}}

	private static void run() {{
		for (;;) {{
			idle(PAUSE);
			collect();
		}}
	}}

	private static void idle(long ms) {{
		try {{
			Thread.sleep(ms);
		}} catch (InterruptedException e) {{
			throw new IllegalStateException(e);
		}}
	}}

{holds}
}}
'''


def monitor(_):
	return Cause('monitor held', ['monitor'], 1e6, '', '''		synchronized (Shared.LEDGER) {
			sum += Shared.LEDGER.hashCode() & 7;
		}
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', 'package util;\n\npublic final class Shared {\n\tpublic static final Object LEDGER = new Object();\n}\n'),
		('util', 'Report', job('''	private static void collect() {
		synchronized (Shared.LEDGER) {
			idle(AMOUNT);
		}
	}'''))])


def lock(_):
	return Cause('lock held', ['lock'], 1e6, '', '''		Shared.LEDGER.lock();
		try {
			sum += Shared.LEDGER.hashCode() & 7;
		} finally {
			Shared.LEDGER.unlock();
		}
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', '''package util;

import java.util.concurrent.locks.ReentrantLock;

public final class Shared {
	public static final ReentrantLock LEDGER = new ReentrantLock();
}
'''), ('util', 'Report', job('''	private static void collect() {
		Shared.LEDGER.lock();
		try {
			idle(AMOUNT);
		} finally {
			Shared.LEDGER.unlock();
		}
	}'''))])


def permits(_):
	return Cause('permits taken', ['semaphore'], 1e6, '', '''		Shared.CONNECTIONS.acquireUninterruptibly();
		try {
			sum++;
		} finally {
			Shared.CONNECTIONS.release();
		}
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', '''package util;

import java.util.concurrent.Semaphore;

public final class Shared {
	public static final Semaphore CONNECTIONS = new Semaphore(4);
}
'''), ('util', 'Report', job('''	private static void collect() {
		Shared.CONNECTIONS.acquireUninterruptibly(4);
		try {
			idle(AMOUNT);
		} finally {
			Shared.CONNECTIONS.release(4);
		}
	}'''))])


def pool(_):
	return Cause('pool busy', ['future', 'queue'], 1e6, '', '''		sum += Tasks.get(Shared.POOL.submit(() -> 3L));
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', '''package util;

import java.util.concurrent.ExecutorService;

public final class Shared {
	public static final ExecutorService POOL = Tasks.pool("shared", 2);
}
'''), ('util', 'Report', job('''	private static void collect() {
		for (int i = 0; i < 2; i++)
			Shared.POOL.execute(() -> idle(AMOUNT));
		idle(AMOUNT);
	}'''))], also=['util.Tasks.get'])


def connections(rng):
	"""A pool of the program's own, as those of data bases are."""
	size = rng.choice([2, 3, 8])
	return Cause('connections taken', ['queue', 'semaphore', 'lock', 'wait'], 1e6, '', '''		Connections.Connection c = Connections.borrow();
		try {
			sum += c.ask(n);
		} finally {
			Connections.giveBack(c);
		}
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], also=['util.Connections.borrow'], helpers=[
		('util', 'Connections', f'''package util;

import java.util.concurrent.*;

public final class Connections {{
	public record Connection(int number) {{
		public long ask(int what) {{
			return what ^ number;
		}}
	}}

	private static final BlockingQueue<Connection> FREE = new LinkedBlockingQueue<>();

	static {{
		for (int i = 0; i < {size}; i++)
			FREE.add(new Connection(i));
	}}

	private Connections() {{}}

	public static Connection borrow() {{
		try {{
			Connection c = FREE.poll(20, TimeUnit.SECONDS);
			if (c == null)
				throw new IllegalStateException("no connection");
			return c;
		}} catch (InterruptedException e) {{
			throw new IllegalStateException(e);
		}}
	}}

	public static void giveBack(Connection c) {{
		FREE.add(c);
	}}
}}
'''), ('util', 'Report', job(f'''	private static void collect() {{
		Connections.Connection[] all = new Connections.Connection[{size}];
		for (int i = 0; i < {size}; i++)
			all[i] = Connections.borrow();
		idle(AMOUNT);
		for (int i = 0; i < {size}; i++)
			Connections.giveBack(all[i]);
	}}'''))])


def event_loop(_):
	"""One thread that does what comes, in turn; the job gives it something that takes long."""
	return Cause('event loop held up', ['future', 'queue'], 1e6, '', '''		sum += Shared.LOOP.ask(() -> 3L);
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', '''package util;

public final class Shared {
	public static final Worker LOOP = new Worker("loop");
}
'''), ('util', 'Report', job('''	private static void collect() {
		Shared.LOOP.ask(() -> {
			idle(AMOUNT);
			return 0L;
		});
	}'''))], also=['util.Worker.ask'])


def room(rng):
	"""A queue with few places, which nobody empties while the job is at something else."""
	size = rng.choice([1, 2])
	return Cause('queue is full', ['queue', 'lock'], 1e6, '', '''		try {
			Shared.LINES.put(sum);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
''', computes=False, shared=True, holder='util.Report.collect', jobs=['Report.begin();'], helpers=[
		('util', 'Shared', f'''package util;

import java.util.concurrent.*;

public final class Shared {{
	public static final BlockingQueue<Long> LINES = new ArrayBlockingQueue<>({size});
}}
'''), ('util', 'Report', f'''package util;

/** Writes down what is in the queue, and puts it on the disk every now and then. */
public final class Report {{
	private static volatile long written;

	private Report() {{}}

	public static void begin() {{
		Thread t = new Thread(Report::run, "report");
		t.setDaemon(true);
		t.start();
	}}

	private static void run() {{
		for (;;)
			collect();
	}}

	private static void collect() {{
		try {{
			long end = System.nanoTime() + PAUSE * 1_000_000L;
			while (System.nanoTime() < end) {{
				Long line = Shared.LINES.poll(5, java.util.concurrent.TimeUnit.MILLISECONDS);
				written += line == null ? 0 : line;
			}}
			Thread.sleep(AMOUNT);
		}} catch (InterruptedException e) {{
			throw new IllegalStateException(e);
		}}
	}}
}}
''')])


ALL = [monitor, lock, permits, pool, connections, connections, event_loop, room]
