// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Random;

/**
 * {@code run MS STEPS...} runs all loops in turn, in slices of some milliseconds, plain and hooked, for so
 * long; the numbers are steps of the bodies. It answers with one line a loop: the mean of the plain slices
 * and of the hooked ones, in ns a call. {@code names} of the loops are in the order of the class.
 */
public final class Main {
    static final byte[] BYTES = new byte[1024];
    static final long[] LONGS = new long[1024];
    static final Link[] LINKS = links(4096);
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

    private static double time(int i, boolean hooked, int n) {
        long from = System.nanoTime();
        sink = hooked ? Timed.LOOPS[i].run(sink, n) : Plain.LOOPS[i].run(sink, n);
        return (double) (System.nanoTime() - from) / n;
    }

    /** One slice; its pieces are kept. */
    private static final java.lang.management.ThreadMXBean THREADS =
            java.lang.management.ManagementFactory.getThreadMXBean();

    private static void slice(int i, boolean hooked, Pieces to) {
        boolean single = i < Plain.LOOPS.length - 4; // the others have many methods in them
        long end = System.nanoTime() + (single ? 4_000_000 : 30_000_000);
        do {
            long cpu = THREADS.getCurrentThreadCpuTime();
            double ns = time(i, hooked, to.calls);
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            if (ns * to.calls > 300_000 && cpu > 0.97 * ns * to.calls) { // it had the processor all the time
                to.add(ns);
            }
            to.calls = (int) Math.max(1, Math.min(200_000, 700_000 / Math.max(ns, 0.5)));
        } while (System.nanoTime() < end);
    }

    private static final class Pieces {
        double[] all = new double[4096];
        int n;
        int calls = 1;

        void add(double ns) {
            if (n < all.length) {
                all[n++] = ns;
            }
        }

        double mean() {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                sum += all[i];
            }
            return n == 0 ? 0 : sum / n;
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int loops = Plain.LOOPS.length;
        System.out.println("ready " + loops);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            Pieces[][] pieces = new Pieces[2][loops];
            for (int i = 0; i < loops; i++) {
                pieces[0][i] = new Pieces();
                pieces[1][i] = new Pieces();
            }
            for (int i = 2; i < word.length; i++) {
                STEPS[i - 2] = Integer.parseInt(word[i]);
            }
            long end = System.nanoTime() + Long.parseLong(word[1]) * 1_000_000;
            for (int i = 0; System.nanoTime() < end; i = (i + 1) % loops) {
                slice(i, false, pieces[0][i]);
                slice(i, true, pieces[1][i]);
            }
            StringBuilder out = new StringBuilder("ran");
            for (int i = 0; i < loops; i++) {
                out.append(' ').append(pieces[0][i].mean());
                out.append(' ').append(pieces[1][i].mean());
            }
            System.out.println(out);
        }
    }
}
