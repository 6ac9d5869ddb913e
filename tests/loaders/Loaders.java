// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

/**
 * Loads Guest in as many class loaders as it is told, runs it once, and drops it.  After each "N" on
 * its standard input it does so N times and prints "loaded N in T us", which is processor time, so that
 * a busy machine does not matter.  "names N": the classes have names of their own; "keep N": they stay;
 * "once" loads Glate and drops it; "slow": another thread begins to load it anew, and its superclass is not found before
 * "go", after which it is run;
 * "collect" collects garbage; "end" ends it.
 */
public final class Loaders {
	private static final String NAME = "Guest";
	private static int given;

	static final class One extends ClassLoader {
		One(ClassLoader parent) {
			super(parent);
		}

		Class<?> define(String name, byte[] bytes) {
			return defineClass(name, bytes, 0, bytes.length);
		}
	}

	/** Finds Glate itself, and has its superclass wait. */
	static final class Slow extends ClassLoader {
		final CountDownLatch begun = new CountDownLatch(1), go = new CountDownLatch(1);

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith("G"))
				return super.loadClass(name, resolve);
			try {
				byte[] bytes = bytes(name);

				if (name.equals("Gslow")) {
					begun.countDown();
					go.await();
				}
				return defineClass(name, bytes, 0, bytes.length);
			} catch (IOException | InterruptedException e) {
				throw new ClassNotFoundException(name, e);
			}
		}

		void load() {
			try {
				((Runnable) loadClass("Glate").getDeclaredConstructor().newInstance()).run();
			} catch (ReflectiveOperationException e) {
				throw new AssertionError(e);
			}
		}
	}

	static byte[] bytes(String name) throws IOException {
		try (InputStream in = Loaders.class.getResourceAsStream("/" + name + ".class")) {
			return in.readAllBytes();
		}
	}

	/** The same class by another name of the same length: its name is one constant, behind its length. */
	private static byte[] renamed(byte[] bytes, String name) {
		String text = new String(bytes, StandardCharsets.ISO_8859_1);

		return text.replace("\1\0\5" + NAME, "\1\0\5" + name).getBytes(StandardCharsets.ISO_8859_1);
	}

	private static String nextName() {
		String digits = Integer.toString(given++, 36);

		return "G" + "0000".substring(digits.length()) + digits;
	}

	static void load(int n, boolean names, List<Object> kept) throws Exception {
		byte[] bytes = bytes(NAME);

		for (int i = 0; i < n; i++) {
			String name = names ? nextName() : NAME;
			Class<?> c = new One(Loaders.class.getClassLoader()).define(name, names ? renamed(bytes, name) : bytes);
			Runnable guest = (Runnable) c.getDeclaredConstructor().newInstance();

			guest.run();
			if (kept != null)
				kept.add(guest);
		}
	}

	public static void main(String[] args) throws Exception {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		List<Object> kept = new ArrayList<>();
		Slow slow = new Slow();
		Thread loading = new Thread(slow::load, "slow");

		System.out.println("ready");
		try (Scanner in = new Scanner(System.in)) {
			while (in.hasNext()) {
				String word = in.next();

				if (word.equals("end"))
					break;
				if (word.equals("collect")) {
					System.gc();
					System.out.println("collected");
					continue;
				}
				if (word.equals("once")) {
					Slow once = new Slow();

					once.go.countDown();
					once.load();
					System.out.println("dropped");
					continue;
				}
				if (word.equals("slow")) {
					loading.start();
					slow.begun.await();
					System.out.println("begun");
					continue;
				}
				if (word.equals("go")) {
					slow.go.countDown();
					loading.join();
					System.out.println("gone");
					continue;
				}
				boolean names = word.equals("names"), keeps = word.equals("keep");
				int n = names || keeps ? in.nextInt() : Integer.parseInt(word);
				long begin = threads.getCurrentThreadCpuTime();

				load(n, names, keeps ? kept : null);
				System.out.println("loaded " + n + " in " + (threads.getCurrentThreadCpuTime() - begin) / 1000
						+ " us");
			}
		}
	}
}
