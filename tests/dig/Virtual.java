// SPDX-License-Identifier: Apache-2.0
// from: 21
/** Requests in virtual threads, one thread for each; those for large orders wait long for a rate. */
public class Virtual {
	record Order(String kind, int lines) {}

	static final class Rates {
		int of(Order order) throws InterruptedException {
			Thread.sleep(order.kind().equals("bulk") ? 90 : 1);
			return order.lines();
		}
	}

	static final class Prices {
		private final Rates rates = new Rates();

		long sum(Order order) throws InterruptedException {
			long sum = 0;
			for (int i = 0; i < order.lines(); i++)
				sum = sum * 31 + i;
			return sum + rates.of(order);
		}
	}

	static final class Shop {
		private final Prices prices = new Prices();

		long handle(Order order) {
			try {
				return prices.sum(order);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		Shop shop = new Shop();
		java.lang.reflect.Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		for (int i = 0;; i++) {
			Order order = new Order(i % 9 == 0 ? "bulk" : i % 2 == 0 ? "single" : "gift", 20);
			start.invoke(null, (Runnable) () -> shop.handle(order));
			Thread.sleep(8);
		}
	}
}
