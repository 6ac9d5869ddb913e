// SPDX-License-Identifier: Apache-2.0
// A checkout waits for a stage that runs in another pool; bulk orders look their prices up row by row there.
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class Stage {
	record Order(String kind, int lines) {}

	static final ExecutorService pricing = Executors.newFixedThreadPool(8, r -> {
		Thread t = new Thread(r, "pricing");
		t.setDaemon(true);
		return t;
	});
	static volatile long kept;

	static final class Rates {
		final TreeMap<String, Integer> rates = new TreeMap<>();

		Rates() {
			for (int i = 0; i < 2000; i++)
				rates.put("rate-" + i, i);
		}

		long scan(Order order) {
			long sum = 0;
			for (int i = 0; i < order.lines(); i++)
				for (var e : rates.entrySet())
					sum += e.getKey().hashCode() ^ e.getValue();
			return sum;
		}
	}

	static final Rates rates = new Rates();

	static long price(Order order) {
		return order.kind().equals("bulk") ? rates.scan(order) : order.lines();
	}

	static long checkout(Order order) {
		return CompletableFuture.supplyAsync(() -> price(order), pricing).thenApply(p -> p + 1).join();
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		for (int i = 0;; i++) {
			kept += checkout(new Order(i % 10 == 3 ? "bulk" : "single", i % 10 == 3 ? 6000 : 1));
			Thread.sleep(4);
		}
	}
}
