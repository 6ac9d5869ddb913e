// SPDX-License-Identifier: Apache-2.0
// A heap that is nearly full of live data, and work that makes garbage all the time.
// options: -Xmx96m -XX:+UseSerialGC
import java.util.ArrayList;
import java.util.List;

public class Garbage {
	static final List<byte[]> live = new ArrayList<>();
	static volatile int kept;

	static int render(int page) {
		List<String> parts = new ArrayList<>();
		for (int i = 0; i < 12000; i++)
			parts.add("line " + i + " of page " + page);
		return String.join("\n", parts).length();
	}

	public static void main(String[] args) throws Exception {
		for (int i = 0; i < 74 << 10; i++)
			live.add(new byte[1000]);
		System.out.println("ready");
		for (int i = 0;; i++) {
			kept += render(i);
			Thread.sleep(1);
		}
	}
}
