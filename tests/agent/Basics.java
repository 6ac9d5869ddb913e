// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Calls whose number is known, among everything that upsets a shadow stack: exceptions, overflow,
 * lack of memory, threads that end, other programs, and the end of the JVM itself. The nested
 * classes are hooked.
 */
public final class Basics {
    static final class Fib {
        static int fib(int n) {
            return n < 2 ? n : fib(n - 1) + fib(n - 2);
        }
    }

    static final class Throws {
        static void down(int n) {
            if (n == 0) {
                throw new IllegalStateException("bottom");
            }
            down(n - 1);
        }

        static int catches(int rounds) {
            int n = 0;
            for (int k = 0; k < rounds; k++) {
                try {
                    down(50);
                } catch (IllegalStateException e) {
                    n++;
                }
            }
            return n;
        }

        static int rethrows(int n) {
            try {
                down(n);
                return 0;
            } catch (IllegalStateException e) {
                throw new IllegalArgumentException(e);
            } finally {
                ended();
            }
        }

        static void ended() {}
    }

    static final class Over {
        static int deep(int n) {
            return deep(n + 1) + 1;
        }

        static int stubborn(int n) {
            try {
                return stubborn(n + 1);
            } catch (StackOverflowError e) {
                leaf();
                return n;
            }
        }

        static void leaf() {}

        static synchronized int locked(int n) {
            return locked(n + 1) + 1;
        }
    }

    static final class After {
        static void outer() {
            inner();
        }

        static void inner() {}
    }

    static final class Memory {
        static long[] huge() {
            return new long[Integer.MAX_VALUE - 8];
        }

        static void fill(List<byte[]> list) {
            while (true) {
                list.add(piece());
            }
        }

        static byte[] piece() {
            return new byte[1 << 20];
        }
    }

    static final class Short {
        static void run() {
            step();
            step();
        }

        static void step() {}
    }

    static final class Hot {
        static int value;

        static void inc() {
            value++;
        }
    }

    static final class Other {
        static String run(String... command) throws Exception {
            Process p = new ProcessBuilder(command).start();
            String said = new String(p.getInputStream().readAllBytes()).strip();
            return said + " " + p.waitFor();
        }
    }

    static final class Deep {
        static int down(int n) {
            return n == 0 ? 0 : down(n - 1) + 1;
        }
    }

    static final class End {
        static void sleeper(CountDownLatch up) throws InterruptedException {
            up.countDown();
            Thread.sleep(1_000_000);
        }

        static void spin() {
            while (true) {
                turn();
            }
        }

        static void turn() {
            Thread.onSpinWait();
        }

        static void last() {}
    }

    private static void after() {
        for (int k = 0; k < 1000; k++) {
            After.outer();
        }
    }

    private static void overflow() throws Exception {
        for (int k = 0; k < 3; k++) {
            try {
                Over.deep(0);
            } catch (StackOverflowError e) {
                System.out.println("overflow " + k);
            }
            try {
                Over.stubborn(0);
            } catch (StackOverflowError e) {
                // is allowed to get out
            }
            try {
                Over.locked(0);
            } catch (StackOverflowError e) {
                System.out.println("locked " + Thread.holdsLock(Over.class));
            }
            after();
        }
    }

    private static void memory() {
        for (int k = 0; k < 20; k++) {
            try {
                Memory.huge();
                System.out.println("there was room");
            } catch (OutOfMemoryError e) {
                // as it should be
            }
        }
        for (int k = 0; k < 3; k++) {
            List<byte[]> list = new ArrayList<>();
            try {
                Memory.fill(list);
            } catch (OutOfMemoryError e) {
                list = null;
            }
            System.out.println("filled " + k);
        }
        after();
    }

    private static void threads() throws Exception {
        for (int batch = 0; batch < 50; batch++) {
            Thread[] list = new Thread[20];
            for (int k = 0; k < list.length; k++) {
                list[k] = new Thread(Short::run);
                list[k].start();
            }
            for (Thread t : list) {
                t.join();
            }
        }
        Thread[] hot = new Thread[4];
        for (int k = 0; k < hot.length; k++) {
            hot[k] =
                    new Thread(
                            () -> {
                                for (int n = 0; n < 250_000; n++) {
                                    Hot.inc();
                                }
                            });
            hot[k].start();
        }
        for (Thread t : hot) {
            t.join();
        }
        Thread deep = new Thread(null, () -> Deep.down(20_000), "deep", 256 << 20);
        deep.start();
        deep.join();
    }

    private static void wants() {
        Want.calls("Basics$Fib.fib(I)I", 242785);
        Want.that("Basics$Fib", "errors", "=", 0);
        Want.calls("Basics$Throws.down(I)V", 100 * 51 + 10 * 6);
        Want.that("Basics$Throws.down(I)V", "errors", "=", 100 * 51 + 10 * 6);
        Want.that("Basics$Throws.catches(I)I", "errors", "=", 0);
        Want.that("Basics$Throws.rethrows(I)I", "errors", "=", 10);
        Want.calls("Basics$Throws.ended()V", 10);
        // Calls deeper than the probe's stack that never told their end are not found.
        Want.that("Basics$Over", "active", "<", 50);
        Want.calls("Basics$After.outer()V", 4000);
        Want.calls("Basics$After.inner()V", 4000);
        Want.that("Basics$After", "errors", "=", 0);
        Want.that("Basics$After", "active", "=", 0);
        Want.calls("Basics$Memory.huge()[J", 20);
        Want.that("Basics$Memory.huge()[J", "errors", "=", 20);
        Want.that("Basics$Memory.fill(Ljava/util/List;)V", "errors", "=", 3);
        Want.calls("Basics$Short.run()V", 1000);
        Want.calls("Basics$Short.step()V", 2000);
        Want.calls("Basics$Hot.inc()V", 1_000_000);
        Want.calls("Basics$Other.run([Ljava/lang/String;)Ljava/lang/String;", 5);
        Want.calls("Basics$Deep.down(I)I", 20_001);
        Want.that("Basics$Deep.down(I)I", "active", "=", 0);
        Want.calls("Basics$End.sleeper(Ljava/util/concurrent/CountDownLatch;)V", 1);
        Want.that("Basics$End.sleeper(Ljava/util/concurrent/CountDownLatch;)V", "active", "=", 1);
        Want.calls("Basics$End.spin()V", 1);
        Want.calls("Basics$End.last()V", 1);
    }

    private static void daemon(Thread t) {
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        System.out.println(Fib.fib(25));
        System.out.println(Throws.catches(100));
        for (int k = 0; k < 10; k++) {
            try {
                Throws.rethrows(5);
            } catch (IllegalArgumentException e) {
                System.out.print(e.getCause().getMessage() + " ");
            }
        }
        overflow();
        memory();
        threads();
        for (int k = 0; k < 5; k++) {
            System.out.println(Other.run("sh", "-c", "echo from another program; exit " + k));
        }
        wants();
        CountDownLatch up = new CountDownLatch(1);
        daemon(
                new Thread(
                        () -> {
                            try {
                                End.sleeper(up);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        }));
        daemon(new Thread(End::spin));
        up.await();
        Thread.sleep(100);
        Runtime.getRuntime().addShutdownHook(new Thread(End::last));
        System.exit(7);
    }
}
