// Requests of two users; the work for each is done by other threads.
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

public class Cross {
	static final ExecutorService pool = Executors.newFixedThreadPool(3);
	static final AtomicLong done = new AtomicLong();

	static void pooled(int n) {
		done.addAndGet(n);
	}

	static void later(int n) {
		done.addAndGet(n);
	}

	static void started(int n) {
		done.addAndGet(n);
	}

	static void handle(String user, int n) throws Exception {
		pool.submit(() -> pooled(n)).get();
		CompletableFuture.runAsync(() -> later(n)).get();
		Thread t = new Thread(() -> started(n));
		t.start();
		t.join();
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		while (System.in.read() == '\n') {
			for (int i = 0; i < 30; i++)
				handle(i % 3 == 0 ? "alice" : "bob", 1);
			System.out.println("done " + done.get());
		}
		pool.shutdown();
	}
}
