# SPDX-License-Identifier: Apache-2.0
"""Causes that wait for what a background job has: a monitor, a lock, permits, the threads of a pool, room in a queue.

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


ALL = [monitor, lock, permits, pool]
