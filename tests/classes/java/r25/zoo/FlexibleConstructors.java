package zoo;

import module java.base;

/** Statements before super(): fields set, loops and try blocks on an uninitialised this. */
public class FlexibleConstructors extends FlexibleBase {
	final int early;
	final String text;

	FlexibleConstructors(int n) {
		if (n < 0)
			throw new IllegalArgumentException("negative");
		int sum = 0;
		for (int i = 0; i < n; i++) {
			if (i == 7)
				continue;
			sum += i;
		}
		this.early = sum;
		String t;
		switch (n) {
		case 0 -> t = "zero";
		case 1 -> t = "one";
		default -> t = "many" + n;
		}
		text = t;
		super(n > 2 ? new Object[] {n}.length : t);
		Objects.requireNonNull(seen);
	}

	FlexibleConstructors(String s) {
		int v;
		try {
			v = Integer.parseInt(s);
		} catch (NumberFormatException e) {
			v = -1;
		} finally {
			System.out.print("parsed ");
		}
		synchronized (s) {
			v += s.length();
		}
		this(v);
	}

	@Override
	String describe() {
		return "early=" + early + text;
	}

	class Inner extends FlexibleBase {
		final int k;

		Inner(int i) {
			k = i + early;
			IntSupplier twice = () -> early * 2;
			super(twice.getAsInt() > 3);
		}

		@Override
		String describe() {
			return "k" + k;
		}
	}

	public static void main(String[] args) {
		for (int i = 0; i < 12; i += 3)
			System.out.print(new FlexibleConstructors(i).seen + " ");
		System.out.println(new FlexibleConstructors("12").seen
				+ new FlexibleConstructors("x").early);
		System.out.println(new FlexibleConstructors(5).new Inner(6).seen);
		try {
			new FlexibleConstructors(-1);
		} catch (IllegalArgumentException e) {
			System.out.println(e.getMessage());
		}
	}
}

class FlexibleBase {
	final String seen;

	FlexibleBase(Object o) {
		seen = describe() + o;
	}

	String describe() {
		return "base";
	}
}
