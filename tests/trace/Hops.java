// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Hands work over in all the ways that a JDK has. Each way is a root of its own, whose other parts
 * call {@code step} once each; a line of input names the way and how often.
 */
public final class Hops {
    private static final ExecutorService POOL = Executors.newFixedThreadPool(3);
    private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(2);
    private static final ForkJoinPool FORKS = new ForkJoinPool(3);
    private static final ExecutorService CALLERS = Executors.newFixedThreadPool(50);

    private Hops() {}

    static void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static int step(int n) {
        pause(2);
        return n;
    }

    static void execute(int n) throws Exception {
        CountDownLatch done = new CountDownLatch(2);
        for (int k = 0; k < 2; k++) {
            POOL.execute(
                    () -> {
                        step(1);
                        done.countDown();
                    });
        }
        done.await();
    }

    static void submit(int n) throws Exception {
        Future<Integer> a = POOL.submit(() -> step(1));
        Future<?> b = POOL.submit((Runnable) () -> step(2));
        a.get();
        b.get();
    }

    static void all(int n) throws Exception {
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int k = 0; k < 3; k++) {
            tasks.add(() -> step(1));
        }
        for (Future<Integer> f : POOL.invokeAll(tasks)) {
            f.get();
        }
    }

    static void schedule(int n) throws Exception {
        Future<Integer> a = TIMER.schedule(() -> step(1), 5, TimeUnit.MILLISECONDS);
        a.get();
    }

    static void thread(int n) throws Exception {
        Thread a = new Thread(() -> step(1));
        Thread b =
                new Thread() {
                    @Override
                    public void run() {
                        step(2);
                    }
                };
        a.start();
        b.start();
        a.join();
        b.join();
    }

    static final class Sum extends RecursiveTask<Integer> {
        private final int depth;

        Sum(int depth) {
            this.depth = depth;
        }

        @Override
        protected Integer compute() {
            if (depth == 0) {
                return step(1);
            }
            Sum a = new Sum(depth - 1);
            Sum b = new Sum(depth - 1);
            a.fork();
            return b.compute() + a.join();
        }
    }

    static void forks(int n) throws Exception {
        if (FORKS.invoke(new Sum(2)) != 4) {
            throw new IllegalStateException();
        }
    }

    static void future(int n) throws Exception {
        CompletableFuture.supplyAsync(() -> step(1))
                .thenApplyAsync(x -> step(x + 1), POOL)
                .thenApply(x -> step(x + 1))
                .get();
    }

    /** The thread that completes it is in no transaction. */
    static void completed(int n) throws Exception {
        CompletableFuture<Integer> first = new CompletableFuture<>();
        CompletableFuture<Integer> then = first.thenApply(x -> step(x));
        Outside.complete(first);
        then.get();
    }

    /** What one task hands over is in the transaction, too. */
    static void chain(int n) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        POOL.execute(
                () -> {
                    step(1);
                    POOL.execute(
                            () -> {
                                step(2);
                                done.countDown();
                            });
                });
        done.await();
    }

    /** The root ends before its work does. */
    static void forget(int n) {
        POOL.execute(() -> step(1));
    }

    static void fails(int n) {
        step(1);
        throw new IllegalArgumentException("on purpose");
    }

    static void virtual(int n) throws Exception {
        Newer.virtual();
    }

    static void perTask(int n) throws Exception {
        Newer.perTask();
    }

    static void scope(int n) throws Exception {
        Newer.scope();
    }

    /** Many at once: each is the only one with its number of steps below mark. */
    static void mixed(int n) throws Exception {
        mark(n);
        CompletableFuture<Void> a = CompletableFuture.runAsync(() -> mark(n), POOL);
        Future<?> b = FORKS.submit(() -> mark(n));
        a.get();
        b.get();
        mark(n);
    }

    private static void mark(int n) {
        switch (n % 4) {
            case 0:
                zero();
                break;
            case 1:
                one();
                break;
            case 2:
                two();
                break;
            default:
                three();
        }
    }

    static void zero() {}

    static void one() {}

    static void two() {}

    static void three() {}

    static void run(String way, int n) throws Exception {
        switch (way) {
            case "execute" -> execute(n);
            case "submit" -> submit(n);
            case "all" -> all(n);
            case "schedule" -> schedule(n);
            case "thread" -> thread(n);
            case "forks" -> forks(n);
            case "future" -> future(n);
            case "completed" -> completed(n);
            case "chain" -> chain(n);
            case "forget" -> forget(n);
            case "virtual" -> virtual(n);
            case "perTask" -> perTask(n);
            case "scope" -> scope(n);
            case "mixed" -> mixed(n);
            case "fails" -> {
                try {
                    fails(n);
                } catch (IllegalArgumentException e) {
                    // on purpose
                }
            }
            default -> throw new IllegalArgumentException(way);
        }
    }

    public static void main(String[] args) throws Exception {
        java.util.Scanner in = new java.util.Scanner(System.in);
        Outside.begin();
        POOL.submit(() -> step(0)).get(); // workers that are there before the hooks
        System.out.println("ready");
        while (in.hasNext()) {
            String way = in.next();
            int times = in.nextInt();
            if (times == 1) {
                run(way, 1);
            } else {
                List<Future<?>> all = new ArrayList<>();
                for (int k = 0; k < times; k++) {
                    int n = k;
                    all.add(
                            CALLERS.submit(
                                    () -> {
                                        run(way, n);
                                        return null;
                                    }));
                }
                for (Future<?> f : all) {
                    f.get();
                }
            }
            System.out.println("done " + way);
        }
        System.exit(0);
    }
}
