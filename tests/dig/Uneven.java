// SPDX-License-Identifier: Apache-2.0
// One tenant in sixteen has prices that nobody has cached: its calls take some milliseconds, all others microseconds.
import java.util.HashMap;
import java.util.Map;

public class Uneven {
	static final Map<String, Integer> cache = new HashMap<>();
	static volatile long kept;

	static int computed(String tenant, int item) {
		long sum = item;
		for (int i = 0; i < 6_000_000; i++)
			sum = sum * 31 + (sum >>> 7) + i;
		return (int)sum;
	}

	static int price(String tenant, int item) {
		Integer known = cache.get(tenant);
		return known != null ? known + item : computed(tenant, item);
	}

	static int quote(String tenant, int item) {
		return price(tenant, item) + 1;
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 16; i++)
			if (i != 11)
				cache.put("tenant-" + i, i);
		System.out.println("ready");
		for (int i = 0;; i++) {
			kept += quote("tenant-" + i % 16, i % 5);
			if (i % 16 == 0)
				Thread.sleep(8);
		}
	}
}
