// SPDX-License-Identifier: Apache-2.0
import java.util.zip.Deflater;

/**
 * Programs whose hot spots are known.  The first argument names one; it runs until a line comes.  Each has
 * two parts that do the same work in turns, so that half of the time is in each.
 */
public class Truth {
	static volatile long sink;
	static volatile boolean ended;
	static final String TEXT = "[001][002][003]".repeat(2000) + "[999]";
	static final byte[] noise = new byte[1 << 18];

	/** No safepoint poll in it, as a counted loop of ints. */
	static int loopA(int n) {
		int s = 1;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	static int loopB(int n) {
		int s = 7;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	/** Small: inlined wherever it is called. */
	static long mixed(long x, long y) {
		return (x ^ y) * 0x9e3779b97f4a7c15L ^ x >>> 29;
	}

	static long inlinesIt(int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s = mixed(s, i);
		return s;
	}

	interface Shape { long of(long x); }
	record A() implements Shape { public long of(long x) { return x * 3 + 1; } }
	record B() implements Shape { public long of(long x) { return x * 5 + 1; } }
	record C() implements Shape { public long of(long x) { return x * 7 + 1; } }
	record D() implements Shape { public long of(long x) { return x * 9 + 1; } }

	static long megamorphic(Shape[] shapes, int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s = shapes[i & 3].of(s);
		return s;
	}

	static long compress() {
		Deflater d = new Deflater(6);
		byte[] to = new byte[1 << 18];
		long n = 0;
		d.setInput(noise);
		d.finish();
		while (!d.finished())
			n += d.deflate(to);
		d.end();
		return n;
	}

	static long deep(int n) {
		return n == 0 ? loopA(20000) : deep(n - 1) + 1;
	}

	/** Compiled code lowers the stack pointer while it searches. */
	static int searches(String part) {
		int n = 0;
		for (int i = 0; i < 50; i++)
			n += TEXT.contains(part) ? 1 : 0;
		return n;
	}

	static void sleep() {
		try {
			Thread.sleep(60000);
		} catch (InterruptedException e) {
			ended = true;
		}
	}

	static void round(String what, Shape[] shapes) {
		switch (what) {
		case "loop" -> { sink += loopA(200000); sink += loopB(200000); }
		case "inlined" -> sink += inlinesIt(200000);
		case "megamorphic" -> sink += megamorphic(shapes, 200000);
		case "jni" -> sink += compress();
		case "search" -> sink += searches("[" + (sink & 7) + "99]");
		case "deep" -> sink += deep(100);
		default -> throw new IllegalArgumentException(what);
		}
	}

	public static void main(String[] args) throws Exception {
		Shape[] shapes = { new A(), new B(), new C(), new D() };
		Thread sleeper = new Thread(Truth::sleep, "sleeper");

		new java.util.Random(1).nextBytes(noise);
		sleeper.setDaemon(true);
		sleeper.start();
		Thread end = new Thread(() -> {
			try {
				System.in.read();
			} catch (java.io.IOException e) {
				// as good as a line
			}
			ended = true;
		});
		end.setDaemon(true);
		end.start();
		System.out.println("ready");
		while (!ended)
			round(args[0], shapes);
	}
}
