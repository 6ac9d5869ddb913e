// SPDX-License-Identifier: Apache-2.0
// Four threads want one monitor, which the one that has it keeps while it works.
public class Monitor {
	static final class Ledger {
		private long sum;

		synchronized void book(int amount) throws InterruptedException {
			sum += amount;
			Thread.sleep(12);
		}
	}

	static final Ledger ledger = new Ledger();

	static void transfer(int amount) throws InterruptedException {
		ledger.book(amount);
		ledger.book(-amount);
	}

	public static void main(String[] args) {
		for (int t = 0; t < 4; t++)
			new Thread(() -> {
				try {
					for (int i = 0;; i++) {
						transfer(i);
						Thread.sleep(1);
					}
				} catch (InterruptedException e) {
					return;
				}
			}, "teller-" + t).start();
	}
}
