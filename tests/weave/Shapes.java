// SPDX-License-Identifier: Apache-2.0

import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * One method of every shape.  All results and all stack traces go to stdout: woven and unwoven they
 * must be the same, line numbers too.  Each part runs often enough to be compiled when the argument
 * is a number of rounds; only the last round prints.
 */
public class Shapes {
	interface Part {
		Object run() throws Throwable;
	}

	private static boolean quiet;
	private static int digest;

	/** The frames of this program only: where it was started from does not matter. */
	static String trace(Throwable e) {
		StringBuilder s = new StringBuilder(e.getClass().getName());
		if (!(e instanceof StackOverflowError))
			s.append(": ").append(e.getMessage());
		int n = 0;
		for (StackTraceElement f : e.getStackTrace()) {
			if (!f.getClassName().startsWith("Shapes"))
				continue;
			if (f.getMethodName().startsWith("overflow") && n++ > 2)
				continue;
			s.append("\n    ").append(f.getClassName()).append('.')
				.append(f.getMethodName()).append(':').append(f.getLineNumber());
		}
		for (Throwable t : e.getSuppressed())
			s.append("\n  suppressed ").append(trace(t));
		if (e.getCause() != null)
			s.append("\n  caused by ").append(trace(e.getCause()));
		return s.toString();
	}

	static void part(String name, Part p) {
		String text;
		try {
			Object r = p.run();
			text = r instanceof Object[] ? Arrays.deepToString((Object[]) r)
					: String.valueOf(r);
		} catch (Throwable e) {
			text = "throws " + trace(e);
		}
		digest = digest * 31 + text.hashCode();
		if (!quiet)
			System.out.println(name + ": " + text);
	}

	// ---- constructors

	static class Base {
		final String how;
		static int made;

		Base(String how) {
			this.how = how;
			made++;
		}

		Base(int a, int b) {
			this(a > b ? "greater" : a == b ? "equal" : "less");
		}

		Base(boolean fail) {
			if (fail)
				throw new IllegalArgumentException("base");
			how = "fine";
		}
	}

	static class Derived extends Base {
		int x = helper(3);

		Derived(int n) {
			super(n > 0 ? n > 10 ? "many" : "some" : String.valueOf(new StringBuilder("none")
				.append(n)));
			for (int i = 0; i < n; i++)
				x += i;
			if (x > 1000)
				return;
			x = -x;
		}

		Derived(int n, String s) {
			this(s == null ? n : s.length());
			if (n == 13)
				throw new IllegalStateException("thirteen");
		}

		Derived(boolean fail) {
			super(fail);
			x = 1;
		}

		/** Objects are made before super() is called, some of this very class. */
		Derived(Derived other) {
			super(new Derived(other == null ? 1 : 2).how + new Base("tmp").how);
		}

		static int helper(int n) {
			return n * 7;
		}
	}

	class Inner {
		final int v;
		final Shapes outer = Shapes.this;

		Inner(int v) {
			this.v = v;
		}

		class More extends Inner {
			More() {
				super(Inner.this.v + 1);
			}
		}
	}

	static Object constructors() {
		List<Object> out = new ArrayList<>();
		for (int n : new int[] { 0, 5, 50 })
			out.add(new Derived(n).how + new Derived(n).x);
		out.add(new Derived(3, null).x);
		out.add(new Derived(3, "abc").x);
		out.add(new Derived((Derived) null).how);
		out.add(new Base(1, 2).how + new Base(2, 2).how + new Base(3, 2).how);
		Inner i = new Shapes().new Inner(4);
		out.add(i.v + i.new More().v);
		out.add(new Object() {
			final int y = out.size();

			@Override
			public String toString() {
				return "anonymous " + y;
			}
		});
		class Local {
			final int size;

			Local() {
				size = out.size();
			}
		}
		out.add(new Local().size);
		return out.toString();
	}

	// ---- initialisers

	static class Lazy {
		static final int[] TABLE = new int[8];
		static int sum;

		static {
			for (int i = 0; i < TABLE.length; i++) {
				if (i == 3)
					continue;
				TABLE[i] = i * i;
				sum += TABLE[i];
			}
		}
	}

	static class Broken {
		static final int X;

		static {
			if (digest != Integer.MIN_VALUE)
				throw new IllegalStateException("broken");
			X = 1;
		}
	}

	// ---- synchronized

	private int guarded;

	synchronized int locked(int n) {
		if (n < 0)
			throw new IllegalArgumentException("negative");
		guarded += n;
		return n == 0 ? guarded : locked(n - 1);
	}

	static synchronized long lockedStatic(long a) {
		return a + 1;
	}

	int block(Object lock, int n) {
		synchronized (lock) {
			if (n == 1)
				return 1;
			synchronized (this) {
				if (n == 2)
					throw new IllegalStateException("two");
				guarded = n;
			}
		}
		return guarded;
	}

	static Object monitors() {
		Shapes s = new Shapes();
		List<Object> out = new ArrayList<>();
		out.add(s.locked(4));
		try {
			s.locked(-1);
		} catch (IllegalArgumentException e) {
			out.add(trace(e) + Thread.holdsLock(s));
		}
		out.add(lockedStatic(5));
		Object lock = new Object();
		for (int n = 1; n < 4; n++) {
			try {
				out.add(s.block(lock, n));
			} catch (IllegalStateException e) {
				out.add(trace(e) + Thread.holdsLock(lock) + Thread.holdsLock(s));
			}
		}
		try {
			s.block(null, 1);
		} catch (NullPointerException e) {
			out.add(e.getStackTrace()[0].getLineNumber());
		}
		return out.toString();
	}

	// ---- loops

	static int first(int n) {
		while (n > 10)
			n -= 3;
		return n;
	}

	static int firstDo(int n) {
		do {
			n -= 2;
		} while (n > 0);
		return n;
	}

	static int endless(Iterator<Integer> it) {
		for (int sum = 0;;)
			sum += it.next();
	}

	static void neverReturns(int n) {
		for (;;)
			if (n-- == 0)
				throw new IllegalStateException("enough");
	}

	static int labelled(int n) {
		int found = 0;
		outer:
		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++) {
				if (j == 7)
					continue outer;
				if (i * j == 42)
					break outer;
				found += i ^ j;
			}
			found++;
		}
		block: {
			if (found % 2 == 0)
				break block;
			found = -found;
		}
		return found;
	}

	// ---- exceptions

	static int catchAll(int n) {
		try {
			if (n == 0)
				throw new IOException("zero");
			return 10 / (n - 1);
		} catch (Throwable t) {
			return -t.getClass().getName().length();
		}
	}

	static String finallies(int n) {
		StringBuilder s = new StringBuilder();
		try {
			try {
				try {
					if (n == 1)
						throw new IllegalStateException("one");
					if (n == 2)
						return s.append("two").toString();
					s.append('a');
				} finally {
					s.append('b');
					if (n == 3)
						throw new RuntimeException("three");
				}
			} catch (IllegalStateException e) {
				s.append(e.getMessage());
				if (n == 1)
					return s.append(" returned").toString();
			} finally {
				s.append('c');
			}
		} finally {
			s.append('d');
			if (n == 4)
				return s.append(" out of finally").toString();
		}
		return s.toString();
	}

	@SuppressWarnings("finally")
	static int swallowed() {
		try {
			throw new IllegalStateException();
		} finally {
			return 5;
		}
	}

	static final class Resource implements Closeable {
		private final int n;

		Resource(int n) {
			if (n == 9)
				throw new IllegalStateException("open");
			this.n = n;
		}

		@Override
		public void close() throws IOException {
			if (n == 2)
				throw new IOException("close " + n);
		}
	}

	static int resources(int a, int b, boolean fail) throws IOException {
		try (Resource x = new Resource(a); Resource y = new Resource(b)) {
			if (fail)
				throw new IllegalArgumentException("body");
			return x.n + y.n;
		}
	}

	static int many(int depth) {
		if (depth == 0)
			throw new ArithmeticException("deep");
		try {
			return many(depth - 1) + 1;
		} finally {
			if (depth % 5 == 0)
				digest++;
		}
	}

	static int wrapped(int depth) {
		try {
			return depth == 0 ? Integer.parseInt("x") : wrapped(depth - 1);
		} catch (RuntimeException e) {
			throw new IllegalStateException("level " + depth, e);
		}
	}

	static int implicit(int n, int[] a, Object o) {
		switch (n) {
		case 0:
			return a[5];
		case 1:
			return a.length / (n - 1);
		case 2:
			return ((String) o).length();
		case 3:
			return new int[n - 5].length;
		case 4:
			((Object[]) o)[0] = 1;
			return 0;
		default:
			return o.hashCode();
		}
	}

	static int overflow(int n) {
		return overflow(n + 1) + 1;
	}

	static int overflowCaught(int n) {
		try {
			return overflow(n);
		} catch (StackOverflowError e) {
			return -1;
		}
	}

	// ---- switches

	enum Colour {
		RED, GREEN {
			@Override
			int weight() {
				return 20;
			}
		},
		BLUE;

		int weight() {
			return ordinal();
		}
	}

	static int table(int n) {
		switch (n) {
		case 1:
			return 11;
		case 2:
			n += 5;
			// falls through
		case 3:
			n *= 2;
			break;
		case 5:
			throw new IllegalArgumentException("five");
		default:
			return -1;
		}
		return n;
	}

	static long lookup(long n) {
		switch ((int) n) {
		case -1000000:
			return 1L;
		case 0:
			return 2L;
		case 77777777:
			return 3L;
		default:
			return n;
		}
	}

	static String strings(String s) {
		switch (s) {
		case "Aa":
		case "BB":
			return "same hash " + s;
		case "":
			return "empty";
		default:
			return "other";
		}
	}

	static double colours(Colour c) {
		switch (c) {
		case RED:
			return 0.5;
		case GREEN:
			return c.weight();
		default:
			return -0.0;
		}
	}

	// ---- arguments and results

	static boolean z(boolean a) {
		return !a;
	}

	static byte b(byte a) {
		return (byte) (a + 1);
	}

	static char c(char a) {
		return (char) (a + 1);
	}

	static short s(short a) {
		return (short) (a * 2);
	}

	static float f(float a) {
		return a / 3;
	}

	static double d(double a, long b, float c) {
		return a * b - c;
	}

	static long l(int a, long b, int c, long d) {
		return a + b * c - d;
	}

	static int[] array(int n) {
		int[] a = new int[n];
		for (int i = 0; i < n; i++)
			a[i] = i * i;
		return a;
	}

	static String[][] arrays(int n) {
		return n == 0 ? null : new String[n][2];
	}

	static int varargs(String first, Object... rest) {
		return rest == null ? -1 : first.length() + rest.length;
	}

	static long slots(long l0, long l1, long l2, long l3, long l4, long l5,
			long l6, long l7, long l8, long l9, long l10, long l11, long l12, long
			l13, long l14, long l15, long l16, long l17, long l18, long l19, long l20,
			long l21, long l22, long l23, long l24, long l25, long l26, long l27, long
			l28, long l29, long l30, long l31, long l32, long l33, long l34, long l35,
			long l36, long l37, long l38, long l39, long l40, long l41, long l42, long
			l43, long l44, long l45, long l46, long l47, long l48, long l49, long l50,
			long l51, long l52, long l53, long l54, long l55, long l56, long l57, long
			l58, long l59, long l60, long l61, long l62, long l63, long l64, long l65,
			long l66, long l67, long l68, long l69, long l70, long l71, long l72, long
			l73, long l74, long l75, long l76, long l77, long l78, long l79, long l80,
			long l81, long l82, long l83, long l84, long l85, long l86, long l87, long
			l88, long l89, long l90, long l91, long l92, long l93, long l94, long l95,
			long l96, long l97, long l98, long l99, int i0, int i1, int i2, int i3,
			int i4, int i5, int i6, int i7, int i8, int i9, int i10, int i11, int i12,
			int i13, int i14, int i15, int i16, int i17, int i18, int i19, int i20,
			int i21, int i22, int i23, int i24, int i25, int i26, int i27, int i28,
			int i29, int i30, int i31, int i32, int i33, int i34, int i35, int i36,
			int i37, int i38, int i39, int i40, int i41, int i42, int i43, int i44,
			int i45, int i46, int i47, int i48, int i49, int i50, int i51, int i52,
			int i53, int i54) {
		return l0 + l9 + l18 + l27 + l36 + l45 + l54 + l63 + l72 + l81 +
				l90 + l99 + i0 + i6 + i12 + i18 + i24 + i30 + i36 + i42 + i48 +
				i54;
	}

	int slotsOfObject(int a0, int a1, int a2, int a3, int a4, int a5, int a6,
			int a7, int a8, int a9, int a10, int a11, int a12, int a13, int a14, int
			a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int
			a23, int a24, int a25, int a26, int a27, int a28, int a29, int a30, int
			a31, int a32, int a33, int a34, int a35, int a36, int a37, int a38, int
			a39, int a40, int a41, int a42, int a43, int a44, int a45, int a46, int
			a47, int a48, int a49, int a50, int a51, int a52, int a53, int a54, int
			a55, int a56, int a57, int a58, int a59, int a60, int a61, int a62, int
			a63, int a64, int a65, int a66, int a67, int a68, int a69, int a70, int
			a71, int a72, int a73, int a74, int a75, int a76, int a77, int a78, int
			a79, int a80, int a81, int a82, int a83, int a84, int a85, int a86, int
			a87, int a88, int a89, int a90, int a91, int a92, int a93, int a94, int
			a95, int a96, int a97, int a98, int a99, int a100, int a101, int a102, int
			a103, int a104, int a105, int a106, int a107, int a108, int a109, int
			a110, int a111, int a112, int a113, int a114, int a115, int a116, int
			a117, int a118, int a119, int a120, int a121, int a122, int a123, int
			a124, int a125, int a126, int a127, int a128, int a129, int a130, int
			a131, int a132, int a133, int a134, int a135, int a136, int a137, int
			a138, int a139, int a140, int a141, int a142, int a143, int a144, int
			a145, int a146, int a147, int a148, int a149, int a150, int a151, int
			a152, int a153, int a154, int a155, int a156, int a157, int a158, int
			a159, int a160, int a161, int a162, int a163, int a164, int a165, int
			a166, int a167, int a168, int a169, int a170, int a171, int a172, int
			a173, int a174, int a175, int a176, int a177, int a178, int a179, int
			a180, int a181, int a182, int a183, int a184, int a185, int a186, int
			a187, int a188, int a189, int a190, int a191, int a192, int a193, int
			a194, int a195, int a196, int a197, int a198, int a199, int a200, int
			a201, int a202, int a203, int a204, int a205, int a206, int a207, int
			a208, int a209, int a210, int a211, int a212, int a213, int a214, int
			a215, int a216, int a217, int a218, int a219, int a220, int a221, int
			a222, int a223, int a224, int a225, int a226, int a227, int a228, int
			a229, int a230, int a231, int a232, int a233, int a234, int a235, int
			a236, int a237, int a238, int a239, int a240, int a241, int a242, int
			a243, int a244, int a245, int a246, int a247, int a248, int a249, int
			a250, int a251, int a252, int a253) {
		return a0 + a11 + a22 + a33 + a44 + a55 + a66 + a77 + a88 + a99 +
				a110 + a121 + a132 + a143 + a154 + a165 + a176 + a187 + a198 +
				a209 + a220 + a231 + a242 + a253;
	}

	// The arguments' variables are used for something else in the end.
	static Object reused(Object a, long b, int c) {
		for (; c > 0; c--) {
			a = b;
			b += c;
		}
		String text = a + "/" + b;
		a = null;
		return text;
	}

	// ---- generics, interfaces, records, lambdas

	interface Greeter<T extends Comparable<T>> {
		T who();

		default String greet(int n) {
			return n > 0 ? secret(n) + who() : fallback();
		}

		private String secret(int n) {
			return "hello " + n + " ";
		}

		static String fallback() {
			return "nobody";
		}
	}

	static class Named implements Greeter<String>, Comparable<Named>, Cloneable {
		final String name;

		Named(String name) {
			this.name = name;
		}

		@Override
		public String who() {
			return name;
		}

		@Override
		public int compareTo(Named o) {
			return name.compareTo(o.name);
		}

		Integer hashMe() {
			return name.hashCode();
		}

		@Override
		public Named clone() throws CloneNotSupportedException {
			return (Named) super.clone();
		}
	}

	record Point(int x, long y, String... tags) implements Serializable {
		static int made;

		Point {
			if (x < 0)
				throw new IllegalArgumentException("x " + x);
			made++;
		}

		Point(int x) {
			this(x, x * 2L);
		}

		double length() {
			return Math.sqrt(x * x + y * y);
		}
	}

	static Object interfaces() throws Exception {
		Named n = new Named("ann");
		Greeter<String> g = () -> "lambda";
		return List.of(n.greet(2), n.greet(0), g.greet(1), n.clone().name,
				Collections.max(List.of(n, new Named("bob"))).name);
	}

	static Object records() {
		Point p = new Point(3);
		return p.toString().replaceAll("@[0-9a-f]+", "@") + p.equals(new Point(3, 6, p.tags))
				+ p.length() + new Point(1, 2).tags.length;
	}

	static int apply(IntBinaryOperator op, int n) {
		return op.applyAsInt(n, 7);
	}

	static Object lambdas(int k) {
		List<Object> out = new ArrayList<>();
		Function<Integer, Function<Integer, Integer>> add = a -> b -> a + b + k;
		out.add(add.apply(1).apply(2));
		out.add(apply(Math::max, 3));
		out.add(apply((a, b) -> a * b * k, 3));
		Supplier<List<String>> make = ArrayList::new;
		out.add(make.get());
		IntFunction<int[]> arrays = int[]::new;
		out.add(arrays.apply(3).length);
		BiFunction<String, Integer, Character> at = String::charAt;
		out.add(at.apply("xyz", 1));
		Runnable r = () -> {
			throw new IllegalStateException("in lambda");
		};
		try {
			r.run();
		} catch (IllegalStateException e) {
			out.add(trace(e));
		}
		Callable<Integer> c = new Named("m")::hashMe;
		try {
			out.add(c.call() != null);
		} catch (Exception e) {
			out.add(trace(e));
		}
		List<String> names = new ArrayList<>(List.of("b", "c", "a"));
		names.sort(Comparator.comparing((String s) -> s).reversed());
		out.add(names);
		Runnable[] self = new Runnable[1];
		int[] count = { 3 };
		self[0] = () -> {
			if (count[0]-- > 0)
				self[0].run();
		};
		self[0].run();
		out.add(count[0]);
		return out.toString();
	}

	static String concat(int i, long l, double d, char c, Object o, String s) {
		String t = "i" + i + "l" + l + "d" + d + c + o + s;
		t += i;
		return t + '\u1234' + null + true;
	}

	static long fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static boolean even(int n) {
		return n == 0 || odd(n - 1);
	}

	static boolean odd(int n) {
		return n != 0 && even(n - 1);
	}

	static int conditional(int a, int b) {
		return a > b && (a & 1) == 0 || b < 0 ? a < 0 ? 1 : 2 : !(a == b) ? 3 : 4;
	}

	static Object threads() throws InterruptedException {
		List<String> out = Collections.synchronizedList(new ArrayList<>());
		Thread t = new Thread(() -> out.add("ran"));
		t.start();
		t.join();
		Thread u = new Thread(() -> {
			throw new IllegalStateException("thread");
		});
		u.setUncaughtExceptionHandler((th, e) -> out.add(trace(e)));
		u.start();
		u.join();
		return out.toString();
	}

	static void all() {
		part("constructors", Shapes::constructors);
		part("constructor throws", () -> new Derived(13, null));
		part("super throws", () -> new Derived(true));
		part("super fine", () -> new Derived(false).x);
		part("initialiser", () -> Lazy.sum);
		part("broken initialiser", () -> Broken.X);
		part("monitors", Shapes::monitors);
		part("loops", () -> first(100) + firstDo(9) + labelled(12));
		part("endless", () -> endless(List.of(1, 2, 3).iterator()));
		part("never returns", () -> {
			neverReturns(5);
			return null;
		});
		part("catch all", () -> catchAll(0) + " " + catchAll(1) + " " + catchAll(3));
		for (int i = 0; i < 5; i++) {
			int n = i;
			part("finally " + i, () -> finallies(n));
		}
		part("swallowed", Shapes::swallowed);
		part("resources", () -> resources(1, 3, false));
		part("resources, body throws", () -> resources(1, 3, true));
		part("resources, close throws", () -> resources(2, 3, false));
		part("resources, both throw", () -> resources(2, 2, true));
		part("resources, open throws", () -> resources(2, 9, false));
		part("many frames", () -> many(20));
		part("causes", () -> wrapped(3));
		for (int i = 0; i < 6; i++) {
			int n = i;
			part("implicit " + i, () -> implicit(n, n == 0 ? null : new int[2],
				n == 4 ? new String[1] : n == 5 ? null : (Object) 3));
		}
		part("implicit index", () -> implicit(0, new int[2], null));
		part("caught overflow", () -> overflowCaught(0));
		part("after overflow", () -> first(50));
		part("table", () -> table(1) + " " + table(2) + " " + table(3) + " " + table(4));
		part("table throws", () -> table(5));
		part("lookup", () -> lookup(-1000000) + lookup(0) + lookup(77777777) + lookup(1L << 40));
		part("strings", () -> strings("Aa") + strings("BB") + strings("") + strings("x"));
		part("null string", () -> strings(null));
		part("colours", () -> colours(Colour.RED) + colours(Colour.GREEN) + " "
			+ colours(Colour.BLUE));
		part("enum", () -> Colour.valueOf("GREEN").weight() + Arrays.toString(Colour.values()));
		part("no enum", () -> Colour.valueOf("PINK"));
		part("types", () -> "" + z(true) + b((byte) 127) + c('z') + s((short) 20000) + f(1)
			+ d(1.5, 3, 2f) + l(1, 2, 3, 4));
		part("arrays", () -> Arrays.toString(array(5)) + Arrays.deepToString(arrays(2)) + arrays(0));
		part("varargs", () -> varargs("a") + varargs("b", 1, 2) + varargs("c", (Object[]) null));
		part("255 slots", () -> slots(0L, 7L, 14L, 21L, 28L, 35L, 42L,
				49L, 56L, 63L, 70L, 77L, 84L, 91L, 98L, 105L, 112L, 119L, 126L,
				133L, 140L, 147L, 154L, 161L, 168L, 175L, 182L, 189L, 196L, 203L,
				210L, 217L, 224L, 231L, 238L, 245L, 252L, 259L, 266L, 273L, 280L,
				287L, 294L, 301L, 308L, 315L, 322L, 329L, 336L, 343L, 350L, 357L,
				364L, 371L, 378L, 385L, 392L, 399L, 406L, 413L, 420L, 427L, 434L,
				441L, 448L, 455L, 462L, 469L, 476L, 483L, 490L, 497L, 504L, 511L,
				518L, 525L, 532L, 539L, 546L, 553L, 560L, 567L, 574L, 581L, 588L,
				595L, 602L, 609L, 616L, 623L, 630L, 637L, 644L, 651L, 658L, 665L,
				672L, 679L, 686L, 693L, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
				13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
				29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
				45, 46, 47, 48, 49, 50, 51, 52, 53, 54));
		part("255 slots with this", () -> new Shapes().slotsOfObject(0, 1,
				2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
				20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
				36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51,
				52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67,
				68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83,
				84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99,
				100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
				113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125,
				126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138,
				139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151,
				152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163, 164,
				165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177,
				178, 179, 180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190,
				191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203,
				204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 215, 216,
				217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229,
				230, 231, 232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242,
				243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253));
		part("reused", () -> reused("a", 5, 3));
		part("interfaces", Shapes::interfaces);
		part("records", Shapes::records);
		part("record throws", () -> new Point(-1));
		part("lambdas", () -> lambdas(2));
		part("concat", () -> concat(1, 2, 3.5, 'c', null, "s"));
		part("recursion", () -> fib(12) + " " + even(40) + odd(7));
		part("conditional", () -> conditional(4, 3) + conditional(3, 4) * 10 + conditional(-1, -2));
		part("threads", Shapes::threads);
	}

	public static void main(String[] args) {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
		quiet = true;
		for (int i = 1; i < rounds; i++)
			all();
		quiet = false;
		digest = 0;
		all();
		Map<Object, Integer> m = new HashMap<>();
		m.put(digest, rounds);
		System.out.println("digest " + m);
	}
}
