// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/**
 * Two threads that load Guest in ever new class loaders, until standard input ends.  They share no
 * more than they must: one may be stopped anywhere, and the other is to go on.
 */
public final class Busy {
	/** How often; read by Stopper. */
	static volatile int first, second;

	private static volatile boolean ends;

	private static void load(boolean isFirst) {
		try {
			byte[] bytes = Loaders.bytes("Guest");

			while (!ends) {
				new Loaders.One(null).define("Guest", bytes);
				if (isFirst)
					first++;
				else
					second++;
				LockSupport.parkNanos(300_000); /* collectors are to keep up */
			}
		} catch (Exception e) {
			throw new AssertionError(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread one = new Thread(() -> load(true), "first"), two = new Thread(() -> load(false), "second");

		one.start();
		two.start();
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
		ends = true;
	}
}
