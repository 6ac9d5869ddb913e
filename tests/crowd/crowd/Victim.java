// SPDX-License-Identifier: Apache-2.0
package crowd;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A busy program that knows the right result of all its work.  The results are found out before anybody looks at it;
 * afterwards each job is done again and again, and a result that differs is told, as is any exception.
 *
 * It prints what its input asks for, and nothing else unless something is wrong:
 * "go" begins the work, "rest" ends it, "rounds" tells how often each job was done.  It ends with its input. */
public class Victim {
	private static final int SIZES = 40;

	private static volatile boolean busy;
	private static final AtomicLong wrongs = new AtomicLong();
	private static final List<Worker> workers = new ArrayList<>();

	static void wrong(String what) {
		if (wrongs.incrementAndGet() <= 20)
			System.out.println("wrong: " + what);
	}

	static class Worker extends Thread {
		final Job job;
		final long[] right = new long[SIZES];
		volatile long rounds;
		volatile boolean rests = true;

		Worker(Job job) throws Exception {
			super(job.getClass().getSimpleName());
			this.job = job;
			setDaemon(true);
			for (int n = 0; n < SIZES; n++)
				right[n] = job.run(n);
		}

		@Override
		public void run() {
			for (int n = 0;; n = (n + 1) % SIZES) {
				try {
					rest();
					once(n);
					Thread.sleep(job instanceof Jobs.Loads ? 25 : 2);
				} catch (Throwable t) {
					wrong(getName() + "(" + n + "): " + t);
					StackTraceElement[] at = t.getStackTrace();
					for (int i = 0; i < at.length && i < 20; i++)
						System.out.println("  " + at[i]);
				}
			}
		}

		void once(int n) throws Exception {
			long is = job.run(n);
			if (is != right[n])
				wrong(getName() + "(" + n + ") is " + is + ", not " + right[n]);
			rounds++;
		}

		void rest() throws InterruptedException {
			while (!busy) {
				rests = true;
				Thread.sleep(10);
			}
			rests = false;
		}
	}

	static String rounds() {
		StringBuilder s = new StringBuilder("rounds");
		for (Worker w : workers)
			s.append(' ').append(w.getName()).append('=').append(w.rounds);
		return s.toString();
	}

	static void obey(String line) throws InterruptedException {
		switch (line) {
		case "go":
			busy = true;
			break;
		case "rest":
			busy = false;
			for (Worker w : workers)
				while (!w.rests)
					Thread.sleep(10);
			System.out.println("rests");
			break;
		default:
			System.out.println(rounds());
		}
	}

	public static void main(String[] args) throws Exception {
		List<Job> jobs = new ArrayList<>(List.of(new Jobs.Calls(), new Jobs.Throws(), new Jobs.Locks(), new Jobs.Locks(),
			new Jobs.Pools(), new Jobs.Garbage(), new Jobs.Deep(), new Jobs.Loads(), new Jobs.Threads(), new Jobs.Queue(),
			new Jobs.Ways(), new Jobs.Sockets()));
		if (Runtime.version().feature() >= 21)
			jobs.add((Job)Class.forName("crowd.Virtual").getDeclaredConstructor().newInstance());
		String port = System.getProperty("crowd.web");
		if (port != null) {
			Web.start(port);
			for (int i = 0; i < 3; i++)
				jobs.add(new Web(port));
		}
		for (Job job : jobs)
			workers.add(new Worker(job));
		workers.forEach(Thread::start);
		System.out.println("ready");
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line; (line = in.readLine()) != null;)
			obey(line);
		System.out.println("ends, " + wrongs.get() + " wrong");
		System.exit(0); // Tomcat has threads that would go on
	}
}
