// SPDX-License-Identifier: Apache-2.0
// truth: Jackson makes a BigInteger of 800,000 digits out of 1e800000 in Import.read, for one document only.
// jars: debian:jackson-core debian:jackson-databind debian:jackson-annotations
import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigInteger;
import java.util.Random;

/** Documents that are imported; one in forty has a number that is much too large. */
public class Huge {
	public static final class Line {
		public String name;
		public BigInteger count;
		public double price;
	}

	static final class Import {
		private final ObjectMapper mapper = new ObjectMapper();

		int take(String document) throws Exception {
			return count(read(document));
		}

		private Line read(String document) throws Exception {
			return mapper.readValue(document, Line.class);
		}

		private int count(Line line) {
			return line.name.length() + line.count.bitLength();
		}
	}

	public static void main(String[] args) {
		Import imports = new Import();
		String usual = "{\"name\":\"lamp\",\"count\":12,\"price\":19.5}";
		String huge = "{\"name\":\"lamp\",\"count\":1e800000}";
		for (int t = 0; t < 2; t++) {
			Random random = new Random(t);
			new Thread(() -> {
				try {
					for (;;) {
						imports.take(random.nextInt(40) == 0 ? huge : usual);
						Thread.sleep(20);
					}
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
			}, "import-" + t).start();
		}
		System.out.println("ready");
	}
}
