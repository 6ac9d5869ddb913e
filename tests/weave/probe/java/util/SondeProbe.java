// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * The probe class as tests need it: Java instead of natives.  Counts how often each method began
 * and ended; allocates nothing, calls nothing, so that java.base may be woven too.  Other threads
 * may lose a count: what is compared must have run in one thread at a time.
 *
 * <p>No two calls get the same token, and a token tells whose it is.  What the ends bring back is
 * taken off a sum of what the beginnings were given, so it is 0 when each came back once.
 */
public final class SondeProbe {
	private static final int MAX = 1 << 20;
	private static final int LAST = 1 << 12;

	// Null while this class is being initialised.
	private static final int[] ENTERED = new int[MAX];
	private static final int[] LEFT = new int[MAX];
	private static final long[] OWED = new long[MAX];
	private static final Throwable[] THROWN = new Throwable[LAST];
	private static final Object[] RESULT = new Object[LAST];
	private static long calls;
	private static int bad; // calls with something missing or wrong

	private SondeProbe() {
	}

	public static void count(int id) {
		exit(id, enter(id), null);
	}

	public static long enter(int id) {
		if (RESULT == null)
			return 0;
		long token = ++calls * MAX + id;
		ENTERED[id]++;
		OWED[id] += token;
		return token;
	}

	public static void exit(int id, long token, Throwable thrown) {
		if (token == 0)
			return;
		check(id, token);
		LEFT[id]++;
		OWED[id] -= token;
		THROWN[id % LAST] = thrown;
		RESULT[id % LAST] = null;
	}

	private static void check(int id, long token) {
		if (token != 0 && token % MAX != id)
			bad++;
	}

	public static long enterFull(int id, Object self, Object[] args) {
		if (args == null)
			bad++;
		return enter(id);
	}

	public static void exitFull(int id, long token, Object result, Throwable thrown) {
		if (result != null && thrown != null)
			bad++;
		exit(id, token, thrown);
		if (RESULT != null)
			RESULT[id % LAST] = result;
	}

	public static long begun(int id, long token, Object self, Object[] args) {
		if (args == null)
			bad++;
		check(id, token);
		return token;
	}

	public static long ended(int id, long token, Object result, Throwable thrown) {
		if (result != null && thrown != null)
			bad++;
		check(id, token);
		return token;
	}

	public static void data(int id, long token, String key, String value) {
		check(id, token);
	}

	public static void number(int id, long token, String key, long value) {
		check(id, token);
	}

	public static void bytes(int id, long token, long count) {
		check(id, token);
	}

	public static void text(int id, long token, String key, Object value) {
		check(id, token);
	}

	public static void request(int id, long token, String method, String uri) {
		check(id, token);
	}

	/** For the tests' launchers: calls with something wrong; then entered and left, by id. */
	public static int bad() {
		return bad;
	}

	public static int entered(int id) {
		return id < MAX ? ENTERED[id] : 0;
	}

	public static int left(int id) {
		return id < MAX ? LEFT[id] : 0;
	}

	/** Not 0 when a method brought back another token than it was given. */
	public static long owed(int id) {
		return id < MAX ? OWED[id] : 0;
	}

	/** How the last call of a method ended, in a program of less than 4096 methods. */
	public static Throwable thrown(int id) {
		return THROWN[id];
	}

	public static Object result(int id) {
		return RESULT[id];
	}
}
