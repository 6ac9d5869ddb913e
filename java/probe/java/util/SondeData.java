// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.util.regex.Pattern;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven conditions call where byte code alone would not do: steps into objects, whose fields
 * and getters the woven class may not see, and tests of what was found there.
 *
 * <p>Nothing here throws. What cannot be had (see {@link SondeAccess}) makes a test false, and is
 * counted for the method with number id.
 */
public final class SondeData {
    static final int SITE_COUNT = 1 << 14;
    static final SondeSite[] SITES = new SondeSite[SITE_COUNT];

    private static final int WRAPPERS = 8; // around a collection
    private static final int ANY = 1; // number of a method, to ask whether any is seen

    // as enum cond_op
    private static final int EQ = 4;
    private static final int NE = 5;
    private static final int LT = 6;
    private static final int LE = 7;
    private static final int GT = 8;
    private static final int GE = 9;
    private static final int CONTAINS = 10;
    private static final int STARTS = 11;

    /**
     * Are there conditions in the JDK's own classes, which this class needs itself? Set by the
     * agent, and never taken back.
     */
    static boolean isGuarded;

    private SondeData() {}

    // ---- values ----

    /** A field, getter or element of x. */
    public static Object step(Object x, int site) {
        if (!isGuarded) {
            return stepped(x, site);
        }
        SondeProbe.mute(true);
        try {
            return stepped(x, site);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static Object stepped(Object x, int site) {
        if (x == null || x instanceof SondeAccess) {
            return x == null ? SondeAccess.NULL : x;
        }
        try {
            SondeSite s = SITES[site];
            return s == null ? SondeAccess.NO_MEMBER : s.of(x);
        } catch (Throwable e) {
            return SondeAccess.THROWN;
        }
    }

    /**
     * The same for the agent's thread, which must not wait for a lock that the program has, nor run
     * in collections of the program.
     */
    static Object reach(Object x, int site) {
        SondeProbe.mute(true);
        try {
            SondeSite s = SITES[site];
            if (s == null || !s.isIndex() || x == null || x.getClass().isArray()) {
                return stepped(x, site);
            }
            for (int k = 0; k < WRAPPERS; k++) {
                Object inner = SondeKnown.inner(x, x.getClass());
                if (inner == null) {
                    break;
                }
                x = inner;
            }
            return isLockless(x) ? stepped(x, site) : SondeAccess.HARMFUL;
        } catch (Throwable e) {
            return SondeAccess.THROWN;
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isLockless(Object x) {
        Class<?> c = x.getClass();
        if (x instanceof ArrayList || x instanceof HashMap) {
            return SondeKnown.isOfPlatform(c);
        }
        return !(x instanceof Vector || x instanceof SortedMap)
                && SondeKnown.isOfPlatform(c)
                && SondeKnown.size(x, c) != SondeKnown.NO_COLLECTION;
    }

    /** What a rule has captured higher up. */
    public static Object held(int slot) {
        if (!isGuarded) {
            return taken(slot);
        }
        SondeProbe.mute(true);
        try {
            return taken(slot);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static Object taken(int slot) {
        try {
            return SondeHeld.get(slot);
        } catch (Throwable e) {
            return SondeAccess.THROWN;
        }
    }

    /** Keeps x for the thread; gives what {@link #restore} needs. */
    public static Object keep(int slot, Object x) {
        if (slot >= SondeHop.FIRST) {
            return SondeHop.keep(slot, x);
        }
        if (!isGuarded) {
            return SondeHeld.keep(slot, x);
        }
        if (!SondeProbe.may0(ANY)) {
            return SondeHeld.FAILED; // it is the probe itself that calls
        }
        SondeProbe.mute(true);
        try {
            return SondeHeld.keep(slot, x);
        } finally {
            SondeProbe.mute(false);
        }
    }

    public static void restore(int slot, Object before) {
        if (before == SondeHeld.FAILED) {
            return;
        }
        if (slot >= SondeHop.FIRST) {
            SondeHop.restore(before);
            return;
        }
        if (!isGuarded) {
            SondeHeld.restore(slot, before);
            return;
        }
        SondeProbe.mute(true);
        try {
            SondeHeld.restore(slot, before);
        } finally {
            SondeProbe.mute(false);
        }
    }

    // ---- tests ----

    /** Can x be tested? It is counted when it cannot. */
    @ForceInline
    private static boolean isThere(Object x, int id) {
        return x != null && !(x instanceof SondeAccess) || miss(x, id);
    }

    private static boolean miss(Object x, int id) {
        miss0(id, x == null ? SondeAccess.IS_NULL : ((SondeAccess) x).why);
        return false;
    }

    private static boolean threw(int id) {
        miss0(id, SondeAccess.THROWS);
        return false;
    }

    /** x is true. */
    public static boolean truth(Object x, int id) {
        if (!isGuarded) {
            return isTrue(x, id);
        }
        SondeProbe.mute(true);
        try {
            return isTrue(x, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isTrue(Object x, int id) {
        return isThere(x, id) && x instanceof Boolean && (Boolean) x;
    }

    /** x == null, or != null. */
    public static boolean none(Object x, int op, int id) {
        if (x instanceof SondeAccess) {
            return miss(x, id);
        }
        return (x == null) == (op == EQ);
    }

    /** Of x with a text. */
    public static boolean text(Object x, String y, int op, int id) {
        if (!isGuarded) {
            return isText(x, y, op, id);
        }
        SondeProbe.mute(true);
        try {
            return isText(x, y, op, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isText(Object x, String y, int op, int id) {
        if (!isThere(x, id)) {
            return false;
        }
        try {
            String t = textOf(x);
            if (t == null) {
                return op == CONTAINS ? contains(x, y) : op == NE;
            }
            switch (op) {
                case EQ:
                    return t.equals(y);
                case NE:
                    return !t.equals(y);
                case CONTAINS:
                    return t.contains(y);
                case STARTS:
                    return t.startsWith(y);
                default:
                    return t.endsWith(y);
            }
        } catch (Throwable e) {
            return threw(id);
        }
    }

    /** Texts, and what has a name that stands for it; null for other things. */
    private static String textOf(Object x) {
        if (x instanceof String) {
            return (String) x;
        } else if (x instanceof Enum) {
            return ((Enum<?>) x).name();
        }
        return x instanceof Class ? ((Class<?>) x).getName() : null;
    }

    /** Of x with a whole number. */
    public static boolean whole(Object x, long y, int op, int id) {
        if (!isGuarded) {
            return isWholeSo(x, y, op, id);
        }
        SondeProbe.mute(true);
        try {
            return isWholeSo(x, y, op, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isWholeSo(Object x, long y, int op, int id) {
        if (!isThere(x, id)) {
            return false;
        }
        try {
            if (x instanceof Integer) {
                return order(Long.compare((Integer) x, y), op);
            } else if (x instanceof Long) {
                return order(Long.compare((Long) x, y), op);
            }
            return isPair(x, (Object) y, op, id);
        } catch (Throwable e) {
            return threw(id);
        }
    }

    /** Of x with a number. */
    public static boolean real(Object x, double y, int op, int id) {
        return pair(x, (Object) y, op, id);
    }

    /** Of two objects. */
    public static boolean pair(Object x, Object y, int op, int id) {
        if (!isGuarded) {
            return isPair(x, y, op, id);
        }
        SondeProbe.mute(true);
        try {
            return isPair(x, y, op, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isPair(Object x, Object y, int op, int id) {
        if (!isThere(x, id) || !isThere(y, id)) {
            return false;
        }
        try {
            switch (op) {
                case EQ:
                    return isEqual(x, y);
                case NE:
                    return !isEqual(x, y);
                case LT, LE, GT, GE:
                    return isNumber(x) && isNumber(y) && compare(x, y, op);
                default:
                    return y instanceof String ? isText(x, (String) y, op, id) : contains(x, y);
            }
        } catch (Throwable e) {
            return threw(id);
        }
    }

    /** Numbers by value, texts by content, other objects by what they say themselves. */
    static boolean isEqual(Object x, Object y) {
        if (x == y) {
            return true;
        } else if (x == null || y == null) {
            return false;
        } else if (isNumber(x) && isNumber(y)) {
            return compare(x, y, EQ);
        }
        String t = textOf(x);
        String u = textOf(y);
        if (t != null || u != null) {
            return t != null && t.equals(u);
        }
        SondeProbe.mute(true);
        try {
            return x.equals(y);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isNumber(Object x) {
        return x instanceof Number || x instanceof Character;
    }

    private static boolean isWhole(Object x) {
        return x instanceof Integer
                || x instanceof Long
                || x instanceof Short
                || x instanceof Byte
                || x instanceof Character;
    }

    private static long wholeOf(Object x) {
        return x instanceof Character ? (Character) x : ((Number) x).longValue();
    }

    private static double realOf(Object x) {
        return x instanceof Character ? (Character) x : ((Number) x).doubleValue();
    }

    private static boolean compare(Object x, Object y, int op) {
        if (isWhole(x) && isWhole(y)) {
            return order(Long.compare(wholeOf(x), wholeOf(y)), op);
        }
        double a = realOf(x);
        double b = realOf(y);
        if (a != a || b != b) {
            return op == NE; // not a number
        }
        return order(a < b ? -1 : a > b ? 1 : 0, op);
    }

    @ForceInline
    private static boolean order(int sign, int op) {
        switch (op) {
            case EQ:
                return sign == 0;
            case NE:
                return sign != 0;
            case LT:
                return sign < 0;
            case LE:
                return sign <= 0;
            case GT:
                return sign > 0;
            default:
                return sign >= 0;
        }
    }

    private static boolean contains(Object x, Object y) {
        if (x instanceof Object[]) {
            Object[] all = (Object[]) x;
            for (int k = 0; k < all.length; k++) {
                if (isEqual(all[k], y)) {
                    return true;
                }
            }
            return false;
        }
        if (!(x instanceof Collection)) {
            return false;
        }
        SondeProbe.mute(true);
        try {
            return ((Collection<?>) x).contains(y);
        } finally {
            SondeProbe.mute(false);
        }
    }

    /** The regular expression fits the whole text. */
    public static boolean match(Object x, int site, int id) {
        if (!isGuarded) {
            return isMatch(x, site, id);
        }
        SondeProbe.mute(true);
        try {
            return isMatch(x, site, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isMatch(Object x, int site, int id) {
        if (!isThere(x, id)) {
            return false;
        }
        try {
            String t = textOf(x);
            return t != null && SITES[site].matches(t);
        } catch (Throwable e) {
            return threw(id);
        }
    }

    /** x is one of a list of literals. */
    public static boolean in(Object x, int site, int id) {
        if (!isGuarded) {
            return isIn(x, site, id);
        }
        SondeProbe.mute(true);
        try {
            return isIn(x, site, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isIn(Object x, int site, int id) {
        if (x != null && !isThere(x, id)) {
            return false;
        }
        try {
            return SITES[site].isListed(x) || x == null && miss(x, id);
        } catch (Throwable e) {
            return threw(id);
        }
    }

    /** x is of a type. */
    public static boolean isA(Object x, int site, int id) {
        if (!isGuarded) {
            return isOf(x, site, id);
        }
        SondeProbe.mute(true);
        try {
            return isOf(x, site, id);
        } finally {
            SondeProbe.mute(false);
        }
    }

    private static boolean isOf(Object x, int site, int id) {
        if (!isThere(x, id)) {
            return false;
        }
        try {
            return SITES[site].isType(x);
        } catch (Throwable e) {
            return threw(id);
        }
    }

    private static native void miss0(int id, int why);

    /** Has the JVM do now what it does once. */
    static void warm() {
        miss0(0, 0);
        Pattern.compile("a").matcher(new SondeChars("a", 0, 1, new int[] {9})).matches();
        SondeHeld.warm();
        SondeHop.warm();
    }
}
