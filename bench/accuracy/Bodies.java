// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/**
 * The methods to be told right: one kind and length each, from 5 ns to 1 ms; calls that are nested, that fan
 * out, that recur; and a mix of which many short calls are the least part. Copies of this class are Plain,
 * which nobody hooks, and Timed. None of this code is that of the calibration.
 *
 * <p>The kinds: a hash over bytes, in which each step needs the one before; several sums side by side; a list
 * that is walked; square roots; and branches that cannot be foreseen. How many steps there are the compiler does not
 * know: it would unroll the loops.
 */
final class Bodies {
    private static final byte[] BYTES = Main.BYTES;
    private static final long[] LONGS = Main.LONGS;

    private Bodies() {}

    private static long doHash(long x, int n) {
        int h = (int) x;
        for (int i = 0; i < n; i++) {
            h = 31 * h + BYTES[(i + h) & 1023];
        }
        return h;
    }

    private static long doSums(long x, int n) {
        long a = x;
        long b = ~x;
        int k = (int) x & 255;
        for (int i = 0; i < n; i++) {
            a += Long.rotateLeft(LONGS[(i + k) & 1023], 7) & b;
            b += Long.bitCount(LONGS[(i * 3 + k) & 1023]);
        }
        return a ^ b;
    }

    private static long doWalk(long x, int n) {
        Main.Link at = Main.LINKS[(int) x & 4095];
        for (int i = 0; i < n; i++) {
            at = at.next;
        }
        return at.value;
    }

    private static long doRoot(long x, int n) {
        double d = (x & 0xffff) + 2;
        for (int i = 0; i < n; i++) {
            d = Math.sqrt(d) + 1.25;
        }
        return (long) (d * 1000);
    }

    private static long doBranch(long x, int n) {
        int state = (int) x & 3;
        long sum = x;
        for (int i = 0; i < n; i++) {
            if ((BYTES[(i + (int) sum) & 1023] & 64) != 0) {
                state = (state + 1) & 3;
                sum += state;
            } else if (state == 2) {
                sum = sum * 3 + 1;
            } else {
                sum ^= i;
            }
        }
        return sum;
    }

//@BODIES
    static long nest1(long x) { return doHash(x, Main.STEPS[0]); }
    static long nest2(long x) { return nest1(doHash(x, Main.STEPS[0])); }
    static long nest3(long x) { return nest2(doHash(x, Main.STEPS[0])); }
    static long nest4(long x) { return nest3(doHash(x, Main.STEPS[0])); }
    static long nest5(long x) { return nest4(doHash(x, Main.STEPS[0])); }
    static long nest6(long x) { return nest5(doHash(x, Main.STEPS[0])); }
    static long nest7(long x) { return nest6(doHash(x, Main.STEPS[0])); }
    static long nest8(long x) { return nest7(doHash(x, Main.STEPS[0])); }
    static long nest9(long x) { return nest8(doHash(x, Main.STEPS[0])); }
    static long nest10(long x) { return nest9(doHash(x, Main.STEPS[0])); }

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
        return fibOf(12) + (x & 7);
    }

    /** Ten methods of which the one that is called most often takes least. */
//@MIX
    interface Loop {
        long run(long x, int n);
    }

    static final Loop[] LOOPS = {
//@LOOPS
    };
}
