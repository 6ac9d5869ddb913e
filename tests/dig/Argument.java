// SPDX-License-Identifier: Apache-2.0
// Slow for one value of an argument only: gift orders are wrapped by a slow loop.
public class Argument {
	enum Kind { PLAIN, GIFT, EXPRESS, RETURN }

	record Order(int id, Kind kind, int lines) {
	}

	static volatile double kept;

	static double wrap(Order order) {
		double x = order.id();
		int rounds = order.kind() == Kind.GIFT ? 9_000_000 : 2_000;
		for (int i = 0; i < rounds; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static void process(Order order) {
		kept = wrap(order);
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0;; i++) {
			process(new Order(i, Kind.values()[i * 7919 % 97 % 4], i % 13));
			Thread.sleep(5);
		}
	}
}
