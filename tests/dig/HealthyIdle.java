// SPDX-License-Identifier: Apache-2.0
// Little to do, and done quickly: pools that wait for work, a timer, short requests.
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class HealthyIdle {
	static volatile double kept;

	static void serve(int number) {
		double x = number;
		for (int i = 0; i < 60_000; i++)
			x = Math.sqrt(x + i);
		kept = x;
	}

	public static void main(String[] args) throws Exception {
		ScheduledExecutorService timer = Executors.newScheduledThreadPool(3);
		for (int i = 0; i < 5; i++) {
			int number = i;
			timer.scheduleAtFixedRate(() -> serve(number), 10 * i, 60, TimeUnit.MILLISECONDS);
		}
		Executors.newFixedThreadPool(4).submit(() -> kept++);
		Thread.sleep(1_000_000);
	}
}
