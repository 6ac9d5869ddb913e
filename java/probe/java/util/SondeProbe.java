// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * What woven code calls. The agent defines this class in java.base, in a package that every module
 * can see, and binds the natives to C; woven code needs no class loader and no jar.
 *
 * <p>The natives return quickly, never throw and never call back into Java. The other methods are
 * what templates share: here it is needed only once, and merged code stays small.
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

    /** As data(), of a number, such as a status. */
    public static native void number(int id, String key, long value);

    /** The call of method id that runs now has moved so many bytes; none when it is below 1. */
    public static native void bytes(int id, long count);

    /** Method id ends; of an exception only the class is told, since texts may be private. */
    public static void exit(int id, Throwable thrown) {
        if (thrown != null) {
            data(id, "thrown", thrown.getClass().getName());
        }
        exit(id);
    }

    /** As data(), of an object of the program, whose toString() may do as it likes. */
    public static void text(int id, String key, Object value) {
        String text;
        try {
            text = value == null ? null : value.toString();
        } catch (Throwable e) {
            return;
        }
        data(id, key, text);
    }

    /** An HTTP request; of its URI only the path, since the rest may be private. */
    public static void request(int id, String method, String uri) {
        int end = 0;
        while (uri != null && end < uri.length() && "?;#".indexOf(uri.charAt(end)) < 0) {
            end++;
        }
        data(id, "method", method);
        data(id, "uri", uri == null ? null : uri.substring(0, end));
    }
}
