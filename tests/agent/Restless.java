// SPDX-License-Identifier: Apache-2.0

import java.util.Scanner;

/** Makes as many calls as it is told to, each time that it is, and says when they are done. */
public class Restless {
    private final int number;

    Restless(int number) {
        this.number = number;
    }

    static int light(int n) {
        return n + 1;
    }

    int timed(String text, long n) {
        return text.length() + number + (int) n;
    }

    Object full(Object[] list, double d) {
        return list.length > d ? list : null;
    }

    static int throwing(int n) {
        if (n % 2 == 0) {
            throw new IllegalStateException("even");
        }
        return n;
    }

    static int abstain(int n) {
        try {
            return throwing(n);
        } catch (IllegalStateException e) {
            return 0;
        }
    }

    public static void main(String[] arguments) {
        Scanner in = new Scanner(System.in);
        System.out.println("step up");
        while (in.hasNextInt()) {
            int n = in.nextInt();
            long sum = 0;
            for (int k = 0; k < n; k++) {
                Restless r = new Restless(k);
                sum += light(k) + r.timed("text", k) + abstain(k);
                sum += r.full(arguments, -1) == arguments ? 1 : 0;
            }
            System.out.println("done " + n + " " + sum);
        }
    }
}
