package zoo;

/** Inner, static nested, local and anonymous classes that reach each other's private parts. */
public class Inner {
	private int secret = 42;
	private static long shared = 1L;

	private int twice(int i) {
		return 2 * i;
	}

	class Member {
		private int mine = secret++;

		class Deeper {
			int sum() {
				return mine + secret + twice(secret) + Inner.this.secret--;
			}
		}
	}

	static class Nested<T extends Comparable<T>> {
		private T held;

		private Nested(T t) {
			held = t;
			shared += 2;
		}

		private class Own {
			T get() {
				return held;
			}
		}
	}

	interface Shape {
		double area();
		int SIDES = Inner.class.getSimpleName().length();
	}

	Shape local(final double w, final int h) {
		class Box implements Shape {
			final double scale;

			Box(double scale) {
				this.scale = scale;
			}

			public double area() {
				return w * h * scale * secret;
			}
		}
		return new Box(0.5);
	}

	Shape anonymous(final int[] cells) {
		return new Shape() {
			int calls;

			{
				calls = cells.length;
			}

			public double area() {
				return new Object() {
					double deep() {
						return ++calls + cells[0] + secret;
					}
				}.deep();
			}
		};
	}

	static Object inStatic() {
		return new Object() {
			@Override
			public String toString() {
				return "anonymous" + (shared++);
			}
		};
	}

	public static void main(String[] args) {
		Inner i = new Inner();
		Inner.Member m = i.new Member();
		System.out.println(m.new Deeper().sum() + " " + i.secret);
		Nested<String> n = new Nested<String>("held");
		System.out.println(n.new Own().get() + n.held + shared);
		System.out.println(i.local(2.5, 4).area() + " " + i.anonymous(new int[] {3}).area()
				+ " " + Shape.SIDES);
		System.out.println(inStatic() + " " + inStatic());
	}
}
