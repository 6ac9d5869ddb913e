// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The way to C without a change of the thread's state: "critical" calls of java.lang.foreign, from
 * JDK 22 on. It is found by reflection, so that this class can be compiled by an older javac. The
 * agent initialises it in the background, since that takes some 150 ms, calls each method once, so
 * that its call sites are linked, and then sets SondeProbe.fast.
 *
 * <p>For C all that begins and ends a call takes a number and a token and gives a token, though each
 * uses only some of it: for each type the JVM makes a way of its own, and a call that is timed
 * rarely would find cold the one by which it ends. So it is the one by which every call begins.
 */
final class SondeFast {
    private static final MethodHandle COUNT;
    private static final MethodHandle ENTER;
    private static final MethodHandle EXIT;
    private static final MethodHandle MAY;
    private static final MethodHandle MUTE;
    private static final MethodHandle BEGIN;
    private static final MethodHandle END;

    static {
        try {
            Object i = layout("JAVA_INT");
            Object j = layout("JAVA_LONG");
            COUNT = handle(0, null, i);
            ENTER = handle(1, j, i, j);
            EXIT = handle(2, j, i, j);
            MAY = handle(3, layout("JAVA_BOOLEAN"), i);
            MUTE = handle(4, null, layout("JAVA_BOOLEAN"));
            BEGIN = handle(7, j, i, j);
            END = handle(8, j, i, j);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private SondeFast() {}

    private static Class<?> foreign(String name) throws ReflectiveOperationException {
        return Class.forName("java.lang.foreign." + name);
    }

    private static Object layout(String name) throws ReflectiveOperationException {
        return foreign("ValueLayout").getField(name).get(null);
    }

    private static MethodHandle handle(int which, Object result, Object... arguments)
            throws ReflectiveOperationException {
        Class<?> layout = foreign("MemoryLayout");
        Class<?> descriptor = foreign("FunctionDescriptor");
        Class<?> option = foreign("Linker$Option");
        Class<?> segment = foreign("MemorySegment");
        Object list = Array.newInstance(layout, arguments.length);
        for (int k = 0; k < arguments.length; k++) {
            Array.set(list, k, arguments[k]);
        }
        Object type =
                result == null
                        ? descriptor.getMethod("ofVoid", list.getClass()).invoke(null, list)
                        : descriptor
                                .getMethod("of", layout, list.getClass())
                                .invoke(null, result, list);
        Object options = Array.newInstance(option, 1);
        Array.set(options, 0, option.getMethod("critical", boolean.class).invoke(null, false));
        Object at =
                segment.getMethod("ofAddress", long.class)
                        .invoke(null, SondeProbe.address0(which));
        Object linker = foreign("Linker").getMethod("nativeLinker").invoke(null);
        Method link =
                foreign("Linker")
                        .getMethod("downcallHandle", segment, descriptor, options.getClass());
        return (MethodHandle) link.invoke(linker, at, type, options);
    }

    @ForceInline
    static void count(int id) {
        try {
            COUNT.invokeExact(id);
        } catch (Throwable e) {
            // C throws nothing
        }
    }

    @ForceInline
    static long enter(int id) {
        try {
            return (long) ENTER.invokeExact(id, 0L);
        } catch (Throwable e) {
            return 0;
        }
    }

    @ForceInline
    static void exit(int id, long token) {
        try {
            long none = (long) EXIT.invokeExact(id, token);
        } catch (Throwable e) {
            // C throws nothing
        }
    }

    @ForceInline
    static long begin(int id) {
        try {
            return (long) BEGIN.invokeExact(id, 0L);
        } catch (Throwable e) {
            return 0;
        }
    }

    @ForceInline
    static void end(int id, long token) {
        try {
            long none = (long) END.invokeExact(id, token);
        } catch (Throwable e) {
            // C throws nothing
        }
    }

    @ForceInline
    static boolean may(int id) {
        try {
            return (boolean) MAY.invokeExact(id);
        } catch (Throwable e) {
            return false;
        }
    }

    /** Throws when there is no stack left for it: then it has not been done. */
    @ForceInline
    static void mute(boolean begins) {
        try {
            MUTE.invokeExact(begins);
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            // C throws nothing
        }
    }

    /**
     * Links the call sites, and calls them until java.lang.invoke has done all that it does only
     * once, which runs through half of java.base; method 0 is nobody's.
     */
    static void warm() {
        for (int k = 0; k < 20_000; k++) {
            count(0);
            exit(0, enter(0));
            end(0, begin(0));
            may(0);
            mute(true);
            mute(false);
        }
    }
}
