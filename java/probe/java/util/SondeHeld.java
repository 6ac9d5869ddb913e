// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * What rules have captured for the thread, while the capturing calls run. When the outermost of
 * them ends, nothing stays with the thread.
 *
 * <p>Whoever hands work to another thread can take {@link #copy} there and give it to {@link
 * #adopt}.
 */
final class SondeHeld {
    /** How many names can be captured under. */
    static final int SLOTS = 64;

    /** Given instead of what was there before, when nothing could be kept. */
    static final Object FAILED = new Object();

    private static final ThreadLocal<SondeHeld> MINE = new ThreadLocal<>();
    private static final int TEXT = 80; // characters of a value that are told

    /** By slot: is the value a secret, to be counted only? */
    private static final boolean[] SECRET = new boolean[SLOTS];

    private Object[] values; // null: not captured
    private int used;

    private SondeHeld(Object[] values, int used) {
        this.values = values;
        this.used = used;
    }

    /** Called by the agent: the slot's name, and where its values come from. */
    static void name(int slot, String way) {
        SECRET[slot] |= SondeKnown.isSecret(way, SondeText.redact);
    }

    /** What the slot holds; never null. */
    static Object get(int slot) {
        SondeHeld mine = MINE.get();
        if (mine == null) {
            MINE.remove(); // asking alone leaves an entry
            return SondeAccess.NULL;
        }
        Object x = mine.values[slot];
        return x == null ? SondeAccess.NULL : x;
    }

    /** Keeps x; gives what has to be put back. */
    static Object keep(int slot, Object x) {
        try {
            Object kept = x == null ? SondeAccess.NULL : x;
            SondeHeld mine = MINE.get();
            if (mine == null) {
                mine = new SondeHeld(new Object[SLOTS], 0);
                MINE.set(mine);
            }
            Object before = mine.values[slot];
            mine.values[slot] = kept;
            mine.used += before == null ? 1 : 0;
            if (!(kept instanceof SondeAccess)) {
                tell(slot, kept);
            }
            return before;
        } catch (Throwable e) {
            return FAILED;
        }
    }

    static void restore(int slot, Object before) {
        try {
            SondeHeld mine = MINE.get();
            if (mine == null) {
                return;
            }
            mine.values[slot] = before;
            mine.used -= before == null ? 1 : 0;
            if (mine.used <= 0) {
                MINE.remove();
            }
        } catch (Throwable e) {
            // the program's own stack overflow is near; the next restore puts it right
        }
    }

    /** What this thread holds now, or null. */
    static SondeHeld copy() {
        SondeHeld mine = MINE.get();
        return mine == null ? null : new SondeHeld(mine.values.clone(), mine.used);
    }

    /** Makes it this thread's; gives what the thread held before, to be adopted again. */
    static SondeHeld adopt(SondeHeld held) {
        SondeHeld before = MINE.get();
        if (held == null) {
            MINE.remove();
        } else {
            MINE.set(held);
        }
        return before;
    }

    /** The value is counted by its text; of objects of the program only the class is told. */
    private static void tell(int slot, Object x) {
        String text;
        if (SECRET[slot]) {
            text = "***";
        } else if (x instanceof String) {
            text = (String) x;
        } else if (x instanceof Enum) {
            text = ((Enum<?>) x).name();
        } else if (SondeKnown.isPlain(x.getClass().getName()) || x instanceof Character) {
            text = x.toString();
        } else {
            text = x.getClass().getName();
        }
        seen0(slot, text.length() > TEXT ? text.substring(0, TEXT).concat("...") : text);
    }

    /** Has the JVM do now what it does once. */
    static void warm() {
        get(0);
        seen0(0, null);
    }

    private static native void seen0(int slot, String text);
}
