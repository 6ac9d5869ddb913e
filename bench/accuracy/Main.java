// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Random;

/**
 * {@code steps N...} says how many steps the bodies have. {@code run MS} runs all loops in turn, in slices of some
 * milliseconds, for so long, and answers with numbers in ns: what so many steps of each kind took meanwhile, called from here, where
 * nobody hooks anything, which says how fast the machine was for such work; and what a call took in each of the loops. These
 * are means of the pieces that were timed, but for those that are far out: the machine is shared. It does not know
 * whether the methods are hooked.
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

    private static int references;

    /** Always the same work, some 50 to 100 us; not from the same place, which a processor would learn by heart. */
    private static double reference(int kind) {
        long x = 7919L * references++;
        long from = System.nanoTime();
        switch (kind) {
            case 0:
                sink = Kinds.doHash(x, 25_000);
                break;
            case 1:
                sink = Kinds.doSums(x, 25_000);
                break;
            case 2:
                sink = Kinds.doWalk(x, 10_000);
                break;
            case 3:
                sink = Kinds.doRoot(x, 10_000);
                break;
            default:
                sink = Kinds.doBranch(x, 10_000);
                break;
        }
        return System.nanoTime() - from;
    }

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** One slice; its pieces are kept. */
    private static void slice(int i, Pieces to) {
        boolean single = i < Loops.ALL.length - 4; // the others have many methods in them
        long end = System.nanoTime() + (single ? 4_000_000 : 15_000_000);
        do {
            long cpu = THREADS.getCurrentThreadCpuTime();
            double ns = time(i, to.calls);
            cpu = THREADS.getCurrentThreadCpuTime() - cpu;
            if (ns * to.calls > 100_000 && cpu > 0.97 * ns * to.calls) { // it had the processor all the time
                to.add(ns);
            }
            to.calls = (int) Math.max(1, Math.min(200_000, 300_000 / Math.max(ns, 0.5)));
        } while (System.nanoTime() < end);
    }

    private static final class Pieces {
        final double[] all = new double[16384];
        int n;
        int calls = 1;

        void add(double ns) {
            if (n < all.length) {
                all[n++] = ns;
            }
        }

        /** Far out: farther from the middle half than three times its width; a tenth at each end, at most. */
        double mean() {
            if (n == 0) {
                return 0;
            }
            Arrays.sort(all, 0, n);
            int from = 0;
            int to = n;
            double low = all[n / 4];
            double high = all[n - 1 - n / 4];
            while (from < n / 10 && all[from] < low - 3 * (high - low)) {
                from++;
            }
            while (n - to < n / 10 && all[to - 1] > high + 3 * (high - low)) {
                to--;
            }
            return Arrays.stream(all, from, to).average().orElse(0);
        }
    }

    private static String run(long ms) {
        Pieces[] pieces = new Pieces[Loops.ALL.length];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = new Pieces();
        }
        Pieces[] reference = {new Pieces(), new Pieces(), new Pieces(), new Pieces(), new Pieces()};
        long end = System.nanoTime() + ms * 1_000_000;
        for (int i = 0; System.nanoTime() < end; i = (i + 1) % pieces.length) {
            slice(i, pieces[i]);
            for (int k = 0; k < reference.length; k++) {
                reference[k].add(reference(k));
            }
        }
        StringBuilder out = new StringBuilder("ran");
        for (Pieces p : reference) {
            out.append(' ').append(p.mean());
        }
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
