// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread that completes what others wait for, as one for network events does. */
final class Outside {
    private static final LinkedBlockingQueue<CompletableFuture<Integer>> QUEUE =
            new LinkedBlockingQueue<>();

    private Outside() {}

    static void begin() {
        Thread t =
                new Thread(
                        () -> {
                            try {
                                while (true) {
                                    CompletableFuture<Integer> f = QUEUE.take();
                                    Thread.sleep(3);
                                    f.complete(1);
                                }
                            } catch (InterruptedException e) {
                                // the end
                            }
                        },
                        "outside");
        t.setDaemon(true);
        t.start();
    }

    static void complete(CompletableFuture<Integer> f) {
        QUEUE.add(f);
    }
}
