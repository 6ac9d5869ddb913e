// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Virtual threads that block inside hooked methods, at several depths, and very many that do not.
 * The program times its naps itself; the nested classes are hooked.
 */
public final class Virtual {
    static final int NAPS = 10_000;
    static final int MANY = 1_000_000;
    static final long NAP_MS = 50;

    static final class Nap {
        static void nap() throws InterruptedException {
            Thread.sleep(Duration.ofMillis(NAP_MS));
        }

        static void twice() throws InterruptedException {
            outer();
            outer();
        }

        static void outer() throws InterruptedException {
            before();
            nap();
            before();
        }

        static void before() {}

        static void fails() throws InterruptedException {
            nap();
            throw new IllegalStateException();
        }
    }

    static final class Tiny {
        static void call(AtomicInteger n) {
            n.incrementAndGet();
        }
    }

    private static void naps() throws Exception {
        LongAdder spent = new LongAdder();
        List<Thread> all = new ArrayList<>();
        for (int k = 0; k < NAPS; k++) {
            boolean fails = k % 10 == 0;
            all.add(
                    Thread.startVirtualThread(
                            () -> {
                                try {
                                    long begin = System.nanoTime();
                                    Nap.twice();
                                    spent.add(System.nanoTime() - begin);
                                    if (fails) {
                                        Nap.fails();
                                    }
                                } catch (InterruptedException | IllegalStateException e) {
                                    // as it should be
                                }
                            }));
        }
        for (Thread t : all) {
            t.join();
        }
        Want.calls("Virtual$Nap.twice()V", NAPS);
        Want.calls("Virtual$Nap.outer()V", 2 * NAPS);
        Want.calls("Virtual$Nap.before()V", 4 * NAPS);
        Want.calls("Virtual$Nap.nap()V", 2 * NAPS + NAPS / 10);
        Want.calls("Virtual$Nap.fails()V", NAPS / 10);
        Want.that("Virtual$Nap.fails()V", "errors", "=", NAPS / 10);
        Want.that("Virtual$Nap.outer()V", "errors", "=", 0);
        Want.that("Virtual$Nap", "active", "=", 0);
        Want.that("Virtual$Nap.twice()V", "min_ns", ">", 2 * NAP_MS * 1_000_000);
        Want.that("Virtual$Nap.outer()V", "min_ns", ">", NAP_MS * 1_000_000);
        Want.that("Virtual$Nap.nap()V", "min_ns", ">", NAP_MS * 1_000_000);
        Want.that("Virtual$Nap.twice()V", "avg", "~", spent.sum() / NAPS);
    }

    private static void many() throws Exception {
        AtomicInteger n = new AtomicInteger();
        Semaphore room = new Semaphore(10_000);
        try (ExecutorService e = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int k = 0; k < MANY; k++) {
                room.acquire();
                e.execute(
                        () -> {
                            Tiny.call(n);
                            room.release();
                        });
            }
        }
        System.out.println(n.get());
        Want.calls("Virtual$Tiny.call(Ljava/util/concurrent/atomic/AtomicInteger;)V", MANY);
        Want.that("Virtual$Tiny", "active", "=", 0);
    }

    public static void main(String[] args) throws Exception {
        naps();
        many();
    }
}
