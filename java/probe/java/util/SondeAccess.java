// SPDX-License-Identifier: Apache-2.0
package java.util;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/**
 * How one class is asked for one thing: by a field's place or by a getter. The same class stands
 * for what cannot be had, and says why: such a value is met by no test and has no parts.
 */
final class SondeAccess {
    /** Kinds of what cannot be had, as the agent counts them. */
    static final int IS_NULL = 0;

    static final int THROWS = 1;
    static final int MISSING = 2;
    static final int REFUSED = 3;

    static final SondeAccess NULL = new SondeAccess(IS_NULL);
    static final SondeAccess THROWN = new SondeAccess(THROWS);
    static final SondeAccess NO_MEMBER = new SondeAccess(MISSING);
    static final SondeAccess HARMFUL = new SondeAccess(REFUSED);

    final int why;
    private char type; // first letter of a field's descriptor; 0: a getter, or nothing
    private long at;
    private MethodHandle getter; // (Object)Object

    private SondeAccess(int why) {
        this.why = why;
    }

    static SondeAccess field(char type, long at) {
        SondeAccess a = new SondeAccess(-1);
        a.type = type;
        a.at = at;
        return a;
    }

    /** A getter, with the literals that it is called with. */
    static SondeAccess getter(Method m, Object[] literals) throws Throwable {
        m.setAccessible(true); // code of java.base may
        MethodHandle h = MethodHandles.lookup().unreflect(m).asFixedArity();
        if (java.lang.reflect.Modifier.isStatic(m.getModifiers())) {
            h = MethodHandles.dropArguments(h, 0, Object.class);
        }
        MethodType type = h.type().changeReturnType(Object.class).changeParameterType(0, Object.class);
        Object[] fixed = new Object[literals.length];
        for (int k = 0; k < literals.length; k++) {
            fixed[k] = fit(literals[k], type.parameterType(k + 1));
            if (fixed[k] != null) {
                type = type.changeParameterType(k + 1, fixed[k].getClass());
            }
        }
        SondeAccess a = new SondeAccess(-1);
        a.getter = MethodHandles.insertArguments(h.asType(type), 1, fixed);
        return a;
    }

    /** What a method handle does not convert by itself. */
    private static Object fit(Object literal, Class<?> to) {
        if (literal instanceof Integer && to == short.class) {
            return ((Integer) literal).shortValue();
        } else if (literal instanceof Integer && to == byte.class) {
            return ((Integer) literal).byteValue();
        }
        return literal;
    }

    /** The value, boxed; may be null. */
    Object of(Object x) {
        switch (type) {
            case 'L', '[':
                return SondeKnown.UNSAFE.getReference(x, at);
            case 'Z':
                return SondeKnown.UNSAFE.getBoolean(x, at);
            case 'B':
                return (int) SondeKnown.UNSAFE.getByte(x, at);
            case 'S':
                return (int) SondeKnown.UNSAFE.getShort(x, at);
            case 'C':
                return SondeKnown.UNSAFE.getChar(x, at);
            case 'I':
                return SondeKnown.UNSAFE.getInt(x, at);
            case 'J':
                return SondeKnown.UNSAFE.getLong(x, at);
            case 'F':
                return (double) SondeKnown.UNSAFE.getFloat(x, at);
            case 'D':
                return SondeKnown.UNSAFE.getDouble(x, at);
            default:
                return getter == null ? this : call(x);
        }
    }

    /** What the getter does is not the program's doing, so none of it is seen. */
    private Object call(Object x) {
        try {
            SondeProbe.mute(true);
        } catch (Throwable e) {
            return THROWN; // there is not even stack for this
        }
        try {
            return getter.invokeExact(x);
        } catch (Throwable e) {
            return THROWN;
        } finally {
            SondeProbe.mute(false);
        }
    }
}
