package zoo;

/** ConstantValue of every type, an interface with an initialiser, assertions, long strings. */
public class Constants {
	static final boolean Z = true;
	static final byte B = -128;
	static final char C = '\0';
	static final short S = 32767;
	static final int I = 0x12345678;
	static final long J = 0x123456789abcdef0L;
	static final float F = Float.MIN_VALUE;
	static final double D = -0.0;
	static final String STRING = "nul \0 euro \u20ac pair \ud83d\ude00 lone \udc00 end";
	final int instance = 99;
	static final float NAN = 0f / 0f;
	static final double INFINITE = 1.0 / 0.0;

	interface WithInit {
		int[] TABLE = {1, 2, 3};
		String NOW = String.valueOf(TABLE.length);
	}

	static int check(int i) {
		assert i > 0 : "not positive " + i;
		assert i < 1000;
		return i;
	}

	static Class<?>[] classes() {
		return new Class<?>[] {int.class, Constants.class, String[][].class, int[].class,
				void.class};
	}

	static String pushes() {
		int[] a = {-1, 0, 5, 6, 127, 128, -128, -129, 32767, 32768, -32768, -32769};
		long[] l = {0, 1, 2, -1};
		float[] f = {0, 1, 2, 3, -0f};
		double[] d = {0, 1, 2, -0.0};
		long sum = 0;
		for (int x : a)
			sum = sum * 31 + x;
		return sum + " " + l[3] + " " + f[4] + " " + d[3];
	}

	public static void main(String[] args) {
		System.out.println(Z + " " + B + " " + (int) C + " " + S + " " + I + " " + J + " "
				+ F + " " + D);
		System.out.println(STRING.length() + " " + STRING.hashCode() + " " + WithInit.NOW
				+ " " + NAN + INFINITE);
		System.out.println(check(5) + " " + new Constants().instance + " "
				+ classes().length + " " + pushes());
		try {
			System.out.println(check(-5));
		} catch (AssertionError e) {
			System.out.println(e.getMessage());
		}
	}
}
