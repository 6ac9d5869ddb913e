// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.Semaphore;

/** Requests need one of four permits, all of which a report takes for 250 ms, every 1.2 s. */
public class Permits {
	private static final Semaphore PERMITS = new Semaphore(4);

	static int handle(int number) throws InterruptedException {
		return load(number) + 1;
	}

	static int load(int number) throws InterruptedException {
		PERMITS.acquire();
		try {
			return number * 31;
		} finally {
			PERMITS.release();
		}
	}

	static final class Report {
		static void collect() throws InterruptedException {
			PERMITS.acquire(4);
			try {
				write();
			} finally {
				PERMITS.release(4);
			}
		}

		static void write() throws InterruptedException {
			Thread.sleep(250);
		}
	}

	public static void main(String[] args) {
		for (int t = 0; t < 5; t++)
			new Thread(() -> {
				try {
					for (int i = 0;; i++) {
						handle(i);
						Thread.sleep(15);
					}
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}).start();
		new Thread(() -> {
			try {
				for (;;) {
					Thread.sleep(950);
					Report.collect();
				}
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}).start();
	}
}
