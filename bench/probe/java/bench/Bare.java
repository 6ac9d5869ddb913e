// SPDX-License-Identifier: Apache-2.0
package bench;

/** As Target, and nobody hooks it. */
final class Bare {
    private Bare() {}

    /** Some 2 ns: each operation needs the result of the one before. */
    static long step(long x) {
        x ^= x << 13;
        x ^= x >>> 7;
        return x ^ (x << 17);
    }

    /** Some 20 to 500 ns, by its argument. */
    static long work(long x) {
        for (int k = 8 + (int) (x & 255); k > 0; k--) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }
}
