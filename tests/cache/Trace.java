// SPDX-License-Identifier: Apache-2.0

import java.text.MessageFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/**
 * Throws in methods of many shapes and prints where, so that the lines of woven methods can be
 * compared with those of the originals. With an argument it waits for its input to end.
 */
public class Trace {
    private int state;

    Trace(int state) {
        this.state = state;
        if (state == 7) {
            throw new IllegalArgumentException(
                    "state " + state);
        }
    }

    static int plain(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        if (sum > 10) {
            throw new IllegalStateException("sum");
        }
        return sum;
    }

    long caught(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new RuntimeException("caught",
                    e);
        } finally {
            state++;
        }
    }

    static String choose(Object o) {
        switch (o.hashCode() % 3) {
            case 0:
                return "a";
            case 1:
                return new Trace(7).toString();
            default:
                return o.getClass().getName().substring(1000);
        }
    }

    static int lambda(int depth) {
        IntSupplier s = () -> depth == 0
                ? plain(100)
                : lambda(depth - 1);
        return s.getAsInt();
    }

    static class Inner {
        final List<String> names = new ArrayList<>();

        synchronized String nested(int i) {
            names.add("x");

            return names.get(i);
        }
    }

    interface Step {
        void run() throws Exception;
    }

    static void step(Step s) {
        try {
            s.run();
            System.out.println("nothing thrown");
        } catch (Throwable t) {
            for (Throwable c = t; c != null; c = c.getCause()) {
                System.out.println(c);
                for (StackTraceElement e : c.getStackTrace()) {
                    if (e.getClassName().startsWith("Trace")) {
                        System.out.println("  " + e.getMethodName() + " " + e.getFileName() + ":" + e.getLineNumber());
                    }
                }
            }
        }
    }

    static String library() {
        String text = MessageFormat.format("{0} and {1,number}", "x", 5);
        return Pattern.compile("(\\w+) and (\\d+)|[a-f&&[^c]]{2,3}?").matcher(text).replaceAll("$2-$1");
    }

    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 3; round++) {
            step(() -> plain(100));
            step(() -> new Trace(1).caught("no number"));
            step(() -> new Trace(7));
            for (int i = 0; i < 3; i++) {
                int n = i;
                step(() -> choose(n));
            }
            step(() -> lambda(3));
            step(() -> new Inner().nested(3));
            System.out.println(library());
        }
        if (args.length > 0) {
            System.out.println("ready");
            System.in.read();
        }
    }
}
