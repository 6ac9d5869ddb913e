// SPDX-License-Identifier: Apache-2.0
package bench;

/** Loops over the hooked method eight calls deep; whoever wants to be inside takes the first few. */
public final class Chain implements Loop {
    @Override
    public long run(int n, long x) {
        return c1(n, x);
    }

    static long c1(int n, long x) {
        return c2(n, x);
    }

    static long c2(int n, long x) {
        return c3(n, x);
    }

    static long c3(int n, long x) {
        return c4(n, x);
    }

    static long c4(int n, long x) {
        return c5(n, x);
    }

    static long c5(int n, long x) {
        return c6(n, x);
    }

    static long c6(int n, long x) {
        return c7(n, x);
    }

    static long c7(int n, long x) {
        return c8(n, x);
    }

    static long c8(int n, long x) {
        for (; n > 0; n--) {
            x = Target.step(x + Gate.zero);
        }
        return x;
    }

    public Chain() {
        if (Boolean.getBoolean("hold")) {
            hold();
        }
    }

    @Override
    public void hold() {
        Thread t = new Thread(Chain::never);
        t.setDaemon(true);
        t.start();
    }

    /** Another thread is in this, or nobody. */
    static void never() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            // ends
        }
    }
}
