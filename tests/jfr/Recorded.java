// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/** For six seconds: computes, deep down too, allocates, waits for a monitor that another thread holds. */
public class Recorded {
	static volatile long sink;
	static volatile boolean ended;
	static Object[] kept = new Object[64];
	static final Object lock = new Object();

	static long compute(int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	static long down(int depth) {
		return depth == 0 ? compute(200000) : down(depth - 1) + 1;
	}

	static void computes() {
		for (int i = 0; !ended; i++)
			sink += down(i % 2 == 0 ? 3 : 200);
	}

	static void allocates() {
		for (int i = 0; !ended; i++) {
			kept[i & 63] = new byte[100000];
			kept[i + 1 & 63] = new Recorded[1000];
		}
	}

	static void holds() {
		while (!ended)
			synchronized (lock) {
				sink += compute(30000000);
			}
	}

	public static void main(String[] args) throws Exception {
		List<Thread> all = new ArrayList<>();
		for (Runnable r : new Runnable[] { Recorded::computes, Recorded::allocates, Recorded::holds, Recorded::holds }) {
			all.add(new Thread(r));
			all.get(all.size() - 1).start();
		}
		Thread.sleep(6000);
		ended = true;
		for (Thread t : all)
			t.join();
	}
}
