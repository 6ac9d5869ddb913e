// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The Java side of a contestant; contest.h tells what it is asked and what it answers. */
abstract class Contestant {
	byte[][] corpus;
	private long total;
	private long sum; // keeps the results alive

	abstract byte[] change(byte[] in);

	/** Called with the corpus in memory, before anything is timed. */
	void prepare() {
	}

	final void serve(String[] args) throws IOException {
		long min = args.length > 2 ? Long.parseLong(args[2]) : 0;
		long max = args.length > 2 ? Long.parseLong(args[3]) : Long.MAX_VALUE;
		read(Path.of(args[0]), min, max);
		prepare();
		System.out.println("ready " + corpus.length + " " + total);
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = in.readLine()) != null;) {
			if (line.startsWith("round "))
				System.out.println(round(Long.parseLong(line.substring(6))));
			else if (line.startsWith("dump "))
				System.out.println(dump(Path.of(line.substring(5))));
		}
	}

	private void read(Path path, long min, long max) throws IOException {
		List<byte[]> classes = new ArrayList<>();
		long left = Files.size(path);
		try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
			while (left > 0) {
				byte[] bytes = new byte[in.readInt()];
				in.readFully(bytes);
				left -= 4 + bytes.length;
				if (bytes.length >= min && bytes.length < max) {
					classes.add(bytes);
					total += bytes.length;
				}
			}
		}
		corpus = classes.toArray(new byte[0][]);
	}

	private void pass() {
		for (byte[] in : corpus)
			sum += change(in).length;
	}

	private String round(long ms) {
		long start = System.nanoTime(), ns, passes = 0;
		do {
			pass();
			passes++;
			ns = System.nanoTime() - start;
		} while (ns < ms * 1_000_000);
		return ns + " " + passes * total + " " + passes * corpus.length;
	}

	private String dump(Path path) throws IOException {
		try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(path)))) {
			for (byte[] in : corpus) {
				byte[] bytes = change(in);
				out.writeInt(bytes.length);
				out.write(bytes);
			}
		}
		return "done";
	}
}
