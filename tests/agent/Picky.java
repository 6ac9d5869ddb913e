// SPDX-License-Identifier: Apache-2.0

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Arrays;

/** Another agent: gives the JVM half of Restless when all its methods are woven. */
public class Picky implements ClassFileTransformer {
    /** Bytes: 2,083 without hooks, 2,269 with two at level timed, 2,671 with seven. */
    private static final int LARGE = 2500;

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> c, ProtectionDomain domain, byte[] bytes) {
        if (!"Restless".equals(name)) {
            return null;
        }
        System.out.println("picky: sees " + bytes.length + " bytes");
        if (bytes.length < LARGE) {
            return null;
        }
        System.out.println("picky: refused");
        return Arrays.copyOf(bytes, bytes.length / 2);
    }

    public static void agentmain(String options, Instrumentation jvm) {
        jvm.addTransformer(new Picky(), true);
        System.out.println("step picky");
    }
}
