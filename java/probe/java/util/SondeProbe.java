// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * What woven code calls. The agent defines this class in java.base, in a package that every module
 * can see, and binds the natives to C; woven code needs no class loader and no jar.
 *
 * <p>Every method must return quickly, never throw and never call back into woven code.
 */
public final class SondeProbe {
    private SondeProbe() {}

    /** One call of method id, counted only. */
    public static native void count(int id);

    /** Method id begins. */
    public static native void enter(int id);

    /** Method id ends, by return or by exception. */
    public static native void exit(int id);

    /** Method id begins; what it was called on and with. */
    public static native void enterFull(int id, Object self, Object[] args);

    /** Method id ends with a result or an exception; both may be null. */
    public static native void exitFull(int id, Object result, Throwable thrown);

    /** A fact about the call of method id that runs now, such as the text of a statement. */
    public static native void data(int id, String key, Object value);

    /** The call of method id that runs now has moved so many bytes. */
    public static native void bytes(int id, long count);
}
