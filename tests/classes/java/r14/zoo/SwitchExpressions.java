package zoo;

/** switch as an expression, with values on the stack around it and try inside it. */
public class SwitchExpressions {
	enum Size { S, M, L }

	static int size(Size s) {
		return switch (s) {
			case S -> 1;
			case M -> {
				int t = s.ordinal();
				yield t * 2;
			}
			case L -> throw new IllegalArgumentException("too large");
		};
	}

	static String onStack(int a, long b, double c, String k) {
		// javac cannot spill two-slot values around a try: only a and k stand below it.
		return join(a, k, switch (k.length()) {
			case 3, 4 -> {
				try {
					yield Integer.parseInt(k);
				} catch (NumberFormatException e) {
					yield -1;
				} finally {
					a++;
				}
			}
			case 5 -> a > 3 ? 3L : 4L;
			default -> k.length();
		}, b, c) + b * c * switch (a) {
			case 3 -> 2L;
			case 4 -> 2.5;
			default -> a;
		};
	}

	static String join(int a, Object d, long e, long b, double c) {
		return a + ":" + b + c + d + e;
	}

	static int oldStyle(int i) {
		int r = switch (i) {
			case 1:
			case 2:
				i += 10;
			case 3:
				yield i;
			default:
				if (i > 100)
					yield 100;
				yield -i;
		};
		return r;
	}

	public static void main(String[] args) {
		System.out.println(size(Size.S) + " " + size(Size.M));
		try {
			size(Size.L);
		} catch (IllegalArgumentException e) {
			System.out.println(e.getMessage());
		}
		System.out.println(onStack(3, 4L, 5.5, "one") + onStack(4, 5L, 6.5, "three")
				+ onStack(1, 2, 3, "x"));
		System.out.println(oldStyle(1) + " " + oldStyle(3) + " " + oldStyle(7) + " "
				+ oldStyle(700));
	}
}
