// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

/**
 * {@code steps N...} says how many steps the bodies have. {@code run MS} runs all loops in turn, in slices of some
 * milliseconds, for so long, and answers with how many pieces were timed, how many of these were dropped, and the others of
 * each loop, as ns a call and the number of calls: loops over Bodies, and right after or before each the same loops over
 * Twin and Third, which are the same code. One of them may be hooked then; this program does not know it. A piece is dropped in
 * which the thread had no processor for more than a hundredth: the system or the host of a virtual machine took it.
 */
public final class Main {
    static final byte[] BYTES = new byte[1 << 16];
    static final long[] LONGS = new long[1024];
    static final Link[] LINKS = links(1024);
    static int[] STEPS = new int[256];
    static volatile long sink;

    static final class Link {
        Link next;
        long value;
    }

    private static Link[] links(int n) {
        Random random = new Random(1);
        Link[] all = new Link[n];
        for (int i = 0; i < n; i++) {
            all[i] = new Link();
            all[i].value = random.nextInt();
        }
        int[] order = new int[n];
        for (int i = 0; i < n; i++) {
            int k = random.nextInt(i + 1);
            order[i] = order[k];
            order[k] = i;
        }
        for (int i = 0; i < n; i++) {
            all[order[i]].next = all[order[(i + 1) % n]];
        }
        random.nextBytes(BYTES);
        for (int i = 0; i < LONGS.length; i++) {
            LONGS[i] = random.nextLong();
        }
        return all;
    }

    private static double time(int i, int n) {
        long from = System.nanoTime();
        sink = Loops.ALL[i].run(sink, n);
        return (double) (System.nanoTime() - from) / n;
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** One slice; its pieces are kept. */
    private static void slice(int i, Pieces to) {
        boolean single = i < Loops.ALL.length - Loops.COPIES * Loops.SHAPES; // the others have many methods in them
        long end = System.nanoTime() + (single ? 1_000_000 : 3_000_000);
        do {
            long cpu = THREADS.getCurrentThreadCpuTime();
            double ns = time(i, to.calls);
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            if (ns * to.calls > 100_000) {
                timed++;
                if (cpu > 0.99 * ns * to.calls) {
                    to.add(ns, to.calls);
                } else {
                    dropped++;
                }
            }
            to.calls = (int) Math.max(1, Math.min(2_000_000, 300_000 / Math.max(ns, 0.1)));
        } while (System.nanoTime() < end);
    }

    private static final class Pieces {
        final StringBuilder all = new StringBuilder();
        int calls = 1;

        void add(double ns, int calls) {
            all.append(all.length() == 0 ? "" : ",").append(Math.round(ns * 1000) / 1000.0).append(':').append(calls);
        }
    }

    private static int at; // whose turn it is
    private static int first; // which of the copies begins
    private static int timed; // pieces
    private static int dropped;

    private static String run(long ms) {
        Pieces[] pieces = new Pieces[Loops.ALL.length];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new Pieces();
        }
        timed = dropped = 0;
        long end = System.nanoTime() + ms * 1_000_000;
        for (; System.nanoTime() < end; at = (at + Loops.COPIES) % pieces.length) {
            first = (first + (at == 0 ? 1 : 0)) % Loops.COPIES;
            for (int k = 0; k < Loops.COPIES; k++) {
                int i = at + (first + k) % Loops.COPIES;
                slice(i, pieces[i]);
            }
        }
        StringBuilder out = new StringBuilder("ran " + timed + " " + dropped);
        for (Pieces p : pieces) {
            out.append(' ').append(p.all.length() == 0 ? "-" : p.all);
        }
        return out.toString();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            if (word[0].equals("run")) {
                System.out.println(run(Long.parseLong(word[1])));
                continue;
            }
            for (int i = 1; i < word.length; i++) {
                STEPS[i - 1] = Integer.parseInt(word[i]);
            }
        }
    }
}
