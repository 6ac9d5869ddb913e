/** A method whose name will hold lines: tests/trust/run changes it in the class file. */
public class Odd {
	static int work_________________________________________________________________________(int n) {
		return n * 31 + 7;
	}

	/** One that is remembered. */
	static int plain(int n) {
		return n * 31 + 5;
	}

	public static void main(String[] args) throws Exception {
		int sum = 0;
		System.out.println("ready");
		for (;;) {
			sum = work_________________________________________________________________________(plain(sum));
			Thread.sleep(5);
		}
	}
}
