package zoo;

/** An enum with constant bodies, fields, a constructor and a switch map in another class. */
public enum Enums implements Comparable2<Enums> {
	PLUS("+") {
		int apply(int a, int b) {
			return a + b;
		}
	},
	MINUS("-") {
		int apply(int a, int b) {
			return a - b;
		}
	},
	@Deprecated
	TIMES("*") {
		int apply(int a, int b) {
			return a * b;
		}

		@Override
		public int rank() {
			return super.rank() * 10;
		}
	};

	private static final java.util.Map<String, Enums> BY_SIGN = new java.util.HashMap<String,
			Enums>();
	static {
		for (Enums e : values())
			BY_SIGN.put(e.sign, e);
	}
	private final String sign;

	Enums(String sign) {
		this.sign = sign;
	}

	abstract int apply(int a, int b);

	@Override
	public int rank() {
		switch (this) {
		case PLUS: case MINUS: return 1;
		default: return 2;
		}
	}

	public static void main(String[] args) {
		for (Enums e : values())
			System.out.println(e + " " + e.apply(6, 3) + " " + e.rank() + " "
					+ BY_SIGN.get(e.sign).ordinal());
		System.out.println(valueOf("PLUS") == PLUS);
	}
}

interface Comparable2<T> {
	int rank();
}
