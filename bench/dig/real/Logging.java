// SPDX-License-Identifier: Apache-2.0
// truth: Calls that log to "audit" are slow, since its pattern asks for the location, which is looked for on the stack.
// jars: debian:log4j-api debian:log4j-core
// options: -Dlog4j2.configurationFile=DIR/log4j2.xml -Dlog4j2.disableJmx=true
import java.util.Random;
import java.util.function.Function;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Bookings, of which one in eight is written to the audit as well; calls come from a deep stack, as below a framework. */
public class Logging {
	private static final Logger LOG = LogManager.getLogger("shop");
	private static final Logger AUDIT = LogManager.getLogger("audit");

	record Booking(int number, boolean checked) {}

	static final class Desk {
		long book(Booking booking) {
			LOG.info("booked {}", booking.number());
			return booking.checked() ? approve(booking.number()) : booking.number();
		}

		long approve(int number) {
			AUDIT.info("approved {}", number);
			return number + 1L;
		}
	}

	static Function<Booking, Long> framework(Desk desk) {
		Function<Booking, Long> all = desk::book;
		for (int i = 0; i < 150; i++)
			all = all.compose(Function.identity());
		return all;
	}

	public static void main(String[] args) {
		Function<Booking, Long> desk = framework(new Desk());
		for (int t = 0; t < 2; t++) {
			Random random = new Random(t);
			new Thread(() -> {
				long sum = 0;
				for (int i = 0; sum >= 0; i++) {
					sum += desk.apply(new Booking(i, random.nextInt(8) == 0)) & 3;
					if (i % 16 == 0)
						java.util.concurrent.locks.LockSupport.parkNanos(1_000_000);
				}
			}, "desk-" + t).start();
		}
		System.out.println("ready");
	}
}
