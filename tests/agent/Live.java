// SPDX-License-Identifier: Apache-2.0
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntUnaryOperator;

/**
 * A program into which hooks come while it runs: frames are active, classes are loaded before and
 * after, in several loaders, and are collected again. What reflection says must stay.
 */
public final class Live {
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {}

    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    @interface Type {
        String value() default "";
    }

    public interface Job {
        void work(int n);
    }

    public interface SubJob extends Job {}

    // ---- loaded before the hooks come ----

    static class Early implements Job {
        @Override
        public void work(int n) {}

        public void other() {}
    }

    static class EarlyDown extends Early {
        @Override
        public void work(int n) {
            super.work(n);
        }
    }

    /** Loaded before the hooks come, but not linked: nobody has used it. */
    static class Dormant extends EarlyDown {
        @Override
        public void work(int n) {}
    }

    static class EarlySub implements SubJob {
        @Override
        public void work(int n) {}
    }

    static class EarlyMarked {
        @Mark
        void marked() {}

        void plain() {}
    }

    // ---- loaded after ----

    static class Late implements Job {
        @Override
        public void work(int n) {}
    }

    static class LateDown extends LateMiddle {
        @Override
        public void work(int n) {}
    }

    public static class LateMiddle extends LateTop {}

    public static class LateTop implements SubJob {
        @Override
        public void work(int n) {}
    }

    @Mark
    static class LateMarked {
        void marked() {}
    }

    /** Is loaded by loaders of its own. */
    public static class Child extends LateMiddle {
        @Override
        public void work(int n) {}
    }

    // ---- reflection ----

    record Rich(@Type("a") List<@Type("b") String> names, int @Type("c") [] numbers) {
        int sum(int first, long second) {
            return numbers.length + first + (int) second;
        }
    }

    record Poor(int x, String y) {
        int twice() {
            return 2 * x;
        }
    }

    static class Named {
        Named(int width, final String label) {}

        static native void outside(int there);

        <T extends Comparable<T>> int many(@Mark T one, List<? extends T> two, int... rest) {
            return rest.length;
        }

        @Deprecated
        void none() {}

        IntUnaryOperator lambda(int by) {
            return x -> x + by;
        }
    }

    private static void reflect() {
        for (Class<?> c : new Class<?>[] {Named.class, Rich.class, Poor.class}) {
            Method[] methods = c.getDeclaredMethods();
            Arrays.sort(methods, Comparator.comparing(Method::toGenericString));
            for (Method m : methods) {
                System.out.println(m.toGenericString() + " " + Arrays.toString(m.getAnnotations()));
                for (Parameter p : m.getParameters()) {
                    System.out.println("  " + p + " " + Arrays.toString(p.getAnnotations()));
                }
            }
            for (Parameter p : c.getDeclaredConstructors()[0].getParameters()) {
                System.out.println("  constructor " + p);
            }
            if (c.isRecord()) {
                for (RecordComponent r : c.getRecordComponents()) {
                    System.out.println("  " + r + " " + r.getAnnotatedType());
                }
            }
        }
        System.out.println(new Rich(List.of("x"), new int[3]).sum(1, 2));
        System.out.println(new Poor(4, "y") + " " + new Poor(4, "y").twice());
        System.out.println(new Named(1, "").lambda(3).applyAsInt(4));
        System.out.println(new Named(1, "").many("a", List.of(), 1, 2, 3));
    }

    // ---- frames that are active when the hooks come ----

    static class Frames {
        static void waits(CountDownLatch up, CountDownLatch go, int depth) throws Exception {
            if (depth > 0) {
                waits(up, go, depth - 1);
                return;
            }
            up.countDown();
            go.await();
        }

        static void loops(CountDownLatch up, CountDownLatch go) throws InterruptedException {
            up.countDown();
            while (go.getCount() > 0) {
                turn();
            }
        }

        static void turn() throws InterruptedException {
            Thread.sleep(1);
        }
    }

    private static Thread start(CountDownLatch up, CountDownLatch go, int depth) {
        Thread t =
                new Thread(
                        () -> {
                            try {
                                if (depth < 0) {
                                    Frames.loops(up, go);
                                } else {
                                    Frames.waits(up, go, depth);
                                }
                            } catch (Exception e) {
                                System.out.println(e);
                            }
                        });
        t.setDaemon(true);
        t.start();
        return t;
    }

    // ---- loaders ----

    private static final class Alone extends URLClassLoader {
        Alone(URL[] urls) {
            super(urls, Live.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                if (!name.equals("Live$Child") || findLoadedClass(name) != null) {
                    return super.loadClass(name, resolve);
                }
                return findClass(name);
            }
        }
    }

    private static Job child() throws Exception {
        URL here = Live.class.getProtectionDomain().getCodeSource().getLocation();
        Class<?> c = new Alone(new URL[] {here}).loadClass("Live$Child");
        return (Job) c.getDeclaredConstructor().newInstance();
    }

    private static void unload(int n) throws Exception {
        List<WeakReference<Object>> list = new ArrayList<>();
        for (int k = 0; k < n; k++) {
            Job j = child();
            j.work(k);
            list.add(new WeakReference<>(j.getClass().getClassLoader()));
        }
        int left = n;
        for (int k = 0; k < 50 && left > 0; k++) {
            System.gc();
            Thread.sleep(20);
            left = 0;
            for (WeakReference<Object> r : list) {
                left += r.get() == null ? 0 : 1;
            }
        }
        System.out.println("loaders that are still there: " + left);
    }

    private static void work(int rounds, Job... jobs) {
        for (Job j : jobs) {
            for (int k = 0; k < rounds; k++) {
                j.work(k);
            }
        }
    }

    private static void marked(int rounds) {
        for (int k = 0; k < rounds; k++) {
            new EarlyMarked().marked();
            new EarlyMarked().plain();
        }
    }

    private static void hooked() throws Exception {
        Job[] children = {child(), child(), child()};
        work(100, new Early(), new EarlyDown(), new EarlySub(), new Dormant());
        new Early().other();
        work(100, new Late(), new LateDown(), new LateTop());
        work(100, children);
        marked(100);
        for (int k = 0; k < 100; k++) {
            new LateMarked().marked();
        }
        CountDownLatch up = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread t = start(up, go, 4);
        up.await();
        go.countDown();
        t.join();
        Want.calls("Live$Early.work(I)V", 200);
        Want.that("Live$Early.other()V", "rows", "=", 0);
        Want.calls("Live$EarlyDown.work(I)V", 100);
        Want.calls("Live$EarlySub.work(I)V", 100);
        Want.calls("Live$Dormant.work(I)V", 100);
        Want.calls("Live$Late.work(I)V", 100);
        Want.calls("Live$LateDown.work(I)V", 100);
        Want.calls("Live$LateTop.work(I)V", 100);
        Want.calls("Live$Child.work(I)V", 320);
        Want.calls("Live$EarlyMarked.marked()V", 100);
        Want.that("Live$EarlyMarked.plain()V", "rows", "=", 0);
        Want.calls("Live$LateMarked.marked()V", 100);
    }

    public static void main(String[] args) throws Exception {
        boolean isLate = args.length > 0;
        CountDownLatch up = new CountDownLatch(12);
        CountDownLatch go = new CountDownLatch(1);
        work(10, new Early(), new EarlyDown(), new EarlySub());
        marked(10);
        reflect();
        Thread[] threads = new Thread[12];
        for (int k = 0; k < threads.length; k++) {
            threads[k] = start(up, go, k - 1);
        }
        up.await();
        Job before = child();
        Class.forName("Live$Dormant", false, Live.class.getClassLoader());
        Want.step("hook");
        hooked();
        unload(20);
        reflect();
        if (isLate) { // those that were active are not counted; the five of hooked() are
            Want.calls("Live$Frames.waits(Ljava/util/concurrent/CountDownLatch;"
                    + "Ljava/util/concurrent/CountDownLatch;I)V", 5);
            Want.that("Live$Frames.waits(Ljava/util/concurrent/CountDownLatch;"
                    + "Ljava/util/concurrent/CountDownLatch;I)V", "active", "=", 0);
        }
        Want.step("unhook");
        reflect();
        Want.step("again");
        reflect();
        go.countDown();
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("joined");
        Want.step("report");
        before.work(1);
        reflect();
        Want.step("end");
        unload(20);
        reflect();
    }
}
