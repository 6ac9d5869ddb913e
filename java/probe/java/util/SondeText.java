// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.io.File;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URL;
import java.nio.charset.Charset;
import java.security.CodeSource;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Objects of the program as text for people who watch calls.
 *
 * <p>It runs in the thread that is observed, so it must not be noticed there: no method of the
 * program is called (no toString, equals, hashCode or iterator of its classes), no lock is taken,
 * nothing is thrown, and the text is bounded in depth, elements and length. Only classes of the JDK
 * whose methods are known to be harmless are asked; collections that the program has extended are
 * read by their fields, and so is every other object of the program. Fields and map entries whose
 * names look like secrets are not shown.
 *
 * <pre>
 * "text"  'c'  1  true  null  GIFT               values, names of enum constants
 * Cart{id=7, lines=ArrayList(2)[...]}            an object, its fields
 * int[3]{1, 2, 3}  HashMap(1){"a"=1}             arrays and maps
 * Cart@1b2c3d  ^Cart                             below the depth; a cycle back to the Cart around
 * ***  ?  ...                                    secret; could not be read; cut off
 * </pre>
 *
 * <p>There are no nested classes, lambdas or concatenations here, since the agent defines this
 * class alone (with {@link SondeKnown}) and it may run inside any code of the JDK.
 */
final class SondeText {
    /** How many levels of fields and elements are shown; the agent sets it. */
    static volatile int depth = 2;

    /** In lower case: what the name of a secret contains; the agent sets it. */
    static volatile String[] redact = {
        "password", "passwd", "passphrase", "pwd", "secret", "token", "authorization", "credential",
        "apikey", "api_key", "api-key", "accesskey", "access_key", "privatekey", "private_key",
        "cookie", "sessionid", "session_id", "pin", "ssn", "creditcard", "credit_card",
        "cardnumber", "card_number", "cvv", "cvc", "iban"
    };

    private static final int DEPTH_MAX = 5;
    private static final int ELEMENTS = 16;
    private static final int FIELDS = 32;
    private static final int CHARACTERS = 200;
    private static final int BYTES = 1200; // of one fact
    private static final int BYTES_AT_BEGIN = 2000; // of this and arguments
    private static final int BYTES_OF_VALUE = 8000; // of a field that was asked for
    private static final int BYTES_OF_NAME = 60; // of a thread
    private static final int BUCKETS = 1 << 16; // of a hash table that is almost empty
    private static final int BITS = 2048; // of a number
    private static final int NESTED = 24; // objects in each other, also those that are no level

    private final StringBuilder out = new StringBuilder(120);
    private final Object[] around = new Object[NESTED];
    private final String[] secrets;
    private int nested;
    private int left;
    private boolean cut;

    private SondeText(int bytes) {
        this(bytes, redact);
    }

    private SondeText(int bytes, String[] words) {
        secrets = words == null ? new String[0] : words;
        left = bytes;
    }

    /** Where a class was loaded from; null: not told. The handler of an address is not asked. */
    static String place(Class<?> c) {
        if (!mute()) {
            return null;
        }
        try {
            CodeSource source = c.getProtectionDomain().getCodeSource();
            URL at = source == null ? null : source.getLocation();
            return at == null ? null : at.getProtocol().concat(":").concat(at.getFile());
        } catch (Throwable e) {
            return null;
        } finally {
            SondeProbe.mute0(false);
        }
    }

    /** What somebody has asked for by its name, in the agent's thread; null: out of memory. */
    static String told(Object x, String way, int levels, String[] words) {
        if (!mute()) {
            return null;
        }
        try {
            SondeText text = new SondeText(BYTES_OF_VALUE, words);
            if (SondeKnown.isSecret(way, text.secrets)) {
                text.put("***");
            } else {
                text.value(x, levels < DEPTH_MAX ? levels : DEPTH_MAX);
            }
            return text.out.toString();
        } catch (Throwable e) {
            return null;
        } finally {
            SondeProbe.mute0(false);
        }
    }

    /** Tells the facts "thread", "this" and "args" of the call that begins. */
    static void enter(int id, Object self, Object[] args) {
        if (!mute()) {
            return;
        }
        try {
            int levels = levels();
            SondeProbe.data0(id, "thread", thread(Thread.currentThread()));
            SondeText second = new SondeText(BYTES);
            second.arguments(args, levels);
            if (self != null) {
                int rest = BYTES_AT_BEGIN - BYTES + second.left;
                SondeText first = new SondeText(rest < BYTES ? rest : BYTES);
                first.value(self, levels);
                SondeProbe.data0(id, "this", first.out.toString());
            }
            SondeProbe.data0(id, "args", second.out.toString());
        } catch (Throwable e) {
            // no room for it; the call itself goes on
        } finally {
            SondeProbe.mute0(false);
        }
    }

    /** Tells the fact "result", or "thrown" and "message". */
    static void exit(int id, Object result, Throwable thrown) {
        if (!mute()) {
            return;
        }
        try {
            SondeText text = new SondeText(BYTES);
            if (thrown == null) {
                text.value(result, levels());
                SondeProbe.data0(id, "result", text.out.toString());
            } else {
                SondeProbe.data0(id, "thrown", thrown.getClass().getName());
                String message = message(thrown);
                if (message != null) {
                    text.limited(message);
                    SondeProbe.data0(id, "message", text.out.toString());
                }
            }
        } catch (Throwable e) {
            // as above
        } finally {
            SondeProbe.mute0(false);
        }
    }

    /** False: there is not even stack for this, so nothing is muted. */
    private static boolean mute() {
        try {
            SondeProbe.mute0(true);
            return true;
        } catch (Throwable e) {
            return false;
        }
    }

    /** Its name in Java; a virtual thread seldom has one, and the kernel knows only its carrier. */
    private static String thread(Thread t) {
        SondeText text = new SondeText(BYTES_OF_NAME);
        String name = (String) SondeKnown.peek(t, Thread.class, "name");
        boolean isVirtual = t.getClass().getName().equals("java.lang.VirtualThread");
        text.put(isVirtual ? "virtual " : "");
        if (name == null || name.isEmpty()) {
            text.put('#');
            text.put(Long.toString(SondeKnown.peekLong(t, Thread.class, "tid")));
        } else {
            text.limited(name);
        }
        return text.out.toString();
    }

    private static int levels() {
        int levels = depth;
        return levels < 0 ? 0 : levels > DEPTH_MAX ? DEPTH_MAX : levels;
    }

    private void arguments(Object[] args, int levels) {
        put('(');
        for (int k = 0; args != null && k < args.length && !cut; k++) {
            separate(k);
            value(args[k], levels);
        }
        put(')');
    }

    // ---- characters ----

    private void put(char c) {
        int bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
        if (cut) {
            return;
        }
        if (left < bytes) {
            cut = true;
            out.append("...");
            return;
        }
        left -= bytes;
        out.append(c);
    }

    private void put(String s) {
        for (int k = 0; k < s.length() && !cut; k++) {
            put(s.charAt(k));
        }
    }

    private void put(int n) {
        put(Integer.toString(n));
    }

    private void separate(int before) {
        if (before > 0) {
            put(", ");
        }
    }

    private void escaped(char c, boolean alone) {
        if (c == '\n') {
            put("\\n");
        } else if (c == '\t') {
            put("\\t");
        } else if (c == '\r') {
            put("\\r");
        } else if (c == '"' || c == '\\') {
            put('\\');
            put(c);
        } else if (SondeKnown.isStrange(c) || (alone && Character.isSurrogate(c))) {
            put("\\u");
            for (int shift = 12; shift >= 0; shift -= 4) {
                put(Character.forDigit(c >> shift & 15, 16));
            }
        } else {
            put(c);
        }
    }

    /** Character k of text; half of a pair is none. */
    private void character(CharSequence text, int k, int n) {
        char c = text.charAt(k);
        boolean paired =
                Character.isHighSurrogate(c)
                                && k + 1 < n
                                && Character.isLowSurrogate(text.charAt(k + 1))
                        || Character.isLowSurrogate(c)
                                && k > 0
                                && Character.isHighSurrogate(text.charAt(k - 1));
        escaped(c, !paired);
    }

    /** The beginning of a String or StringBuilder. */
    private void limited(CharSequence text) {
        int n = text.length();
        int shown = n < CHARACTERS ? n : CHARACTERS;
        for (int k = 0; k < shown && !cut; k++) {
            character(text, k, shown);
        }
        if (shown < n) {
            put("...");
        }
    }

    private void quoted(CharSequence text) {
        put('"');
        limited(text);
        put('"');
        if (text.length() > CHARACTERS) {
            put('(');
            put(text.length());
            put(')');
        }
    }

    /** Type("text"). */
    private void quoted(String type, CharSequence text) {
        put(type);
        put('(');
        quoted(text);
        put(')');
    }

    // ---- values ----

    /** Writes x, with so many levels of what it consists of; whatever goes wrong is a '?'. */
    private void value(Object x, int levels) {
        int mark = out.length();
        int leftThen = left;
        int nestedThen = nested;
        boolean cutThen = cut;
        try {
            any(x, levels);
        } catch (Throwable e) {
            out.setLength(mark);
            left = leftThen;
            nested = nestedThen;
            cut = cutThen;
            put('?');
        }
    }

    private void any(Object x, int levels) {
        if (x == null) {
            put("null");
            return;
        }
        Class<?> c = x.getClass();
        if (c == String.class) {
            quoted((String) x);
        } else if (x instanceof Enum) {
            put(((Enum<?>) x).name());
        } else if (c == Class.class) {
            put(SondeKnown.type((Class<?>) x));
            put(".class");
        } else if (c.isArray()) {
            if (open(x, levels)) {
                array(x, c, levels - 1);
                nested--;
            }
        } else if (SondeKnown.isOfPlatform(c)) {
            platform(x, c, levels);
        } else if (x instanceof Throwable) {
            thrown((Throwable) x, c);
        } else if (open(x, levels)) {
            object(x, c, levels - 1);
            nested--;
        }
    }

    /** Is there a level left for x? Otherwise its name is written, and that is all. */
    private boolean open(Object x, int levels) {
        for (int k = 0; k < nested; k++) {
            if (around[k] == x) {
                put('^');
                put(SondeKnown.type(x.getClass()));
                return false;
            }
        }
        if (levels <= 0 || nested == NESTED) {
            name(x);
            return false;
        }
        around[nested++] = x;
        return true;
    }

    /** Type@hash, with the size of a collection. */
    private void name(Object x) {
        Class<?> c = x.getClass();
        if (c.isArray()) {
            put(SondeKnown.type(c.getComponentType()));
            put('[');
            put(Array.getLength(x));
            put(']');
        } else {
            put(SondeKnown.type(c));
            int size = SondeKnown.size(x, c);
            if (size >= 0) {
                put('(');
                put(size);
                put(')');
            }
        }
        put('@');
        put(Integer.toHexString(System.identityHashCode(x)));
    }

    private static String message(Throwable thrown) {
        return (String) SondeKnown.peek(thrown, Throwable.class, "detailMessage");
    }

    private void thrown(Throwable x, Class<?> c) {
        String message = message(x);
        put(SondeKnown.type(c));
        put('(');
        if (message != null) {
            quoted(message);
        }
        put(')');
    }

    private void array(Object x, Class<?> c, int levels) {
        int n = Array.getLength(x);
        put(SondeKnown.type(c.getComponentType()));
        put('[');
        put(n);
        put("]{");
        if (c == char[].class && secrets.length > 0) {
            put("***"); // where texts are kept as arrays, they are passwords
        } else {
            int shown = n < ELEMENTS ? n : ELEMENTS;
            for (int k = 0; k < shown && !cut; k++) {
                separate(k);
                element(x, c, k, levels);
            }
            more(shown, n);
        }
        put('}');
    }

    private void element(Object x, Class<?> c, int k, int levels) {
        if (c == int[].class) {
            put(((int[]) x)[k]);
        } else if (c == byte[].class) {
            put(((byte[]) x)[k]);
        } else if (c == long[].class) {
            put(Long.toString(((long[]) x)[k]));
        } else if (c == char[].class) {
            letter(((char[]) x)[k]);
        } else if (c == short[].class) {
            put(((short[]) x)[k]);
        } else if (c == boolean[].class) {
            put(((boolean[]) x)[k] ? "true" : "false");
        } else if (c == double[].class) {
            put(Double.toString(((double[]) x)[k]));
        } else if (c == float[].class) {
            put(Float.toString(((float[]) x)[k]));
        } else {
            value(((Object[]) x)[k], levels);
        }
    }

    private void letter(char c) {
        put('\'');
        if (c == '\'') {
            put('\\');
        }
        escaped(c, true);
        put('\'');
    }

    /** What was not shown; n is negative when it is not known how many there are. */
    private void more(int shown, int n) {
        if (n < 0 || n > shown) {
            separate(shown);
            put("...");
            if (n > shown) {
                put(' ');
                put(n - shown);
                put(" more");
            }
        }
    }

    // ---- what the JDK's own classes say ----

    private void platform(Object x, Class<?> c, int levels) {
        if (simple(x, c)) {
            return;
        }
        Object inner = SondeKnown.inner(x, c);
        if (inner != null) {
            nest(x, null, inner, levels);
        } else if (c == Optional.class) {
            Object in = ((Optional<?>) x).orElse(null);
            if (in == null) {
                put("Optional()");
            } else {
                nest(x, "Optional", in, levels);
            }
        } else if (c == AtomicReference.class) {
            nest(x, "AtomicReference", ((AtomicReference<?>) x).get(), levels);
        } else if (x instanceof Map.Entry) {
            if (open(x, 1)) {
                Map.Entry<?, ?> entry = (Map.Entry<?, ?>) x;
                put('(');
                entry(entry.getKey(), entry.getValue(), levels);
                put(')');
                nested--;
            }
        } else if (SondeKnown.size(x, c) == SondeKnown.NO_COLLECTION) {
            name(x);
        } else if (open(x, levels)) {
            elements(x, c, levels - 1);
            nested--;
        }
    }

    /** x is only a cover of one other object, which is no level of its own. */
    private void nest(Object x, String type, Object inner, int levels) {
        if (!open(x, 1)) {
            return;
        }
        if (type != null) {
            put(type);
            put('(');
        }
        value(inner, levels);
        if (type != null) {
            put(')');
        }
        nested--;
    }

    /** Classes that are one text. What is called here neither changes anything nor asks others. */
    private boolean simple(Object x, Class<?> c) {
        if (x instanceof Throwable) {
            thrown((Throwable) x, c);
        } else if (x instanceof Thread) {
            quoted(SondeKnown.type(c), (String) SondeKnown.peek(x, Thread.class, "name"));
        } else if (x instanceof Charset) {
            put(((Charset) x).name());
        } else if (x instanceof Date) {
            put(Instant.ofEpochMilli(Date.getMillisOf((Date) x)).toString());
        } else if (c == BigInteger.class) {
            big((BigInteger) x, x);
        } else if (c == BigDecimal.class) {
            big(((BigDecimal) x).unscaledValue(), x);
        } else if (c == File.class) {
            quoted("File", ((File) x).getPath());
        } else if (c == StringBuilder.class) {
            quoted("StringBuilder", (StringBuilder) x);
        } else if (c == URL.class) {
            url((URL) x);
        } else {
            return byName(x, c);
        }
        return true;
    }

    private void big(BigInteger digits, Object x) {
        if (digits.bitLength() <= BITS) {
            limited(x.toString());
        } else {
            name(x);
        }
    }

    /** Its handler, which may be the program's, is not asked. */
    private void url(URL x) {
        put("URL(\"");
        limited(x.getProtocol());
        put("://");
        limited(x.getHost());
        if (x.getPort() >= 0) {
            put(':');
            put(x.getPort());
        }
        limited(x.getFile());
        put("\")");
    }

    private boolean byName(Object x, Class<?> c) {
        if (SondeKnown.isPlain(c.getName())) {
            limited(x.toString());
            return true;
        }
        switch (c.getName()) {
            case "java.lang.Character":
                letter((Character) x);
                return true;
            case "java.net.URI", "java.util.regex.Pattern":
                quoted(SondeKnown.type(c), x.toString());
                return true;
            case "sun.nio.fs.UnixPath":
                quoted("Path", x.toString());
                return true;
            default:
                return false;
        }
    }

    // ---- collections and maps ----

    /** x as Type(size)[...] or Type(size){...}. */
    private void elements(Object x, Class<?> c, int levels) {
        int size = SondeKnown.size(x, c);
        put(SondeKnown.type(c));
        if (size >= 0) {
            put('(');
            put(size);
            put(')');
        }
        boolean isMap = x instanceof Map;
        put(isMap ? '{' : '[');
        if (x instanceof ArrayList) {
            slots(((ArrayList<?>) x).elementData, size, levels);
        } else if (x instanceof Vector) {
            slots(((Vector<?>) x).elementData, size, levels);
        } else if (x instanceof HashMap) {
            hashed((HashMap<?, ?>) x, isMap, levels);
        } else if (x instanceof HashSet) {
            hashed((HashMap<?, ?>) SondeKnown.peek(x, HashSet.class, "map"), isMap, levels);
        } else if (isMap) {
            iterated(((Map<?, ?>) x).entrySet().iterator(), size, isMap, levels);
        } else {
            iterated(((Collection<?>) x).iterator(), size, isMap, levels);
        }
        put(isMap ? '}' : ']');
    }

    private void slots(Object[] slots, int size, int levels) {
        int n = size < slots.length ? size : slots.length;
        int shown = n < ELEMENTS ? n : ELEMENTS;
        for (int k = 0; k < shown && !cut; k++) {
            separate(k);
            value(slots[k], levels);
        }
        more(shown, n);
    }

    private void iterated(Iterator<?> it, int size, boolean isMap, int levels) {
        int shown = 0;
        boolean more;
        while ((more = it.hasNext()) && shown < ELEMENTS && !cut) {
            Object x = it.next();
            separate(shown++);
            if (isMap) {
                Map.Entry<?, ?> entry = (Map.Entry<?, ?>) x;
                entry(entry.getKey(), entry.getValue(), levels);
            } else {
                value(x, levels);
            }
        }
        if (more) {
            more(shown, size);
        }
    }

    /** The entries or keys of a hash table, by its fields: the program may have extended it. */
    private void hashed(HashMap<?, ?> map, boolean isMap, int levels) {
        if (map == null) {
            return;
        }
        int shown = 0;
        if (map instanceof LinkedHashMap) {
            LinkedHashMap.Entry<?, ?> e = ((LinkedHashMap<?, ?>) map).head;
            for (; e != null && shown < ELEMENTS && !cut; e = e.after) {
                node(e, shown++, isMap, levels);
            }
        } else if (map.table != null) {
            HashMap.Node<?, ?>[] table = map.table;
            for (int k = 0; k < table.length && k < BUCKETS && shown < map.size; k++) {
                HashMap.Node<?, ?> e = table[k];
                for (; e != null && shown < ELEMENTS && !cut; e = e.next) {
                    node(e, shown++, isMap, levels);
                }
                if (shown == ELEMENTS || cut) {
                    break;
                }
            }
        }
        if (map.size > shown) {
            more(shown, map.size);
        }
    }

    private void node(HashMap.Node<?, ?> e, int before, boolean isMap, int levels) {
        separate(before);
        if (isMap) {
            entry(e.key, e.value, levels);
        } else {
            value(e.key, levels);
        }
    }

    private void entry(Object key, Object value, int levels) {
        value(key, levels);
        put('=');
        if (SondeKnown.isSecret(key, secrets)) {
            put("***");
        } else {
            value(value, levels);
        }
    }

    // ---- objects of the program ----

    private void object(Object x, Class<?> c, int levels) {
        boolean isCollection = SondeKnown.size(x, c) != SondeKnown.NO_COLLECTION;
        if (isCollection) {
            elements(x, c, levels);
        }
        if (!fields(x, c, levels, isCollection) && !isCollection) {
            name(x);
        }
    }

    /** Type{name=value, ...}, or only {...} behind elements; false when it has no fields. */
    private boolean fields(Object x, Class<?> c, int levels, boolean isBehind) {
        int count = 0;
        boolean isSecretPair = false;
        for (Class<?> k = c; k != null && !SondeKnown.isOfPlatform(k); k = k.getSuperclass()) {
            String[] fields = SondeKnown.fields(k);
            for (int i = 0; i < fields.length; i++) {
                isSecretPair |= namesSecret(x, k, fields[i]);
            }
            count += fields.length;
        }
        if (count == 0) {
            return false;
        }
        if (!isBehind) {
            put(SondeKnown.type(c));
        }
        put('{');
        int shown = 0;
        for (Class<?> k = c; k != null && !SondeKnown.isOfPlatform(k); k = k.getSuperclass()) {
            String[] fields = SondeKnown.fields(k);
            for (int i = 0; i < fields.length && shown < FIELDS && !cut; i++) {
                separate(shown++);
                field(x, k, fields[i], levels, isSecretPair);
            }
        }
        more(shown, count);
        put('}');
        return true;
    }

    /** Is x something like Header{name="Authorization", value="..."}? */
    private boolean namesSecret(Object x, Class<?> c, String field) {
        return isName(field)
                && SondeKnown.isSecret(SondeKnown.peek(x, c, field.substring(1)), secrets);
    }

    private static boolean isName(String field) {
        return field.equals("Lname") || field.equals("Lkey") || field.equals("Lheader");
    }

    private void field(Object x, Class<?> c, String field, int levels, boolean isSecretPair) {
        String name = field.substring(1);
        put(name);
        put('=');
        if (SondeKnown.isSecret(name, secrets) || (isSecretPair && !isName(field))) {
            put("***");
            return;
        }
        char type = field.charAt(0);
        long at = SondeKnown.UNSAFE.objectFieldOffset(c, name);
        if (type == 'L' || type == '[') {
            value(SondeKnown.UNSAFE.getReference(x, at), levels);
        } else if (type == 'C') {
            letter(SondeKnown.UNSAFE.getChar(x, at));
        } else {
            put(SondeKnown.basic(x, type, at));
        }
    }
}
