package zoo;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** invokedynamic for lambdas and every kind of method reference. */
public class Lambdas {
	private int base = 10;
	static String trace = "";

	interface Greeter extends Serializable {
		String greet(String who);

		default Greeter twice() {
			return w -> greet(greet(w));
		}

		static Greeter polite() {
			return w -> "dear " + w;
		}
	}

	int add(int a) {
		return base + a;
	}

	private Function<Integer, Integer> capture(long l, double d, String s) {
		return i -> (int) (i + l + d) + s.length() + base;
	}

	static <T extends Throwable> void sneaky(Throwable t) throws T {
		@SuppressWarnings("unchecked") T cast = (T) t;
		throw cast;
	}

	static Runnable recursive(int n) {
		return () -> {
			trace += n;
			if (n > 0)
				recursive(n - 1).run();
		};
	}

	public static void main(String[] args) {
		Lambdas o = new Lambdas();
		Supplier<Lambdas> make = Lambdas::new;
		IntFunction<int[][]> array = int[][]::new;
		BiFunction<Lambdas, Integer, Integer> unbound = Lambdas::add;
		Function<Integer, Integer> bound = o::add;
		IntBinaryOperator statics = Math::max;
		Function<String, Integer> parse = Integer::parseInt;
		LongSupplier wide = () -> 1L << 40;
		System.out.println(make.get().add(1) + " " + array.apply(3).length + " "
				+ unbound.apply(o, 2) + " "
				+ bound.apply(3) + " " + statics.applyAsInt(4, 5) + " "
				+ parse.apply("6") + " "
				+ wide.getAsLong() + " " + o.capture(7L, 8.5, "nine").apply(10));
		Greeter g = w -> "hello " + w;
		System.out.println(g.twice().greet("you") + " " + Greeter.polite().greet("me"));
		Runnable both = (Runnable & Serializable) () -> trace += "both";
		both.run();
		recursive(3).run();
		List<String> words = new ArrayList<>(Arrays.asList("pear", "fig", "apple"));
		words.sort(Comparator.comparing(String::length)
				.thenComparing(Comparator.reverseOrder()));
		System.out.println(words.stream().map(String::toUpperCase)
				.collect(Collectors.joining(",")) + trace);
		try {
			Lambdas.<RuntimeException>sneaky(new java.io.IOException("sneaked"));
		} catch (Exception e) {
			System.out.println(e.getMessage());
		}
	}
}
