// SPDX-License-Identifier: Apache-2.0
package sonde.calibrate;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Random;

/**
 * Runs the loops of {@link Bodies} as it is told, one line a command: {@code warm MS} runs all of them
 * for so long; {@code run LOOP COPY N} runs one N times plain and N times of a copy, and answers
 * with the nanoseconds of each.
 */
public final class Main {
    static final int[] NEXT = cycle(1 << 15);
    /** Loops at the end, whose methods call others. */
    private static final int SHAPES = 2;

    static volatile long sink;

    private Main() {}

    /** A random order of all places, as one circle. */
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

    private static long time(Object loop, int copy, int n) {
        long from = System.nanoTime();
        switch (copy) {
            case 0:
                sink = ((Plain.Loop) loop).run(1, n);
                break;
            case 1:
                sink = ((Every.Loop) loop).run(1, n);
                break;
            case 2:
                sink = ((Settled.Loop) loop).run(1, n);
                break;
            case 3:
                sink = ((Rare.Loop) loop).run(1, n);
                break;
            case 4:
                sink = ((Passed.Loop) loop).run(1, n);
                break;
            case 5:
                sink = ((Light.Loop) loop).run(1, n);
                break;
            default:
                sink = ((Solo.Loop) loop).run(1, n);
        }
        return System.nanoTime() - from;
    }

    private static Object loop(int i, int copy) {
        switch (copy) {
            case 0:
                return Plain.LOOPS[i];
            case 1:
                return Every.LOOPS[i];
            case 2:
                return Settled.LOOPS[i];
            case 3:
                return Rare.LOOPS[i];
            case 4:
                return Passed.LOOPS[i];
            case 5:
                return Light.LOOPS[i];
            default:
                return Solo.LOOPS[i];
        }
    }

    private static void warm(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < end) {
            for (int i = 0; i < Plain.LOOPS.length && System.nanoTime() < end; i++) {
                for (int copy = 0; copy < 7; copy++) {
                    time(loop(i, copy), copy, 20);
                }
            }
        }
    }

    /** Milliseconds that the JVM has spent on compiling. */
    private static long compiled() {
        try {
            return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
        } catch (LinkageError | RuntimeException e) {
            return 0;
        }
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready " + (Plain.LOOPS.length - SHAPES) + " " + SHAPES);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            if (word[0].equals("warm")) {
                warm(Long.parseLong(word[1]));
                System.out.println("warm " + compiled());
            } else if (word[0].equals("run")) {
                int i = Integer.parseInt(word[1]);
                int copy = Integer.parseInt(word[2]);
                int n = Integer.parseInt(word[3]);
                long plain = time(loop(i, 0), 0, n);
                long hooked = time(loop(i, copy), copy, n);
                System.out.println("ran " + plain + " " + hooked);
            } else {
                return;
            }
        }
    }
}
