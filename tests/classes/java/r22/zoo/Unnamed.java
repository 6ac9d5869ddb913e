package zoo;

import java.util.function.BinaryOperator;

/** Unnamed variables and patterns. */
public class Unnamed {
	record Box(Object in, int n) {
	}

	static String open(Object o) {
		return switch (o) {
			case Box(String _, int n) -> "string" + n;
			case Box(Integer _, _), Box(Long _, _) -> "number";
			case Box _ -> "box";
			default -> "none";
		};
	}

	public static void main(String[] args) {
		int total = 0;
		for (var _ : args.length == 0 ? new int[3] : new int[4])
			total++;
		try {
			Integer.parseInt("x");
		} catch (NumberFormatException _) {
			total += 10;
		}
		BinaryOperator<Integer> f = (a, _) -> a;
		System.out.println(total + open(new Box("s", 1)) + open(new Box(2L, 1))
				+ open(new Box('c', 1)) + open(1)
				+ f.apply(4, 5));
	}
}
