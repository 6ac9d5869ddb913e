// SPDX-License-Identifier: Apache-2.0

import java.io.ByteArrayOutputStream;

/** A growing byte string, big-endian like everything in a class file. */
final class Bytes {
	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	static Bytes of(int... values) {
		return new Bytes().u1(values);
	}

	Bytes u1(int... values) {
		for (int v : values)
			out.write(v);
		return this;
	}

	Bytes u2(int... values) {
		for (int v : values)
			u1(v >> 8, v);
		return this;
	}

	Bytes u4(int... values) {
		for (int v : values)
			u2(v >> 16, v);
		return this;
	}

	Bytes add(byte[] b) {
		out.write(b, 0, b.length);
		return this;
	}

	Bytes add(Bytes b) {
		return add(b.done());
	}

	Bytes times(int n, int... values) {
		for (int i = 0; i < n; i++)
			u1(values);
		return this;
	}

	int size() {
		return out.size();
	}

	byte[] done() {
		return out.toByteArray();
	}
}
