// One thread that serves requests one after the other, some of them slowly, and counts them where others can see it.
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class Work {
	static volatile double kept;

	static double price(int rounds) {
		double x = 1;
		for (int i = 0; i < rounds; i++)
			x = Math.sqrt(x + i);
		return x;
	}

	static void cart(int lines) {
		for (int i = 0; i < lines; i++)
			kept += price(1_000);
	}

	static void export() {
		kept += price(10_000_000);
	}

	static void request(long n) {
		cart(10);
		if (n % 2000 == 0)
			export();
	}

	public static void main(String[] args) throws Exception {
		MappedByteBuffer seen;
		try (FileChannel f = FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE)) {
			seen = f.map(FileChannel.MapMode.READ_WRITE, 0, 8).load();
		}
		seen.order(java.nio.ByteOrder.nativeOrder());
		for (long n = 1;; n++) {
			request(n);
			seen.putLong(0, n);
		}
	}
}
