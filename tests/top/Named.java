// SPDX-License-Identifier: Apache-2.0
/** A thread that computes for as long as the program runs, under a name that clears a screen. */
public class Named {
	static volatile long sink;

	static long spin(long n) {
		long s = 1;
		for (long i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	public static void main(String[] args) throws Exception {
		Thread t = new Thread(() -> {
			for (;;)
				sink += spin(1 << 20);
		}, "\033[2Jbad");
		t.setDaemon(true);
		t.start();
		System.out.println("ready");
		System.in.read();
	}
}
