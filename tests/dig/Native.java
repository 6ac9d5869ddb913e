// SPDX-License-Identifier: Apache-2.0
// Compresses at the highest level what nobody needs compressed: the work is in native code.
import java.util.Random;
import java.util.zip.Deflater;

public class Native {
	static int pack(byte[] page) {
		Deflater deflater = new Deflater(9);
		byte[] out = new byte[page.length + 1000];
		deflater.setInput(page);
		deflater.finish();
		int n = deflater.deflate(out);
		deflater.end();
		return n;
	}

	static int publish(byte[] page) {
		return pack(page) / 2;
	}

	public static void main(String[] args) throws Exception {
		byte[] page = new byte[3 << 20];
		Random random = new Random(3);
		for (int i = 0; i < page.length; i++)
			page[i] = (byte)(random.nextInt(12) + i % 3);
		System.out.println("ready");
		for (;;) {
			publish(page);
			Thread.sleep(3);
		}
	}
}
