// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/**
 * The methods to be told right: one kind and length each, from 5 ns to 1 ms; calls that are nested, that fan
 * out, that recur. Copies of this class are Plain, which nobody hooks, Timed and Every.
 */
final class Bodies {
    private static final int[] NEXT = Main.NEXT;

    private Bodies() {}

    private static long doShift(long x, int n) {
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static long doWide(long x, int n) {
        long a = x;
        long b = x + 1;
        long c = x + 2;
        long d = x + 3;
        for (int i = 0; i < n; i++) {
            a = (a ^ i) * 31 + 7;
            b = (b ^ i) * 33 + 7;
            c = (c ^ i) * 35 + 7;
            d = (d ^ i) * 37 + 7;
        }
        return a ^ b ^ c ^ d;
    }

    private static long doChase(long x, int n) {
        int p = (int) x & (NEXT.length - 1);
        for (int i = 0; i < n; i++) {
            p = NEXT[p];
        }
        return p;
    }

    private static long doDivide(long x, int n) {
        double d = x | 1;
        for (int i = 0; i < n; i++) {
            d = 1.5 / d;
        }
        return Double.doubleToRawLongBits(d);
    }

    private static long doBranch(long x, int n) {
        for (int i = 0; i < n; i++) {
            x = (x & 8) != 0 ? x * 5 + 1 : (x >>> 1) + 0x123457;
        }
        return x;
    }

//@BODIES
    static long nest1(long x) { return doShift(x, 40); }
    static long nest2(long x) { return nest1(doShift(x, 40)); }
    static long nest3(long x) { return nest2(doShift(x, 40)); }
    static long nest4(long x) { return nest3(doShift(x, 40)); }
    static long nest5(long x) { return nest4(doShift(x, 40)); }
    static long nest6(long x) { return nest5(doShift(x, 40)); }
    static long nest7(long x) { return nest6(doShift(x, 40)); }
    static long nest8(long x) { return nest7(doShift(x, 40)); }
    static long nest9(long x) { return nest8(doShift(x, 40)); }
    static long nest10(long x) { return nest9(doShift(x, 40)); }

    static long fanLeaf(long x) {
        return x * 5 + 1;
    }

    static long fanMiddle(long x) {
        for (int i = 0; i < 10; i++) {
            x = fanLeaf(x);
        }
        return x;
    }

    static long fanTop(long x) {
        for (int i = 0; i < 10; i++) {
            x = fanMiddle(x);
        }
        return x;
    }

    static long fibOf(long n) {
        return n < 2 ? n : fibOf(n - 1) + fibOf(n - 2);
    }

    static long fibRoot(long x) {
        return fibOf(12) + x;
    }

    interface Loop {
        long run(long x, int n);
    }

    static final Loop[] LOOPS = {
//@LOOPS
    };
}
