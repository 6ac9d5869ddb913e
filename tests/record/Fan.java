// SPDX-License-Identifier: Apache-2.0

/** Calls that fan out and a recursion; then waits for a line, and ends. */
public class Fan {
    static long sink;

    static long leaf(long x) {
        for (int i = 0; i < 40; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long middle(long x) {
        for (int i = 0; i < 10; i++) {
            x = leaf(x);
        }
        return x;
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static void work() {
        for (int i = 0; i < 300; i++) {
            sink = middle(i);
            sink += fib(10);
        }
    }

    public static void main(String[] args) throws Exception {
        work();
        System.out.println("done");
        System.in.read();
    }
}
