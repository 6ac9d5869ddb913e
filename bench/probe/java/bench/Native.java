// SPDX-License-Identifier: Apache-2.0
package bench;

/** The pair of C functions in native/pair.c, by JNI. */
final class Native {
    static {
        System.load(System.getProperty("pair"));
    }

    private Native() {}

    static native long emptyEnter(int id);

    static native void emptyExit(int id, long token);

    static native long enter(int id);

    static native void exit(int id, long token);
}
