// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/** Three loops over each method: that of Bodies, that of Twin, and that of Third. Nobody hooks this class. */
final class Loops {
    interface Loop {
        long run(long x, int n);
    }

    static final Loop[] ALL = {
//@LOOPS
    };

    /** So many methods have others below them; they stand last. */
//@SHAPES

    private Loops() {}
}
