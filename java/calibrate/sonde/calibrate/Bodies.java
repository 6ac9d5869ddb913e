// SPDX-License-Identifier: Apache-2.0
package sonde.calibrate;

/**
 * Methods of several kinds and lengths, and loops that call them. Of this class copies are made: Plain
 * is never hooked, and the methods named body... of the others are, each in one way. So the same code
 * is measured with hooks and without.
 *
 * <p>The kinds: nothing; a chain in which each step needs the one before; several chains side by side;
 * loads that depend on each other; divisions, which take long while few instructions wait.
 */
final class Bodies {
    private static final int[] NEXT = Main.NEXT;
    /** Lengths that the compiler does not know: it would unroll loops, and move them past a hook. */
    private static int some = 6;

    private static int many = 70;
    private static int very = 700;

    private Bodies() {}

    static long bodyEmpty(long x) {
        return x + 1;
    }

    private static long shift(long x, int n) {
        for (int i = 0; i < n; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static long wide(long x, int n) {
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

    private static long chase(long x, int n) {
        int p = (int) x & (NEXT.length - 1);
        for (int i = 0; i < n; i++) {
            p = NEXT[p];
        }
        return p;
    }

    private static long divide(long x, int n) {
        double d = x | 1;
        for (int i = 0; i < n; i++) {
            d = 1.5 / d;
        }
        return Double.doubleToRawLongBits(d);
    }

    static long bodyShift1(long x) {
        return shift(x, some);
    }

    static long bodyShift2(long x) {
        return shift(x, many);
    }

    static long bodyShift3(long x) {
        return shift(x, very);
    }

    static long bodyWide1(long x) {
        return wide(x, some);
    }

    static long bodyWide2(long x) {
        return wide(x, many + 20);
    }

    static long bodyWide3(long x) {
        return wide(x, very + 200);
    }

    static long bodyChase1(long x) {
        return chase(x, some - 2);
    }

    static long bodyChase2(long x) {
        return chase(x, many - 30);
    }

    static long bodyChase3(long x) {
        return chase(x, very - 300);
    }

    static long bodyDivide1(long x) {
        return divide(x, some - 2);
    }

    static long bodyDivide2(long x) {
        return divide(x, many - 30);
    }

    static long bodyDivide3(long x) {
        return divide(x, very - 300);
    }

    /** Calls so short that a closed hook is felt: one in eight in eight. */
    static long bodyFan(long x) {
        for (int i = 0; i < 8; i++) {
            x += bodyFanned(x);
        }
        return x;
    }

    static long bodyFanned(long x) {
        for (int i = 0; i < 8; i++) {
            x = bodyTip(x);
        }
        return x;
    }

    static long bodyTip(long x) {
        return (x ^ x >>> 3) + 9;
    }

    static long bodyTree(long n) {
        return n == 0 ? 1 : bodyTree(n - 1) + bodyTree(n - 1);
    }

    interface Loop {
        long run(long x, int n);
    }

    /** A loop whose calls need each other's results, and one whose calls do not, of each body. */
    static final Loop[] LOOPS = {
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyEmpty(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyEmpty(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyShift1(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyShift1(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyShift2(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyShift2(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyShift3(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyShift3(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyWide1(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyWide1(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyWide2(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyWide2(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyWide3(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyWide3(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyChase1(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyChase1(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyChase2(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyChase2(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyChase3(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyChase3(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyDivide1(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyDivide1(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyDivide2(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyDivide2(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyDivide3(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x ^= bodyDivide3(i); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x = bodyFan(x); return x; },
        (x, n) -> { for (int i = 0; i < n; i++) x += bodyTree(some); return x; },
    };
}
