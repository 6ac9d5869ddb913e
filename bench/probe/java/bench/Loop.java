// SPDX-License-Identifier: Apache-2.0
package bench;

/**
 * Calls a method n times, each time with what it gave before. The gate, read before each call, keeps
 * compilers from taking anything out of the loop, such as the test whether a hook is open.
 */
interface Loop {
    long run(int n, long x);

    /** Lets a thread stay where hooks look for a caller. */
    default void hold() {}

    final class Gate {
        static volatile long zero;
    }

    /** Nobody hooks this. */
    final class Plain implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                x = Bare.step(x + Gate.zero);
            }
            return x;
        }
    }

    /** A tool has hooked this, or not. */
    final class Hooked implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                x = Target.step(x + Gate.zero);
            }
            return x;
        }
    }

    final class PlainWork implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                x = Bare.work(x + Gate.zero);
            }
            return x;
        }
    }

    final class HookedWork implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                x = Target.work(x + Gate.zero);
            }
            return x;
        }
    }

    /** Timed by hand, with the clock that Java has. */
    final class NanoTime implements Loop {
        static long sum;

        @Override
        public long run(int n, long x) {
            long s = 0;
            for (; n > 0; n--) {
                long begin = System.nanoTime();
                x = Bare.step(x + Gate.zero);
                s += System.nanoTime() - begin;
            }
            sum += s;
            return x;
        }
    }

    /** Nothing but the way to C and back, twice, by JNI. */
    final class NativeEmpty implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                long token = Native.emptyEnter(n);
                x = Bare.step(x + Gate.zero);
                Native.emptyExit(n, token);
            }
            return x;
        }
    }

    /** The same with a counter read each. */
    final class NativeClock implements Loop {
        @Override
        public long run(int n, long x) {
            for (; n > 0; n--) {
                long token = Native.enter(n);
                x = Bare.step(x + Gate.zero);
                Native.exit(n, token);
            }
            return x;
        }
    }
}
