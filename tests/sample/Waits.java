// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Threads that wait in known ways, each all the time: one sleeps, one waits for a monitor that another one
 * holds while it sleeps, one is in Object.wait, two of a pool are parked, one reads from a pipe, one runs.
 * The argument is how many more threads sleep.
 */
public class Waits {
	static final Object held = new Object(), told = new Object();
	static volatile boolean ended;
	static volatile long sink;

	interface Part {
		void run() throws Exception;
	}

	static void begin(String name, Part part) {
		Thread t = new Thread(null, () -> {
			try {
				part.run();
			} catch (Exception e) {
				ended = true;
			}
		}, name, 1 << 18);
		t.setDaemon(true);
		t.start();
	}

	static void sleeps() throws Exception {
		while (!ended)
			Thread.sleep(600000);
	}

	static void holds() throws Exception {
		synchronized (held) {
			sleeps();
		}
	}

	static void isBlocked() {
		synchronized (held) {
			sink++;
		}
	}

	static void waits() throws Exception {
		synchronized (told) {
			while (!ended)
				told.wait();
		}
	}

	static void reads() throws Exception {
		var pipe = java.nio.channels.Pipe.open();
		pipe.source().read(java.nio.ByteBuffer.allocate(1));
	}

	static void runs() {
		while (!ended)
			sink += sink * 31 + 7;
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);

		begin("holder", Waits::holds);
		Thread.sleep(300);
		begin("blocked", Waits::isBlocked);
		begin("waiter", Waits::waits);
		begin("reader", Waits::reads);
		begin("runner", Waits::runs);
		begin("sleeper", Waits::sleeps);
		for (int i = 0; i < 2; i++)
			pool.submit(() -> sink++).get(10, TimeUnit.SECONDS);
		for (int i = 0; i < Integer.parseInt(args[0]); i++)
			begin("more" + i, Waits::sleeps);
		System.out.println("ready");
		System.in.read();
		System.exit(0);
	}
}
