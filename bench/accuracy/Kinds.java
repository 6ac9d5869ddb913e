// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/**
 * What the methods of Bodies and its copies do: a hash over bytes, in which each step needs the one before; several sums side by side; a
 * list that is walked; square roots; and branches that cannot be foreseen. How many steps there are the compiler does
 * not know: it would unroll the loops. None of this code is that of the calibration. Nobody hooks this class, so it
 * keeps what the JVM has learned of it while those are woven and restored.
 */
final class Kinds {
    private static final byte[] BYTES = Main.BYTES;
    private static final long[] LONGS = Main.LONGS;
    private static int begun;

    private Kinds() {}

    static long doHash(long x, int n) {
        int h = (int) x;
        for (int i = 0; i < n; i++) {
            h = 31 * h + BYTES[(i + h) & 1023];
        }
        return h;
    }

    static long doSums(long x, int n) {
        long a = x;
        long b = ~x;
        int k = (int) x & 255;
        for (int i = 0; i < n; i++) {
            a += Long.rotateLeft(LONGS[(i + k) & 1023], 7) & b;
            b += Long.bitCount(LONGS[(i * 3 + k) & 1023]);
        }
        return a ^ b;
    }

    static long doWalk(long x, int n) {
        Main.Link at = Main.LINKS[(int) x & 1023];
        for (int i = 0; i < n; i++) {
            at = at.next;
        }
        return at.value;
    }

    static long doRoot(long x, int n) {
        double d = (x & 0xffff) + 2;
        for (int i = 0; i < n; i++) {
            d = Math.sqrt(d) + 1.25;
        }
        return (long) (d * 1000);
    }

    static long doBranch(long x, int n) {
        int state = (int) x & 3;
        int from = (int) (x * 31) + (begun += 1237); // else it may go round in circles that a processor learns by heart
        long sum = x;
        for (int i = 0; i < n; i++) {
            if ((BYTES[(i + from) & 65535] & 64) != 0) {
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
}
