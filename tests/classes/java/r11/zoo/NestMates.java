package zoo;

import java.util.function.BinaryOperator;

/** Private access between nest mates without accessors; var. */
public class NestMates {
	private int hidden = 1;

	private NestMates() {
	}

	private int bump() {
		return hidden++;
	}

	static class A {
		private long wide = 5L;

		private static int count;

		int use(NestMates n) {
			n.hidden += 10;
			return n.bump() + new B().deep.x + (int) (wide += 3) + count++;
		}

		private static class B {
			private final C deep = new C();

			private class C {
				private int x = count + 7;
			}
		}
	}

	interface I {
		private int one() {
			return 1;
		}
	}

	public static void main(String[] args) {
		var n = new NestMates();
		var a = new A();
		BinaryOperator<Integer> f = (var x, var y) -> x * y + a.use(n);
		System.out.println(a.use(n) + " " + f.apply(6, 7) + " " + n.hidden + " "
				+ ((I) new I() { }).one());
		for (var i = 0; i < 2; i++)
			System.out.print(new A.B().deep.x + " ");
		System.out.println();
	}
}
