package zoo;

import java.io.StringReader;

/** String concatenation by invokedynamic, private interface methods, resources by variable. */
public class Concat {
	interface Speaks {
		private String prefix() {
			return "says ";
		}

		private static String suffix(int n) {
			return "!!!!!!!!".substring(8 - n);
		}

		default String say(String s) {
			return prefix() + s + suffix(s.length());
		}
	}

	static String all(boolean z, byte b, char c, short s, int i, long j, float f, double d,
			Object o, int[] a) {
		return "\1" + z + b + '\2' + c + s + "lit\0eral" + i + j + f + d + o + (a == null)
				+ null + 1 + 2L + 'x';
	}

	static String compound(String s) {
		s += 1;
		s += 'c';
		s += 2.5;
		String[] a = {s};
		int i = 0;
		a[i++] += "x" + i;
		return a[0];
	}

	static String many(int a) {
		return a + "," + a + "," + a + "," + a + "," + a + "," + a + "," + a + "," + a + ","
				+ a + "," + a
				+ "," + (long) a + "," + (double) a + "," + (char) (a + 'a') + ","
				+ a + "," + a + "," + a;
	}

	static int variable() throws Exception {
		StringReader r = new StringReader("q");
		try (r) {
			return r.read();
		}
	}

	public static void main(String[] args) throws Exception {
		System.out.println(all(true, (byte) 1, 'c', (short) 2, 3, 4L, 5f, 6d, "o",
				null).length());
		System.out.println(compound("s") + " " + many(7) + " " + variable());
		System.out.println(new Speaks() { }.say("abc"));
	}
}
