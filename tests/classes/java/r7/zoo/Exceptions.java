package zoo;

import java.io.Closeable;
import java.io.IOException;

/** try, catch, finally, try-with-resources and synchronized, nested in each other. */
public class Exceptions {
	static final StringBuilder log = new StringBuilder();

	static final class Res implements Closeable {
		final String name;
		final boolean bad;

		Res(String name, boolean bad) {
			this.name = name;
			this.bad = bad;
			log.append('+').append(name);
		}

		@Override
		public void close() throws IOException {
			log.append('-').append(name);
			if (bad)
				throw new IOException("close " + name);
		}
	}

	static int nested(int n) {
		int r = 0;
		try {
			try {
				r = 10 / n;
				try {
					if (n == 2)
						throw new IllegalStateException("two");
					r++;
				} finally {
					r += 100;
				}
			} catch (ArithmeticException e) {
				r = -1;
			} finally {
				r += 1000;
				for (int i = 0; i < 3; i++)
					try {
						r += i / (i - 1);
					} catch (RuntimeException e) {
						r += 5;
					}
			}
		} catch (IllegalStateException | IllegalArgumentException e) {
			r += e.getMessage().length();
		} catch (Throwable t) {
			r = -2;
		}
		return r;
	}

	@SuppressWarnings("finally")
	static int returnInFinally(int n) {
		while (true) {
			try {
				if (n > 3)
					return n;
				throw new RuntimeException();
			} finally {
				if (n++ < 3)
					continue;
				return -n;
			}
		}
	}

	static long returnsThroughFinally(long v) {
		try {
			if (v > 10)
				return v * 2;
			if (v > 5)
				return v + 1;
			return v / (v - 1);
		} catch (ArithmeticException e) {
			return -7L;
		} finally {
			log.append('f').append(v);
		}
	}

	static String resources(boolean fail, boolean badClose) {
		try (Res a = new Res("a", false); Res b = new Res("b", badClose); Res c = null) {
			if (fail)
				throw new IllegalStateException("body");
			return "ok";
		} catch (IOException | IllegalStateException e) {
			return e.getMessage() + e.getSuppressed().length;
		} finally {
			log.append('.');
		}
	}

	static synchronized int locked(Object o, int i) {
		synchronized (o) {
			synchronized (Exceptions.class) {
				if (i == 0)
					return 1;
				if (i == 1)
					throw new IllegalArgumentException();
			}
			return i;
		}
	}

	synchronized int lockedThis(int i) throws Exception {
		try {
			return locked(this, i);
		} catch (IllegalArgumentException e) {
			throw new Exception("wrapped", e);
		}
	}

	static int catchAll(int depth) {
		try {
			return depth == 0 ? 0 : 1 + catchAll(depth - 1);
		} catch (StackOverflowError e) {
			return -1;
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 4; i++)
			System.out.print(nested(i) + " " + returnInFinally(i) + " "
					+ returnsThroughFinally(i * 4 + 1) + "; ");
		System.out.println();
		System.out.println(resources(false, false) + resources(true, false)
				+ resources(false, true)
				+ resources(true, true));
		System.out.println(locked("x", 0) + " " + locked("x", 5) + " " + catchAll(20));
		try {
			new Exceptions().lockedThis(1);
		} catch (Exception e) {
			System.out.println(e.getMessage() + " "
					+ Thread.holdsLock(Exceptions.class));
		}
		System.out.println(log);
	}
}
