// SPDX-License-Identifier: Apache-2.0

/** Record FILE MAIN: runs MAIN and writes what its woven methods tell to FILE. */
public class Record {
    public static void main(String[] args) throws Throwable {
        Class<?> main = Class.forName(args[1]);
        java.util.SondeRecord.start();
        try {
            main.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } catch (java.lang.reflect.InvocationTargetException e) {
            throw e.getCause();
        } finally {
            java.util.SondeRecord.stop(args[0]);
        }
        System.exit(0); // whatever threads the program has left behind
    }
}
