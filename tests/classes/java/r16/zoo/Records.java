package zoo;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;

/** Records: plain, generic, annotated, compact, local, empty; instanceof patterns. */
public record Records<T extends Comparable<T>>(@Records.Note("a") int a, long b, double[] c,
		@Records.Note("d") Map<String, ? super T> d,
		T... rest) implements Comparable<Records<T>> {
	@Retention(RetentionPolicy.RUNTIME)
	@Target({ElementType.RECORD_COMPONENT, ElementType.FIELD, ElementType.METHOD,
			ElementType.PARAMETER,
		ElementType.TYPE_USE})
	@interface Note {
		String value();
	}

	record Empty() {
	}

	record Point(int x, int y) {
		static int made;

		Point {
			if (x < 0)
				x = -x;
			made++;
		}

		Point(int both) {
			this(both > 10 ? 10 : both, both);
		}
	}

	@SafeVarargs
	public Records {
	}

	@Override
	public int compareTo(Records<T> o) {
		return Integer.compare(a, o.a);
	}

	class Member {
		static int count = 3;
		static String stat() {
			return "static in inner";
		}
	}

	static String test(Object o) {
		if (o instanceof String s && s.length() > 2)
			return s.substring(1);
		if (!(o instanceof Integer i))
			return "none";
		return "int" + (i + 1);
	}

	public static void main(String[] args) {
		record Local(String s, List<Integer> l) {
			enum E { A }
		}
		System.out.println(new Point(-3, 4) + " " + new Point(20) + " " + Point.made + " "
				+ new Empty());
		System.out.println(new Local("s", List.of(1, 2)) + " " + new Local("s",
				null).equals(new Local("s", null)));
		System.out.println(new Records<>(1, 2, null, null, "x").compareTo(new Records<>(2,
				3, null, null)));
		System.out.println(test("abc") + test("a") + test(4) + test(null) + new Point(1,
				2).hashCode());
		System.out.println(Records.class.getRecordComponents().length
				+ Records.Member.stat() + Local.E.A);
	}
}
