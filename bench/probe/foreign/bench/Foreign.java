// SPDX-License-Identifier: Apache-2.0
package bench;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** The pair of C functions in native/pair.c, by critical calls of java.lang.foreign. */
final class Foreign {
    private static final MethodHandle EMPTY_ENTER = enterOf("pair_empty_enter");
    private static final MethodHandle EMPTY_EXIT = exitOf("pair_empty_exit");
    private static final MethodHandle ENTER = enterOf("pair_enter");
    private static final MethodHandle EXIT = exitOf("pair_exit");

    private Foreign() {}

    private static MethodHandle handle(String name, FunctionDescriptor type) {
        SymbolLookup in =
                SymbolLookup.libraryLookup(Path.of(System.getProperty("pair")), Arena.global());
        return Linker.nativeLinker()
                .downcallHandle(in.find(name).get(), type, Linker.Option.critical(false));
    }

    private static MethodHandle enterOf(String name) {
        return handle(
                name, FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    }

    private static MethodHandle exitOf(String name) {
        return handle(
                name, FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    }

    static final class Empty implements Loop {
        @Override
        public long run(int n, long x) {
            try {
                for (; n > 0; n--) {
                    long token = (long) EMPTY_ENTER.invokeExact(n);
                    x = Bare.step(x + Loop.Gate.zero);
                    EMPTY_EXIT.invokeExact(n, token);
                }
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            return x;
        }
    }

    static final class Clock implements Loop {
        @Override
        public long run(int n, long x) {
            try {
                for (; n > 0; n--) {
                    long token = (long) ENTER.invokeExact(n);
                    x = Bare.step(x + Loop.Gate.zero);
                    EXIT.invokeExact(n, token);
                }
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            return x;
        }
    }
}
