// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * The probe class as tests need it: Java instead of natives.  Counts how often each method began
 * and ended; allocates nothing, calls nothing, so that java.base may be woven too.  Other threads
 * may lose a count: what is compared must have run in one thread at a time.
 */
public final class SondeProbe {
	private static final int MAX = 1 << 20;

	// Null while this class is being initialised.
	private static final int[] ENTERED = new int[MAX];
	private static final int[] LEFT = new int[MAX];
	private static int bad; // calls with something missing

	private SondeProbe() {
	}

	public static void count(int id) {
		enter(id);
		exit(id);
	}

	public static void enter(int id) {
		if (ENTERED != null)
			ENTERED[id]++;
	}

	public static void exit(int id) {
		if (LEFT != null)
			LEFT[id]++;
	}

	public static void enterFull(int id, Object self, Object[] args) {
		if (args == null)
			bad++;
		enter(id);
	}

	public static void exitFull(int id, Object result, Throwable thrown) {
		if (result != null && thrown != null)
			bad++;
		exit(id);
	}

	public static void data(int id, String key, Object value) {
	}

	public static void number(int id, String key, long value) {
	}

	public static void bytes(int id, long count) {
	}

	public static void exit(int id, Throwable thrown) {
		exit(id);
	}

	public static void text(int id, String key, Object value) {
	}

	public static void request(int id, String method, String uri) {
	}

	/** For the test's launcher: calls with missing data; then entered and left, by id. */
	public static int bad() {
		return bad;
	}

	public static int entered(int id) {
		return id < MAX ? ENTERED[id] : 0;
	}

	public static int left(int id) {
		return id < MAX ? LEFT[id] : 0;
	}
}
