// SPDX-License-Identifier: Apache-2.0
package sonde;

/**
 * What a template may know of the method it is merged into. These methods are never called: the
 * weaver replaces each call by the answer. Numbers of arguments must be constants and count from 1.
 */
public final class Here {
    private Here() {}

    /** The sentinel: stands for the method's own code. Exactly once on every path. */
    public static native void body();

    /** The number under which the method reports. */
    public static native int id();

    /** "pkg.Class.name(desc)". */
    public static native String method();

    /** This, or null in a static method. Before body() only, like the arguments. */
    public static native Object self();

    /** Argument n, boxed if it is primitive. */
    public static native Object arg(int n);

    /** Argument n, of type boolean, byte, char, short or int. */
    public static native int intArg(int n);

    public static native long longArg(int n);

    public static native float floatArg(int n);

    public static native double doubleArg(int n);

    /** All arguments, boxed where they are primitive. */
    public static native Object[] args();

    /** The value that a rule captures. */
    public static native Object value();

    /** What the method returns, boxed; null if it is void or ends by exception. After body(). */
    public static native Object result();

    /** What the method returns, of type boolean, byte, char, short or int; 0 by exception. */
    public static native int intResult();

    public static native long longResult();

    /** The exception by which the method ends, or null. After body(). */
    public static native Throwable thrown();
}
