// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * What samplers are measured with: two threads that compute, allocate and wait for one lock, and the argument's
 * number of threads that are parked.  Answers each line with units of work done and nanoseconds of processor
 * time of the process.
 */
public class Load {
	static final LongAdder done = new LongAdder();
	static final Object lock = new Object();
	static volatile Object sink;
	static long turns;

	static int compute(Map<Integer, Integer> map, int from) {
		int s = 0;

		for (int i = from; i < from + 2000; i++)
			s += map.merge(i & 1023, i, Integer::sum);
		return s;
	}

	static Object allocate(int n) {
		List<Object> list = new ArrayList<>();

		for (int i = 0; i < n; i++)
			list.add(new byte[64 + i % 64]);
		return list;
	}

	static void contend() {
		synchronized (lock) {
			for (int i = 0; i < 2000; i++)
				turns = turns * 31 + i;
		}
	}

	static void work() {
		Map<Integer, Integer> map = new HashMap<>();

		for (int i = 0;; i++) {
			int s = compute(map, i);

			sink = allocate(200 + (s & 1));
			contend();
			done.increment();
		}
	}

	static void start(Runnable r) {
		Thread t = new Thread(null, r, "load", 1 << 18);

		t.setDaemon(true);
		t.start();
	}

	public static void main(String[] args) throws Exception {
		var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
		var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));

		for (int i = 0; i < Integer.parseInt(args[0]); i++)
			start(() -> {
				while (true)
					LockSupport.park();
			});
		for (int i = 0; i < 2; i++)
			start(Load::work);
		System.out.println("ready");
		while (in.readLine() != null)
			System.out.println(done.sum() + " " + os.getProcessCpuTime());
	}
}
