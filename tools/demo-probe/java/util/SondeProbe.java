// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * A probe in plain Java for the demonstration: it stands in for the C one where no agent is loaded.
 * Counts calls and self time of each id on the thread that calls first, and writes
 * "self-ns calls id" lines to the file in -Dsonde.demo when the JVM ends.
 */
public final class SondeProbe {
    private static final int IDS = 1 << 18, DEPTH = 1 << 14;
    private static final long[] calls = new long[IDS], self = new long[IDS];
    private static final int[] stack = new int[DEPTH];
    private static Thread only;
    private static int depth;
    private static long last;

    private SondeProbe() {}

    private static boolean mine() {
        Thread now = Thread.currentThread();
        if (only == null) {
            only = now;
            Runtime.getRuntime().addShutdownHook(new Thread(SondeProbe::write));
        }
        return only == now;
    }

    /** The token is the depth: whatever became of the calls below, exit() finds its own place. */
    public static long enter(int id) {
        if (!mine()) return 0;
        long now = System.nanoTime();
        if (depth > 0 && depth <= DEPTH) self[stack[depth - 1]] += now - last;
        if (depth < DEPTH) stack[depth] = id;
        depth++;
        calls[id]++;
        last = now;
        return depth;
    }

    public static void exit(int id, long token, Throwable thrown) {
        if (token == 0) return;
        long now = System.nanoTime();
        self[id] += now - last;
        depth = (int) token - 1;
        last = now;
    }

    private static void write() {
        String file = System.getProperty("sonde.demo");
        if (file == null) return;
        try (java.io.PrintStream out = new java.io.PrintStream(file)) {
            for (int id = 0; id < IDS; id++)
                if (calls[id] > 0) out.println(self[id] + " " + calls[id] + " " + id);
        } catch (java.io.IOException e) {
            // a demonstration without its report is told by the script
        }
    }
}
