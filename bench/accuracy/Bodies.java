// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/**
 * The methods to be told right: one kind and length each, from 5 ns to 1 ms; calls that are nested, that fan
 * out, that recur; and a mix of which many short calls are the least part. Twin and Third are this class under other names.
 */
final class Bodies {
    private Bodies() {}

//@BODIES
    static long nest1(long x) { return Kinds.doHash(x, Main.STEPS[0]); }
    static long nest2(long x) { return nest1(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest3(long x) { return nest2(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest4(long x) { return nest3(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest5(long x) { return nest4(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest6(long x) { return nest5(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest7(long x) { return nest6(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest8(long x) { return nest7(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest9(long x) { return nest8(Kinds.doHash(x, Main.STEPS[0])); }
    static long nest10(long x) { return nest9(Kinds.doHash(x, Main.STEPS[0])); }

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

    /** Ten methods of which the one that is called most often takes least; these have no loops of their own. */
//@MIX
}
