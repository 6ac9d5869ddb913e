// SPDX-License-Identifier: Apache-2.0
// Work FILE SECONDS: works, a thousand turns a second at most; while FILE is there it does not.
import java.io.File;

public class Work {
	static volatile long sum;

	static void serve(int turn) {
		for (int i = 0; i < 2; i++)
			step(turn + i);
	}

	static void step(int turn) {
		sum += turn * 31L;
	}

	public static void main(String[] args) throws Exception {
		File pause = new File(args[0]);
		long end = System.nanoTime() + Integer.parseInt(args[1]) * 1000000000L;

		for (int turn = 0; System.nanoTime() < end; turn++) {
			if (!pause.exists())
				serve(turn);
			Thread.sleep(1);
		}
	}
}
