// SPDX-License-Identifier: Apache-2.0
package java.util;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What woven code calls. The agent defines this class in java.base, in a package that every module
 * can see, and binds the natives to C; woven code needs no class loader and no jar.
 *
 * <p>A hooked method begins with {@code enter}, which gives a token, and ends with {@code exit},
 * which takes it back. The token is 0 when there is nothing to tell at the end. It lives in the
 * method's own frame, so it is right whatever becomes of the thread: a virtual thread may go on
 * elsewhere, a stack overflow may lose the call of {@code exit}, the hook may be closed meanwhile.
 *
 * <p>The natives return quickly, never throw and never call back into Java. The other methods are
 * what templates share: here it is needed only once, and merged code stays small.
 */
public final class SondeProbe {
    /** How many methods can have a number. */
    static final int METHODS = 1 << 18;

    /**
     * By method: 0 is closed, 1 open; at 3 C is asked before a condition is looked at. Below 0 it is
     * the same, but closed while no thread is in a sequence of callers; and -8 is open while no call
     * is measured alone. Written by the agent; a closed hook costs this one load.
     */
    static final byte[] OPEN = new byte[METHODS];

    /** The token of a call that does not meet its condition: it is not seen at all. */
    static final long UNMET = 2;
    /** A token that says: it has to be looked at the stack first. As PROBE_ASK. */
    private static final long ASK = 1;

    /**
     * Tokens below 0 are of calls that end in their own ways, by the bits of these that they have:
     * none but the first is passBy(), the others are C's. As PROBE_MARKS.
     */
    private static final long MARKS = 15L << 60;
    /** In the tokens of calls that are measured alone. As SOLO_TOKEN. */
    private static final long ALONE = 10L << 60;
    /** In the tokens of calls that are none: see special(). As SOLO_BLANK. */
    private static final long BLANK = 11L << 60;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();

    /**
     * Four words of C's. The second counts the calls that run and are the first in a sequence of
     * callers; a thread that is in one has counted itself, by a call into C, so it sees the count
     * without further ado. The first is 0 while a call is measured alone, in which no hook is to
     * cost anything. Bit 2 of a gate says which of them counts. The third is not 0 while no hook
     * does more than count, and the fourth is never 0.
     */
    private static final long WORDS = address0(5);

    private static final long SLOTS = address0(6);
    /** The field in which the JVM keeps its own thread's address; 0 in virtual threads. */
    private static final long KEY = keyOffset();

    /** Set once, when {@link SondeFast} is ready to take over; compiled code then knows it. */
    @Stable static boolean fast;

    private SondeProbe() {}

    private static long keyOffset() {
        try {
            return UNSAFE.objectFieldOffset(Thread.class, "eetop");
        } catch (Throwable e) { // another JVM
            return 0;
        }
    }

    @ForceInline
    private static boolean isOpen(byte open) {
        return isOpen(open, WORDS);
    }

    @ForceInline
    private static boolean isOpen(byte open, long words) {
        return open != 0 && (open > 0 || UNSAFE.getInt(words + (open & 4)) != 0);
    }

    /**
     * One call of method id, counted only. It is too large for C1 to compile it into the methods that
     * are counted: a program that has just been started would spend more on that, thousands of times, than
     * on the calls. C2 does, where the calls are frequent. Until then each call in it and each
     * branch is counted itself, so there are few.
     *
     * <p>While no hook does more than count, the word in which this thread counts method id is
     * found by its slot, which has the thread's key + 1 and the table of these words; see lane.h.
     */
    public static void count(int id) {
        byte open = OPEN[id];
        if (open == 0 || (open < 0 && UNSAFE.getInt(null, WORDS + (open & 4)) == 0)) {
            return;
        }
        if (UNSAFE.getInt(null, WORDS + 8) != 0 && KEY != 0) {
            long key = UNSAFE.getLong(Thread.currentThread(), KEY);
            long slot = SLOTS + (key * 0x9e3779b97f4a7c15L >>> 56) * 64;
            if (UNSAFE.getLong(null, slot) == key + 1) {
                long word = UNSAFE.getLong(null, slot + 8) + 8L * id;
                UNSAFE.putLong(null, word, UNSAFE.getLong(null, word) + 1);
                return;
            }
            if (counted(id, key, slot)) {
                return;
            }
        }
        if (fast) {
            SondeFast.count(id);
        } else {
            count0(id);
        }
    }

    /** The first call in this thread, or it is muted. False: it has no slot, and will get none. */
    private static boolean counted(int id, long key, long slot) {
        long owner = UNSAFE.getLong(null, slot);
        if (key == 0 || (owner != 0 && owner != key + 1)) {
            return false;
        }
        lane0(id, key);
        return true;
    }

    /** Is it worth looking whether a call of method id meets its condition? */
    @ForceInline
    public static boolean may(int id) {
        byte open = OPEN[id];
        return open == 1 || (isOpen(open) && (open == -1 || asked(id)));
    }

    private static boolean asked(int id) {
        return fast ? SondeFast.may(id) : may0(id);
    }

    /** As mute0(). */
    static void mute(boolean begins) {
        if (fast) {
            SondeFast.mute(begins);
        } else {
            mute0(begins);
        }
    }

    /**
     * A call of method id does not meet its condition, but other hooks ask whether they are inside
     * it: it is on the stack, and taken back when it ends.
     */
    public static long passBy(int id) {
        if (OPEN[id] == 0) {
            return UNMET;
        }
        long token = enter(id);
        if (token > UNMET || (token < 0 && (token & ALONE) != ALONE)) {
            return (token & ~MARKS) | Long.MIN_VALUE;
        }
        undo0(id, token);
        return UNMET;
    }

    @ForceInline
    private static boolean isPassedBy(long token) {
        return (token & MARKS) == Long.MIN_VALUE;
    }

    /** Method id begins. */
    @ForceInline
    public static long enter(int id) {
        return enter(id, OPEN[id], WORDS);
    }

    /** The plain way first: each instruction is felt there. */
    @ForceInline
    private static long enter(int id, byte open, long words) {
        long token;
        if (open > 0) {
            token = fast ? SondeFast.enter(id) : enter0(id);
            return token != ASK ? token : ask0(id);
        }
        if (!isOpen(open, words)) {
            return 0;
        }
        token = fast ? SondeFast.begin(id) : begin0(id);
        return token != ASK && (token & BLANK) != BLANK ? token : special(id, token);
    }

    /**
     * Before a call is measured alone, it is measured what a call takes of which nothing is between
     * {@code enter} and {@code exit}, as often as C wants it.
     */
    @DontInline
    private static long special(int id, long token) {
        while ((token & BLANK) == BLANK) {
            if (fast) {
                SondeFast.end(id, token);
                token = SondeFast.begin(id);
            } else {
                end0(id, token);
                token = begin0(id);
            }
        }
        return token == ASK ? ask0(id) : token;
    }

    /** Has that compiled; method 0 is nobody's. */
    static void warm() {
        for (int k = 0; k < 20_000; k++) {
            special(0, BLANK);
        }
    }

    /**
     * Calls of closed hooks, and of those that are open at times, of method 0, which is nobody's. What
     * compilers have never seen they leave out, and when a gate is changed for the first time, they
     * would have to compile anew all code that has a hook inside.
     */
    static void train() {
        for (int k = 0; k < 400; k++) {
            exit(0, enter(0), null);
            exit(0, ALONE, null); // one that C has let pass
            isOpen((byte) 1, WORDS);
            isOpen((byte) -1, WORDS);
            enter(0, (byte) -1, WORDS + 8); // the fourth word
        }
    }

    /** Method id ends; thrown is null when it returns. */
    @ForceInline
    public static void exit(int id, long token, Throwable thrown) {
        if (thrown != null) {
            thrown(id, token, thrown);
        } else if (token > UNMET) {
            if (fast) {
                SondeFast.exit(id, token);
            } else {
                exit0(id, token);
            }
        } else if (token < 0) {
            if (fast) {
                SondeFast.end(id, token);
            } else {
                end0(id, token);
            }
        }
    }

    /** Method id ends, and the call turns out not to meet its condition. */
    public static void undo(int id, long token) {
        if (token != UNMET) {
            undo0(id, token);
        }
    }

    /** Of an exception only the class is told, since texts may be private. */
    private static void thrown(int id, long token, Throwable thrown) {
        if (isPassedBy(token)) {
            undo0(id, token);
            return;
        }
        if ((token & 1) != 0) {
            data0(id, "thrown", thrown.getClass().getName());
        }
        if (token != UNMET && (token != 0 || isOpen(OPEN[id]))) { // else it was not counted
            thrown0(id, token);
        }
    }

    /** Method id begins; what it was called on and with. */
    public static long enterFull(int id, Object self, Object[] args) {
        long token = enter(id);
        return (token & 1) != 0 ? begun(id, token, self, args) : token;
    }

    /** With what method id, which has begun, was called; gives its token from now on. */
    public static long arguments(int id, long token, Object[] args) {
        SondeText.enter(id, null, args);
        return shift0(id, token, token >>> 1); // the call begins now
    }

    /** What method id, which has begun, was called on and with; gives its token from now on. */
    public static long begun(int id, long token, Object self, Object[] args) {
        SondeText.enter(id, self, args);
        return shift0(id, token, token >>> 1); // the call begins now
    }

    /**
     * With what method id is about to end, as {@code exitFull}; gives its token from now on, with
     * which {@code exit} follows.
     */
    public static long ended(int id, long token, Object result, Throwable thrown) {
        if (isPassedBy(token)) {
            return token;
        }
        long end = now0();
        SondeText.exit(id, result, thrown);
        token = shift0(id, token, end);
        if (thrown == null) {
            return token;
        }
        thrown0(id, token);
        return UNMET; // all is told
    }

    /** Method id ends with a result or an exception; both may be null. */
    public static void exitFull(int id, long token, Object result, Throwable thrown) {
        if ((token & 1) != 0) {
            token = ended(id, token, result, thrown);
        }
        exit(id, token, thrown);
    }

    /**
     * A fact about the call of method id that runs now, such as the text of a statement; wanted
     * only while somebody watches.
     */
    public static void data(int id, long token, String key, String value) {
        if ((token & 1) != 0 && value != null) {
            data0(id, key, value);
        }
    }

    /** As data(), of a number, such as a status. */
    public static void number(int id, long token, String key, long value) {
        if ((token & 1) != 0) {
            number0(id, key, value);
        }
    }

    /** The call of method id that runs now has moved so many bytes; none when it is below 1. */
    public static void bytes(int id, long token, long count) {
        if (count > 0 && (token > UNMET || (token < 0 && !isPassedBy(token)))) {
            bytes0(id, count);
        }
    }

    /** As data(), of an object of the program, whose toString() may do as it likes. */
    public static void text(int id, long token, String key, Object value) {
        if ((token & 1) == 0 || value == null) {
            return;
        }
        String text;
        try {
            text = value.toString();
        } catch (Throwable e) {
            return;
        }
        data(id, token, key, text);
    }

    /** An HTTP request; of its URI only the path, since the rest may be private. */
    public static void request(int id, long token, String method, String uri) {
        if ((token & 1) == 0) {
            return;
        }
        int end = 0;
        while (uri != null && end < uri.length() && "?;#".indexOf(uri.charAt(end)) < 0) {
            end++;
        }
        data(id, token, "method", method);
        data(id, token, "uri", uri == null ? null : uri.substring(0, end));
    }

    static native void count0(int id);

    /** As count0(); the thread's next calls need not come to C. */
    static native void lane0(int id, long key);

    static native boolean may0(int id);

    static native void undo0(int id, long token);

    static native long enter0(int id);

    /** As enter0(), where a gate is open at times: the call may be measured alone. */
    static native long begin0(int id);

    /** Looks at the stack, and begins the call. */
    static native long ask0(int id);

    static native void exit0(int id, long token);

    /** A call with a token below 0 returns. */
    static native void end0(int id, long token);

    static native void thrown0(int id, long token);

    static native void bytes0(int id, long count);

    static native void data0(int id, String key, String value);

    static native void number0(int id, String key, long value);

    static native long now0();

    /** What happened since that tick was not the call's time; its token from now on. */
    static native long shift0(int id, long token, long since);

    /** While a thread's depth of these is above 0, no call of its is seen: it is the probe's own. */
    static native void mute0(boolean begins);

    /**
     * Where C has count (0), enter (1), exit (2), may (3), mute (4), WORDS (5), SLOTS (6), begin (7), end
     * (8).
     */
    static native long address0(int which);
}
