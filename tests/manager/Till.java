// SPDX-License-Identifier: Apache-2.0
// Till FILE SECONDS: sells; while FILE is there, discounts are looked up the slow way.
import java.io.File;
import java.util.LinkedList;
import java.util.List;

public class Till {
	static final List<Integer> prices = new LinkedList<>();
	static volatile long sum;

	static void sell(boolean slow) {
		sum += price(slow);
		sum += tax();
	}

	static long price(boolean slow) {
		return slow ? discount() : tax();
	}

	static long discount() {
		long sum = 0;

		for (int i = 0; i < prices.size(); i++)
			sum += prices.get(i);
		return sum;
	}

	static long tax() {
		long sum = 0;

		for (int i = 0; i < 200; i++)
			sum += i * 31L;
		return sum;
	}

	public static void main(String[] args) throws Exception {
		File slow = new File(args[0]);
		long end = System.nanoTime() + Integer.parseInt(args[1]) * 1000000000L;

		for (int i = 0; i < 6000; i++)
			prices.add(i);
		while (System.nanoTime() < end) {
			boolean is = slow.exists();

			for (int i = 0; i < 5; i++)
				sell(is);
			Thread.sleep(20);
		}
	}
}
