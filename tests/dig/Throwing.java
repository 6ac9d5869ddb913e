// SPDX-License-Identifier: Apache-2.0
// Parsing goes down a hundred levels and finds out what is a number by exceptions, each with all of that stack.
public class Throwing {
	static final String[] cells = { "12", "x7", "n/a", "-", "44", "?" };
	static volatile long kept;

	static long cell(String text) {
		try {
			return Long.parseLong(text);
		} catch (NumberFormatException e) {
			return -1;
		}
	}

	static long row(int level, int seed) {
		if (level == 0) {
			long sum = 0;
			for (int i = 0; i < 5000; i++)
				sum += cell(cells[(i + seed) % cells.length]);
			return sum;
		}
		return row(level - 1, seed) + level;
	}

	static long load(int file) {
		long sum = 0;
		for (int i = 0; i < 12; i++)
			sum += row(120, file + i);
		return sum;
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		for (int i = 0;; i++) {
			kept += load(i);
			Thread.sleep(20);
		}
	}
}
