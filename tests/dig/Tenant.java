// SPDX-License-Identifier: Apache-2.0
// Of four hundred tenants one has a table that nobody has cleaned up.
import java.util.HashMap;
import java.util.Map;

public class Tenant {
	static final class Request {
		final String tenant;
		final int page;

		Request(String tenant, int page) {
			this.tenant = tenant;
			this.page = page;
		}
	}

	static final Map<String, int[]> tables = new HashMap<>();
	static volatile long kept;

	static long scan(String tenant) {
		long sum = 0;
		int[] table = tables.get(tenant);
		for (int round = 0; round < 30; round++)
			for (int i = 0; i < table.length; i++)
				sum += table[i] ^ (sum >>> 3);
		return sum;
	}

	static void serve(Request request) {
		kept += scan(request.tenant) + request.page;
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 400; i++)
			tables.put("t-" + i, new int[i == 137 ? 3_000_000 : 300]);
		System.out.println("ready");
		for (int i = 0;; i++) {
			serve(new Request("t-" + i * 7 % 400, i % 9));
			if (i % 4 == 0)
				Thread.sleep(1);
		}
	}
}
