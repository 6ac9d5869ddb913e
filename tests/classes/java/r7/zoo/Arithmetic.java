package zoo;

/** Every operator on every primitive type; two-slot values moved about on the stack. */
public class Arithmetic {
	static int si = 3;
	static long sl = 5L;
	static double sd = 2.5;
	int fi = 7;
	long fl = 11L;
	double fd = 1.5;
	float ff = 0.5f;
	short fs = 300;
	byte fb = -3;
	char fc = 'x';
	boolean fz = true;

	static int ints(int a, int b) {
		int r = a + b;
		r -= a * b;
		r ^= a / (b == 0 ? 1 : b);
		r |= a % (b == 0 ? 1 : b);
		r &= ~(a << b);
		r += a >> b;
		r += a >>> b;
		r++;
		--r;
		r += 1000;
		r += 40000;
		return -r;
	}

	static long longs(long a, long b) {
		long r = a + b;
		r -= a * b;
		r ^= a / (b == 0 ? 1 : b);
		r |= a % (b == 0 ? 1 : b);
		r &= ~(a << b);
		r += a >> (int) b;
		r += a >>> b;
		return a > b ? r : a < b ? -r : a == b ? 0 : 1;
	}

	static float floats(float a, float b) {
		float r = a + b * a - b / a % 3f;
		return a < b ? r : a > b ? -r : a != b ? 1f : 2f;
	}

	static double doubles(double a, double b) {
		double r = a + b * a - b / a % 3.0;
		return a <= b ? r : a >= b ? -r : 0.0;
	}

	static String conversions(double d) {
		int i = (int) d;
		long l = (long) d;
		float f = (float) d;
		return i + "," + l + "," + f + "," + (int) f + "," + (long) f + "," + (double) f
				+ ","
				+ (byte) i + "," + (char) (i & 0x7f | 0x40) + "," + (short) i + ","
				+ (long) i + ","
				+ (float) i + "," + (double) i + "," + (int) l + "," + (float) l
				+ "," + (double) l;
	}

	/** dup_x1, dup_x2, dup2, dup2_x1, dup2_x2: assignments used as values. */
	static String juggle(Arithmetic o, int[] ia, long[] la, double[] da, Arithmetic[] oa) {
		int i = o.fi = si = 9;
		long l = o.fl = sl = la[1] = 21L;
		double d = da[0] = o.fd = sd = 4.25;
		int post = o.fi++ + ia[0]++ + si++ + ++ia[1];
		long lpost = o.fl++ + la[0]-- + sl++ + --la[1];
		double dpost = o.fd-- + da[0]++ + sd--;
		o.fs += 5;
		o.fb <<= 1;
		o.fc++;
		o.ff *= 3;
		o.fz &= i > 3;
		oa[0] = oa[1] = o;
		return i + " " + l + " " + d + " " + post + " " + lpost + " " + dpost + " " + o.fs
				+ " " + o.fb
				+ " " + o.fc + " " + o.ff + " " + o.fz + " " + (oa[0] == oa[1]);
	}

	static String arrays() {
		boolean[] z = {true, false};
		byte[] b = {1, -1};
		char[] c = {'a', '\uffff'};
		short[] s = {1, -32768};
		float[] f = {1f, 2f, Float.NaN};
		Object[][] grid = new Object[2][3];
		int[][][] cube = new int[2][3][];
		cube[1][2] = new int[] {1, 2, 3};
		grid[1][2] = cube;
		z[1] ^= true;
		b[0] += 127;
		c[0]++;
		s[1]--;
		f[2] = f[0] + f[1];
		return z[1] + "" + b[0] + c[0] + s[1] + f[2] + cube[1][2].length
				+ ((int[][][]) grid[1][2])[1][2][1];
	}

	static int manyLocals(int a) {
		long l0 = a, l1 = l0 + 1, l2 = l1 + 1, l3 = l2 + 1;
		double d0 = l3, d1 = d0 / 2, d2 = d1 / 2;
		int i0 = 1, i1 = 2, i2 = 3;
		for (int k = 0; k < 5; k++) {
			long t = l0;
			l0 = l1;
			l1 = l2;
			l2 = l3;
			l3 = t;
			i0 += k;
			d2 += i0;
		}
		return (int) (l0 + l1 + l2 + l3 + d0 + d1 + d2) + i0 + i1 + i2;
	}

	public static void main(String[] args) {
		for (int a = -3; a < 4; a += 2)
			for (int b = -1; b < 3; b++)
				System.out.println(ints(a, b) + " " + longs(a * 1000000007L, b)
						+ " " + floats(a, b) + " "
						+ doubles(a, b));
		System.out.println(conversions(Math.PI * 1e9) + " " + conversions(-1.5) + " "
				+ conversions(Double.NaN));
		System.out.println(juggle(new Arithmetic(), new int[2], new long[2], new double[2],
				new Arithmetic[2]));
		System.out.println(arrays() + " " + manyLocals(4));
	}
}
