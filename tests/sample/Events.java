// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/**
 * What the JVM tells by events, in known amounts.  "alloc": two sites, of which one allocates three times as
 * many bytes as the other, and a third that keeps all that it allocates; prints how many bytes there were of
 * each.  "lock": four threads that hold one lock in turns, for 2 ms each, so that three wait all the time.
 */
public class Events {
	static volatile Object sink;
	static volatile boolean ended;
	static final List<Object> list = new ArrayList<>();

	static class Gate {
		long turns;
	}

	/** 48 bytes or some more, and of a size that is no array's. */
	static class Kept {
		long a, b, c, d;
	}

	static final Gate gate = new Gate();

	static void siteA() {
		for (int i = 0; i < 300; i++)
			sink = new byte[10000];
	}

	static void siteB() {
		for (int i = 0; i < 10000; i++)
			sink = new int[21];
	}

	static void keeps() {
		for (int i = 0; i < 300; i++)
			list.add(new Kept());
	}

	static void allocate() throws Exception {
		while (!ended) {
			siteA();
			siteB();
			if (list.size() < 2500000)
				keeps();
			Thread.sleep(1);
		}
	}

	static void convoy() throws Exception {
		while (!ended)
			synchronized (gate) {
				gate.turns++;
				Thread.sleep(2);
			}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < (args[0].equals("lock") ? 4 : 1); i++) {
			Thread t = new Thread(() -> {
				try {
					if (args[0].equals("lock"))
						convoy();
					else
						allocate();
				} catch (Exception e) {
					e.printStackTrace();
				}
			});
			t.setDaemon(true);
			t.start();
		}
		System.out.println("ready");
		System.in.read();
		ended = true;
	}
}
