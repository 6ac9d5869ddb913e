// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A class file written byte by byte: nothing is checked, ordered or shortened, so that a class can
 * be as odd or as wrong as a test wants.  The pool grows in order of use.
 */
final class RawClass {
	// Opcodes that ASM keeps to itself, because it chooses them by operand.
	static final int LDC_W = 19, LDC2_W = 20, ILOAD_0 = 26, ILOAD_1 = 27, LLOAD_0 = 30,
			FLOAD_0 = 34,
			DLOAD_0 = 38, ALOAD_0 = 42, ALOAD_1 = 43, ISTORE_0 = 59, ISTORE_1 = 60,
			LSTORE_0 = 63,
			FSTORE_0 = 67, DSTORE_0 = 71, ASTORE_0 = 75, ASTORE_1 = 76, WIDE = 196,
			GOTO_W = 200,
			JSR_W = 201;
	static final int TOP = 0, INT = 1, FLOAT = 2, DOUBLE = 3, LONG = 4, NULL = 5,
			UNINIT_THIS = 6, OBJECT = 7,
			UNINIT = 8;

	int minor = 0;
	int major = 52;
	int access = 0x21;		// public super
	int thisClass, superClass;
	final Bytes interfaces = new Bytes();
	final List<byte[]> fields = new ArrayList<>();
	final List<byte[]> methods = new ArrayList<>();
	final List<byte[]> attributes = new ArrayList<>();
	private final Bytes pool = new Bytes();
	private final Map<String, Integer> known = new HashMap<>();
	private int count = 1;

	RawClass(String name) {
		thisClass = cls(name);
		superClass = cls("java/lang/Object");
	}

	RawClass version(int newMajor) {
		major = newMajor;
		return this;
	}

	// ---- constant pool

	/** Appends an entry that takes `slots` indices, whatever it says. */
	int entry(int slots, Bytes b) {
		pool.add(b);
		count += slots;
		return count - slots;
	}

	private int once(String key, int slots, Bytes b) {
		Integer old = known.get(key);
		if (old == null)
			known.put(key, old = entry(slots, b));
		return old;
	}

	int poolCount() {
		return count;
	}

	int utf8(String s) {
		ByteArrayOutputStream b = new ByteArrayOutputStream();
		try {
			new DataOutputStream(b).writeUTF(s);
		} catch (IOException e) {
			throw new UncheckedIOException(e);
		}
		return once("utf8 " + s, 1, Bytes.of(1).add(b.toByteArray()));
	}

	int utf8Bytes(int... b) {
		return entry(1, Bytes.of(1).u2(b.length).u1(b));
	}

	int integer(int v) {
		return once("int " + v, 1, Bytes.of(3).u4(v));
	}

	int floating(float v) {
		return once("float " + v, 1, Bytes.of(4).u4(Float.floatToRawIntBits(v)));
	}

	int longs(long v) {
		return once("long " + v, 2, Bytes.of(5).u4((int) (v >> 32), (int) v));
	}

	int doubles(double v) {
		long bits = Double.doubleToRawLongBits(v);
		return once("double " + bits, 2, Bytes.of(6).u4((int) (bits >> 32), (int) bits));
	}

	/** Entries made of u2 fields: Class 7, String 8, refs 9-11, NameAndType 12... */
	int pair(int tag, int... fieldsOfEntry) {
		return once(tag + java.util.Arrays.toString(fieldsOfEntry), 1, Bytes.of(tag)
				.u2(fieldsOfEntry));
	}

	int cls(String name) {
		return pair(7, utf8(name));
	}

	int string(String s) {
		return pair(8, utf8(s));
	}

	int nameType(String name, String desc) {
		return pair(12, utf8(name), utf8(desc));
	}

	int field(String owner, String name, String desc) {
		return pair(9, cls(owner), nameType(name, desc));
	}

	int method(String owner, String name, String desc) {
		return pair(10, cls(owner), nameType(name, desc));
	}

	int interfaceMethod(String owner, String name, String desc) {
		return pair(11, cls(owner), nameType(name, desc));
	}

	int handle(int kind, int ref) {
		return once("handle " + kind + " " + ref, 1, Bytes.of(15, kind).u2(ref));
	}

	// ---- members and attributes

	byte[] attr(String name, byte[] body) {
		return new Bytes().u2(utf8(name)).u4(body.length).add(body).done();
	}

	byte[] attr(String name, Bytes body) {
		return attr(name, body.done());
	}

	RawClass field(int flags, String name, String desc, byte[]... attrs) {
		fields.add(member(flags, utf8(name), utf8(desc), attrs));
		return this;
	}

	RawClass method(int flags, String name, String desc, byte[]... attrs) {
		methods.add(member(flags, utf8(name), utf8(desc), attrs));
		return this;
	}

	static byte[] member(int flags, int name, int desc, byte[]... attrs) {
		Bytes b = new Bytes().u2(flags, name, desc, attrs.length);
		for (byte[] a : attrs)
			b.add(a);
		return b.done();
	}

	RawClass attribute(byte[] attr) {
		attributes.add(attr);
		return this;
	}

	/** table: start, end, handler, catch type; four per row. */
	byte[] code(int stack, int locals, Bytes code, int[] table, byte[]... attrs) {
		Bytes b = new Bytes().u2(stack, locals).u4(code.size()).add(code)
				.u2(table.length / 4).u2(table)
				.u2(attrs.length);
		for (byte[] a : attrs)
			b.add(a);
		return attr("Code", b);
	}

	byte[] code(int stack, int locals, Bytes code, byte[]... attrs) {
		return code(stack, locals, code, new int[0], attrs);
	}

	/** A StackMapTable of ready-made frames. */
	byte[] frames(Bytes... frames) {
		Bytes b = new Bytes().u2(frames.length);
		for (Bytes f : frames)
			b.add(f);
		return attr("StackMapTable", b);
	}

	static Bytes same(int delta) {
		return delta < 64 ? Bytes.of(delta) : Bytes.of(251).u2(delta);
	}

	static Bytes same1(int delta, Bytes type) {
		return Bytes.of(64 + delta).add(type);
	}

	static Bytes chop(int delta, int n) {
		return Bytes.of(251 - n).u2(delta);
	}

	static Bytes append(int delta, Bytes... types) {
		Bytes b = Bytes.of(251 + types.length).u2(delta);
		for (Bytes t : types)
			b.add(t);
		return b;
	}

	static Bytes full(int delta, Bytes[] locals, Bytes... stack) {
		Bytes b = Bytes.of(255).u2(delta, locals.length);
		for (Bytes t : locals)
			b.add(t);
		b.u2(stack.length);
		for (Bytes t : stack)
			b.add(t);
		return b;
	}

	static Bytes type(int tag) {
		return Bytes.of(tag);
	}

	Bytes object(String name) {
		return Bytes.of(OBJECT).u2(cls(name));
	}

	static Bytes uninit(int offset) {
		return Bytes.of(UNINIT).u2(offset);
	}

	/** A public constructor that only calls Object's. */
	RawClass constructor() {
		return method(1, "<init>", "()V", code(1, 1,
				Bytes.of(ALOAD_0, 183).u2(method("java/lang/Object", "<init>",
				"()V")).u1(177)));
	}

	byte[] build() {
		Bytes b = new Bytes();
		for (List<byte[]> part : List.of(fields, methods, attributes)) {
			b.u2(part.size());
			for (byte[] m : part)
				b.add(m);
		}
		return new Bytes().u4(0xcafebabe).u2(minor, major, count).add(pool)
				.u2(access, thisClass, superClass, interfaces.size() / 2)
				.add(interfaces).add(b).done();
	}
}
