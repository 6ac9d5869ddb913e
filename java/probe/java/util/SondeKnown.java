// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import jdk.internal.misc.Unsafe;

/**
 * What {@link SondeText} knows about classes: which of the JDK's may be asked without being
 * noticed, what lies in the fields of any object, and which names are those of secrets. Nothing
 * here calls code of the program or takes a lock. Names of the JDK's own fields are the same in 17
 * and 25; where one is missing, an error is thrown, which the caller expects.
 */
final class SondeKnown {
    static final Unsafe UNSAFE = Unsafe.getUnsafe();

    /** Sizes that are none. */
    static final int NOT_CHEAP = -1;

    static final int NO_COLLECTION = -2;

    private static final int SHORT = 5; // words below this are found as whole words only
    private static final int LOOKED_AT = 200; // characters of a name

    /** Is there nobody who says the fields of a class without loading their types? */
    private static boolean isAlone;

    private SondeKnown() {}

    // ---- classes ----

    static boolean isOfPlatform(Class<?> c) {
        String module = c.getModule().getName();
        return module != null && (module.startsWith("java.") || module.startsWith("jdk."));
    }

    /**
     * The name without package. Classes that the JVM makes go without their number, nested ones of
     * the JDK by what they are.
     */
    static String type(Class<?> c) {
        int dimensions = 0;
        while (c.isArray()) {
            c = c.getComponentType();
            dimensions++;
        }
        String name = c.getName();
        int lambda = name.indexOf("$$Lambda");
        int hidden = lambda >= 0 ? lambda + 8 : name.indexOf('/');
        if (hidden >= 0) {
            name = name.substring(0, hidden);
        }
        name = name.substring(name.lastIndexOf('.') + 1);
        if (name.indexOf('$') > 0 && isOfPlatform(c)) {
            name =
                    List.class.isAssignableFrom(c)
                            ? "List"
                            : Set.class.isAssignableFrom(c)
                                    ? "Set"
                                    : Map.class.isAssignableFrom(c) ? "Map" : name;
        }
        for (; dimensions > 0; dimensions--) {
            name = name.concat("[]");
        }
        return name;
    }

    /** Has the class, which is the JDK's, a toString() that asks nobody and changes nothing? */
    static boolean isPlain(String name) {
        switch (name) {
            case "java.lang.Integer", "java.lang.Long", "java.lang.Boolean", "java.lang.Double",
                    "java.lang.Short", "java.lang.Byte", "java.lang.Float", "java.time.Instant",
                    "java.time.Duration", "java.time.Period", "java.time.LocalDate",
                    "java.time.LocalTime", "java.time.LocalDateTime", "java.time.OffsetDateTime",
                    "java.time.OffsetTime", "java.time.ZonedDateTime", "java.time.Year",
                    "java.time.YearMonth", "java.time.MonthDay", "java.time.ZoneOffset",
                    "java.time.ZoneRegion", "java.util.UUID", "java.util.Locale",
                    "java.util.OptionalInt", "java.util.OptionalLong", "java.util.OptionalDouble",
                    "java.util.concurrent.atomic.AtomicInteger",
                    "java.util.concurrent.atomic.AtomicLong",
                    "java.util.concurrent.atomic.AtomicBoolean",
                    "java.util.concurrent.atomic.LongAdder", "java.net.Inet4Address",
                    "java.net.Inet6Address", "java.net.InetSocketAddress":
                return true;
            default:
                return false;
        }
    }

    /** What a wrapper of the JDK wraps, or null. */
    static Object inner(Object x, Class<?> c) {
        for (Class<?> k = c; k != null; k = k.getSuperclass()) {
            switch (k.getName()) {
                case "java.util.Collections$UnmodifiableCollection",
                        "java.util.Collections$SynchronizedCollection",
                        "java.util.Collections$CheckedCollection":
                    return peek(x, k, "c");
                case "java.util.Collections$UnmodifiableMap",
                        "java.util.Collections$SynchronizedMap",
                        "java.util.Collections$CheckedMap",
                        "java.util.Collections$SetFromMap":
                    return peek(x, k, "m");
                case "java.util.Properties":
                    return peek(x, k, "map");
                default:
                    break;
            }
        }
        return null;
    }

    /** How many elements x has, NOT_CHEAP to know, or NO_COLLECTION that can be read. */
    static int size(Object x, Class<?> c) {
        if (x instanceof ArrayList) {
            return UNSAFE.getInt(x, UNSAFE.objectFieldOffset(ArrayList.class, "size"));
        } else if (x instanceof Vector) {
            return ((Vector<?>) x).elementCount; // its methods would wait for its lock
        } else if (x instanceof HashMap) {
            return ((HashMap<?, ?>) x).size;
        } else if (x instanceof HashSet) {
            HashMap<?, ?> map = (HashMap<?, ?>) peek(x, HashSet.class, "map");
            return map == null ? 0 : map.size;
        } else if (!isOfPlatform(c)) {
            return NO_COLLECTION;
        }
        switch (c.getName()) {
            case "java.util.LinkedList", "java.util.ArrayDeque", "java.util.PriorityQueue",
                    "java.util.RegularEnumSet", "java.util.JumboEnumSet",
                    "java.util.Arrays$ArrayList", "java.util.HashMap$KeySet",
                    "java.util.HashMap$Values", "java.util.HashMap$EntrySet",
                    "java.util.LinkedHashMap$LinkedKeySet", "java.util.LinkedHashMap$LinkedValues",
                    "java.util.LinkedHashMap$LinkedEntrySet",
                    "java.util.ImmutableCollections$List12", "java.util.ImmutableCollections$ListN",
                    "java.util.ImmutableCollections$Set12", "java.util.ImmutableCollections$SetN",
                    "java.util.Collections$EmptyList", "java.util.Collections$EmptySet",
                    "java.util.Collections$SingletonList", "java.util.Collections$SingletonSet",
                    "java.util.concurrent.CopyOnWriteArrayList",
                    "java.util.concurrent.CopyOnWriteArraySet",
                    "java.util.concurrent.ConcurrentHashMap$KeySetView":
                return ((Collection<?>) x).size();
            case "java.util.TreeSet":
                Object map = peek(x, TreeSet.class, "m"); // a view would ask the comparator
                return map.getClass() == TreeMap.class
                        ? ((TreeMap<?, ?>) map).size()
                        : NO_COLLECTION;
            case "java.util.TreeMap", "java.util.EnumMap", "java.util.ImmutableCollections$Map1",
                    "java.util.ImmutableCollections$MapN", "java.util.Collections$EmptyMap",
                    "java.util.Collections$SingletonMap", "java.util.concurrent.ConcurrentHashMap":
                return ((Map<?, ?>) x).size();
            case "java.util.concurrent.ConcurrentLinkedQueue",
                    "java.util.concurrent.ConcurrentLinkedDeque":
                return NOT_CHEAP;
            default:
                return NO_COLLECTION;
        }
    }

    // ---- fields ----

    /** The reference in a field that class c declares. */
    static Object peek(Object x, Class<?> c, String field) {
        return UNSAFE.getReference(x, UNSAFE.objectFieldOffset(c, field));
    }

    static long peekLong(Object x, Class<?> c, String field) {
        return UNSAFE.getLong(x, UNSAFE.objectFieldOffset(c, field));
    }

    /**
     * The fields of objects that class c declares, each as the first letter of its descriptor and
     * its name; none when they cannot be had.
     */
    static String[] fields(Class<?> c) {
        try {
            return isAlone ? reflected(c) : fields0(c);
        } catch (UnsatisfiedLinkError e) {
            isAlone = true;
            return fields(c);
        }
    }

    /** As fields(); the agent can answer without loading the fields' types. */
    private static native String[] fields0(Class<?> c);

    /** None where a security manager would be asked, or where a field's type cannot be found. */
    @SuppressWarnings("removal")
    private static String[] reflected(Class<?> c) {
        Field[] all;
        try {
            all = System.getSecurityManager() == null ? c.getDeclaredFields() : new Field[0];
        } catch (LinkageError e) {
            all = new Field[0];
        }
        String[] out = new String[all.length];
        int n = 0;
        for (int k = 0; k < all.length; k++) {
            if (!Modifier.isStatic(all[k].getModifiers()) && !all[k].isSynthetic()) {
                String type = all[k].getType().descriptorString();
                out[n++] = type.substring(0, 1).concat(all[k].getName());
            }
        }
        return Arrays.copyOf(out, n);
    }

    /** A field of Java's basic types as text; null when it is a reference. */
    static String basic(Object x, char type, long at) {
        switch (type) {
            case 'Z':
                return UNSAFE.getBoolean(x, at) ? "true" : "false";
            case 'B':
                return Integer.toString(UNSAFE.getByte(x, at));
            case 'S':
                return Integer.toString(UNSAFE.getShort(x, at));
            case 'I':
                return Integer.toString(UNSAFE.getInt(x, at));
            case 'J':
                return Long.toString(UNSAFE.getLong(x, at));
            case 'F':
                return Float.toString(UNSAFE.getFloat(x, at));
            case 'D':
                return Double.toString(UNSAFE.getDouble(x, at));
            default:
                return null;
        }
    }

    // ---- characters and names ----

    /** Would the character do something to a terminal, or hide what is there? */
    static boolean isStrange(char c) {
        return c < 0x20
                || (c >= 0x7f && c < 0xa0)
                || (c >= 0x200b && c < 0x2010) // without width, or turning the direction
                || (c >= 0x2028 && c < 0x202f)
                || (c >= 0x2060 && c < 0x2070)
                || c == 0xfeff;
    }

    /** Does the name (or the enum constant, when it is a key) contain one of the words? */
    static boolean isSecret(Object name, String[] words) {
        String text = null;
        if (name instanceof String) {
            text = (String) name;
        } else if (name instanceof Enum) {
            text = ((Enum<?>) name).name();
        }
        for (int k = 0; text != null && k < words.length; k++) {
            if (words[k] != null && contains(text, words[k])) {
                return true;
            }
        }
        return false;
    }

    private static boolean contains(String text, String word) {
        int last = text.length() - word.length();
        for (int from = 0; from <= last && from < LOOKED_AT && !word.isEmpty(); from++) {
            int k = 0;
            while (k < word.length()
                    && Character.toLowerCase(text.charAt(from + k)) == word.charAt(k)) {
                k++;
            }
            if (k == word.length()
                    && (k >= SHORT || (isEdge(text, from) && isEdge(text, from + k)))) {
                return true;
            }
        }
        return false;
    }

    /** Does a word begin or end before character k, as in userPin, PIN_CODE? */
    private static boolean isEdge(String text, int k) {
        if (k == 0 || k == text.length()) {
            return true;
        }
        char before = text.charAt(k - 1);
        char after = text.charAt(k);
        return !Character.isLetter(before)
                || !Character.isLetter(after)
                || (Character.isLowerCase(before) && Character.isUpperCase(after));
    }
}
