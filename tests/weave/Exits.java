// SPDX-License-Identifier: Apache-2.0

import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * What the probe hears at the end of a call: the very exception that leaves the method, and
 * nothing when it returns.  Ways has a method for each way out; they are called one by one, and
 * what comes out of them is compared with what the probe was told, for each of them and for those
 * that they call.
 *
 *   java Exits IDS LEVEL
 *
 * Only Ways is woven.  IDS is what sonde weave --ids wrote.
 */
public final class Exits {
	/** Every method without arguments is a test, but for those with names that end in Below. */
	public static final class Ways {
		private static final RuntimeException MADE = new IllegalStateException("made before");
		private int depth, turn;

		public Ways() {
		}

		/** A constructor that throws behind the call of the next one. */
		public Ways(boolean throwing) {
			this();
			if (throwing)
				throw MADE;
		}

		/** One that may throw before that call: `this` is not there yet, and nobody is told. */
		public Ways(String text) {
			this(text.length() > 3);
		}

		public void returnsNothing() {
			depth++;
		}

		public int returnsInt() {
			return 42;
		}

		public boolean returnsBoolean() {
			return true;
		}

		public char returnsChar() {
			return 'x';
		}

		public long returnsLong() {
			return 1L << 40;
		}

		public float returnsFloat() {
			return 1.5f;
		}

		public double returnsDouble() {
			return -2.5;
		}

		public String returnsText() {
			return "text";
		}

		public int[] returnsArray() {
			return new int[3];
		}

		public Object returnsNull() {
			return null;
		}

		/** A result like any other. */
		public Throwable returnsAnException() {
			return MADE;
		}

		public static long returnsFromStatic() {
			return 7;
		}

		public synchronized int returnsFromSynchronized() {
			return 8;
		}

		public int returnsFromMany() {
			switch (++turn % 4) {
			case 0:
				return 0;
			case 1:
				return 1;
			case 2:
				throw MADE;
			default:
				return 3;
			}
		}

		public void throwsMade() {
			throw MADE;
		}

		public int throwsNew() throws IOException {
			throw new IOException();
		}

		public int throwsDividing() {
			return 1 / (depth - depth);
		}

		public int throwsOfNull() {
			return ((String) null).length();
		}

		public Object throwsCasting() {
			Object o = this;
			return (String) o;
		}

		public void throwsOfIndex() {
			int[] none = {};
			none[depth] = 1;
		}

		public static double throwsFromStatic() {
			throw MADE;
		}

		public synchronized long throwsFromSynchronized() {
			throw MADE;
		}

		public int throwsInBlock() {
			synchronized (this) {
				throw MADE;
			}
		}

		public void throwsError() {
			throw new StackOverflowError("not really");
		}

		public int throwsFromBelow() {
			return 1 + deepBelow(5);
		}

		private int deepBelow(int n) {
			if (n == 0)
				throw new UnsupportedOperationException();
			return 1 + deepBelow(n - 1);
		}

		public int catches() {
			try {
				return deepBelow(3);
			} catch (UnsupportedOperationException e) {
				return 9;
			}
		}

		public int catchesAnother() {
			try {
				return deepBelow(1);
			} catch (IllegalArgumentException e) {
				return 9;
			}
		}

		public int throwsAnother() throws IOException {
			try {
				return deepBelow(2);
			} catch (UnsupportedOperationException e) {
				throw new IOException(e);
			}
		}

		public int throwsOn() {
			try {
				return deepBelow(2);
			} catch (Throwable e) {
				depth++;
				throw e;
			}
		}

		public int throwsPastFinally() {
			try {
				return deepBelow(2);
			} finally {
				depth++;
			}
		}

		@SuppressWarnings("finally")
		public int returnsFromFinally() {
			try {
				return deepBelow(2);
			} finally {
				return 10;
			}
		}

		@SuppressWarnings("finally")
		public int throwsFromFinally() {
			try {
				return 5;
			} finally {
				throw MADE;
			}
		}

		public int throwsWhileClosing() throws IOException {
			try (Closeable c = this::closeBelow) {
				return depth;
			}
		}

		private void closeBelow() throws IOException {
			throw new IOException("closing");
		}

		public Object makes() {
			return new Ways("abc");
		}

		public Object makesInVain() {
			return new Ways("abcd");
		}

		public Object makesTooEarly() {
			return new Ways((String) null);
		}

		public int throwsInLoop() {
			for (int i = 0, sum = 0;; sum += i, i++)
				if (sum > 100)
					throw MADE;
		}
	}

	private static final Map<String, Integer> ids = new HashMap<>();
	private static final Ways way = new Ways();
	private static Method left, thrown, result;
	private static boolean full;
	private static long calls, exceptions, wrong;

	private static void complain(String what, Object wanted, Object got) {
		wrong++;
		System.out.println(what + ": " + got + " instead of " + wanted);
	}

	/** The number of the method whose name and descriptor begin like this. */
	private static int id(String method) {
		for (Map.Entry<String, Integer> e : ids.entrySet())
			if (e.getKey().contains("." + method))
				return e.getValue();
		throw new AssertionError(method + " was not woven");
	}

	private static int ended(String method) throws ReflectiveOperationException {
		return (Integer) left.invoke(null, id(method));
	}

	/** The probe must have been told this of the last call of that method. */
	private static void compare(String method, Object value, Throwable caught)
			throws ReflectiveOperationException {
		Object told = thrown.invoke(null, id(method));
		Object returned = result.invoke(null, id(method));
		if (told != caught)
			complain(method + " throws", caught, told);
		if (full && !Objects.equals(returned, value))
			complain(method + " returns", value, returned);
	}

	/** A method is true to its name, so that a test that tests nothing is seen. */
	private static void judge(String name, Throwable caught) {
		boolean may = name.matches("catchesAnother|makesInVain|makesTooEarly|throws.*");
		if (!name.equals("returnsFromMany") && may != (caught != null))
			complain(name + " should throw", may, caught);
	}

	private static void call(Method m) throws ReflectiveOperationException {
		String name = m.getName();
		int before = ended(name + "(");
		Object value = null;
		Throwable caught = null;
		try {
			value = m.invoke(way);
		} catch (InvocationTargetException e) {
			caught = e.getCause();
			exceptions++;
		}
		calls++;
		if (ended(name + "(") != before + 1)
			complain(name + " ended", before + 1, ended(name + "("));
		compare(name + "(", value, caught);
		judge(name, caught);
		switch (name) {
		case "throwsFromBelow", "catchesAnother", "throwsOn", "throwsPastFinally" ->
			compare("deepBelow(", null, caught);
		case "throwsAnother" -> compare("deepBelow(", null, caught.getCause());
		case "throwsWhileClosing" -> compare("closeBelow(", null, caught);
		case "makes" -> {
			compare("<init>(Z)", null, null);
			compare("<init>(Ljava", null, null);
		}
		case "makesInVain" -> {
			compare("<init>()", null, null);
			compare("<init>(Z)", null, caught);
		}
		default -> { }
		}
	}

	public static void main(String[] args) throws Exception {
		Class<?> probe = Class.forName("java.util.SondeProbe");
		left = probe.getMethod("left", int.class);
		thrown = probe.getMethod("thrown", int.class);
		result = probe.getMethod("result", int.class);
		full = args[1].equals("full");
		for (String line : Files.readAllLines(Path.of(args[0]))) {
			String[] f = line.split("\t");
			ids.put(f[1], Integer.parseInt(f[0]));
		}
		for (int round = 0; round < 20; round++)
			for (Method m : Ways.class.getDeclaredMethods())
				if (m.getParameterCount() == 0 && !m.getName().endsWith("Below"))
					call(m);
		System.out.println("calls " + calls + " exceptions " + exceptions + " wrong " + wrong);
	}
}
