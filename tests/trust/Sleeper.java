/** A program that has something to be hooked, and goes on until it is ended. */
public class Sleeper {
	static int work(int n) {
		return n * 31 + 7;
	}

	public static void main(String[] args) throws Exception {
		int sum = 0;
		System.out.println("ready");
		for (;;) {
			sum = work(sum);
			Thread.sleep(10);
		}
	}
}
