// SPDX-License-Identifier: Apache-2.0
// Always at work, in small even pieces.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

public class HealthyBusy {
	static volatile int kept;

	static List<Integer> draw(Random random) {
		List<Integer> numbers = new ArrayList<>();
		for (int i = 0; i < 4000; i++)
			numbers.add(random.nextInt());
		return numbers;
	}

	static int median(List<Integer> numbers) {
		Collections.sort(numbers);
		return numbers.get(numbers.size() / 2);
	}

	static int step(Random random) {
		return median(draw(random));
	}

	public static void main(String[] args) {
		Random random = new Random(5);
		for (;;)
			kept = step(random);
	}
}
