// SPDX-License-Identifier: Apache-2.0
// One method is slow under one of its two callers only: the export walks a list from its head for each
// line, the cart does not.
import java.util.LinkedList;
import java.util.List;
import java.util.Random;

public class Caller {
	static final class Price {
		private final List<Integer> cents;

		Price(List<Integer> cents) {
			this.cents = cents;
		}

		long sum() {
			long sum = 0;
			for (int i = 0; i < cents.size(); i++)
				sum += cents.get(i);
			return sum;
		}
	}

	static final class Cart {
		private final Price price = new Price(new java.util.ArrayList<>(numbers(40)));

		long total() {
			return price.sum();
		}
	}

	static final class Export {
		private final Price price = new Price(new LinkedList<>(numbers(9000)));

		long write() {
			return price.sum();
		}
	}

	static List<Integer> numbers(int n) {
		return new Random(1).ints(n, 0, 1000).boxed().toList();
	}

	static final Cart cart = new Cart();
	static final Export export = new Export();
	static volatile long kept;

	static void handle(int number) {
		kept += cart.total();
		if (number % 20 == 0)
			kept += export.write();
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0;; i++) {
			handle(i);
			Thread.sleep(2);
		}
	}
}
