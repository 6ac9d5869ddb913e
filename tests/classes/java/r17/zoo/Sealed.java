package zoo;

/** Sealed hierarchies: PermittedSubclasses on classes, interfaces and enums. */
public sealed interface Sealed permits Sealed.Circle, Sealed.Square, Sealed.Other, Sealed.Tag {
	double area();

	record Circle(double r) implements Sealed {
		public double area() {
			return 3 * r * r;
		}
	}

	final class Square implements Sealed {
		public double area() {
			return 4;
		}
	}

	non-sealed class Other implements Sealed {
		public double area() {
			return 5;
		}
	}

	enum Tag implements Sealed {
		ONE,
		TWO {
			@Override
			public double area() {
				return 2;
			}
		};

		public double area() {
			return 1;
		}
	}

	abstract sealed class Base {
		static final class Leaf extends Base {
		}
	}

	static void main(String[] args) {
		for (Sealed s : new Sealed[] {new Circle(2), new Square(), new Other() { }, Tag.ONE,
				Tag.TWO})
			System.out.print(s.area() + " ");
		System.out.println(Sealed.class.isSealed() + " " + Tag.class.isSealed() + " "
				+ new Base.Leaf().getClass());
	}
}
