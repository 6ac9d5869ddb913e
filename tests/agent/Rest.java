// SPDX-License-Identifier: Apache-2.0

/** Calls a method that catches and throws on, over and over, until it is killed; with an argument, without a rest. */
public class Rest {
    static int calls;

    static int called(int n) {
        return n / (n % 7);
    }

    static int calls(int n) {
        try {
            return called(n);
        } catch (Throwable t) {
            calls++;
            return 0;
        }
    }

    /** Has nothing that is called often. */
    static class Other {
        static void rarely() {
            calls++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("step up");
        for (int n = 0;; n++) {
            calls(n);
            if (n % 100 == 0) {
                Other.rarely();
            }
            if (arguments.length == 0) {
                Thread.sleep(1);
            }
        }
    }
}
