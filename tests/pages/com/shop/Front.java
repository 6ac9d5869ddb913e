// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;

/** The shop, and beside it two classes whose names the Java language does not allow, but the JVM does, and a long statement. */
public final class Front {
    /** A megabyte. */
    private static final String STATEMENT = "select '<b>bold</b>\u202edrawkcab' from t where x in (" + "1, ".repeat(350_000) + "2)";

    private Front() {}

    public static void main(String[] args) throws Throwable {
        MethodHandle html = named("<img src=x onerror=alert(1)>");
        MethodHandle backwards = named("\u202egnihton\u202e_______________");
        Thread odd = new Thread(() -> call(html, backwards), "<script>alert(2)</script>");
        odd.setDaemon(true);
        odd.start();
        Main.main(args);
    }

    private static void call(MethodHandle html, MethodHandle backwards) {
        try {
            for (int n = 0; ; n++) {
                int sum = (int) html.invokeExact(n) + (int) backwards.invokeExact(n);
                Thread.sleep(n % 3 == 0 ? ask(STATEMENT) % 3 + 10 : sum == 7 ? 11 : 10);
            }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    static int ask(String statement) {
        return statement.length();
    }

    /** Odd's method in a class of another name, which takes as many bytes as Odd's own. */
    private static MethodHandle named(String name) throws Exception {
        String own = Odd_________________________.class.getSimpleName();
        byte[] from = ("com/shop/" + own).getBytes(StandardCharsets.UTF_8);
        byte[] to = ("com/shop/" + name).getBytes(StandardCharsets.UTF_8);
        if (from.length != to.length) {
            throw new IllegalArgumentException(from.length + " bytes, not " + to.length);
        }
        byte[] bytes = Front.class.getResourceAsStream(own + ".class").readAllBytes();
        for (int i = 0; i + from.length <= bytes.length; i++) {
            if (java.util.Arrays.equals(bytes, i, i + from.length, from, 0, from.length)) {
                System.arraycopy(to, 0, bytes, i, to.length);
            }
        }
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        return lookup.findStatic(lookup.defineClass(bytes), "twice", MethodType.methodType(int.class, int.class));
    }
}

final class Odd_________________________ {
    private Odd_________________________() {}

    static int twice(int n) {
        return 2 * n;
    }
}
