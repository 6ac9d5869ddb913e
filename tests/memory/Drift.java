// Prices orders, in more and more rounds when somebody says so in a file.
import java.nio.file.Files;
import java.nio.file.Path;

public class Drift {
	static volatile double kept;

	static double price(int rounds) {
		double x = 1;
		for (int i = 0; i < rounds; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static void order(int rounds) {
		kept += price(rounds);
	}

	public static void main(String[] args) throws Exception {
		Path slow = Path.of(args[0]);
		System.out.println("ready");
		for (;;) {
			order(Files.exists(slow) ? 8_000_000 : 500_000);
			Thread.sleep(2);
		}
	}
}
