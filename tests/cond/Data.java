// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A program of which it is known what it is called with. Each line of input is a number of rounds;
 * what it has done is told as a checksum, which hooks must not change.
 */
public final class Data {
	enum Kind { GIFT, PLAIN }

	interface Request {
		String getHeader(String name);
	}

	static class User {
		private final String tier;
		int asked;

		User(String tier) {
			this.tier = tier;
		}

		String tier() {
			return tier;
		}

		String countedTier() {
			asked++;
			return tier;
		}

		String over(String s) {
			return "text " + s;
		}

		String over(Object o) {
			return "object " + o;
		}

		int twice(int n) {
			return 2 * n;
		}

		long twice(long n) {
			return 3 * n;
		}

		String clash(CharSequence a, String b) {
			return "1";
		}

		String clash(String a, CharSequence b) {
			return "2";
		}

		String bad() {
			throw new IllegalStateException("no tier today");
		}

		String itself(Data d) {
			return d.toString();
		}
	}

	static final class Item {
		private final Kind kind;
		private final int stock;
		private final Item next;
		final int[] sizes = { 1, 2, 3 };
		final List<Object> tags = new ArrayList<>();
		final Map<String, Object> more = new HashMap<>();

		Item(Kind kind, int stock, Item next) {
			this.kind = kind;
			this.stock = stock;
			this.next = next;
			tags.add(stock % 2 == 0 ? "even" : "odd");
			more.put("user", new User(stock > 5 ? "gold" : "tin"));
		}

		Kind getKind() {
			return kind;
		}

		boolean isGift() {
			return kind == Kind.GIFT;
		}

		User owner() {
			return (User) more.get("user");
		}
	}

	private int limit = 3;
	private static long sum;

	// ---- one method for each kind of argument ----

	static void ints(int n) {
		sum += n;
	}

	static void all(boolean z, byte b, char c, short s, int i, long j, float f, double d, String t) {
		sum += b + c + s + i + j + (long) f + (long) d + (z ? 1 : 0) + (t == null ? 0 : t.length());
	}

	long longs(long before, double ratio, long n) {
		sum += n;
		return before + n;
	}

	void item(Item item) {
		sum += item == null ? 7 : item.stock;
	}

	int thrower(Item item, int n) {
		if (n % 4 == 0)
			throw new IllegalArgumentException("n " + n);
		return n;
	}

	void branches(Item item, int n) {
		for (int i = 0; i < n; i++) {
			if (i == 3 && item != null)
				continue;
			String text = i % 2 == 0 ? "a" : "b";
			sum += text.length();
		}
	}

	static final class Made {
		final int n;
		private final Object tag;

		Made(int n) {
			this(n, n % 3 == 0 ? "three" : null);
		}

		Made(int n, Object tag) {
			super();
			this.n = n;
			this.tag = tag;
			sum += n;
		}
	}

	// ---- captures: five levels down ----

	void handle(Request request, int n) {
		one(n);
	}

	void one(int n) {
		two(n);
	}

	void two(int n) {
		three(n);
	}

	void three(int n) {
		four(n);
	}

	void four(int n) {
		five(n);
	}

	void five(int n) {
		sum += n;
		if (n == 99)
			throw new IllegalStateException("99");
	}

	static Request request(int n) {
		return name -> name.equals("X-User") && n % 5 != 4 ? (n % 3 == 0 ? "alice" : "bob") : null;
	}

	static class Plain implements Request {
		private final String user;
		int asked;

		Plain(String user) {
			this.user = user;
		}

		@Override
		public String getHeader(String name) {
			return "X-User".equals(name) ? user : null;
		}
	}

	/** Once in another thread, a virtual one where there are such; captures are the thread's own. */
	private void elsewhere() {
		Runnable work = () -> {
			handle(new Plain("carol"), 0);
			five(0);
			handle(new Counting(), 0);
		};
		try {
			Thread t;
			try {
				t = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
			} catch (NoSuchMethodException e) {
				t = new Thread(work);
				t.start();
			}
			t.join();
		} catch (ReflectiveOperationException | InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** Its getter is one that changes something, which is seen only when it comes. */
	static final class Counting implements Request {
		static int asked;

		@Override
		public String getHeader(String name) {
			asked++;
			return "mallory";
		}
	}

	void round(int r) {
		elsewhere();

		for (int n = 0; n < 10; n++) {
			Item item = n == 9 ? null : new Item(n % 2 == 0 ? Kind.GIFT : Kind.PLAIN, n, null);
			Item outer = new Item(Kind.PLAIN, n, item);
			ints(n);
			all(n == 1, (byte) -n, (char) ('a' + n), (short) (100 * n), n, 1L << (4 * n), n / 2f, n / 4.0,
					n == 0 ? null : "text" + n);
			longs(5, 0.5, 10_000_000_000L * n);
			item(item);
			item(outer);
			try {
				thrower(item, n);
			} catch (IllegalArgumentException e) {
				sum++;
			}
			branches(item, n);
			if (item != null && item.isGift())
				sum++;
			sum += ("text" + n).startsWith("text7") ? 1 : 0;
			new Made(n);
			handle(new Plain(n % 5 == 4 ? null : n % 3 == 0 ? "alice" : "bob"), n);
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		Data data = new Data();
		String line;

		data.round(0);
		List<Integer> warm = new ArrayList<>(Arrays.asList(1, 2, 3));
		Collections.reverse(warm);
		System.out.println("ready " + sum + " " + Counting.asked);
		while ((line = in.readLine()) != null) {
			sum = 0;
			for (int r = 0; r < Integer.parseInt(line.trim()); r++)
				data.round(r);
			System.out.println("done " + line.trim() + " " + sum + " " + Counting.asked);
		}
	}
}
