// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The shapes that only newer compilers make: see Shapes, which prints them. */
public class Shapes25 {
	sealed interface Shape permits Circle, Square, Pair {
	}

	record Circle(double r) implements Shape {
	}

	record Square(int a, String name) implements Shape {
	}

	record Pair<A, B>(A first, B second) implements Shape {
	}

	enum Size {
		SMALL, LARGE
	}

	static String pattern(Object o) {
		return switch (o) {
		case null -> "null";
		case Square(int a, var name) when a > 3 -> name + a;
		case Square s -> "small " + s.a;
		case Pair(Circle(double r), Pair(String x, Integer y)) -> r + x + y;
		case Pair<?, ?>(var a, var b) -> pattern(a) + "&" + pattern(b);
		case Circle c when c.r < 0 -> throw new IllegalArgumentException("radius " + c.r);
		case Circle c -> "circle";
		case Integer i when i > 100 -> "much";
		case Integer i -> "int " + i;
		case Size.SMALL -> "tiny";
		case Size s -> s.name();
		case int[] a when a.length == 0 -> "nothing";
		case int[] a -> Arrays.toString(a);
		case String s -> s.isEmpty() ? "empty" : s;
		default -> o.getClass().getSimpleName();
		};
	}

	static int exhaustive(Shape s) {
		return switch (s) {
		case Circle c -> 1;
		case Square q -> {
			int sum = 0;
			for (int i = 0; i < q.a; i++)
				sum += i;
			yield sum;
		}
		case Pair<?, ?> p -> p.first instanceof Circle(double r) && r > 1 ? 2 : 3;
		};
	}

	static String instance(Object o) {
		if (!(o instanceof Pair<?, ?>(String a, Integer b) && b > 2))
			return "no";
		return a.repeat(b);
	}

	/** Code before super(): branches, loops, a try block, and an assignment to a field. */
	static class Flexible extends ArrayList<Integer> {
		private final int sum;

		Flexible(int n, String text) {
			int s = 0;
			for (int i = 0; i < n; i++) {
				if (i % 3 == 0)
					continue;
				s += i;
			}
			int parsed;
			try {
				parsed = Integer.parseInt(text);
			} catch (NumberFormatException e) {
				parsed = -1;
			}
			if (parsed > 1000)
				throw new IllegalArgumentException("too large: " + parsed);
			sum = s + parsed;
			super(s > 10 ? s : 10);
			for (int i = 0; i < 3; i++)
				add(i * sum);
		}

		Flexible(String text) {
			var list = List.of(1, 2, 3);
			int n = 0;
			for (int i : list)
				n += i;
			this(n, text == null ? "7" : text);
			add(n);
		}
	}

	static Object virtual() throws InterruptedException {
		AtomicInteger n = new AtomicInteger();
		try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
			for (int i = 0; i < 100; i++)
				pool.submit(() -> n.incrementAndGet());
		}
		StringBuilder text = new StringBuilder();
		Thread t = Thread.startVirtualThread(() -> text.append(Shapes.trace(new Exception("v"))));
		t.join();
		return n + " " + text;
	}

	static final ScopedValue<String> NAME = ScopedValue.newInstance();

	static Object scoped() {
		StringBuilder text = new StringBuilder();
		ScopedValue.where(NAME, "a").run(() -> {
			text.append(NAME.get());
			ScopedValue.where(NAME, "b").run(() -> text.append(NAME.get()));
			text.append(NAME.get());
		});
		return text.append(NAME.isBound());
	}

	public static void main(String[] args) {
		Object[] things = { null, new Square(5, "sq"), new Square(1, "x"), new Circle(2),
			new Pair<>(new Circle(1), new Pair<>("x", 3)), new Pair<>(1, "y"), 7, 1000,
			Size.SMALL, Size.LARGE, new int[0], new int[] { 1 }, "", "text", 3.5 };
		for (Object o : things) {
			Shapes.part("pattern", () -> pattern(o));
			Shapes.part("instance", () -> instance(o));
			if (o instanceof Shape s)
				Shapes.part("exhaustive", () -> exhaustive(s));
		}
		Shapes.part("pattern throws", () -> pattern(new Circle(-1)));
		Shapes.part("instance", () -> instance(new Pair<>("ab", 3)));
		Shapes.part("flexible", () -> new Flexible(10, "5"));
		Shapes.part("flexible, caught", () -> new Flexible(1, "five"));
		Shapes.part("flexible throws", () -> new Flexible(1, "5000"));
		Shapes.part("flexible this", () -> new Flexible(null));
		Shapes.part("flexible this throws", () -> new Flexible("2000"));
		Shapes.part("virtual threads", Shapes25::virtual);
		Shapes.part("scoped values", Shapes25::scoped);
		Shapes.main(args);
	}
}
