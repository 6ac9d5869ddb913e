// SPDX-License-Identifier: Apache-2.0
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.Deflater;

/**
 * A program that knows its own shares of processor time.  Its parts run in turns, in slices of some
 * milliseconds, and each slice is measured by the clock of its thread; a thread that sleeps and a convoy of
 * three that want one lock run beside.  Answers each line with the sums so far: "loop=NS inlined=NS ...".
 */
public class Shares {
	static final String[] NAMES = { "loop", "inlined", "calls", "jni", "kernel", "deep", "convoy" };
	static final int[] SLICE_US = { 3000, 2000, 2000, 3000, 1500, 1000 };
	static final int CONVOY = NAMES.length - 1;

	static final com.sun.management.ThreadMXBean threads =
		(com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
	static final AtomicLongArray ns = new AtomicLongArray(NAMES.length);
	static final int[] n = { 1000, 1000, 1000, 1, 1, 1 };
	static final Object lock = new Object();
	static final byte[] text = new byte[1 << 14], to = new byte[1 << 15];
	static final Deflater deflater = new Deflater(6);
	static volatile long sink;
	static long held;
	static RandomAccessFile zeros;

	/** No safepoint poll in it, as a counted loop of ints. */
	static int partLoop(int n) {
		int s = 1;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	/** Inlined wherever it is called, and all that its caller spends time in. */
	static long work(long x, long by) {
		for (int i = 0; i < 40; i++)
			x = (x ^ x >>> 7) * by;
		return x;
	}

	static long partInlined(int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s += work(s, i | 1);
		return s;
	}

	interface Shape { long of(long x); }

	record A() implements Shape { public long of(long x) { return work(x, 3); } }
	record B() implements Shape { public long of(long x) { return work(x, 5); } }
	record C() implements Shape { public long of(long x) { return work(x, 7); } }
	record D() implements Shape { public long of(long x) { return work(x, 9); } }

	static final Shape[] shapes = { new A(), new B(), new C(), new D() };

	/** Four receivers, each with a quarter of the time. */
	static long partCalls(int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s = shapes[i & 3].of(s);
		return s;
	}

	static long partJni(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			deflater.reset();
			deflater.setInput(text);
			deflater.finish();
			while (!deflater.finished())
				sum += deflater.deflate(to);
		}
		return sum;
	}

	static long partKernel(int n) throws Exception {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += zeros.read(to);
		return sum;
	}

	static long down(int depth, int n) {
		return depth == 0 ? partLoopBelow(n) : down(depth - 1, n) + 1;
	}

	static int partLoopBelow(int n) {
		int s = 7;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	static long partDeep(int n) {
		return down(150, n * 2000);
	}

	static long run(int part) throws Exception {
		return switch (part) {
		case 0 -> partLoop(n[0]);
		case 1 -> partInlined(n[1]);
		case 2 -> partCalls(n[2]);
		case 3 -> partJni(n[3]);
		case 4 -> partKernel(n[4]);
		default -> partDeep(n[5]);
		};
	}

	static long slice(int part) throws Exception {
		long before = threads.getCurrentThreadCpuTime();
		sink += run(part);
		return threads.getCurrentThreadCpuTime() - before;
	}

	/** Until each slice is about as long as it should be, and all is compiled. */
	static void warmUp() throws Exception {
		for (int round = 0; round < 300; round++)
			for (int part = 0; part < CONVOY; part++) {
				long took = Math.max(slice(part), 1000);
				double more = Math.min(2, Math.max(0.5, SLICE_US[part] * 1000.0 / took));
				n[part] = (int) Math.max(1, Math.min(1 << 26, Math.ceil(n[part] * more)));
			}
	}

	static void partConvoy() {
		synchronized (lock) {
			for (int i = 0; i < 20000; i++)
				held = held * 31 + i;
		}
	}

	static void convoy() {
		while (true) {
			long before = threads.getCurrentThreadCpuTime();
			for (int i = 0; i < 10; i++)
				partConvoy();
			ns.addAndGet(CONVOY, threads.getCurrentThreadCpuTime() - before);
			sleep(10);
		}
	}

	static void sleep(long ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void sleepsOn() {
		sleep(1 << 30);
	}

	static void begin(Runnable r, String name) {
		Thread t = new Thread(r, name);
		t.setDaemon(true);
		t.start();
	}

	static void answer() {
		var in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
		try {
			while (in.readLine() != null) {
				var line = new StringBuilder();
				for (int i = 0; i < NAMES.length; i++)
					line.append(i > 0 ? " " : "").append(NAMES[i]).append('=').append(ns.get(i));
				System.out.println(line);
			}
		} catch (java.io.IOException e) {
			// as good as its end
		}
		System.exit(0);
	}

	public static void main(String[] args) throws Exception {
		zeros = new RandomAccessFile("/dev/zero", "r");
		var random = new java.util.Random(1);
		for (int i = 0; i < text.length; i++)
			text[i] = (byte) ('a' + random.nextInt(1 + random.nextInt(26)));
		warmUp();
		for (int i = 0; i < 3; i++)
			begin(Shares::convoy, "convoy " + i);
		begin(Shares::sleepsOn, "sleeper");
		begin(Shares::answer, "answers");
		System.out.println("ready");
		while (true)
			for (int part = 0; part < CONVOY; part++)
				ns.addAndGet(part, slice(part));
	}
}
