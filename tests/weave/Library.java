// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.MissingResourceException;
import java.util.Objects;
import java.util.Random;
import java.util.ResourceBundle;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Uses what the JVM treats specially in java.base: stack walks and callers, method handles,
 * reflection, intrinsics, references and finalizers, monitors, errors of the JVM itself.  All answers
 * go to stdout; with java.base woven they must be the same.
 */
public class Library {
	interface Part {
		Object run() throws Throwable;
	}

	static void part(String name, Part p) {
		String text;
		try {
			text = String.valueOf(p.run());
		} catch (Throwable e) {
			text = "throws " + trace(e);
		}
		System.out.println(name + ": " + text);
	}

	/** All frames, those of java.base too. */
	static String trace(Throwable e) {
		return e + Arrays.stream(e.getStackTrace()).map(f -> "\n    " + f)
			.collect(Collectors.joining());
	}

	// ---- who calls

	static String caller() {
		return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
			.getCallerClass().getName();
	}

	static Object walk() {
		return StackWalker.getInstance(Set.of(StackWalker.Option.SHOW_HIDDEN_FRAMES)).walk(s ->
			s.map(f -> f.getMethodName() + ":" + f.getLineNumber()).toList());
	}

	static Object traces() {
		StringBuilder out = new StringBuilder();
		Part[] parts = {
			() -> Objects.requireNonNull(null),
			() -> "abc".charAt(7),
			() -> new ArrayList<>().get(0),
			() -> Integer.parseInt("x"),
			() -> String.class.cast((Object) 3),
			() -> List.of().iterator().next(),
			() -> List.of(3, 1, 2).stream().sorted((a, b) -> {
				throw new IllegalStateException("compare");
			}).toList(),
			() -> Map.of(1, 2, 1, 3),
			() -> Thread.currentThread().getContextClassLoader().loadClass("no.Such"),
		};
		for (Part p : parts) {
			try {
				out.append(p.run());
			} catch (Throwable e) {
				out.append("\n  ").append(trace(e));
			}
		}
		return out;
	}

	static Object reflection() throws Exception {
		Method m = Library.class.getDeclaredMethod("caller");
		StringBuilder out = new StringBuilder().append(m.invoke(null));
		for (int i = 0; i < 50; i++)
			m.invoke(null);
		Data d = Data.class.getDeclaredConstructor().newInstance();
		Field f = Data.class.getDeclaredField("a");
		f.setAccessible(true);
		f.setInt(d, 9);
		out.append(f.getInt(d));
		try {
			String.class.getDeclaredField("value").setAccessible(true);
		} catch (InaccessibleObjectException e) {
			out.append(e.getMessage().replaceAll("@[0-9a-f]+", "@"));
		}
		try {
			Integer.class.getMethod("parseInt", String.class).invoke(null, "z");
		} catch (InvocationTargetException e) {
			out.append(e.getCause());
		}
		Comparable<?> c = (Comparable<?>) Proxy.newProxyInstance(Library.class.getClassLoader(),
			new Class<?>[] { Comparable.class }, (p, method, a) -> "proxy " + method.getName());
		out.append(c);
		out.append(Class.forName("Library$Data")).append(MethodHandles.lookup());
		return out;
	}

	static Object bundles() {
		try {
			return ResourceBundle.getBundle("nope");
		} catch (MissingResourceException e) {
			return e.getMessage() + (Library.class.getResource("Library.class") != null)
				+ System.getLogger("x").getName();
		}
	}

	// ---- method handles

	static int field;

	static Object handles() throws Throwable {
		MethodHandles.Lookup in = MethodHandles.lookup();
		MethodType none = MethodType.methodType(int.class);
		MethodHandle concat = in.findVirtual(String.class, "concat",
			MethodType.methodType(String.class, String.class));
		StringBuilder out = new StringBuilder().append((String) concat.invokeExact("a", "b"));
		MethodHandle length = MethodHandles.filterReturnValue(
			MethodHandles.insertArguments(concat, 1, "c"),
			in.findVirtual(String.class, "length", none));
		int n = 0;
		for (int i = 0; i < 20000; i++)
			n += (int) length.invokeExact("xyz");
		out.append(n);
		MethodHandle parse = in.findStatic(Integer.class, "parseInt",
			MethodType.methodType(int.class, String.class));
		MethodHandle guarded = MethodHandles.catchException(parse, NumberFormatException.class,
			MethodHandles.dropArguments(MethodHandles.constant(int.class, -1), 0,
				NumberFormatException.class));
		out.append((int) guarded.invoke("7")).append((int) guarded.invoke("q"));
		MethodHandle loop = MethodHandles.countedLoop(MethodHandles.constant(int.class, 10),
			MethodHandles.constant(int.class, 0), in.findStatic(Integer.class, "sum",
				MethodType.methodType(int.class, int.class, int.class)));
		out.append((int) loop.invoke());
		VarHandle v = in.findStaticVarHandle(Library.class, "field", int.class);
		v.set(3);
		out.append((boolean) v.compareAndSet(3, 4));
		for (int i = 0; i < 20000; i++)
			v.getAndAdd(1);
		byte[] bytes = new byte[16];
		MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN)
			.set(bytes, 3, 0x0102030405060708L);
		return out.append(field).append(Arrays.toString(bytes));
	}

	static class Data implements Serializable {
		int a = 5;
		String b = "x";
		transient int c = 7;
		List<Integer> l = List.of(1, 2);
	}

	record Pair(int x, String y) implements Serializable {
	}

	static Object serial() throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		ObjectOutputStream out = new ObjectOutputStream(bytes);
		out.writeObject(new Data());
		out.writeObject(new Pair(3, "p"));
		out.writeObject((Supplier<String> & Serializable) () -> "lambda");
		out.flush();
		ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
		Data d = (Data) in.readObject();
		return d.a + d.b + d.c + d.l + in.readObject() + ((Supplier<?>) in.readObject()).get();
	}

	static Object loading() throws Exception {
		ClassLoader own = new ClassLoader(null) {
			@Override
			protected Class<?> findClass(String name) throws ClassNotFoundException {
				try (InputStream in = Library.class.getResourceAsStream(name + ".class")) {
					byte[] b = in.readAllBytes();
					return defineClass(name, b, 0, b.length);
				} catch (IOException | NullPointerException e) {
					throw new ClassNotFoundException(name);
				}
			}
		};
		Class<?> c = own.loadClass("Library$Pair");
		byte[] bytes = Library.class.getResourceAsStream("Library$Broken.class").readAllBytes();
		return (c != Pair.class) + " " + c.getRecordComponents().length
			+ MethodHandles.lookup().defineHiddenClass(bytes, false).lookupClass().isHidden();
	}

	static class Broken {
		static int x = Integer.parseInt("bad");
	}

	// ---- threads, references, errors

	static Object threads() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Future<Integer>> all = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			int k = i;
			all.add(pool.submit(() -> k * k));
		}
		int sum = 0;
		for (Future<Integer> f : all)
			sum += f.get();
		pool.shutdown();
		ThreadLocal<Integer> local = ThreadLocal.withInitial(() -> 8);
		local.set(9);
		Thread t = new Thread(() -> {
			if (local.get() == 8)
				throw new IllegalStateException("uncaught");
		});
		StringBuffer out = new StringBuffer().append(sum)
			.append(pool.awaitTermination(5, TimeUnit.SECONDS));
		t.setUncaughtExceptionHandler((th, e) -> out.append(trace(e)));
		t.start();
		t.join();
		long parallel = IntStream.range(0, 100000).parallel().mapToLong(i -> i * 3L).sum();
		return out.append(parallel).append(CompletableFuture.supplyAsync(() -> 5)
			.thenCombine(CompletableFuture.supplyAsync(() -> 6), Integer::sum).get());
	}

	static Object monitors() throws Exception {
		Object o = new Object();
		int[] n = { 0 };
		Thread[] all = new Thread[4];
		for (int i = 0; i < all.length; i++) {
			all[i] = new Thread(() -> {
				for (int k = 0; k < 5000; k++)
					synchronized (o) {
						n[0]++;
					}
			});
			all[i].start();
		}
		for (Thread t : all)
			t.join();
		SynchronousQueue<Integer> q = new SynchronousQueue<>();
		StringBuffer out = new StringBuffer();
		Thread waits = new Thread(() -> {
			try {
				q.put(5);
				synchronized (o) {
					o.wait();
				}
			} catch (InterruptedException e) {
				out.append("interrupted");
			}
		});
		waits.start();
		out.append(n[0]).append(q.take());
		Thread.sleep(50);
		waits.interrupt();
		waits.join();
		try {
			o.notify();
		} catch (IllegalMonitorStateException e) {
			out.append(e.getMessage());
		}
		return out;
	}

	static final AtomicInteger FINALIZED = new AtomicInteger();

	static class Finalized {
		@Override
		@SuppressWarnings({ "deprecation", "removal" })
		protected void finalize() {
			FINALIZED.incrementAndGet();
		}
	}

	private static void collect(Supplier<Boolean> done) throws InterruptedException {
		for (int i = 0; i < 100 && !done.get(); i++) {
			System.gc();
			Thread.sleep(10);
		}
	}

	static Object references() throws Exception {
		ReferenceQueue<Object> queue = new ReferenceQueue<>();
		WeakReference<Object> weak = new WeakReference<>(new Object(), queue);
		boolean[] cleaned = { false };
		Cleaner.create().register(new Object(), () -> cleaned[0] = true);
		for (int i = 0; i < 100; i++)
			new Finalized();
		collect(() -> weak.get() == null && cleaned[0] && FINALIZED.get() >= 99);
		return weak.get() + " " + (queue.remove(1000) == weak) + cleaned[0]
			+ (FINALIZED.get() >= 99);
	}

	static int recursion(int n) {
		return List.of(n).stream().mapToInt(i -> recursion(i + 1)).sum() + 1;
	}

	static Object errors() {
		StringBuilder out = new StringBuilder();
		for (int i = 0; i < 3; i++) {
			try {
				recursion(0);
			} catch (StackOverflowError e) {
				out.append("overflow ");
			}
		}
		try {
			long[][] all = new long[100000][];
			for (int i = 0; i < all.length; i++)
				all[i] = new long[1 << 20];
		} catch (OutOfMemoryError e) {
			out.append("memory ");
		}
		for (int i = 0; i < 2; i++) {
			try {
				out.append(Broken.x);
			} catch (Throwable e) {
				out.append(trace(e));
			}
		}
		return out.append(new HashMap<>(Map.of(1, 2)));
	}

	// ---- intrinsics

	static Object digests() throws Exception {
		byte[] data = "hello".repeat(1000).getBytes(StandardCharsets.UTF_8);
		StringBuilder out = new StringBuilder();
		for (String name : new String[] { "MD5", "SHA-1", "SHA-256", "SHA-512", "SHA3-256" })
			out.append(Arrays.hashCode(MessageDigest.getInstance(name).digest(data))).append(' ');
		SecretKeySpec key = new SecretKeySpec(new byte[16], "AES");
		Cipher c = Cipher.getInstance("AES/GCM/NoPadding");
		c.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(128, new byte[12]));
		out.append(Arrays.hashCode(c.doFinal(data))).append(' ');
		Mac mac = Mac.getInstance("HmacSHA256");
		mac.init(key);
		out.append(Arrays.hashCode(mac.doFinal(data)));
		KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
		generator.initialize(256);
		KeyPair pair = generator.generateKeyPair();
		Signature s = Signature.getInstance("SHA256withECDSA");
		s.initSign(pair.getPrivate());
		s.update(data);
		byte[] signed = s.sign();
		s.initVerify(pair.getPublic());
		s.update(data);
		return out.append(s.verify(signed));
	}

	static Object numbers() {
		BigInteger b = BigInteger.ONE;
		for (int i = 1; i < 300; i++)
			b = b.multiply(BigInteger.valueOf(i));
		double s = 0;
		for (int i = 0; i < 20000; i++)
			s += Math.sin(i) * Math.sqrt(i) + Math.pow(i, 0.3) + Math.fma(1.0, i, 2.0)
				+ Math.floorMod(i, 7) + Long.bitCount(i) + Integer.reverse(i)
				+ Math.multiplyHigh(i, Long.MAX_VALUE) + Math.max(i, 3);
		return b.hashCode() + " " + b.modPow(b, BigInteger.valueOf(1000003)) + " " + s
			+ new BigDecimal("1.23").divide(new BigDecimal("7"), MathContext.DECIMAL64);
	}

	static Object texts() {
		int h = 0;
		for (int i = 0; i < 20000; i++) {
			String s = "\u00e4\u00f6" + i + "xyz";
			byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
			h += s.indexOf("z") + s.toUpperCase(Locale.ROOT).hashCode()
				+ s.substring(1).compareTo("b") + s.strip().lastIndexOf('y')
				+ new String(utf8, StandardCharsets.UTF_8).length()
				+ (s.equalsIgnoreCase("X") ? 1 : 2);
		}
		return h + Pattern.compile("(\\w+)@(\\w+)").matcher("joe@x,ann@y").replaceAll("$2:$1")
			+ String.format(Locale.ROOT, "%5d|%-8s|%08.3f|%x", 42, "ab", 3.14159, 255)
			+ ZonedDateTime.of(2024, 2, 29, 12, 0, 0, 0, ZoneId.of("Europe/Berlin")).plusYears(1);
	}

	static Object collections() {
		int[] a = new Random(1).ints(20000).toArray();
		Arrays.sort(a);
		Integer[] boxed = IntStream.of(a).boxed().toArray(Integer[]::new);
		Arrays.sort(boxed, Comparator.reverseOrder());
		Map<String, Integer> tree = new TreeMap<>();
		Map<Integer, String> hash = new ConcurrentHashMap<>();
		for (int i = 0; i < 5000; i++) {
			tree.merge("k" + i % 10, 1, Integer::sum);
			hash.computeIfAbsent(i, k -> "v" + k);
		}
		return Arrays.hashCode(a) + " " + Arrays.mismatch(a, new int[3]) + boxed[0] + tree
			+ hash.size() + IntStream.range(0, 1000).boxed()
			.collect(Collectors.groupingBy(i -> i % 7, TreeMap::new, Collectors.counting()));
	}

	// ---- the world outside

	static Object files() throws Exception {
		Path p = Files.createTempFile("weave", "");
		Files.writeString(p, "line1\nline2\n");
		StringBuilder out = new StringBuilder().append(Files.readAllLines(p));
		try (FileChannel ch = FileChannel.open(p)) {
			out.append(ch.map(FileChannel.MapMode.READ_ONLY, 0, ch.size()).get(4));
		}
		Files.delete(p);
		ByteBuffer direct = ByteBuffer.allocateDirect(1 << 16);
		direct.putLong(8, 77);
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (GZIPOutputStream z = new GZIPOutputStream(bytes)) {
			z.write("abc".repeat(1000).getBytes(StandardCharsets.UTF_8));
		}
		byte[] back = new GZIPInputStream(new ByteArrayInputStream(bytes.toByteArray()))
			.readAllBytes();
		CRC32 crc = new CRC32();
		crc.update(back);
		return out.append(direct.getLong(8)).append(back.length).append(crc.getValue());
	}

	static Object world() throws Exception {
		StringBuffer out = new StringBuffer();
		try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
			Thread t = new Thread(() -> {
				try (Socket s = server.accept()) {
					s.getOutputStream().write("hi".getBytes(StandardCharsets.UTF_8));
				} catch (IOException e) {
					out.append(e);
				}
			});
			t.start();
			try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
				out.append(new String(s.getInputStream().readAllBytes(),
					StandardCharsets.UTF_8));
			}
			t.join();
		}
		Process p = new ProcessBuilder("echo", "child").start();
		out.append(new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
		return out.append(p.waitFor());
	}

	static Object hot() {
		long s = 0;
		for (int i = 0; i < 2000000; i++)
			s += Integer.hashCode(i) ^ Objects.hash(i);
		return s;
	}

	public static void main(String[] args) {
		part("caller", Library::caller);
		part("walk", Library::walk);
		part("traces", Library::traces);
		part("reflection", Library::reflection);
		part("bundles", Library::bundles);
		part("handles", Library::handles);
		part("serial", Library::serial);
		part("loading", Library::loading);
		part("threads", Library::threads);
		part("monitors", Library::monitors);
		part("references", Library::references);
		part("errors", Library::errors);
		part("digests", Library::digests);
		part("numbers", Library::numbers);
		part("texts", Library::texts);
		part("collections", Library::collections);
		part("files", Library::files);
		part("world", Library::world);
		part("hot", Library::hot);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("bye")));
	}
}
