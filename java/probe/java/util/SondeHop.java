// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Work that goes from one thread to another: when a task is handed over it is remembered with the
 * transaction, the captured values and the callers of the thread that does so, and the thread that
 * runs it goes on with them until the task ends.
 *
 * <p>Woven code of the JDK's executors comes here as if it captured a value, under one of the slots
 * that are kept for that. A task is known by its identity, and held weakly; nothing of the program
 * is called. The table has a fixed size: when it is full, the oldest of some is forgotten.
 */
final class SondeHop {
    /** The first of the slots that are not for rules, as enum data_hop. */
    static final int FIRST = SondeHeld.SLOTS - 4;

    private static final int SUBMIT = FIRST; // the value is handed over
    private static final int RUN = FIRST + 1; // ... runs while the method does
    private static final int BEGIN = FIRST + 2; // ... runs from now on, until END
    private static final int END = FIRST + 3;

    private static final int PLACES = 1 << 13; // a power of two
    private static final int TRIES = 8;

    private static final AtomicReferenceArray<Entry> TABLE = new AtomicReferenceArray<>(PLACES);

    /** What a worker of a pool runs now. */
    private static final ThreadLocal<Part> OPEN = new ThreadLocal<>();

    /** How many are in the table: none means that nobody has to look. */
    private static final AtomicInteger COUNT = new AtomicInteger();

    private SondeHop() {}

    /** A task that waits. */
    private static final class Entry extends WeakReference<Object> {
        final long work;
        final SondeHeld held;
        final int[] steps;
        final long since;

        Entry(Object task, long work, SondeHeld held, int[] steps) {
            super(task);
            this.work = work;
            this.held = held;
            this.steps = steps;
            this.since = SondeProbe.now0();
        }
    }

    /** A task that runs in this thread. */
    private static final class Part {
        long work;
        boolean isHeld;
        SondeHeld before;
        int[] steps;
        long token;
    }

    static Object keep(int slot, Object x) {
        try {
            if (slot == END) {
                endOpen();
            } else if (x == null || x instanceof SondeAccess) {
                return SondeHeld.FAILED;
            } else if (slot == SUBMIT) {
                submit(x);
            } else if (COUNT.get() > 0) {
                Part part = begin(x);
                if (part != null && slot == RUN) {
                    return part;
                } else if (part != null) {
                    endOpen();
                    OPEN.set(part);
                }
            }
        } catch (Throwable e) {
            // the program's own stack overflow is near, or memory is out
        }
        return SondeHeld.FAILED;
    }

    static void restore(Object part) {
        try {
            end((Part) part);
        } catch (Throwable e) {
            // the next that ends puts it right
        }
    }

    /** Called by the agent: the thread begins. */
    static void started(Thread thread) {
        try {
            if (COUNT.get() > 0) {
                begin(thread); // it ends with the thread
            }
        } catch (Throwable e) {
            // then it is in no transaction
        }
    }

    private static void endOpen() {
        Part open = OPEN.get();
        OPEN.remove(); // asking alone leaves an entry
        if (open != null) {
            end(open);
        }
    }

    // ---- handing over ----

    private static void submit(Object x) {
        SondeHeld held = SondeHeld.copy();
        int[] steps = steps0();
        if (held == null && steps == null && !inside0()) {
            return;
        }
        if (x instanceof Thread ? isWorker((Thread) x) : isContinuation(x)) {
            return;
        }
        if (find(x, System.identityHashCode(x)) >= 0) {
            return; // by whom it was first handed over counts
        }
        long work = submit0();
        if (work != 0 || held != null || steps != null) {
            put(new Entry(x, work, held, steps), System.identityHashCode(x));
        }
    }

    /** A thread of a pool serves many: it is not part of what made the pool start it. */
    private static boolean isWorker(Thread thread) {
        String name = thread.getClass().getName();
        if (thread instanceof java.util.concurrent.ForkJoinWorkerThread
                || name.startsWith("jdk.internal.")
                || name.startsWith("java.util.")) {
            return true;
        }
        Object task = null;
        try {
            Object in = Runtime.version().feature() < 19 ? thread : null;
            if (in == null) {
                in = SondeKnown.peek(thread, Thread.class, "holder");
                task = SondeKnown.peek(in, in.getClass(), "task");
            } else {
                task = SondeKnown.peek(in, Thread.class, "target");
            }
        } catch (Throwable e) {
            // a virtual thread has none
        }
        return task != null && task.getClass().getName().endsWith("Worker");
    }

    /** The JVM's own way to let a virtual thread go on. */
    private static boolean isContinuation(Object x) {
        Class<?> c = x.getClass();
        if (!c.getName().startsWith("java.util.concurrent.ForkJoinTask$")) {
            return c.getName().startsWith("java.lang.VirtualThread");
        }
        try {
            Object inner = SondeKnown.peek(x, c, "runnable");
            return inner != null
                    && inner.getClass().getName().startsWith("java.lang.VirtualThread");
        } catch (Throwable e) {
            return false;
        }
    }

    // ---- running ----

    private static Part begin(Object x) {
        Entry e = take(x);
        if (e == null) {
            return null;
        }
        Part part = new Part();
        if (e.work != 0 && begin0(e.work)) {
            part.work = e.work;
        }
        if (e.held != null) {
            part.before = SondeHeld.adopt(e.held);
            part.isHeld = true;
        }
        if (e.steps != null) {
            part.token = enter0(e.steps);
            part.steps = e.steps;
        }
        return part;
    }

    private static void end(Part part) {
        if (part.token != 0) {
            leave0(part.steps, part.token);
        }
        if (part.work != 0) {
            end0(part.work);
        }
        if (part.isHeld) {
            SondeHeld.adopt(part.before);
        }
    }

    // ---- the table ----

    private static int place(int hash, int k) {
        return (hash * 0x9e3779b9 >>> 16) + k & PLACES - 1;
    }

    /** Where x is; -1: nowhere. */
    private static int find(Object x, int hash) {
        for (int k = 0; k < TRIES; k++) {
            Entry e = TABLE.get(place(hash, k));
            if (e != null && e.refersTo(x)) {
                return place(hash, k);
            }
        }
        return -1;
    }

    private static void put(Entry e, int hash) {
        for (int round = 0; round < TRIES; round++) {
            int best = place(hash, 0);
            Entry there = TABLE.get(best);
            for (int k = 1; k < TRIES && there != null && !there.refersTo(null); k++) {
                Entry other = TABLE.get(place(hash, k));
                if (other == null || other.refersTo(null) || other.since - there.since < 0) {
                    best = place(hash, k);
                    there = other;
                }
            }
            if (TABLE.compareAndSet(best, there, e)) {
                if (there == null) {
                    COUNT.addAndGet(1);
                } else if (there.work != 0) {
                    cancel0(there.work);
                }
                return;
            }
        }
        if (e.work != 0) {
            cancel0(e.work);
        }
    }

    private static Entry take(Object x) {
        int place = find(x, System.identityHashCode(x));
        Entry e = place < 0 ? null : TABLE.get(place);
        if (e == null || !e.refersTo(x) || !TABLE.compareAndSet(place, e, null)) {
            return null;
        }
        COUNT.addAndGet(-1);
        return e;
    }

    /** Called by the agent when nobody wants it any more. */
    static void clear() {
        for (int k = 0; k < PLACES; k++) {
            Entry e = TABLE.get(k);
            if (e != null && TABLE.compareAndSet(k, e, null)) {
                COUNT.addAndGet(-1);
            }
        }
    }

    /** Has the JVM do now what it does once. */
    static void warm() {
        cancel0(0);
        end0(0);
        begin0(0);
        submit0();
        inside0();
        leave0(null, enter0(steps0()));
    }

    /** Is this thread in a transaction? */
    private static native boolean inside0();

    private static native long submit0();

    /** False: it need not be ended. */
    private static native boolean begin0(long work);

    private static native void end0(long work);

    private static native void cancel0(long work);

    /** The callers that go along; null: none. */
    private static native int[] steps0();

    /** Puts them on the stack of hooked calls; gives what they are taken off by, 0: nothing. */
    private static native long enter0(int[] steps);

    private static native void leave0(int[] steps, long token);
}
