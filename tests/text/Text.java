// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Set;
import java.util.SondeTold;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** Shows one value after the other as SondeText does; a line each, "name: text". */
public class Text {
    enum Kind {
        GIFT {
            @Override
            public String toString() {
                throw touched("toString of an enum");
            }
        },
        PLAIN,
        PASSWORD
    }

    static volatile boolean isTouched;

    static RuntimeException touched(String what) {
        isTouched = true;
        return new IllegalStateException(what);
    }

    /** Nothing of this may be called. */
    static class Shy implements Comparable<Shy>, Iterable<String> {
        @Override
        public String toString() {
            throw touched("toString");
        }

        @Override
        public boolean equals(Object other) {
            throw touched("equals");
        }

        @Override
        public int hashCode() {
            throw touched("hashCode");
        }

        @Override
        public int compareTo(Shy other) {
            throw touched("compareTo");
        }

        @Override
        public Iterator<String> iterator() {
            throw touched("iterator");
        }
    }

    static class ShyList extends ArrayList<Object> {
        int total = 3;

        @Override
        public int size() {
            throw touched("size");
        }

        @Override
        public Object get(int k) {
            throw touched("get");
        }

        @Override
        public Iterator<Object> iterator() {
            throw touched("iterator");
        }
    }

    static class ShyMap extends HashMap<String, Object> {
        @Override
        public int size() {
            throw touched("size");
        }

        @Override
        public Set<Map.Entry<String, Object>> entrySet() {
            throw touched("entrySet");
        }
    }

    static class ShyException extends RuntimeException {
        ShyException(String text) {
            super(text);
        }

        @Override
        public String getMessage() {
            throw touched("getMessage");
        }

        @Override
        public String toString() {
            throw touched("toString");
        }
    }

    static class Basic {
        boolean z = true;
        byte b = -1;
        short s = 300;
        char c = 'x';
        int i = 7;
        long j = 1L << 40;
        float f = 1.5f;
        double d = 0.1;
        String text = "a \"b\"\n\\ \u001b[31m \u202e \u00e4\u20ac";
        static int never = 1;
    }

    static class Base {
        int id = 1;
        private String hidden = "base";
    }

    static class Derived extends Base {
        String hidden = "derived";
        Base other = new Base();
    }

    static class Node {
        String name;
        Node next;
        Node[] all;

        Node(String name) {
            this.name = name;
        }
    }

    static class Account {
        String user = "ann";
        String password = "tiger";
        String apiKey = "k";
        char[] raw = {'a', 'b'};
        String shippingMode = "by air";
        String className = "c";
        int userPin = 1234;
        String PIN_CODE = "99";
        String socialSsn = "1-2-3";
        Object nothing;
    }

    static class Header {
        String name;
        String value;

        Header(String name, String value) {
            this.name = name;
            this.value = value;
        }
    }

    record Point(int x, int y) {}

    static class Many {
        int a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17;
        int a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34;
    }

    class Inner {
        int mine = 1;
    }

    static class Empty {}

    static void show(String name, Object x) {
        System.out.print(name + ": " + SondeTold.exit(x, null).replaceFirst("^result=", ""));
    }

    static String repeat(String s, int n) {
        return s.repeat(n);
    }

    @SuppressWarnings("unchecked")
    static <T> T with(Collection<?> c, Object... xs) {
        for (Object x : xs) {
            ((Collection<Object>) c).add(x);
        }
        return (T) c;
    }

    static void values() throws Exception {
        show("null", null);
        show("int", 42);
        show("long", -1L);
        show("double", 1e100);
        show("char", 'c');
        show("char to be escaped", '\'');
        show("boolean", true);
        show("text", "hello");
        show("empty text", "");
        show("long text", repeat("x", 1234));
        show("pair", "\ud83d\ude00");
        show("half a pair", "a\ud83d");
        show("enum", Kind.GIFT);
        show("class", Map.Entry.class);
        show("array class", int[][].class);
        show("big", new BigDecimal("123.450"));
        show("too big", BigInteger.ONE.shiftLeft(100000));
        show("uuid", new UUID(1, 2));
        show("date", new Date(0));
        show("sql date", Class.forName("java.sql.Timestamp").getConstructor(long.class).newInstance(5L));
        show("instant", Instant.EPOCH);
        show("local date", LocalDate.of(2024, 2, 29));
        show("duration", Duration.ofMillis(1500));
        show("locale", Locale.GERMANY);
        show("charset", StandardCharsets.UTF_8);
        show("file", new File("/tmp/x"));
        show("path", Path.of("/tmp/x"));
        show("uri", URI.create("http://a/b?c"));
        show("url", new URL("http://a:80/b?c"));
        show("builder", new StringBuilder("abc"));
        show("optional", Optional.of("x"));
        show("no optional", Optional.empty());
        show("optional int", OptionalInt.of(3));
        show("atomic", new AtomicInteger(3));
        show("reference", new AtomicReference<>(Kind.PLAIN));
        show("thread", new Thread("worker"));
        show("exception", new ShyException("out of stock"));
        show("exception of the JDK", new IllegalStateException());
        show("opaque", new BitSet());
        show("lambda", (Supplier<String>) () -> "x");
    }

    static void collections() {
        Set<Object> unsorted = new HashSet<>();
        unsorted.add("only");
        Hashtable<String, String> table = new Hashtable<>();
        table.put("password", "tiger");
        Properties properties = new Properties();
        properties.setProperty("db.password", "tiger");
        Map<Kind, Integer> byKind = new EnumMap<>(Kind.class);
        byKind.put(Kind.PASSWORD, 1);
        byKind.put(Kind.PLAIN, 2);
        HashMap<String, Object> huge = new HashMap<>(1 << 20);
        huge.put("a", 1);
        ConcurrentHashMap<String, Integer> concurrent = new ConcurrentHashMap<>();
        concurrent.put("one", 1);
        LinkedHashMap<String, Object> linked = new LinkedHashMap<>();
        linked.put("z", 1);
        linked.put("a", List.of(1, 2));
        linked.put("Auth-Token", "abc");
        TreeSet<Integer> numbers = with(new TreeSet<Integer>(), 5, 3, 4);
        TreeSet<Shy> shySet = new TreeSet<>((a, b) -> isTouched || a != b ? 1 : 0);
        shySet.add(new Shy());

        show("ints", new int[] {1, 2, 3});
        show("many ints", new int[1000]);
        show("bytes", new byte[] {-1, 2});
        show("chars", new char[] {'p', 'w'});
        show("doubles", new double[] {0.5});
        show("longs", new long[] {1});
        show("floats", new float[] {1});
        show("shorts", new short[] {1});
        show("booleans", new boolean[] {true});
        show("strings", new String[] {"a", null});
        show("matrix", new int[][] {{1}, {2, 3}});
        show("list", with(new ArrayList<>(), 1, "b", null));
        show("linked list", with(new LinkedList<>(), 1, 2));
        show("deque", with(new ArrayDeque<>(), 1, 2));
        show("queue", with(new PriorityQueue<>(), 2, 1));
        show("concurrent queue", with(new ConcurrentLinkedQueue<>(), 1, 2));
        show("copied", new CopyOnWriteArrayList<>(List.of(1, 2)));
        show("vector", with(new Vector<>(), 1));
        show("fixed", Arrays.asList(1, 2));
        show("list of", List.of(1, 2, 3));
        show("set of", Set.of(1));
        show("map of", Map.of("a", 1));
        show("no list", List.of());
        show("singleton", Collections.singletonList(1));
        show("set", unsorted);
        show("linked set", with(new LinkedHashSet<>(), "b", "a"));
        show("sorted set", numbers);
        show("view of a sorted set", numbers.headSet(4));
        show("shy sorted set", shySet);
        show("enum set", EnumSet.of(Kind.GIFT, Kind.PLAIN));
        show("enum map", byKind);
        show("map", new HashMap<>(Map.of("k", 1)));
        show("linked map", linked);
        show("keys", linked.keySet());
        show("entry", linked.entrySet());
        show("sorted map", new TreeMap<>(Map.of(2, "b", 1, "a")));
        show("concurrent map", concurrent);
        show("concurrent set", with(ConcurrentHashMap.newKeySet(), 1));
        show("almost empty map", huge);
        show("unmodifiable", Collections.unmodifiableList(Arrays.asList(1, 2)));
        show("unmodifiable map", Collections.unmodifiableMap(linked));
        show("synchronized", Collections.synchronizedList(with(new ArrayList<>(), 1)));
        show("table", table);
        show("properties", properties);
        List<Object> many = new ArrayList<>();
        for (int k = 0; k < 100; k++) {
            many.add(k);
        }
        show("many", many);
        show("many linked", new LinkedList<>(many));
        show("many queued", new ConcurrentLinkedQueue<>(many));
    }

    static void objects() throws Exception {
        ShyList shyList = new ShyList();
        shyList.add(new Shy());
        ShyMap shyMap = new ShyMap();
        shyMap.put("token", 1);
        shyMap.put("x", Kind.GIFT);
        Node ring = new Node("ring");
        ring.next = ring;
        Node outer = new Node("outer");
        outer.next = new Node("inner");
        outer.next.next = new Node("innermost");
        outer.all = new Node[] {outer};
        List<Object> self = new ArrayList<>();
        self.add(self);
        Object optional = "x";
        for (int k = 0; k < 100; k++) {
            optional = Optional.of(optional);
        }

        show("basic", new Basic());
        show("derived", new Derived());
        show("record", new Point(1, 2));
        show("inner class", new Text().new Inner());
        show("no fields", new Empty());
        show("many fields", new Many());
        show("shy", new Shy());
        show("shy list", shyList);
        show("shy map", shyMap);
        show("shy in a set", Collections.singletonList(new Shy()));
        show("ring", ring);
        show("chain", outer);
        show("list in itself", self);
        show("very nested", optional);
        show("account", new Account());
        show("secret pair", new Header("X-Api-Key", "k"));
        show("open pair", new Header("Accept", "*/*"));
        show("wide", Collections.nCopies(1, 1));
        show("cut", Arrays.asList(repeat("a", 199), repeat("b", 199), repeat("c", 199),
                repeat("d", 199), repeat("e", 199), repeat("f", 199), repeat("g", 199),
                repeat("h", 199), repeat("i", 199), repeat("j", 199), repeat("k", 199)));
        String[] words = SondeTold.defaults();
        SondeTold.set(1, words);
        show("depth 1", outer);
        SondeTold.set(4, words);
        show("depth 4", outer);
        SondeTold.set(0, words);
        show("depth 0", outer);
        SondeTold.set(99, words);
        show("depth 99", outer);
        SondeTold.set(2, new String[] {"user", "x"});
        show("own words", new Account());
        SondeTold.set(2, new String[0]);
        show("no words", new Account());
        SondeTold.set(2, null);
        show("words that were never set", new Header("password", "tiger"));
        SondeTold.set(2, words);
    }

    static void calls() {
        System.out.print(SondeTold.enter(new Point(1, 2), 1, "b", null));
        System.out.print(SondeTold.enter(null));
        System.out.print(SondeTold.enter(null, (Object[]) null));
        System.out.print(SondeTold.exit(null, new ShyException("line\nline")));
        System.out.print(SondeTold.exit(null, new RuntimeException()));
        String both = SondeTold.enter(repeat("t", 5000), Collections.nCopies(1, repeat("a", 5000)),
                Arrays.asList(repeat("\u20ac", 150), repeat("\u20ac", 150), repeat("\u20ac", 150),
                        repeat("\u20ac", 150), repeat("\u20ac", 150), repeat("\u20ac", 150)));
        System.out.println("bytes: " + (both.getBytes(StandardCharsets.UTF_8).length < 2200));
    }

    /** Lists that change while they are shown: nothing may be thrown. */
    static void races() throws Exception {
        List<Object> list = new LinkedList<>();
        List<Object> array = new ArrayList<>();
        Map<Object, Object> map = new HashMap<>();
        StringBuilder builder = new StringBuilder();
        boolean[] done = new boolean[1];
        Thread t = new Thread(() -> {
            for (int k = 0; k < 300_000 && !done[0]; k++) {
                list.add(k);
                array.add(k);
                map.put(k, k);
                builder.append(k);
                if (k % 20 == 19) {
                    list.clear();
                    array.clear();
                    map.clear();
                    builder.setLength(0);
                }
            }
        });
        t.start();
        int shown = 0;
        for (int k = 0; k < 400; k++) {
            shown += SondeTold.enter(null, list, array, map, builder).isEmpty() ? 0 : 1;
        }
        done[0] = true;
        t.join();
        System.out.println("races: " + (shown == 400));
    }

    static int overflows;

    static void deeper(Object x) {
        try {
            SondeTold.enter(x, x);
            deeper(x);
        } catch (StackOverflowError e) {
            overflows++;
            throw e;
        }
    }

    /** At the end of the stack there may be no room for it; but it must not stay muted. */
    static void overflow() throws Exception {
        Node x = new Node("x");
        x.next = new Node("y");
        Thread t = new Thread(null, () -> {
            try {
                deeper(x);
            } catch (StackOverflowError e) {
                // what it is here for
            }
        }, "deep", 200_000);
        t.start();
        t.join();
        System.out.println("overflow: " + (overflows > 0) + " muted " + SondeTold.muted);
    }

    /** Takes all memory there is, in a chain. */
    static Object[] fill() {
        Object[] last = null;
        try {
            throw new OutOfMemoryError(); // so that the class is known when there is no memory
        } catch (OutOfMemoryError e) {
            last = null;
        }
        for (int size = 1 << 18; size >= 8; size /= 2) {
            try {
                while (true) {
                    Object[] next = new Object[size];
                    next[0] = last;
                    last = next;
                }
            } catch (OutOfMemoryError e) {
                // the next smaller ones
            }
        }
        return last;
    }

    static void memory() {
        Object[] values = {"x", 1, List.of(1)};
        boolean isThrown = false;
        Object[] all = fill();
        try {
            for (int k = 0; k < 10; k++) {
                SondeTold.enter("t", values);
            }
        } catch (OutOfMemoryError e) {
            isThrown = true;
        }
        isThrown |= all == null;
        all = null;
        System.out.println("memory: " + !isThrown + " muted " + SondeTold.muted);
    }

    public static void main(String[] args) throws Exception {
        values();
        collections();
        objects();
        calls();
        races();
        overflow();
        memory();
        System.out.println("touched: " + isTouched);
        System.out.println("muted: " + SondeTold.muted + ", told aloud: " + SondeTold.toldAloud);
    }
}
