// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** A program to be observed while bad things happen.  Two threads work all the time; what it prints
 * depends only on the lines that it reads, so two runs can be compared.  It ends with its input. */
public class Victim {
	static volatile boolean ends;
	static volatile long sum;

	/** Called a thousand times a second by each thread. */
	static int tick(int i) {
		try {
			return guarded(i);
		} catch (Throwable t) {
			return -1;
		}
	}

	static int guarded(int i) {
		try {
			if (i % 7 == 0)
				throw new IllegalStateException("seven");
			return i;
		} catch (Throwable t) {
			return 7;
		}
	}

	/** Calls in as many contexts as there are ways down a tree of this height. */
	static int left(int height) {
		return height == 0 ? 1 : left(height - 1) + right(height - 1);
	}

	static int right(int height) {
		return height == 0 ? 1 : left(height - 1) + right(height - 1);
	}

	static void nap(long ms) throws InterruptedException {
		Thread.sleep(ms);
	}

	static void work() {
		for (int i = 0; !ends; i++) {
			sum += tick(i);
			try {
				Thread.sleep(1);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	/** What a child of ours has open beside its own three, and what it says. */
	static void spawn(String... command) throws Exception {
		Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
		BufferedReader r = new BufferedReader(new InputStreamReader(p.getInputStream()));
		for (String line; (line = r.readLine()) != null;)
			System.out.println("child: " + line);
		System.out.println("child ended with " + p.waitFor());
	}

	/** Opens files until there are no descriptors left, stays so for a while, closes them. */
	static void exhaust(long ms) throws Exception {
		List<FileInputStream> all = new ArrayList<>();
		try {
			for (;;)
				all.add(new FileInputStream(new File("/dev/null")));
		} catch (java.io.IOException e) {
			System.out.println("no more files");
		}
		Thread.sleep(ms);
		for (FileInputStream f : all)
			f.close();
		System.out.println("files again");
	}

	/** Many classes, none of which does anything. */
	static void load(int n) throws Exception {
		java.nio.file.Path root = java.nio.file.FileSystems
			.getFileSystem(java.net.URI.create("jrt:/")).getPath("/modules/java.base/java");
		try (var files = java.nio.file.Files.walk(root)) {
			files.map(p -> p.toString()).filter(p -> p.endsWith(".class")).sorted().limit(n)
				.forEach(p -> {
					String name = p.substring("/modules/java.base/".length(),
						p.length() - ".class".length()).replace('/', '.');
					try {
						Class.forName(name, false, null);
					} catch (ClassNotFoundException e) {
						throw new RuntimeException(e);
					}
				});
		}
		System.out.println("loaded");
	}

	static void obey(String line) throws Exception {
		String[] word = line.split(" ");
		switch (word[0]) {
		case "nap":
			new Thread(() -> {
				try {
					nap(Long.parseLong(word[1]));
				} catch (InterruptedException e) {
					throw new RuntimeException(e);
				}
				System.out.println("woke up");
			}).start();
			break;
		case "spawn":
			spawn("/bin/sh", "-c", line.substring(6));
			break;
		case "exhaust":
			exhaust(Long.parseLong(word[1]));
			break;
		case "tree":
			System.out.println("leaves " + left(Integer.parseInt(word[1])));
			break;
		case "load":
			load(Integer.parseInt(word[1]));
			break;
		case "class":
			System.out.println("methods " + Class.forName(word[1]).getDeclaredMethods().length);
			break;
		case "exit":
			System.out.println("exits");
			System.exit(5);
			break;
		default:
			System.out.println("said " + line);
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (int i = 0; i < 2; i++) {
			Thread t = new Thread(Victim::work, "worker-" + i);
			t.setDaemon(true);
			t.start();
		}
		System.out.println("begins");
		for (String line; (line = in.readLine()) != null;)
			obey(line);
		ends = true;
		System.err.println("ends");
		System.out.println("ends");
	}
}
