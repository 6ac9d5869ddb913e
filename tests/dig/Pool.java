// SPDX-License-Identifier: Apache-2.0
// Eight threads give their work to a pool of two, so it waits in the pool's queue.
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class Pool {
	static final ExecutorService workers = Executors.newFixedThreadPool(2, r -> {
		Thread t = new Thread(r, "worker");
		t.setDaemon(true);
		return t;
	});

	static int print(int label) throws InterruptedException {
		Thread.sleep(25);
		return label + 1;
	}

	static int ship(int parcel) throws Exception {
		return workers.submit(() -> print(parcel)).get();
	}

	public static void main(String[] args) {
		for (int t = 0; t < 8; t++)
			new Thread(() -> {
				try {
					for (int i = 0;; i++) {
						ship(i);
						Thread.sleep(1);
					}
				} catch (Exception e) {
					return;
				}
			}, "desk-" + t).start();
	}
}
