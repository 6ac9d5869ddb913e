// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * {@code steps N...} says how many steps the bodies have. {@code run MS} runs all loops in turn, in slices of some
 * milliseconds, for so long, and answers with what a call took in each of them, in ns: loops over Bodies, and right after
 * or before each the same loop over Twin, which is the same code. One of these two may be hooked then; this program does not know it.
 * Figures are means of the pieces that were timed, but for those that are far out: the machine is shared.
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
        boolean single = i < Loops.ALL.length - 2 * Loops.SHAPES; // the others have many methods in them
        long end = System.nanoTime() + (single ? 1_000_000 : 3_000_000);
        do {
            long cpu = THREADS.getCurrentThreadCpuTime();
            double ns = time(i, to.calls);
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            if (ns * to.calls > 100_000 && cpu > 0.97 * ns * to.calls) { // it had the processor all the time
                to.add(ns, to.calls);
            }
            to.calls = (int) Math.max(1, Math.min(200_000, 300_000 / Math.max(ns, 0.5)));
        } while (System.nanoTime() < end);
    }

    private static final class Pieces {
        final List<double[]> all = new ArrayList<>(); // ns a call, and calls
        int calls = 1;

        void add(double ns, int calls) {
            all.add(new double[] {ns, calls});
        }

        /** Of all calls. Far out: farther from the middle half than three times its width; a tenth at each end, at most. */
        double mean() {
            int n = all.size();
            if (n == 0) {
                return 0;
            }
            all.sort(Comparator.comparingDouble(p -> p[0]));
            int from = 0;
            int to = n;
            double low = all.get(n / 4)[0];
            double high = all.get(n - 1 - n / 4)[0];
            while (from < n / 10 && all.get(from)[0] < low - 3 * (high - low)) {
                from++;
            }
            while (n - to < n / 10 && all.get(to - 1)[0] > high + 3 * (high - low)) {
                to--;
            }
            double ns = 0;
            double calls = 0;
            for (double[] p : all.subList(from, to)) {
                ns += p[0] * p[1];
                calls += p[1];
            }
            return ns / calls;
        }
    }

    private static int at; // whose turn it is
    private static int first; // which of the two copies begins

    private static String run(long ms) {
        Pieces[] pieces = new Pieces[Loops.ALL.length];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new Pieces();
        }
        long end = System.nanoTime() + ms * 1_000_000;
        for (; System.nanoTime() < end; at = (at + 2) % pieces.length) {
            first ^= at == 0 ? 1 : 0;
            slice(at + first, pieces[at + first]);
            slice(at + 1 - first, pieces[at + 1 - first]);
        }
        StringBuilder out = new StringBuilder("ran");
        for (Pieces p : pieces) {
            out.append(' ').append(p.mean());
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
