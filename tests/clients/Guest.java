// SPDX-License-Identifier: Apache-2.0
// What tests/clients/run observes: threads that work and quarrel about a lock, and one, named
// "guest", that does what a line of the input says: "prepare" a class, "show" an object, "look" at
// the stack.
import java.io.BufferedReader;
import java.io.InputStreamReader;

public class Guest {
    static final class Late1 {}

    static final class Late2 {}

    static final class Late3 {}

    static final class Order {
        int number = 1;
        String customer = "somebody";
        Item item = new Item();
    }

    static final class Item {
        String name = "a thing";
        long price = 2;
    }

    static final class Inner1 {
        static {
            deep();
        }
    }

    static volatile long sum;
    static final Object lock = new Object();
    static int late;

    static int leaf(int i) {
        return i * 31 + 1;
    }

    static void round(int i) {
        for (int k = 0; k < 20000; k++) {
            sum += leaf(i + k);
        }
        synchronized (lock) {
            sum++;
        }
    }

    static void show(Order order) {
        sum += order.number;
    }

    static void deep() {
        sum++;
    }

    static void work() {
        for (int i = 0; ; i++) {
            round(i);
            if (i % 4 == 0) {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    static void act(String what) {
        try {
            switch (what) {
                case "prepare" -> Class.forName("Guest$Late" + ++late);
                case "show" -> show(new Order());
                case "look" -> Class.forName("Guest$Inner1");
                default -> throw new IllegalArgumentException(what);
            }
            System.out.println("done " + what);
        } catch (Throwable e) {
            System.out.println(e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(Guest::work, "work" + i);
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String what = line;
            if (what.equals("alive")) { // whatever the guest is at
                System.out.println("alive");
                continue;
            }
            Thread t = new Thread(() -> act(what), "guest");
            t.start();
        }
        System.out.println("ends");
    }
}
