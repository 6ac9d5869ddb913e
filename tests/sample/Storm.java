// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Everything that makes stacks hard to walk, at once, until a line comes: garbage, classes that are loaded and
 * unloaded, megamorphic calls, deoptimisation, exceptions, short threads, child processes, contended locks,
 * and virtual threads where there are any.  With the argument "virtual", virtual threads alone.
 */
public class Storm {
	static volatile Object hold;
	static volatile long sink;
	static volatile boolean ended;
	static volatile Throwable wrong;
	static byte[] bytes;

	interface Op { long f(long x); }
	record A() implements Op { public long f(long x) { return x + 1; } }
	record B() implements Op { public long f(long x) { return x * 3; } }
	record C() implements Op { public long f(long x) { return x ^ 7; } }
	record D() implements Op { public long f(long x) { return x >> 1; } }

	public static class Loaded {
		public static long run(long n) {
			long s = 0;
			for (long i = 0; i < n; i++) {
				s += i ^ s;
				if ((s & 15) == 3)
					s += Long.hashCode(s);
			}
			return s;
		}
	}

	static class Loader extends ClassLoader {
		Loader() { super(null); }
		Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
	}

	interface Part { void run() throws Throwable; }

	static void garbage() {
		List<byte[]> l = new ArrayList<>();
		for (int i = 0; i < 2000; i++)
			l.add(new byte[10000]);
		hold = l;
	}

	static void load() throws Throwable {
		Method m = new Loader().define(bytes).getMethod("run", long.class);
		for (int i = 0; i < 300; i++)
			sink += (Long) m.invoke(null, 2000L);
	}

	static void megamorphic() {
		Op[] ops = { new A(), new B(), new C(), new D() };
		long s = 1;
		for (int i = 0; i < 100000; i++)
			s = ops[i & 3].f(s);
		sink += s;
	}

	static int thrower(int n) {
		if (n == 0)
			throw new IllegalStateException("as wanted");
		return thrower(n - 1) + 1;
	}

	static void exceptions() {
		try {
			thrower(50);
		} catch (IllegalStateException e) {
			sink += e.getStackTrace().length;
		}
	}

	static void shortThread() throws Throwable {
		Thread t = new Thread(() -> sink += Loaded.run(20000));
		t.start();
		t.join();
	}

	static void child() throws Throwable {
		new ProcessBuilder("/bin/true").start().waitFor();
		Thread.sleep(20);
	}

	static void sort() {
		List<Integer> l = new ArrayList<>();
		for (int i = 0; i < 3000; i++)
			l.add(i * 31 % 977);
		Collections.sort(l, Comparator.comparing(x -> -x));
		sink += l.stream().mapToInt(x -> x).filter(x -> x % 3 == 0).sum();
	}

	static void locked() {
		synchronized (Storm.class) {
			sink += Loaded.run(1000);
		}
	}

	static void virtual() throws Throwable {
		sink += Loaded.run(3000);
		if (new Random().nextInt(10) == 0)
			Thread.sleep(1);
		else
			Thread.yield();
	}

	/** Deep, with exceptions and locks, and now and then away from its carrier. */
	static void busyVirtual() throws Throwable {
		exceptions();
		megamorphic();
		locked();
		sort();
		virtual();
	}

	static Runnable loop(Part part) {
		return () -> {
			try {
				while (!ended)
					part.run();
			} catch (Throwable e) {
				wrong = e;
				e.printStackTrace();
			}
		};
	}

	public static void main(String[] args) throws Exception {
		boolean onlyVirtual = args.length > 0;
		Part[] parts = onlyVirtual ? new Part[0] : new Part[] { Storm::garbage, Storm::load, Storm::megamorphic,
			Storm::exceptions, Storm::shortThread, Storm::child, Storm::sort, Storm::locked, Storm::locked };
		List<Thread> threads = new ArrayList<>();

		try (var in = Storm.class.getResourceAsStream("Storm$Loaded.class")) {
			bytes = in.readAllBytes();
		}
		for (Part p : parts)
			threads.add(new Thread(loop(p)));
		for (Thread t : threads)
			t.start();
		try {
			Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
			for (int i = 0; i < 20; i++)
				threads.add((Thread) start.invoke(null, loop(onlyVirtual ? Storm::busyVirtual : Storm::virtual)));
		} catch (NoSuchMethodException e) {
			System.out.println("no virtual threads");
		}
		System.out.println("ready");
		System.in.read();
		ended = true;
		for (Thread t : threads)
			t.join();
		System.out.println(wrong == null ? "fine" : "wrong");
	}
}
