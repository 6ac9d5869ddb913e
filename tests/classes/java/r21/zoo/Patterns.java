package zoo;

import java.util.List;

/** switch on types, record patterns, guards, nulls: typeSwitch and enumSwitch bootstraps. */
public class Patterns {
	sealed interface Expr permits Num, Add, Mul, Neg {
	}

	record Num(int v) implements Expr {
	}

	record Add(Expr l, Expr r) implements Expr {
	}

	record Mul(Expr l, Expr r) implements Expr {
	}

	record Neg(Expr e) implements Expr {
	}

	record Pair<A, B>(A a, B b) {
	}

	enum Suit { CLUBS, HEARTS }

	static int eval(Expr e) {
		return switch (e) {
			case Num(int v) -> v;
			case Add(Num(var a), Num(var b)) when a == b -> 2 * a;
			case Add(Expr l, Expr r) -> eval(l) + eval(r);
			case Mul(Expr l, Num(int v)) when v == 0 -> 0;
			case Mul(Expr l, Expr r) -> eval(l) * eval(r);
			case Neg(Neg(Expr i)) -> eval(i);
			case Neg n -> -eval(n.e());
		};
	}

	static String describe(Object o) {
		return switch (o) {
			case null -> "null";
			case Suit s when s == Suit.HEARTS -> "hearts";
			case Suit s -> "suit";
			case Integer i when i > 10 -> "big" + i;
			case Integer i -> "int" + i;
			case Long l -> "long" + (l + 1);
			case String s when s.length() > 3 -> s.substring(3);
			case CharSequence s -> "chars" + s.length();
			case int[] a when a.length == 2 -> "two ints";
			case int[] a -> "ints" + a.length;
			case Pair<?, ?>(String a, Pair<?, ?>(var b, Integer c)) -> a + b + c;
			case Pair<?, ?>(Object a, Object b) -> "pair";
			case Enum<?> e -> "enum";
			case List<?> l -> {
				try {
					yield describe(l.get(0));
				} catch (IndexOutOfBoundsException e) {
					yield "empty";
				}
			}
			default -> "other";
		};
	}

	static int constants(Suit s, String t) {
		int r = switch (s) {
			case CLUBS -> 1;
			case HEARTS -> 2;
			case null -> 3;
		};
		switch (t) {
		case "a":
			r += 10;
		case "b":
			r += 20;
			break;
		case null, default:
			r += 30;
		}
		return r;
	}

	static String statement(Object o) {
		if (o instanceof Pair<?, ?>(Pair<?, ?>(Long a, Double b), String c) && a > 2)
			return c + a + b;
		while (!(o instanceof String s)) {
			if (o == null)
				return "-";
			o = o.toString();
		}
		return s;
	}

	public static void main(String[] args) {
		System.out.println(eval(new Add(new Mul(new Num(3), new Num(4)),
				new Neg(new Neg(new Num(5))))));
		System.out.println(eval(new Add(new Num(2), new Num(2))) + " "
				+ eval(new Mul(new Num(1), new Num(0))));
		for (Object o : new Object[] {null, Suit.CLUBS, Suit.HEARTS, 5, 50, 6L, "string",
				"s", new int[2], new int[3],
				new Pair<>("x", new Pair<>(1.5, 2)), new Pair<>(1, 2), List.of(7),
				List.of(), 'c'})
			System.out.print(describe(o) + " ");
		System.out.println(constants(Suit.HEARTS, "a") + constants(null, "b")
				+ constants(Suit.CLUBS, null));
		System.out.println(statement(new Pair<>(new Pair<>(4L, 0.5), "c")) + statement(17)
				+ statement(null));
		try {
			eval(new Neg(null));
		} catch (NullPointerException | MatchException e) {
			System.out.println("no match");
		}
	}
}
