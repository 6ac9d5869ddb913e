// SPDX-License-Identifier: Apache-2.0
package com.acme;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

// A program with threads in all states, and something to look at.
public class Shop {
	static final Object LEFT = new Object(), RIGHT = new Object(), COUNTER = new Object();
	static final ReentrantLock LEDGER = new ReentrantLock();
	static volatile long spun;

	static void thread(String name, Runnable body) {
		Thread t = new Thread(body, name);

		t.setDaemon(true);
		t.start();
	}

	static void nap() {
		try {
			Thread.sleep(1000000);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void take(Object first, Object second, CountDownLatch both) {
		synchronized (first) {
			both.countDown();
			try {
				both.await();
			} catch (InterruptedException e) {
				return;
			}
			synchronized (second) {
				spun++;
			}
		}
	}

	static void spin() {
		while (true)
			spun++;
	}

	static void idle(CountDownLatch never) {
		try {
			never.await();
		} catch (InterruptedException e) {
			return;
		}
	}

	public static void main(String[] args) throws Exception {
		Stock.fill();
		CountDownLatch never = new CountDownLatch(1), both = new CountDownLatch(2);

		if (args.length == 0) {
			thread("dead-left", () -> take(LEFT, RIGHT, both));
			thread("dead-right", () -> take(RIGHT, LEFT, both));
		}
		thread("spinner", Shop::spin);
		thread("cashier", () -> {
			synchronized (COUNTER) {
				nap();
			}
		});
		thread("bookkeeper", () -> {
			LEDGER.lock();
			nap();
		});
		Thread.sleep(300);
		thread("customer", () -> {
			synchronized (COUNTER) {
				spun++;
			}
		});
		thread("auditor", () -> LEDGER.lock());
		thread("evil\u001b[31m\nname", Shop::nap);
		for (int i = 0; i < 7; i++)
			thread("idle-" + i, () -> idle(never));
		Thread.sleep(300);
		System.out.println("up");
		nap();
	}
}
