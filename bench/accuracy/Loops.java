// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

/** A loop over each method of Bodies. Nobody hooks this class. */
final class Loops {
    interface Loop {
        long run(long x, int n);
    }

    static final Loop[] ALL = {
//@LOOPS
    };

    private Loops() {}
}
