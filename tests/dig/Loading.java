// SPDX-License-Identifier: Apache-2.0
// options: -XX:MetaspaceSize=600m -Xmn200m
// Every request makes a class loader of its own, and loads the same classes anew.
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Callable;

public class Loading {
	public static class Script implements Callable<Integer> {
		@Override
		public Integer call() {
			return 7;
		}
	}

	static final class Scripts extends ClassLoader {
		private final byte[] bytes;

		Scripts(byte[] bytes) {
			super(Loading.class.getClassLoader());
			this.bytes = bytes;
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			return name.equals("Loading$Script") ? defineClass(name, bytes, 0, bytes.length)
					: super.loadClass(name, resolve);
		}
	}

	static int evaluate(byte[] bytes) throws Exception {
		int sum = 0;
		for (int i = 0; i < 500; i++) {
			Object script = new Scripts(bytes).loadClass("Loading$Script").getDeclaredConstructor().newInstance();
			sum += ((Callable<?>)script).call().hashCode();
		}
		return sum;
	}

	static int answer(byte[] bytes) throws Exception {
		return evaluate(bytes) + 1;
	}

	public static void main(String[] args) throws Exception {
		byte[] bytes = read();
		for (;;) {
			answer(bytes);
			Thread.sleep(5);
		}
	}

	static byte[] read() throws IOException {
		try (InputStream in = Loading.class.getResourceAsStream("Loading$Script.class")) {
			return in.readAllBytes();
		}
	}
}
