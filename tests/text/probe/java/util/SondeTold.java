// SPDX-License-Identifier: Apache-2.0
package java.util;

/** Lets a program call SondeText as the probe does, and see what it tells. */
public final class SondeTold {
    private static String facts = "";

    /** How deep the thread is muted now; a fact must be told while it is. */
    public static int muted;

    public static boolean toldAloud;

    static void put(String key, String value) {
        toldAloud |= muted == 0;
        facts = facts.concat(key).concat("=").concat(value).concat("\n");
    }

    static void mute(boolean begins) {
        muted += begins ? 1 : -1;
    }

    public static void set(int depth, String[] redact) {
        SondeText.depth = depth;
        SondeText.redact = redact;
    }

    public static String[] defaults() {
        return SondeText.redact;
    }

    /** All facts of a call, a line each. */
    public static String enter(Object self, Object... args) {
        facts = "";
        SondeText.enter(1, self, args);
        return facts;
    }

    public static String exit(Object result, Throwable thrown) {
        facts = "";
        SondeText.exit(1, result, thrown);
        return facts;
    }
}
