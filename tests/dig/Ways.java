// SPDX-License-Identifier: Apache-2.0
// Three branches share the time, and none of them is at fault: each writes to the same audit log, which sorts itself.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

public class Ways {
	static final class Audit {
		final List<Integer> log = new ArrayList<>();
		final Random random = new Random(7);

		Audit() {
			for (int i = 0; i < 150_000; i++)
				log.add(random.nextInt());
		}

		void append(int entry) {
			log.set(random.nextInt(log.size()), entry);
			Collections.shuffle(log, random);
			Collections.sort(log);
		}
	}

	static final Audit audit = new Audit();

	static void reserve(int order) {
		audit.append(order);
		audit.append(order + 1);
	}

	static void charge(int order) {
		audit.append(order);
	}

	static void notifyCustomer(int order) {
		audit.append(order);
		audit.append(-order);
	}

	static void handle(int order) {
		reserve(order);
		charge(order);
		notifyCustomer(order);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		for (int i = 0;; i++) {
			handle(i);
			Thread.sleep(100);
		}
	}
}
