// SPDX-License-Identifier: Apache-2.0
package crowd;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** Virtual threads: those that sleep, that wait for a lock, and that are pinned in a monitor. */
class Virtual implements Job {
	private final ReentrantLock lock = new ReentrantLock();
	private final Object monitor = new Object();
	private final ConcurrentLinkedQueue<Long> results = new ConcurrentLinkedQueue<>();

	@Override
	public long run(int n) throws Exception {
		CountDownLatch all = new CountDownLatch(20);
		results.clear();
		for (int i = 0; i < 20; i++) {
			int k = i;
			Thread.ofVirtual().name("virtual-" + k).start(() -> {
				try {
					results.add(step(n, k));
				} catch (InterruptedException e) {
					Victim.wrong("virtual: " + e);
				} finally {
					all.countDown();
				}
			});
		}
		all.await();
		return results.stream().mapToLong(x -> x).sum();
	}

	long step(int n, int k) throws InterruptedException {
		if (k % 3 == 0)
			Thread.sleep(1);
		return k % 2 == 0 ? locked(n, k) : pinned(n, k);
	}

	long locked(int n, int k) throws InterruptedException {
		lock.lock();
		try {
			if (k % 4 == 0)
				Thread.sleep(1);
			return Jobs.Calls.fib(n % 12) + k;
		} finally {
			lock.unlock();
		}
	}

	long pinned(int n, int k) throws InterruptedException {
		synchronized (monitor) {
			Thread.sleep(1);
			return n + k;
		}
	}
}
