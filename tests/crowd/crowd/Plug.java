// SPDX-License-Identifier: Apache-2.0
package crowd;

import java.util.function.IntUnaryOperator;

/** Loaded again and again, each time by a loader of its own, and left to the collector. */
public class Plug implements Job {
	static int loaded = 17; // of each copy its own

	private final IntUnaryOperator step = i -> i * 3 + loaded;

	@Override
	public long run(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += add(i);
		return sum;
	}

	long add(int i) {
		try {
			return check(step.applyAsInt(i));
		} catch (IllegalArgumentException e) {
			return 1;
		}
	}

	int check(int i) {
		if (i % 5 == 0)
			throw new IllegalArgumentException("five");
		return i;
	}
}
