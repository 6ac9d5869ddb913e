// SPDX-License-Identifier: Apache-2.0
package crowd;

import java.io.InputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** The work of the program: each job is of another kind, and its result depends on n alone. */
class Jobs {
	private Jobs() {
	}

	/** Many short calls below each other. */
	static class Calls implements Job {
		@Override
		public long run(int n) {
			return fib(8 + n % 8);
		}

		static long fib(int n) {
			return n < 2 ? n : fib(n - 1) + fib(n - 2);
		}
	}

	/** Exceptions through several frames, finally, and some that nobody expects to be caught where they are. */
	static class Throws implements Job {
		private int finals;

		@Override
		public long run(int n) {
			long sum = 0;
			finals = 0;
			for (int i = 0; i < n; i++) {
				try {
					sum += outer(i);
				} catch (IllegalStateException e) {
					sum += e.getMessage().length();
				}
			}
			return sum * 1000 + finals;
		}

		long outer(int i) {
			try {
				return inner(i);
			} catch (ArithmeticException e) {
				return 3;
			} finally {
				finals++;
			}
		}

		long inner(int i) {
			if (i % 3 == 0)
				throw new IllegalStateException("three");
			return 12 / (i % 4) + i;
		}
	}

	/** Two accounts; what one has the other has not, whoever moves it. */
	static class Locks implements Job {
		private static final Object FIRST = new Object();
		private static final ReentrantLock SECOND = new ReentrantLock();
		private static long here = 1000, there = 2000;
		private static long left = 500, right = 700;

		@Override
		public long run(int n) {
			long sum = 0;
			for (int i = 0; i < n; i++) {
				sum += guarded(i);
				sum += locked(i);
			}
			return sum;
		}

		static long guarded(int i) {
			synchronized (FIRST) {
				here -= i;
				if (i % 16 == 0)
					Thread.yield();
				there += i;
				return here + there;
			}
		}

		static long locked(int i) {
			SECOND.lock();
			try {
				left += i;
				right -= i;
				return left + right;
			} finally {
				SECOND.unlock();
			}
		}
	}

	/** Work that is given to others: pools, futures, fork and join. */
	static class Pools implements Job {
		private static final ExecutorService POOL = Executors.newFixedThreadPool(3, r -> daemon(r, "pool"));

		@Override
		public long run(int n) throws Exception {
			List<Future<Long>> all = new ArrayList<>();
			for (int i = 0; i < 8; i++) {
				int k = i;
				all.add(POOL.submit(() -> task(n, k)));
			}
			long sum = 0;
			for (Future<Long> f : all)
				sum += f.get();
			sum += CompletableFuture.supplyAsync(() -> task(n, 8), POOL).thenApplyAsync(x -> x + 1, POOL)
				.thenCombine(CompletableFuture.supplyAsync(() -> task(n, 9)), Long::sum).get();
			return sum + ForkJoinPool.commonPool().invoke(new Half(0, n));
		}

		static long task(int n, int k) {
			return (long)n * k + k;
		}

		static class Half extends RecursiveTask<Long> {
			private static final long serialVersionUID = 1;
			private final int from, to;

			Half(int from, int to) {
				this.from = from;
				this.to = to;
			}

			@Override
			protected Long compute() {
				if (to - from < 8)
					return IntStream.range(from, to).asLongStream().sum();
				Half low = new Half(from, (from + to) / 2);
				low.fork();
				return new Half((from + to) / 2, to).compute() + low.join();
			}
		}
	}

	/** Garbage, strings, maps, streams. */
	static class Garbage implements Job {
		@Override
		public long run(int n) {
			Map<String, byte[]> map = new HashMap<>();
			for (int i = 0; i < n; i++)
				map.computeIfAbsent(key(i), k -> filled(k, 200));
			CRC32 crc = new CRC32();
			map.keySet().stream().sorted().map(k -> k + "=" + map.get(k).length + map.get(k)[0])
				.forEach(s -> crc.update(s.getBytes(StandardCharsets.UTF_8)));
			return crc.getValue();
		}

		static String key(int i) {
			return String.format("k%04d", i % 50);
		}

		static byte[] filled(String k, int size) {
			byte[] b = new byte[size * k.length()];
			Arrays.fill(b, (byte)k.hashCode());
			return b;
		}
	}

	/** Deep stacks, at times as deep as they can be. */
	static class Deep implements Job {
		@Override
		public long run(int n) {
			long sum = down(20 * n); // C1 gives hooked methods frames of up to 850 bytes
			if (n % 10 == 0) {
				try {
					sum += endless(0);
				} catch (StackOverflowError e) {
					sum += 7;
				}
			}
			return sum;
		}

		static long down(int n) {
			return n == 0 ? 0 : 1 + down(n - 1);
		}

		static long endless(long n) {
			return 1 + endless(n + 1);
		}
	}

	/** A class of its own loader, used and dropped. */
	static class Loads implements Job {
		private final byte[] bytes;

		Loads() throws Exception {
			bytes = read("Plug");
		}

		static byte[] read(String name) throws Exception {
			try (InputStream in = Jobs.class.getResourceAsStream(name + ".class")) {
				return in.readAllBytes();
			}
		}

		@Override
		public long run(int n) throws Exception {
			return ((Job)new Own().plug("Plug", bytes).getDeclaredConstructor().newInstance()).run(n);
		}

		/** Not a parallel loader, and one that asks its parent for all but Plug. */
		static class Own extends ClassLoader {
			Own() {
				super(Jobs.class.getClassLoader());
			}

			Class<?> plug(String name, byte[] bytes) {
				return defineClass("crowd." + name, bytes, 0, bytes.length);
			}
		}
	}

	/** Threads that live for a moment. */
	static class Threads implements Job {
		@Override
		public long run(int n) throws Exception {
			long[] sums = new long[3];
			Thread[] all = new Thread[sums.length];
			for (int i = 0; i < all.length; i++) {
				int k = i;
				all[i] = daemon(() -> sums[k] = brief(n, k), "brief");
				all[i].start();
			}
			long sum = 0;
			for (int i = 0; i < all.length; i++) {
				all[i].join();
				sum += sums[i];
			}
			return sum;
		}

		static long brief(int n, int k) {
			return Calls.fib(n % 10) + k;
		}
	}

	/** A queue with wait and notify between two threads. */
	static class Queue implements Job {
		private final ArrayDeque<Integer> queue = new ArrayDeque<>();

		@Override
		public long run(int n) throws Exception {
			Thread giver = daemon(() -> {
				for (int i = 1; i <= n; i++)
					put(i);
				put(0);
			}, "giver");
			giver.start();
			long sum = 0;
			for (int i; (i = take()) != 0;)
				sum += i;
			giver.join();
			return sum;
		}

		synchronized void put(int i) {
			try {
				while (queue.size() >= 4)
					wait();
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
			queue.add(i);
			notifyAll();
		}

		synchronized int take() throws InterruptedException {
			while (queue.isEmpty())
				wait();
			notifyAll();
			return queue.remove();
		}
	}

	/** Reflection, method handles, lambdas, interfaces with several implementations. */
	static class Ways implements Job {
		interface Shape {
			long area(int n);
		}

		static class Square implements Shape {
			@Override
			public long area(int n) {
				return (long)n * n;
			}
		}

		static class Slab extends Square {
			@Override
			public long area(int n) {
				return super.area(n) / 2;
			}
		}

		static long twice(int n) {
			return 2L * n;
		}

		@Override
		public long run(int n) throws Exception {
			Shape[] shapes = { new Square(), new Slab(), k -> k + 1L };
			long sum = 0;
			for (int i = 0; i < n; i++)
				sum += shapes[i % 3].area(i);
			MethodHandle h = MethodHandles.lookup().findStatic(Ways.class, "twice",
				MethodType.methodType(long.class, int.class));
			try {
				sum += (long)h.invokeExact(n);
			} catch (Exception | Error e) {
				throw e;
			} catch (Throwable t) {
				throw new IllegalStateException(t);
			}
			return sum + (Long)Ways.class.getDeclaredMethod("twice", int.class).invoke(null, n);
		}
	}

	/** A socket on loopback, and a file. */
	static class Sockets implements Job {
		private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

		Sockets() throws Exception {
			daemon(this::serve, "server").start();
		}

		private void serve() {
			for (;;) {
				try (Socket s = server.accept(); InputStream in = s.getInputStream();
					OutputStream out = s.getOutputStream()) {
					out.write(answer(in.read()));
				} catch (java.io.IOException e) {
					Victim.wrong("server: " + e);
				}
			}
		}

		static int answer(int question) {
			return question + 1 & 0xff;
		}

		@Override
		public long run(int n) throws Exception {
			Path file = Files.createTempFile("crowd", null);
			try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
				s.getOutputStream().write(n);
				Files.write(file, new byte[n]);
				return s.getInputStream().read() * 1000L + Files.readAllBytes(file).length;
			} finally {
				Files.delete(file);
			}
		}
	}

	static Thread daemon(Runnable r, String name) {
		Thread t = new Thread(r, name);
		t.setDaemon(true);
		return t;
	}
}
