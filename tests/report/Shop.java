// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/** Does as many rounds as it is told on its standard input, a line each; 0: a day in which time passes in all ways. */
public class Shop {
    static class Line {
        String sku = "a \"b\"\n\u001b[31m\u00e4\ud83d\ude00";
        int count = 3;
        String password = "tiger";
        Map<String, String> headers = Map.of("Authorization", "tiger");
    }

    /** Nothing of this may be called by whoever looks at it. */
    static class Shy {
        int value = 7;

        @Override
        public String toString() {
            System.out.println("touched");
            return "touched";
        }
    }

    /** Is never called, and cannot be hooked. */
    static native void nowhere();

    /** Cannot be used, and so not be hooked either. */
    static class Broken {
        static int value = 1 / Integer.parseInt("0");

        static void never() {
        }
    }

    static void breakDown() {
        try {
            Broken.never();
        } catch (ExceptionInInitializerError e) {
            System.err.println(e);
        }
    }

    static class Cart {
        final int id;
        final Line[] lines = {new Line(), new Line()};

        Cart(int id) {
            this.id = id;
        }

        boolean checkout(String coupon, long[] more, Shy shy) {
            total();
            total(coupon);
            deeper(3);
            if (id % 10 == 0) {
                throw new IllegalStateException("out of stock: " + id);
            }
            return true;
        }

        int total() {
            return price(lines[0]) + price(lines[1]);
        }

        int total(String coupon) {
            return coupon == null ? 0 : total();
        }

        void deeper(int n) {
            if (n > 0) {
                deeper(n - 1);
            }
        }
    }

    static int price(Line line) {
        return line.count * 7;
    }

    static void round(int id) {
        try {
            new Cart(id).checkout(id % 2 == 0 ? "SALE" : null, new long[] {1, id}, new Shy());
        } catch (IllegalStateException e) {
            // every tenth
        }
    }

    /** Each does one thing with its time: 100 ms, but for what runs. */
    static class Day {
        static final Object door = new Object();
        static volatile boolean closed;
        static volatile long sum;

        /** Another thread has the monitor, and keeps it for 100 ms from when this one stands at it. */
        static void blocked() throws InterruptedException {
            Thread self = Thread.currentThread();
            Thread other = new Thread(() -> {
                synchronized (door) {
                    closed = true;
                    while (self.getState() != Thread.State.BLOCKED) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    parks();
                }
            });
            closed = false;
            other.start();
            while (!closed) {
                Thread.onSpinWait();
            }
            enter();
            other.join();
        }

        static void enter() {
            synchronized (door) {
                sum++;
            }
        }

        static void waits() throws InterruptedException {
            synchronized (door) {
                door.wait(100);
            }
        }

        static void sleeps() throws InterruptedException {
            Thread.sleep(100);
        }

        static void parks() {
            long until = System.nanoTime() + 100_000_000;
            for (long left = 100_000_000; left > 0; left = until - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }

        /** So long on the processor as it takes, by the thread's own clock. */
        static void runs() {
            ThreadMXBean clock = ManagementFactory.getThreadMXBean();
            long until = clock.getCurrentThreadCpuTime() + 100_000_000;
            while (clock.getCurrentThreadCpuTime() < until) {
                sum++;
            }
        }

        /** With more of these than processors, each stands in line. */
        static void crowd() throws InterruptedException {
            Thread[] all = new Thread[Runtime.getRuntime().availableProcessors() + 1];
            for (int i = 0; i < all.length; i++) {
                all[i] = new Thread(Day::runs);
                all[i].start();
            }
            for (Thread t : all) {
                t.join();
            }
        }

        static void whole() throws InterruptedException {
            blocked();
            waits();
            sleeps();
            parks();
            runs();
            crowd();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        breakDown();
        Scanner in = new Scanner(System.in);
        System.out.println("ready");
        while (in.hasNextInt()) {
            int n = in.nextInt();
            if (n == 0) {
                Day.whole();
            }
            for (int id = 1; id <= n; id++) {
                round(id);
            }
            System.out.println("done " + n);
        }
    }
}
