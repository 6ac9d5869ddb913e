// SPDX-License-Identifier: Apache-2.0
/** A class that is loaded again and again, by another loader each time. */
public class Guest implements Runnable {
	private int sum;

	@Override
	public void run() {
		for (int i = 0; i < 3; i++)
			add(i);
	}

	private void add(int i) {
		sum += twice(i);
	}

	private static int twice(int i) {
		return 2 * i;
	}
}
