// SPDX-License-Identifier: Apache-2.0
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Runs a compiler again and again in one JVM, so that there is time to attach to it and leave again.
 *
 * <pre>Again STOP OUT CLASS METHOD ARGUMENT...</pre>
 *
 * METHOD is a static one that takes a String[] and does not exit, or, of Kotlin's compiler, one of
 * an object that takes a PrintStream too. {@code @OUT@} in an argument becomes the directory
 * OUT/N, N the round. It ends after the round that finds the file STOP there, or after the first
 * one when STOP is "-".
 */
public final class Again {
    private static Object call(Class<?> c, String name, String[] args) throws Exception {
        for (Method m : c.getMethods()) {
            Class<?>[] p = m.getParameterTypes();
            if (!m.getName().equals(name) || p[p.length - 1] != String[].class) {
                continue;
            }
            if (p.length == 1) {
                return m.invoke(null, (Object) args);
            } else if (p.length == 2 && p[0] == PrintStream.class) {
                Object o = c.getDeclaredConstructor().newInstance();
                return m.invoke(o, System.err, args);
            }
        }
        throw new NoSuchMethodException(name);
    }

    public static void main(String[] args) throws Exception {
        Path stop = Path.of(args[0]);
        for (int round = 1; ; round++) {
            Path out = Path.of(args[1], String.valueOf(round));
            Files.createDirectories(out);
            String[] rest = new String[args.length - 4];
            for (int k = 0; k < rest.length; k++) {
                rest[k] = args[k + 4].replace("@OUT@", out.toString());
            }
            boolean isLast = args[0].equals("-") || Files.exists(stop);
            Object status = call(Class.forName(args[2]), args[3], rest);
            System.out.println("round " + round + ": " + status);
            if (isLast) {
                return;
            }
        }
    }
}
