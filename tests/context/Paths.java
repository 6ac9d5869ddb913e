// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

/**
 * Calls itself at random, with recursion and exceptions, and knows by StackWalker for each call of m1,
 * m2 ... whether it lies inside the sequences of that method's rule. Commands, a line each:
 *
 * <pre>
 *     random SEED N      N random walks                           m1=COUNT m2=COUNT ...
 *     virtual SEED N     the same in virtual threads (21 and on)
 *     tasks SEED N       the same, with work given to other threads
 *     enter              a thread enters a() and stays in it      inside
 *     call               it calls m1 there                        called
 *     leave              it leaves a()                            left
 *     heat               a million calls of warm()                hot
 *     load               initialises a class, below forName0      m9=COUNT
 *     wrapped N          through a delegate, and without          m8=COUNT
 * </pre>
 */
public final class Paths {
    /** As in the rules: "a>b>>" is a calls b itself, and the method is somewhere below b. */
    private static final Map<String, String[]> SEQUENCES = new TreeMap<>();

    static {
        SEQUENCES.put("m1", new String[] {"a>>"});
        SEQUENCES.put("m2", new String[] {"a>>b>>"});
        SEQUENCES.put("m3", new String[] {"a>b>>"});
        SEQUENCES.put("m4", new String[] {"b>"});
        SEQUENCES.put("m5", new String[] {"a>b>"});
        SEQUENCES.put("m6", new String[] {"a>>b>>c>>", "d>>"});
        SEQUENCES.put("m7", new String[] {"work>>"});
        SEQUENCES.put("n1", new String[] {"a>>"});
        SEQUENCES.put("n2", new String[] {"a>>b>>", "d>>"});
    }

    /** Their sequences go across threads. */
    private static final Set<String> ACROSS = Set.of("n1", "n2");

    private static final Map<String, Long> EXPECTED = new TreeMap<>();

    static final class Failed extends RuntimeException {
        Failed() {
            super(null, null, false, false);
        }
    }

    interface Worker {
        void work(Walk w, int depth);
    }

    static final class Digger implements Worker {
        @Override
        public void work(Walk w, int depth) {
            w.go(depth);
        }
    }

    /** One random walk. */
    static final class Walk {
        private long x;
        final boolean yields;
        final boolean hops;

        Walk(long seed, boolean yields, boolean hops) {
            x = seed * 0x9e3779b97f4a7c15L + 1;
            this.yields = yields;
            this.hops = hops;
        }

        int next(int below) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
            return (int) ((x >>> 33) % below);
        }

        void sometimes() {
            if (yields && next(8) == 0) {
                Thread.yield();
            }
            if (next(25) == 0) {
                throw new Failed();
            }
        }

        void go(int depth) {
            if (hops && depth > 0 && next(3) == 0) {
                new Task(new Walk(x, yields, true), depth - 1).give(next(6));
            }
            for (int n = next(3); n >= 0; n--) {
                try {
                    call(this, depth);
                } catch (Failed e) {
                    if (next(2) == 0) {
                        throw e;
                    }
                }
            }
        }
    }

    private static final ExecutorService POOL =
            Executors.newCachedThreadPool(
                    r -> {
                        Thread t = new Thread(r);
                        t.setDaemon(true);
                        return t;
                    });

    /** Tasks wait for each other, so there must be a thread for each. */
    private static final ForkJoinPool FORKS = new ForkJoinPool(64);

    /** Of the tasks that this thread is in, outermost first: by whom they were given. */
    private static final ThreadLocal<List<List<String>>> GIVEN =
            ThreadLocal.withInitial(ArrayList::new);

    /** Part of a walk that another thread may do. */
    static final class Task implements Runnable {
        private final Walk walk;
        private final int depth;
        private final List<String> by = joined(2);

        Task(Walk walk, int depth) {
            this.walk = walk;
            this.depth = depth;
        }

        @Override
        public void run() {
            GIVEN.get().add(by);
            try {
                task();
            } catch (Failed e) {
                // as it may be
            } finally {
                GIVEN.get().remove(GIVEN.get().size() - 1);
            }
        }

        private void task() {
            all(walk);
            call(walk, depth);
        }

        /** Waits until it is done. */
        void give(int how) {
            try {
                switch (how) {
                    case 0 -> POOL.submit(this).get();
                    case 1 -> CompletableFuture.runAsync(this, POOL).join();
                    case 2 -> CompletableFuture.completedFuture(1).thenRunAsync(this, POOL).join();
                    case 3 -> FORKS.submit(this).get();
                    case 4 -> {
                        Thread t = new Thread(this);
                        t.start();
                        t.join();
                    }
                    default -> startVirtual(this).join();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A platform thread where there are no virtual ones. */
    private static Thread startVirtual(Runnable r) throws Exception {
        try {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
        } catch (NoSuchMethodException e) {
            Thread t = new Thread(r);
            t.start();
            return t;
        }
    }

    private static final Worker WORKER = new Digger();

    // The same code several times: who calls whom directly is the point.

    static void call(Walk w, int depth) {
        if (depth > 0) {
            switch (w.next(7)) {
                case 0 -> a(w, depth - 1);
                case 1 -> b(w, depth - 1);
                case 2 -> c(w, depth - 1);
                case 3 -> d(w, depth - 1);
                case 4 -> u(w, depth - 1);
                case 5 -> WORKER.work(w, depth - 1);
                default -> all(w);
            }
        }
        w.sometimes();
    }

    static void a(Walk w, int depth) {
        if (depth > 0) {
            switch (w.next(5)) {
                case 0 -> a(w, depth - 1);
                case 1 -> b(w, depth - 1);
                case 2 -> u(w, depth - 1);
                case 3 -> w.go(depth - 1);
                default -> m4();
            }
        }
        m1();
        m5();
        w.sometimes();
    }

    static void b(Walk w, int depth) {
        if (depth > 0) {
            switch (w.next(6)) {
                case 0 -> a(w, depth - 1);
                case 1 -> b(w, depth - 1);
                case 2 -> c(w, depth - 1);
                case 3 -> u(w, depth - 1);
                default -> w.go(depth - 1);
            }
        }
        m4();
        m5();
        m2();
        w.sometimes();
    }

    static void c(Walk w, int depth) {
        if (depth > 0) {
            w.go(depth - 1);
        }
        m6();
        m3();
        w.sometimes();
    }

    static void d(Walk w, int depth) {
        if (depth > 0) {
            w.go(depth - 1);
        }
        m6();
        m4();
    }

    /** Nobody hooks this. */
    static void u(Walk w, int depth) {
        if (depth > 0) {
            switch (w.next(3)) {
                case 0 -> a(w, depth - 1);
                case 1 -> b(w, depth - 1);
                default -> w.go(depth - 1);
            }
        }
        m4();
        m5();
        m3();
    }

    static void all(Walk w) {
        m1();
        m2();
        m3();
        m4();
        m5();
        m6();
        m7();
        n1();
        n2();
        w.sometimes();
    }

    static void n1() {
        look("n1");
    }

    static void n2() {
        look("n2");
    }

    static void m1() {
        look("m1");
    }

    static void m2() {
        look("m2");
    }

    static void m3() {
        look("m3");
    }

    static void m4() {
        look("m4");
    }

    static void m5() {
        look("m5");
    }

    static void m6() {
        look("m6");
    }

    static void m7() {
        look("m7");
    }

    // ---- the oracle

    private static List<String> own(int skip) {
        return StackWalker.getInstance()
                .walk(
                        s ->
                                s.skip(skip + 1)
                                        .map(StackWalker.StackFrame::getMethodName)
                                        .toList());
    }

    /** With the callers of those who gave the work that is done here. */
    private static List<String> joined(int skip) {
        List<List<String>> given = GIVEN.get();
        List<String> all = new ArrayList<>();
        int k = given.size();
        for (String name : own(skip + 1)) {
            all.add(name);
            if (name.equals("task")) {
                all.addAll(given.get(--k));
            }
        }
        return all;
    }

    private static void look(String method) {
        List<String> stack = ACROSS.contains(method) ? joined(2) : own(2);
        for (String sequence : SEQUENCES.get(method)) {
            if (isInside(sequence.split("(?<=>)(?!>)"), stack)) {
                synchronized (EXPECTED) {
                    EXPECTED.merge(method, 1L, Long::sum);
                }
                return;
            }
        }
    }

    private static boolean isInside(String[] steps, List<String> stack) {
        return matches(steps, steps.length - 1, stack, 0);
    }

    private static boolean matches(String[] steps, int i, List<String> stack, int from) {
        if (i < 0) {
            return true;
        }
        boolean direct = !steps[i].endsWith(">>");
        String name = steps[i].replace(">", "");
        for (int k = from; k < (direct ? Math.min(from + 1, stack.size()) : stack.size()); k++) {
            if (stack.get(k).equals(name) && matches(steps, i - 1, stack, k + 1)) {
                return true;
            }
        }
        return false;
    }

    private static String expected() {
        StringBuilder out = new StringBuilder();
        synchronized (EXPECTED) {
            for (String m : SEQUENCES.keySet()) {
                out.append(m).append('=').append(EXPECTED.getOrDefault(m, 0L)).append(' ');
            }
        }
        return out.toString().trim();
    }

    private static void forget() {
        synchronized (EXPECTED) {
            EXPECTED.clear();
        }
    }

    private static void walk(long seed, int n, boolean yields) {
        walk(seed, n, yields, false);
    }

    private static void walk(long seed, int n, boolean yields, boolean hops) {
        for (int k = 0; k < n; k++) {
            Walk w = new Walk(seed + k, yields, hops);
            try {
                w.go(9);
            } catch (Failed e) {
                // as it may be
            }
        }
    }

    private static void inVirtual(long seed, int n) throws Exception {
        Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            walk(seed, n, false);
            return;
        }
        List<Thread> threads = new ArrayList<>();
        for (int k = 0; k < 8; k++) {
            long mine = seed + 1000L * k;
            threads.add((Thread) start.invoke(null, (Runnable) () -> walk(mine, n / 8, true)));
        }
        for (Thread t : threads) {
            t.join();
        }
    }

    // ---- threads that are inside already

    private static CountDownLatch entered;
    private static final java.util.concurrent.SynchronousQueue<Boolean> TELL =
            new java.util.concurrent.SynchronousQueue<>();
    private static final java.util.concurrent.SynchronousQueue<Boolean> DONE =
            new java.util.concurrent.SynchronousQueue<>();

    static void hold() throws InterruptedException {
        entered.countDown();
        while (TELL.take()) {
            m1();
            DONE.put(true);
        }
    }

    static void a(CountDownLatch here) throws InterruptedException {
        hold();
    }

    // ---- a class initialised below a native method, and a delegate

    static long initialised;
    static long warmed;

    static void warm() {
        warmed++;
    }

    static void m9() {
        initialised++;
    }

    interface Shape {
        void m8();
    }

    static final class Real implements Shape {
        static long direct;

        @Override
        public void m8() {
            if (StackWalker.getInstance().walk(s -> s.skip(1).findFirst().get().getMethodName())
                    .equals("draw")) {
                direct++;
            }
        }
    }

    static final class Delegate implements Shape {
        private final Shape to = new Real();

        @Override
        public void m8() {
            to.m8();
        }
    }

    static void draw(Shape s) {
        s.m8();
    }

    private static int loaded;

    private static void load() throws Exception {
        Class.forName("Paths$Late" + ++loaded);
    }

    static final class Late1 {
        static {
            m9();
        }
    }

    static final class Late2 {
        static {
            m9();
        }
    }

    static final class Late3 {
        static {
            m9();
        }
    }

    private Paths() {}

    private static String run(String[] words) throws Exception {
        switch (words[0]) {
            case "random" -> {
                forget();
                walk(Long.parseLong(words[1]), Integer.parseInt(words[2]), false);
                return expected();
            }
            case "virtual" -> {
                forget();
                inVirtual(Long.parseLong(words[1]), Integer.parseInt(words[2]));
                return expected();
            }
            case "tasks" -> {
                forget();
                walk(Long.parseLong(words[1]), Integer.parseInt(words[2]), false, true);
                return expected();
            }
            case "enter" -> {
                entered = new CountDownLatch(1);
                Thread t =
                        new Thread(
                                () -> {
                                    try {
                                        a(entered);
                                        DONE.put(false);
                                    } catch (InterruptedException e) {
                                        // ends
                                    }
                                });
                t.setDaemon(true);
                t.start();
                entered.await();
                return "inside";
            }
            case "call" -> {
                TELL.put(true);
                DONE.take();
                return "called";
            }
            case "leave" -> {
                TELL.put(false);
                DONE.take();
                return "left";
            }
            case "heat" -> {
                for (int k = 0; k < 1_000_000; k++) {
                    warm();
                }
                return "hot";
            }
            case "load" -> {
                load();
                m9();
                return "m9=1";
            }
            case "wrapped" -> {
                Real.direct = 0;
                Shape[] shapes = {new Real(), new Delegate()};
                for (int k = Integer.parseInt(words[1]); k > 0; k--) {
                    draw(shapes[k % 3 == 0 ? 0 : 1]);
                    shapes[k & 1].m8();
                }
                return "m8=" + Real.direct;
            }
            default -> {
                return "what?";
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        walk(1, 20, false); // loads what there is
        walk(1, 20, false, true);
        draw(new Delegate());
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; ) {
            System.out.println(run(line.split(" ")));
        }
    }
}
