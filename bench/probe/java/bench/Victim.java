// SPDX-License-Identifier: Apache-2.0
package bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * Measures one way to hook a method of some 2 ns, and the same method without. Argument: the class
 * that loops, without its package, such as Loop.Hooked. Does what rounds.c asks, a line each, and answers with a line that begins with "@ ",
 * since tools may print, too:
 *
 * <pre>
 *     go MS     for so long           @ BARE HOOKED BARE HOOKED     ns a call, medians of slices
 *     work N    so many longer calls  @ BARE HOOKED BARE HOOKED
 *     close     Sonde's hooks         @ how many were open
 *     open      them again            @ how many were closed
 *     hold      Loop.hold()           @ 1
 *     end                             @ CALLS SUM       what the program itself has timed
 * </pre>
 *
 * The first two are processor time of the thread, the others the wall clock's.
 */
public final class Victim {
    private static final int SLICES = 9;
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
    private static final int BATCH_NS = 50_000;

    private long x = 88172645463325252L;
    private byte[] closed;

    private Victim() {}

    /** How one loop is called: in batches that are long against a clock read. */
    private final class Side {
        final Loop loop;
        final double[] cpu = new double[SLICES];
        final double[] wall = new double[SLICES];
        int n = 16;
        long calls;

        Side(Loop loop) {
            this.loop = loop;
        }

        void slice(int k, long atLeast) {
            long cpuBegin = CPU.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            long before = begin;
            long done = 0;
            do {
                x = loop.run(n, x);
                done += n;
                long now = System.nanoTime();
                if (now - before < BATCH_NS && n < 1 << 20) {
                    n *= 2;
                } else if (now - before > 8 * BATCH_NS && n > 16) {
                    n /= 2;
                }
                before = now;
            } while (before - begin < atLeast);
            calls += done;
            wall[k] = (double) (before - begin) / done;
            cpu[k] = (double) (CPU.getCurrentThreadCpuTime() - cpuBegin) / done;
        }
    }

    private static double median(double[] v) {
        double[] sorted = v.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private void go(Side plain, Side hooked, long ms) {
        long ns = ms * 1_000_000 / (2 * SLICES);
        for (int k = 0; k < SLICES; k++) {
            plain.slice(k, ns);
            hooked.slice(k, ns);
        }
        answer(median(plain.cpu) + " " + median(hooked.cpu) + " "
                + median(plain.wall) + " " + median(hooked.wall));
    }

    /** The same calls for everybody, so that totals can be compared. */
    private static void work(Loop plain, Loop hooked, int n) {
        double[] cpu = new double[2];
        double[] wall = new double[2];
        for (int k = 0; k < 2; k++) {
            long x = 88172645463325252L;
            long cpuBegin = CPU.getCurrentThreadCpuTime();
            long begin = System.nanoTime();
            for (int left = n; left > 0; left -= 1000) {
                x = (k == 0 ? plain : hooked).run(Math.min(left, 1000), x);
            }
            wall[k] = (double) (System.nanoTime() - begin + (x == 0 ? 1 : 0)) / n;
            cpu[k] = (double) (CPU.getCurrentThreadCpuTime() - cpuBegin) / n;
        }
        answer(cpu[0] + " " + cpu[1] + " " + wall[0] + " " + wall[1]);
    }

    /** Closes what is open, or opens what was; needs --add-opens java.base/java.util=ALL-UNNAMED. */
    private int gates(boolean close) {
        int changed = 0;
        try {
            Field field = Class.forName("java.util.SondeProbe").getDeclaredField("OPEN");
            field.setAccessible(true);
            byte[] open = (byte[]) field.get(null);
            closed = close ? open.clone() : closed;
            for (int k = 0; k < open.length; k++) {
                changed += closed[k] != 0 ? 1 : 0;
                open[k] = close ? 0 : closed[k];
            }
        } catch (ReflectiveOperationException e) {
            System.err.println("close: " + e);
        }
        return changed;
    }

    private static void answer(Object text) {
        System.out.println("@ " + text);
        System.out.flush();
    }

    public static void main(String[] args) throws IOException, ReflectiveOperationException {
        Victim victim = new Victim();
        Side plain = victim.new Side(new Loop.Plain());
        Class<?> loop = Class.forName("bench." + args[0].replace('.', '$'));
        Side hooked = victim.new Side((Loop) loop.getDeclaredConstructor().newInstance());
        Loop plainWork = new Loop.PlainWork();
        Loop hookedWork = new Loop.HookedWork();
        Target.step(1); // for tools that hook only what is loaded
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        answer("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.split(" ");
            switch (word[0]) {
                case "go" -> victim.go(plain, hooked, Long.parseLong(word[1]));
                case "work" -> work(plainWork, hookedWork, Integer.parseInt(word[1]));
                case "close" -> answer(victim.gates(true));
                case "open" -> answer(victim.gates(false));
                case "hold" -> {
                    hooked.loop.hold();
                    answer(1);
                }
                case "end" -> answer(hooked.calls + " " + Loop.NanoTime.sum);
                default -> answer("what?");
            }
        }
    }
}
