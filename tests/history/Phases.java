// SPDX-License-Identifier: Apache-2.0
/** Is busy in early() until a line comes, then in late() until the next. */
public class Phases {
	static volatile long sink;
	static volatile int phase;

	static long early(int n) {
		long s = 1;
		for (int i = 0; i < n; i++)
			s = s * 31 + (i ^ s >>> 3);
		return s;
	}

	static long late(int n) {
		long s = 7;
		for (int i = 0; i < n; i++)
			s = s * 37 + (i ^ s >>> 5);
		return s;
	}

	static void work() {
		while (phase == 0)
			sink += early(1000000);
		while (phase == 1)
			sink += late(1000000);
	}

	public static void main(String[] args) throws Exception {
		Thread t = new Thread(Phases::work, "worker");
		t.start();
		System.out.println("ready");
		while (System.in.read() >= 0)
			phase++;
		phase = 2;
	}
}
