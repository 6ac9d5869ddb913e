// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.regex.Pattern;

/**
 * One part of a condition that woven code names by its number: a step of a path, a regular
 * expression, a list, a type. What it means for a class is found out once and kept with that class,
 * so that no class is kept alive by it.
 */
final class SondeSite extends ClassValue<Object> {
    /** As enum cond_site_kind. */
    static final int FIELD = 0;

    static final int CALL = 1;
    static final int INDEX = 2;
    static final int MATCH = 3;
    static final int LIST = 4;
    static final int TYPE = 5;

    private static final int STEPS = 1 << 20; // of a regular expression on one text

    private final int number;
    private final int kind;
    private final String name;
    private final Object[] args;
    private final Pattern pattern;

    private SondeSite(int number, int kind, String name, Object[] args) {
        this.number = number;
        this.kind = kind;
        this.name = name;
        this.args = args;
        this.pattern = kind == MATCH ? Pattern.compile(name) : null;
    }

    /** Called by the agent, before the number is woven anywhere. */
    static void bind(int number, int kind, String name, Object[] args) {
        SondeData.SITES[number] = new SondeSite(number, kind, name, args);
    }

    @Override
    protected Object computeValue(Class<?> c) {
        try {
            if (kind == TYPE) {
                return isA(c) ? Boolean.TRUE : Boolean.FALSE;
            }
            return kind == FIELD ? field(c) : getter(c);
        } catch (Throwable e) {
            return SondeAccess.NO_MEMBER;
        }
    }

    /** The field of that name nearest to the class. */
    private Object field(Class<?> c) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            String[] fields = SondeKnown.fields(k);
            for (int i = 0; i < fields.length; i++) {
                if (fields[i].length() == name.length() + 1 && fields[i].endsWith(name)) {
                    long at = SondeKnown.UNSAFE.objectFieldOffset(k, name);
                    return SondeAccess.field(fields[i].charAt(0), at);
                }
            }
        }
        return SondeAccess.NO_MEMBER;
    }

    private Object getter(Class<?> c) throws Throwable {
        Object found = find0(c, number);
        if (found instanceof Method) {
            return SondeAccess.getter((Method) found, args);
        }
        if (found instanceof Object[]) { // a class and a field, as in SondeKnown.fields()
            Object[] pair = (Object[]) found;
            String field = (String) pair[1];
            long at =
                    SondeKnown.UNSAFE.objectFieldOffset((Class<?>) pair[0], field.substring(1));
            return SondeAccess.field(field.charAt(0), at);
        }
        return found == null ? SondeAccess.NO_MEMBER : SondeAccess.HARMFUL;
    }

    /**
     * The method that the site calls on objects of that class, or the field that it only gives;
     * null: none; else refused.
     */
    private static native Object find0(Class<?> c, int site);

    /** By name: of several classes of one name each is meant. */
    private boolean isA(Class<?> c) {
        if (c == null) {
            return false;
        }
        if (c.getName().equals(name) || isA(c.getSuperclass())) {
            return true;
        }
        Class<?>[] all = c.getInterfaces();
        for (int k = 0; k < all.length; k++) {
            if (isA(all[k])) {
                return true;
            }
        }
        return false;
    }

    boolean isIndex() {
        return kind == INDEX;
    }

    /** The step taken from x, which is not null. */
    Object of(Object x) {
        if (kind == INDEX) {
            return element(x);
        }
        Class<?> c = x.getClass();
        if (kind == FIELD && c.isArray()) {
            return name.equals("length") ? (Object) Array.getLength(x) : SondeAccess.NO_MEMBER;
        }
        return ((SondeAccess) get(c)).of(x);
    }

    private Object element(Object x) {
        Object key = args[0];
        if (x.getClass().isArray()) {
            int at = key instanceof Integer ? (Integer) key : -1;
            return at >= 0 && at < Array.getLength(x) ? Array.get(x, at) : SondeAccess.NULL;
        }
        boolean isList = x instanceof List && key instanceof Integer;
        if (!isList && !(x instanceof Map)) {
            return SondeAccess.NO_MEMBER;
        }
        SondeProbe.mute(true);
        try {
            if (isList) {
                int at = (Integer) key;
                List<?> list = (List<?>) x;
                return at >= 0 && at < list.size() ? list.get(at) : SondeAccess.NULL;
            }
            return ((Map<?, ?>) x).get(key);
        } finally {
            SondeProbe.mute(false);
        }
    }

    boolean isType(Object x) {
        return get(x.getClass()) == Boolean.TRUE;
    }

    boolean matches(String text) {
        return pattern.matcher(new SondeChars(text, 0, text.length(), new int[] {STEPS})).matches();
    }

    boolean isListed(Object x) {
        for (int k = 0; k < args.length; k++) {
            if (SondeData.isEqual(x, args[k])) {
                return true;
            }
        }
        return false;
    }
}
