// SPDX-License-Identifier: Apache-2.0
package bench.accuracy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Random;

/** {@code warm MS}, and {@code run LOOP COPY N}, which answers with the ns of N calls. */
public final class Main {
    static final int[] NEXT = cycle(1 << 15);
    static volatile long sink;

    private static int[] cycle(int n) {
        int[] next = new int[n];
        for (int i = 0; i < n; i++) {
            next[i] = i;
        }
        Random random = new Random(1);
        for (int i = n - 1; i > 0; i--) {
            int k = random.nextInt(i);
            int t = next[i];
            next[i] = next[k];
            next[k] = t;
        }
        return next;
    }

    private static long time(int i, int copy, int n) {
        long from = System.nanoTime();
        if (copy == 0) {
            sink = Plain.LOOPS[i].run(1, n);
        } else if (copy == 1) {
            sink = Timed.LOOPS[i].run(1, n);
        } else {
            sink = Every.LOOPS[i].run(1, n);
        }
        return System.nanoTime() - from;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + Plain.LOOPS.length);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            if (word[0].equals("warm")) {
                long end = System.nanoTime() + Long.parseLong(word[1]) * 1_000_000;
                for (int i = 0; System.nanoTime() < end; i = (i + 1) % Plain.LOOPS.length) {
                    long until = System.nanoTime() + 3_000_000; // long ones not too often
                    for (int k = 0; k < 60 && System.nanoTime() < until; k++) {
                        for (int copy = 0; copy < 3; copy++) {
                            time(i, copy, 10);
                        }
                    }
                }
                System.out.println("warm");
            } else {
                System.out.println(
                        "ran "
                                + time(
                                        Integer.parseInt(word[1]),
                                        Integer.parseInt(word[2]),
                                        Integer.parseInt(word[3])));
            }
        }
    }
}
